package volume

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

var createAction = action.Action{
	Name: "volume.create", Version: 1, About: "Creates an empty volume for a node, without attaching it.",
	New: func() action.Task { return &create{} },
}

type create struct {
	Node       string `yaml:"node,required" doc:"The node that it belongs to."`
	Name       string `yaml:"name,required" doc:"Its name among the volumes of the node."`
	MiB        int64  `yaml:"mib,required" doc:"Its size in MiB."`
	IOPS       int    `yaml:"iops" doc:"Requests per second. Default: the provider's default."`
	Throughput int64  `yaml:"throughput_mib" doc:"MiB per second. Default: the provider's default."`
	Zone       string `yaml:"zone" doc:"The availability zone, for a provider that has several. Default: the zone of the node's machine."`
}

var (
	_ action.Undoer  = (*create)(nil)
	_ action.Bringer = (*create)(nil)
)

// Brings is the volume.
func (n *create) Brings(ctx context.Context, on *cluster.Cluster) []string {
	return action.Volume(ctx, on, n.Node, n.Name)
}

func (n *create) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (n *create) Validate() error {
	if n.MiB <= 0 || n.IOPS < 0 || n.Throughput < 0 {
		return fmt.Errorf("a volume of %d MiB", n.MiB)
	}
	return nil
}

func (n *create) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	v, err := on.Volume(ctx, n.Node, n.Name)
	f := action.CheckResult{State: action.Satisfied, Observed: action.Facts{"mib": v.Size >> 20}, Intended: action.Facts{"mib": n.MiB}}
	switch {
	case errors.Is(err, infra.ErrNoVolume):
		f.State = action.Needed
	case err == nil && v.Size>>20 != n.MiB:
		f.State, f.Reason = action.Unknown, fmt.Sprintf("node %s already has a volume %s with a different size: %s", n.Node, n.Name, v.ID)
	case err != nil:
		return f, err
	}
	return f, nil
}

func (n *create) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	if on.Volumes == nil {
		_, err := on.Volume(ctx, n.Node, n.Name) // says why
		return nil, err
	}
	zone, err := n.zone(ctx, on)
	if err != nil {
		return nil, err
	}
	v, err := on.Volumes.Create(ctx, infra.VolumeSpec{
		Size: n.MiB << 20, IOPS: n.IOPS, Throughput: n.Throughput << 20, Zone: zone, Token: c.Token,
		Tags: map[string]string{cluster.NodeTag: n.Node, cluster.VolumeTag: n.Name},
	})
	return action.Facts{"volume": v.ID}, err
}

// zone is the one that was said, or that of the node's machine.
func (n *create) zone(ctx context.Context, on *cluster.Cluster) (string, error) {
	node, err := on.Node(ctx, n.Node)
	if err != nil || n.Zone != "" {
		return n.Zone, err
	}
	if z, ok := cluster.As[cluster.Zoned](node.Host); ok {
		return z.Zone(ctx)
	}
	return "", nil
}

// Undo deletes the volume if this run made it, no machine has it, and it was never a leg.
func (n *create) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	if before, _ := c.Before["mib"].(int64); before != 0 {
		return nil
	}
	v, err := on.Volume(ctx, n.Node, n.Name)
	if errors.Is(err, infra.ErrNoVolume) {
		return nil
	}
	if err != nil {
		return err
	}
	if v.Token != c.Token {
		return &hint.PermanentError{Reason: fmt.Sprintf("volume %s of node %s was not created by this run, so it is not deleted", v.ID, n.Node)}
	}
	if v.Machine != "" {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s is attached to %s", v.ID, v.Machine), Advice: "detach it first"}
	}
	if v.Tags[superdisk.LegTag] != "" { // nobody can look at what a volume holds that no machine has
		return &hint.PermanentError{
			Reason: fmt.Sprintf("volume %s has been a leg of a Super Disk since it was created: Plimsoll cannot tell whether its data is still needed while it is detached", v.ID),
			Advice: "attach it and check it (plimsoll superdisk status), or delete it with the provider's own tool",
		}
	}
	return on.Volumes.Delete(ctx, v.ID)
}
