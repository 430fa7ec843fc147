package fault

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra"
)

var corruptAction = action.Action{
	Name: "fault.corrupt-volume", Version: 1, About: "Overwrites a part of a volume without the knowledge of its machine. Not in production.",
	New: func() action.Task { return &corrupt{Bytes: 4096} },
}

type corrupt struct {
	Node   string `yaml:"node,required" doc:"Which node."`
	Volume string `yaml:"volume,required" doc:"An attached volume: its name among those of the node, such as network, or its id."`
	Offset int64  `yaml:"offset,required" doc:"Offset in bytes."`
	Bytes  int64  `yaml:"bytes" doc:"How many bytes, at most 1 MiB. Default 4096."`
}

var _ action.Verifier = (*corrupt)(nil)

func (c *corrupt) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (c *corrupt) Validate() error {
	if c.Offset < 0 || c.Bytes <= 0 || c.Bytes > 1<<20 {
		return fmt.Errorf("%d bytes at %d, expected 1 to 1048576 and an offset from 0", c.Bytes, c.Offset)
	}
	return nil
}

// Check finds that it can be done; whether it was, the volume does not say.
func (c *corrupt) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	v, _, _, err := (&onVolume{Node: c.Node, Volume: c.Volume}).meets(ctx, on)
	if errors.Is(err, infra.ErrNotAttached) || errors.Is(err, infra.ErrNoVolume) {
		return action.CheckResult{State: action.Unknown, Reason: err.Error()}, nil
	}
	if err == nil && c.Offset+c.Bytes > v.Size {
		return action.CheckResult{State: action.Unknown, Reason: fmt.Sprintf("%s has %d bytes", v.ID, v.Size)}, nil
	}
	return action.CheckResult{State: action.Needed, Observed: action.Facts{"volume": v.ID}, Intended: action.Facts{"content": action.Another}}, err
}

func (c *corrupt) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	v, volumes, _, err := (&onVolume{Node: c.Node, Volume: c.Volume}).meets(ctx, on)
	if err != nil {
		return nil, err
	}
	const rot = "corrupted by a fault "
	return action.Facts{"volume": v.ID}, volumes.Corrupt(ctx, v.ID, c.Offset, bytes.Repeat([]byte(rot), int(c.Bytes)/len(rot)+1)[:c.Bytes])
}

// Verify has nothing to ask: the act says whether it was done.
func (c *corrupt) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }
