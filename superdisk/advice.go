package superdisk

import (
	"fmt"
	"path"
	"time"

	"plimsoll/hint"
)

// Advice is what a person should know of an array, and what to do next.
type Advice struct {
	Urgent bool   `json:"urgent,omitempty"`
	Text   string `json:"text"`
	Do     string `json:"do,omitempty"`
}

// Hung is how long a leg may answer nothing before it is called hung.
const Hung = 5 * time.Second

// endless is a time-out of requests with which a hang has no end that anybody waits for: on EC2 it is 49 days, by AWS's advice.
const endless = 10 * time.Minute

// Advise says what to do about an array next, by what is recorded of it; nothing, if all is well. In commands CLUSTER and NODE stand for names
// that are not known here.
func Advise(a Array, k Kernel, r Record) (all []Advice) {
	say := func(urgent bool, do, format string, args ...any) {
		all = append(all, Advice{urgent, fmt.Sprintf(format, args...), do})
	}
	if !k.Fit {
		say(true, "boot a kernel that has both fixes before a leg is lost or rebuilt", "%s", k.Why)
	}
	if !a.Running() { // which runbook starts it is told where its legs are shown
		say(true, "", "the array is %s: something assembled it partly and automatically; add AUTO -all to mdadm.conf", a.State)
		return all
	}
	local, hasLocal := a.Working(Local)
	network, hasNetwork := a.Working(Network)
	for _, l := range a.Legs {
		if l.Faulty() {
			continue // its errors are those of a disk that md has given up, or that was taken away
		}
		if l.HungFor >= Hung {
			do := "wait until its disk answers, or have it repaired: it cannot be detached"
			if l.Role == Network {
				do = command("run", "superdisk/give-up-hung", "") + " detaches its volume by force, after which writes continue (without a provider, detach it with the provider's own tool); mdadm --fail does not help"
			}
			say(true, do, "the %s leg %s has not answered for %s: every write waits for it", l.Role, l.Device, l.HungFor.Round(time.Second))
		}
		if l.BadBlocks > 0 {
			say(true, "replace the disk", "the %s leg %s has %d bad areas", l.Role, l.Device, l.BadBlocks)
		}
		if l.Errors > 0 {
			say(false, "replace the disk if their number grows", "the %s leg %s has had %d read errors that were corrected from the other leg", l.Role, l.Device, l.Errors)
		}
	}
	switch {
	case a.Seed != nil && a.Seed.Interrupted():
		say(true, command("plan", "superdisk/rebuild", " -i local="+a.Seed.Target)+" continues the copy; if a run made it, resume that instead: plimsoll runbook status names it",
			"the copy to the new leg %s was interrupted: nothing has been copied for %s, and only one leg has all data", a.Seed.Target, a.Seed.Idle)
	case a.Seed != nil:
		say(false, "", "the new leg %s is being filled; until that is done only one leg has all data", a.Seed.Target)
	case a.Sync != nil && a.Degraded > 0:
		say(false, "", "a leg is being rebuilt; until that is done only one leg has all data")
	case a.Degraded > 0 && hasNetwork && network.InStep():
		say(true, command("plan", "superdisk/rebuild", " -i local="+hint.FillIn)+"; if a run of superdisk/migrate, replace-node or recover-node waits, resume that instead: plimsoll runbook status names it",
			"only the network leg serves: reads have its latency, and losing it loses the data")
	case a.Degraded > 0 && hasLocal && local.InStep():
		volume := r.missing(a, Network)
		if c := r.Compared; c != nil && !c.Clean() {
			volume = hint.FillIn // that one would keep what differed
		}
		say(true, command("plan", "superdisk/reattach-network", " -i network="+volume), "only the local leg serves: losing the machine loses the data")
	case a.Degraded == 0 && !hasNetwork:
		say(true, "write_mostly > /sys/block/…/md/dev-…/state of the network leg", "no leg is write-mostly: reads also go to the network leg")
	}
	switch c := r.Compared; {
	case c == nil || c.Clean():
	case !c.Outdated():
		say(true, WhichIsRight(command("plan", "superdisk/detach-network", ""), command("plan", "superdisk/reattach-network", " -i network="+hint.FillIn)), "%s: %s", c.When(), c)
	case a.Degraded == 0:
		say(true, "find out whether they still do: "+command("run", "superdisk/check", ""), "%s: %s", c.When(), c)
	default:
		say(true, "give the array a blank disk in the place of the leg that left: one that is only re-added keeps what differed. Then compare them again: "+command("run", "superdisk/check", ""), "%s: %s", c.When(), c)
	}
	if hasNetwork && network.InStep() && network.Timeout > endless {
		say(false, command("run", "superdisk/give-up-hung", "")+", while the array is in use; or shorten the time-out: echo 30000 >/sys/block/"+path.Base(network.Device)+"/queue/io_timeout",
			"the kernel gives up a request to the network leg %s only after %s: if its volume hangs, writes stop for as long", network.Device, network.Timeout.Round(time.Second))
	}
	if a.Chunk == 0 {
		say(false, "mdadm --grow --bitmap=internal while the file system is not mounted", "the array has no write-intent bitmap: a leg that comes back is copied completely")
	}
	return all
}

// command is one of Plimsoll's, with stand-ins for the cluster and the node.
func command(verb, book, inputs string) string {
	return "plimsoll runbook " + verb + " " + book + " --cluster CLUSTER -i node=NODE" + inputs
}

// missing is the volume of a role that is out of an array, as it is recorded; what a person fills in, if none is.
func (r Record) missing(a Array, role Role) string {
	found, last := hint.FillIn, time.Time{}
	here := map[string]bool{}
	for _, l := range a.Legs {
		here[r.Key(a, l)] = !l.Faulty()
	}
	for key, leg := range r.Legs {
		if leg.Role == role && key != string(role) && !here[key] && leg.Seen.After(last) {
			found, last = key, leg.Seen
		}
	}
	return found
}
