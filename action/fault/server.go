package fault

import (
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra/disk/pace"
)

// onServer is whose server.
type onServer struct {
	Node string `yaml:"node,required" doc:"Which node."`
}

// offered is what a node's server can be treated to; it refuses where the server does not offer it.
func offered[T any](ctx context.Context, on *cluster.Cluster, node, what string) (offers T, err error) {
	server, err := offering[T](ctx, on, node, what)
	if err != nil {
		return offers, err
	}
	offers, _ = cluster.As[T](server)
	return offers, nil
}

// offering is the server of a node that offers something, also where it may only be looked at; it refuses one that does not.
func offering[T any](ctx context.Context, on *cluster.Cluster, node, what string) (cluster.Server, error) {
	if err := allowed(on); err != nil {
		return nil, err
	}
	n, err := on.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	if !cluster.Can[T](n.Server) {
		return nil, cluster.OnlyInALab(what, fmt.Sprintf("node %s of %s", n.Name, on.Name))
	}
	return n.Server, nil
}

var powerAction = action.Action{
	Name: "fault.power-fail", Version: 1,
	About: "Ends a node's server as a loss of power would: it is killed, and everything that it had not synced is lost. Only in a lab with forgetful: true.",
	New:   func() action.Task { return &powerFail{} },
}

type powerFail struct{ onServer }

func (p *powerFail) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// Check finds whether the server runs: only then is there something to lose.
func (p *powerFail) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	server, err := offering[cluster.Powered](ctx, on, p.Node, "a power failure")
	if err != nil {
		return action.CheckResult{}, err
	}
	running, err := server.Running(ctx)
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"running": running}, Intended: action.Facts{"running": false}}
	if !running {
		f.State = action.Satisfied
	}
	return f, err
}

// Act says what was lost.
func (p *powerFail) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	server, err := offered[cluster.Powered](ctx, on, p.Node, "a power failure")
	if err != nil {
		return nil, err
	}
	lost, err := server.PowerFail(ctx)
	if err != nil {
		return nil, err
	}
	return action.Facts{"files": lost.Files, "bytes": lost.Bytes, "names": lost.Names}, nil
}

var diskAction = action.Action{
	Name: "fault.change-disk", Version: 1,
	About: "Gives a node's disk other limits while its server runs, as a cloud modifies a volume, but at once. Only in a lab with a disk.",
	New:   func() action.Task { return &changeDisk{} },
}

type changeDisk struct {
	onServer
	pace.DiskText
}

var _ action.Verifier = (*changeDisk)(nil)

func (d *changeDisk) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (d *changeDisk) Validate() error {
	_, err := d.Disk()
	return err
}

// Check finds that it can be done; which limits a disk has now, the server does not know.
func (d *changeDisk) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	disk, err := d.Disk()
	if err != nil {
		return action.CheckResult{}, err
	}
	if _, err := offering[cluster.DiskLimited](ctx, on, d.Node, "another disk"); err != nil {
		return action.CheckResult{}, err
	}
	return action.CheckResult{State: action.Needed, Intended: action.Facts{"disk": disk.Volume.String()}}, nil
}

func (d *changeDisk) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	disk, err := d.Disk()
	if err != nil {
		return nil, err
	}
	server, err := offered[cluster.DiskLimited](ctx, on, d.Node, "another disk")
	if err != nil {
		return nil, err
	}
	return nil, server.SetDisk(ctx, disk)
}

// Verify has nothing to ask: the act waits until the disk has its limits.
func (d *changeDisk) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }
