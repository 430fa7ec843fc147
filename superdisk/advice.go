package superdisk

import (
	"fmt"
	"path"
	"time"
)

// Advice is what a person should know of an array, and what to do next.
type Advice struct {
	Urgent bool   `json:"urgent,omitempty"`
	Text   string `json:"text"`
	Do     string `json:"do,omitempty"`
}

// hung is how long a leg may answer nothing before it is called hung.
const hung = 5 * time.Second

// endless is a time-out of requests with which a hang has no end that anybody waits for: on EC2 it is 49 days, by AWS's advice.
const endless = 10 * time.Minute

// Advise says what to do about an array next; nothing, if all is well. In commands CLUSTER and NODE stand for names that are not known here.
func Advise(a Array, k Kernel) (all []Advice) {
	say := func(urgent bool, do, format string, args ...any) {
		all = append(all, Advice{urgent, fmt.Sprintf(format, args...), do})
	}
	if !k.Fit {
		say(true, "boot a kernel that has both fixes before a leg is lost or rebuilt", "%s", k.Why)
	}
	if !a.Running() {
		say(true, "mdadm --stop "+a.Device+", then plimsoll runbook plan superdisk/emergency-start --cluster CLUSTER -i node=NODE -i network=VOLUME -i mount=FOLDER",
			"the array is %s: something assembled it partly and automatically; add AUTO -all to mdadm.conf", a.State)
		return all
	}
	local, hasLocal := a.Leg(Local)
	network, hasNetwork := a.Leg(Network)
	for _, l := range a.Legs {
		if l.HungFor >= hung {
			say(true, "detach its volume by force: until then every write waits, and mdadm --fail does not help",
				"the %s leg %s has not answered for %s", l.Role, l.Device, l.HungFor.Round(time.Second))
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
		say(true, "plimsoll runbook plan superdisk/rebuild --cluster CLUSTER -i node=NODE -i local="+a.Seed.Target+" continues the copy; if a run made it, resume that instead: plimsoll runbook status names it",
			"the copy to the new leg %s was interrupted: nothing has been copied for %s, and only one leg has all data", a.Seed.Target, a.Seed.Idle)
	case a.Seed != nil:
		say(false, "", "the new leg %s is being filled; until that is done only one leg has all data", a.Seed.Target)
	case a.Sync != nil && a.Degraded > 0:
		say(false, "", "a leg is being rebuilt; until that is done only one leg has all data")
	case a.Degraded > 0 && hasNetwork && network.InStep():
		say(true, "plimsoll runbook plan superdisk/rebuild --cluster CLUSTER -i node=NODE -i local=DISK", "only the network leg serves: reads have its latency, and losing it loses the data")
	case a.Degraded > 0 && hasLocal && local.InStep():
		say(true, "plimsoll runbook plan superdisk/reattach-network --cluster CLUSTER -i node=NODE -i network=VOLUME", "only the local leg serves: losing the machine loses the data")
	case a.Degraded == 0 && !hasNetwork:
		say(true, "write_mostly > /sys/block/…/md/dev-…/state of the network leg", "no leg is write-mostly: reads also go to the network leg")
	}
	if hasNetwork && network.InStep() && network.Timeout > endless {
		say(false, "plimsoll runbook run superdisk/give-up-hung --cluster CLUSTER -i node=NODE, while the array is in use; or shorten the time-out: echo 30000 >/sys/block/"+path.Base(network.Device)+"/queue/io_timeout",
			"the kernel gives up a request to the network leg %s only after %s: if its volume hangs, writes stop for as long", network.Device, network.Timeout.Round(time.Second))
	}
	if a.Chunk == 0 {
		say(false, "mdadm --grow --bitmap=internal while the file system is not mounted", "the array has no write-intent bitmap: a leg that comes back is copied completely")
	}
	return all
}
