package superdisk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Disks is what stands on a machine's disks that no running array has.
type Disks struct {
	Stopped []Stopped `json:"stopped,omitempty"`
	Mounted []Mounted `json:"mounted,omitempty"`
	Unread  []string  `json:"unread,omitempty"` // disks that were not read, and why: whether they are legs is not known
}

// Stopped is an array that does not run on a machine which has legs of it.
type Stopped struct {
	UUID string       `json:"uuid"`
	Name string       `json:"name"`
	Legs []StoppedLeg `json:"legs"`
}

// StoppedLeg is what a disk says of itself as a leg. A network leg that fell behind does not know it: a Record does.
type StoppedLeg struct {
	Device  string    `json:"device"`
	Volume  string    `json:"volume,omitempty"`
	Role    Role      `json:"role"`
	Slot    int       `json:"slot"` // -1: it is a spare, or its array dropped it
	Alone   bool      `json:"served_alone"`
	Copied  bool      `json:"partly_copied,omitempty"` // it was being brought into step, which did not end
	Updated time.Time `json:"updated"`                 // its superblock, by the clock of the machine that wrote it
}

// Mounted is a disk of which a file system is mounted, without an array.
type Mounted struct {
	Device string `json:"device"`
	Volume string `json:"volume,omitempty"`
	At     string `json:"at"`
}

// patience is how long one disk may take to answer for its superblock.
const patience = 5 * time.Second

// FindStopped reads the superblock of every disk that no running array has and that is not mounted. A disk that cannot be read is named, and
// hides no other.
func FindStopped(ctx context.Context, m infra.Machine, s Status) (Disks, error) {
	var found Disks
	known, err := infra.Devices(ctx, m)
	if err != nil {
		return found, err
	}
	names, err := diskNames(ctx, m)
	if err != nil {
		return found, err
	}
	serials, mounted := map[string]string{}, map[string]bool{}
	for _, d := range known {
		serials[d.Path] = VolumeID(d.Serial)
		if len(d.Mounted) > 0 && !strings.HasPrefix(path.Base(d.Path), "md") {
			mounted[d.Path] = true
			for _, at := range d.Mounted {
				found.Mounted = append(found.Mounted, Mounted{d.Path, serials[d.Path], at})
			}
		}
	}
	for _, device := range names {
		if mounted[device] || slices.ContainsFunc(s.Arrays, func(a Array) bool { _, in := a.On(device); return in && a.Running() }) {
			continue
		}
		asking, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it has not answered for %s", patience))
		super, err := ReadSuperblock(asking, m, device)
		cancel()
		switch {
		case ctx.Err() != nil:
			return found, context.Cause(ctx)
		case errors.Is(err, ErrNoSuperblock):
		case err != nil:
			found.Unread = append(found.Unread, err.Error())
		case super.Level() == 1:
			found.add(super, device, serials[device])
		}
	}
	return found, nil
}

func (d *Disks) add(super Superblock, device, volume string) {
	leg := StoppedLeg{Device: device, Volume: volume, Role: Local, Slot: super.Slot(), Alone: super.ServedAlone(), Copied: super.Recovering(), Updated: time.Unix(super.Updated(), 0).UTC()}
	if super.WriteMostly() {
		leg.Role = Network
	}
	for i := range d.Stopped {
		if d.Stopped[i].UUID == super.UUID() {
			d.Stopped[i].Legs = append(d.Stopped[i].Legs, leg)
			slices.SortFunc(d.Stopped[i].Legs, func(x, y StoppedLeg) int { return strings.Compare(string(x.Role)+x.Device, string(y.Role)+y.Device) })
			return
		}
	}
	name := super.Name()
	d.Stopped = append(d.Stopped, Stopped{UUID: super.UUID(), Name: name[strings.LastIndexByte(name, ':')+1:], Legs: []StoppedLeg{leg}}) // after the home host
}

// Key is how the leg is called in a Record.
func (l StoppedLeg) Key() string { return cmp.Or(l.Volume, string(l.Role)) }

// ref is how a runbook may be told of the leg.
func (l StoppedLeg) ref() string { return cmp.Or(l.Volume, l.Device) }

// source is by what it is known that the leg is out of step.
func (l StoppedLeg) source() string {
	if l.why() != "" {
		return "its own superblock"
	}
	return "the record"
}

// why is the reason in the leg's superblock not to start from it; "" if there is none.
func (l StoppedLeg) why() string {
	switch {
	case l.Copied:
		return "it was being brought into step, which did not end"
	case l.Slot < 0:
		return "its array has dropped it"
	}
	return ""
}

// Advise says how the array is started, and from which leg: by what its legs say of themselves, and by what is recorded of them.
func (s Stopped) Advise(r Record, now time.Time) Advice {
	var serve, stale []StoppedLeg // without the other leg; out of step
	for _, l := range s.Legs {
		if _, certain := r.Doubt(l.Key(), now); certain || l.why() != "" {
			stale = append(stale, l)
		} else if l.Alone {
			serve = append(serve, l)
		}
	}
	mount := " -i uuid=" + s.UUID + " -i mount=" + cmp.Or(r.Mount, hint.FillIn)
	from := func(l StoppedLeg) string {
		return command("plan", "superdisk/emergency-start", " -i network="+l.ref()+mount)
	}
	then := func(l StoppedLeg) string {
		if l.Role == Network {
			return "superdisk/rebuild"
		}
		return "superdisk/reattach-network"
	}
	slots := map[int]bool{}
	for _, l := range s.Legs {
		slots[l.Slot] = true
	}
	switch {
	case len(s.Legs) > 2 || len(slots) < len(s.Legs) && !slots[-1]:
		return Advice{true, fmt.Sprintf("%d disks say that they are legs of this array, and some are copies of others", len(s.Legs)), "find out which (snapshots of a volume keep its UUID), and detach those"}
	case len(serve) > 1:
		return Advice{true, "both legs have served without the other: each has writes that the other lacks", "decide which one is right and start from it: " +
			command("plan", "superdisk/emergency-start", " -i network="+hint.FillIn+mount) + "; keep the other as it is until nothing of it is needed, and give the array a blank disk for it"}
	case len(serve) == 1:
		return Advice{true, fmt.Sprintf("the %s leg %s served last, without the other one, and has everything", serve[0].Role, serve[0].ref()),
			"start from it: " + from(serve[0]) + "; then bring the other leg into step: " + then(serve[0])}
	case len(s.Legs) == 2 && len(stale) == 0:
		were := "both legs were in step"
		if slices.ContainsFunc(s.Legs, func(l StoppedLeg) bool { _, known := r.Legs[l.Key()]; return !known }) {
			were = "no record says whether its legs were in step; by their superblocks they were"
		}
		return Advice{true, "the array is stopped, and " + were + ": neither has served without the other. Plimsoll starts no array by itself",
			command("plan", "superdisk/start", mount)}
	case len(s.Legs) == 2 && len(stale) == 1:
		good := s.Legs[0]
		if good.Device == stale[0].Device {
			good = s.Legs[1]
		}
		return Advice{true, fmt.Sprintf("the %s leg %s is out of step, by %s; the %s leg %s is not", stale[0].Role, stale[0].ref(), stale[0].source(), good.Role, good.ref()),
			"start from that: " + from(good) + "; then bring the other leg into step: " + then(good)}
	case len(stale) > 0:
		why := stale[0].why()
		if why == "" {
			why, _ = r.Doubt(stale[0].Key(), now)
		}
		return Advice{true, fmt.Sprintf("the %s leg %s is not to be started: %s", stale[0].Role, stale[0].ref(), why),
			"attach the other leg and start from it; plimsoll superdisk status then names the command"}
	}
	only := fmt.Sprintf("the array is stopped, and only its %s leg is on this machine", s.Legs[0].Role)
	if why, _ := r.Doubt(s.Legs[0].Key(), now); why != "" {
		only += "; " + why
	}
	return Advice{true, only,
		"if the other leg exists, attach it first, and both can be started together; otherwise: " + from(s.Legs[0])}
}

// Unrecorded is the advice on an array whose record could not be read: which leg it is started from would be a guess.
func (s Stopped) Unrecorded() Advice {
	return Advice{true, "the array is stopped, and its record could not be read: whether its legs were in step is not known", "fix what prevents the record from being read; plimsoll superdisk status then names the command that starts the array"}
}

// Advise says how the data of a disk that is mounted gets onto an array.
func (d Mounted) Advise() Advice {
	return Advice{Text: fmt.Sprintf("the node's data lies on %s, mounted on %s, without an array", cmp.Or(d.Volume, d.Device), d.At),
		Do: "to move it onto an array: " + command("plan", "superdisk/migrate", " -i local="+cmp.Or(d.Volume, d.Device)+" -i network="+hint.FillIn+" -i mount="+d.At)}
}
