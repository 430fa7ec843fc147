package action

import (
	"context"
	"slices"

	"plimsoll/cluster"
	"plimsoll/infra"
)

// Awaits is something that a task needs and does not find, and that an earlier step of its runbook may bring.
type Awaits struct {
	Any     []string // what would do, each as a Bringer says it
	Refusal error    // of a plan in which no step before brings it: what is missing, and what there is
}

// Bringer is a task that brings what a later step may need: a disk, an array.
type Bringer interface {
	// Brings lists it; Anything where nobody can tell.
	Brings(ctx context.Context, on *cluster.Cluster) []string
}

// Anything is what a task brings that does what its writer says, such as a command.
const Anything = "anything"

// From tells whether one of the things that earlier steps bring would do.
func (a Awaits) From(brought []string) bool {
	return slices.ContainsFunc(brought, func(what string) bool { return what == Anything || slices.Contains(a.Any, what) })
}

// Volume is a volume as a step says it: its name among those of a node, that of another node before a slash, its id, or its serial number.
func Volume(ctx context.Context, on *cluster.Cluster, node, said string) []string {
	owner, name := cluster.VolumeOwner(node, said)
	all := []string{"volume " + owner + "/" + name, "volume " + infra.VolumeSerial(said)}
	if on.Volumes == nil {
		return all
	}
	if v, err := on.Volume(ctx, node, said); err == nil {
		all = append(all, "volume "+v.Serial())
	}
	return all
}

// Disk is a volume on the machine of a node, as a later step may find it: by what a step says of it, or as a device.
func Disk(ctx context.Context, on *cluster.Cluster, node, said string) []string {
	all := Volume(ctx, on, node, said)
	for i, one := range all {
		all[i] = one + " on " + node
	}
	return all
}

// Array is a RAID1 on the machine of a node.
func Array(node string) string { return "array on " + node }
