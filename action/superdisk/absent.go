package superdisk

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

// awaitsArray is the finding of a step whose array is not there now: an earlier step of the runbook may bring it. The act declines if none did, and
// a plan in which none does.
func (a array) awaitsArray(ctx context.Context, m infra.Machine, s superdisk.Status, r action.CheckResult) action.CheckResult {
	what := fmt.Sprintf("%s has no array %s", m.Name(), a.Array)
	var others []string
	for _, other := range s.Arrays {
		others = append(others, fmt.Sprintf("%s (%s)", other.Label(), other.UUID))
	}
	why, advice := what+", nor any other RAID1", "superdisk/create makes one of two blank disks, superdisk/migrate of a disk with a node's data and a blank volume"
	stopped := stoppedLegs(ctx, m, s)
	switch {
	case len(others) > 0:
		why, advice = what+"; it has "+strings.Join(others, ", "), "name one of those: array="+s.Arrays[0].Label()
	case len(stopped) > 0:
		why, advice = what+" that is started; "+strings.Join(stopped, ", "), "start it first, from the leg that was in step last: superdisk/emergency-start -i node="+a.Node
	}
	return awaits(r, what, action.Awaits{Any: []string{action.Array(a.Node)}, Refusal: &hint.PermanentError{Reason: why, Advice: advice}})
}

// awaitsPlace is awaitsArray of an array that has no place for another leg: an earlier step may take one out.
func (a array) awaitsPlace(is superdisk.Array, device string, r action.CheckResult) action.CheckResult {
	var legs []string
	for _, l := range is.Legs {
		legs = append(legs, fmt.Sprintf("%s leg %s", l.Role, named(l)))
	}
	what := fmt.Sprintf("array %s has all its legs", is.Label())
	return awaits(r, what, action.Awaits{Any: []string{action.Array(a.Node)}, Refusal: &hint.PermanentError{
		Reason: fmt.Sprintf("%s, and %s is none of them: %s", what, device, strings.Join(legs, ", ")), Advice: "nothing is missing: plimsoll superdisk status shows the array",
	}})
}

// awaitsDisk is awaitsArray of a disk that the machine has not.
func awaitsDisk(ctx context.Context, on *cluster.Cluster, m infra.Machine, node, said string, r action.CheckResult) action.CheckResult {
	what := fmt.Sprintf("%s has no disk %s", m.Name(), said)
	refusal := &hint.PermanentError{Reason: what + present(ctx, on, m, node), Advice: "name one of those"}
	if on.Volumes != nil {
		if v, err := on.Volume(ctx, node, said); err == nil {
			refusal = &hint.PermanentError{Reason: fmt.Sprintf("%s: volume %s is attached to %s", what, v.ID, orNothing(v.Machine)), Advice: "attach it first, by a step with volume.attach or with the provider's own tool"}
		}
	}
	return awaits(r, what, action.Awaits{Any: action.Disk(ctx, on, node, said), Refusal: refusal})
}

func awaits(r action.CheckResult, what string, a action.Awaits) action.CheckResult {
	r.State, r.Reason, r.Awaits = action.Needed, what+"; an earlier step attaches it", append(r.Awaits, a)
	return r
}

func orNothing(machine string) string {
	if machine == "" {
		return "nothing"
	}
	return machine
}

// named is a leg as people tell it from others: by its device, and its volume where the disk says it.
func named(l superdisk.Leg) string {
	if l.Volume != "" {
		return l.Device + " (" + l.Volume + ")"
	}
	return l.Device
}

// present says which disks a machine has, and which volumes its node has elsewhere; "" if that cannot be told.
func present(ctx context.Context, on *cluster.Cluster, m infra.Machine, node string) string {
	var all []string
	disks, err := infra.Devices(ctx, m)
	if err != nil {
		return ""
	}
	for _, d := range disks {
		if notADisk(d) {
			continue
		}
		about := []string{}
		if serial := superdisk.VolumeID(d.Serial); serial != "" {
			about = append(about, serial)
		}
		about = append(about, fmt.Sprintf("%d MiB", d.Size>>20))
		for _, holder := range d.Holders {
			about = append(about, "used by "+holder)
		}
		for _, at := range d.Mounted {
			about = append(about, "mounted at "+at)
		}
		all = append(all, fmt.Sprintf("%s (%s)", d.Path, strings.Join(about, ", ")))
	}
	if on.Volumes != nil {
		volumes, err := on.Volumes.List(ctx, map[string]string{cluster.NodeTag: node})
		for _, v := range volumes {
			if err == nil && !slices.ContainsFunc(disks, func(d infra.BlockDevice) bool { return d.Serial == v.Serial() }) {
				all = append(all, fmt.Sprintf("volume %s (%s), attached to %s", v.Tags[cluster.VolumeTag], v.ID, orNothing(v.Machine)))
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "; there is " + strings.Join(all, ", ")
}

// notADisk tells whether a device cannot become a leg: an array, or what is made of memory or of a file.
func notADisk(d infra.BlockDevice) bool {
	name := strings.TrimPrefix(d.Path, "/dev/")
	return d.Size == 0 || slices.ContainsFunc([]string{"md", "loop", "ram", "zram", "sr", "fd", "dm-"}, func(kind string) bool { return strings.HasPrefix(name, kind) })
}

// stoppedLegs says which disks of a machine are legs of arrays that are not started there.
func stoppedLegs(ctx context.Context, m infra.Machine, s superdisk.Status) []string {
	disks, err := infra.Devices(ctx, m)
	if err != nil {
		return nil
	}
	var legs []string
	for _, d := range disks {
		if notADisk(d) || slices.ContainsFunc(s.Arrays, func(a superdisk.Array) bool { _, in := a.On(d.Path); return in }) {
			continue
		}
		super, err := superdisk.ReadSuperblock(ctx, m, d.Path)
		if err != nil { // it is no leg, or does not answer
			continue
		}
		legs = append(legs, fmt.Sprintf("%s is the %s leg of array %s (%s)", d.Path, super.Role(), super.Name(), super.UUID()))
	}
	return legs
}
