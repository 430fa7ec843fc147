package change

import (
	"context"

	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

// diskChange gives a node's disk other limits while it serves, as a cloud modifies a volume: a larger one, or one of another type. What
// the cloud takes for it, hours in which the volume is slower, it does not take.
type diskChange struct{}

// newDisk is what it takes.
type newDisk struct {
	Node string `yaml:"node" doc:"The node; n1 is the primary. Default n1."`
	spec.Disk
}

var (
	_ spec.Change    = diskChange{}
	_ spec.Demanding = diskChange{}
)

func (diskChange) Name() string { return "lab/disk" }

// Demand asks for nodes with disks that can be changed.
func (diskChange) Demand(s *lab.Spec) {
	if s.Disk == nil {
		s.Disk = lab.Unlimited()
	}
}

func (c diskChange) Check(call spec.Call, nodes int) error {
	in, err := c.read(call)
	if err != nil {
		return err
	}
	if _, err := in.ForLab(call.At); err != nil {
		return err
	}
	return checkNode(call, in.Node, nodes)
}

func (diskChange) read(c spec.Call) (newDisk, error) {
	in := newDisk{Node: "n1"}
	with := c.With
	if with == nil {
		with = &document.Node{Kind: document.Mapping, File: c.At.File, Line: c.At.Line, Column: c.At.Column}
	}
	return in, with.Decode(&in)
}

func (c diskChange) Run(ctx context.Context, on *lab.Cluster, call spec.Call, tell func(series.Event)) error {
	in, err := c.read(call)
	if err != nil {
		return err
	}
	disk, err := in.ForLab(call.At)
	if err != nil {
		return err
	}
	tell(series.Event{Kind: series.DiskChange, Name: c.Name(), Node: in.Node, Detail: map[string]any{"disk": disk.Volume.String()}})
	return on.SetDisk(ctx, disk, in.Node)
}
