package lab

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/infra/disk/pace"
	"plimsoll/lab/forgetful"
)

// Server is the server of one node, for those who hold its cluster. Whatever changes it waits for the operation of the cluster that is
// under way.
type Server struct {
	cluster *Cluster
	node    string
}

var (
	_ cluster.Server           = Server{}
	_ cluster.FaultProneServer = Server{}
	_ cluster.Identified       = Server{}
	_ cluster.Assignable       = Server{}
	_ cluster.Joining          = Server{}
	_ cluster.Monitored        = Server{}
	_ cluster.Copyable         = Server{}
	_ cluster.Logged           = Server{}

	_ cluster.Powered        = Server{}
	_ cluster.Reconfigurable = Server{}
	_ cluster.DiskLimited    = Server{}
)

// do does something to the server as an operation of its cluster.
func (s Server) do(ctx context.Context, what func(context.Context, *member) error) error {
	return s.cluster.each(ctx, []string{s.node}, what)
}

// now is what its cluster says of its node.
func (s Server) now() (Node, error) {
	m, err := s.cluster.roster.find(s.node)
	if err != nil {
		return Node{}, fmt.Errorf("%w: %w", cluster.ErrNoNode, err)
	}
	return m.now(), nil
}

// Running tells whether it runs, frozen or not.
func (s Server) Running(context.Context) (bool, error) {
	n, err := s.now()
	return err == nil && n.State != Stopped, err
}

// Frozen tells whether it is frozen (SIGSTOP).
func (s Server) Frozen(context.Context) (bool, error) {
	n, err := s.now()
	return n.State == Frozen, err
}

// Process is its process id.
func (s Server) Process(context.Context) (string, error) {
	n, err := s.now()
	return strconv.Itoa(n.PID), err
}

// LogFile is the file on its machine in which it says what happens to it.
func (s Server) LogFile(context.Context) (string, error) {
	n, err := s.now()
	if err != nil {
		return "", err
	}
	return n.Log(), nil
}

// Machine is where it runs.
func (s Server) Machine() infra.Machine {
	m, err := s.cluster.roster.find(s.node)
	if err != nil {
		return absent(s.node)
	}
	return m.host.machine()
}

// Tool is the command that has the engine's own tool, such as nodetool, do something with it.
func (s Server) Tool(args ...string) (infra.Command, error) {
	tooled, ok := s.cluster.launcher.(engine.Tooled)
	if !ok {
		return infra.Command{}, fmt.Errorf("servers of %s have no client of their own", s.cluster.record.Dist.Product)
	}
	n, err := s.now()
	if err != nil {
		return infra.Command{}, err
	}
	return tooled.Tool(n.Node, args...), nil
}

// Start starts it, if it does not run, and returns when it serves and is part of the cluster.
func (s Server) Start(ctx context.Context) error { return s.cluster.Start(ctx, s.node) }

// Launch starts it, if it does not run, and does not wait until it serves: for those that join as they start, and take long.
func (s Server) Launch(ctx context.Context) error {
	return s.do(ctx, func(ctx context.Context, m *member) error {
		if m.state() != Stopped {
			return nil
		}
		p, err := m.launch(ctx)
		if err == nil {
			m.watch(ctx, p)
		}
		return err
	})
}

// Stop ends it cleanly, if it runs; a frozen one is thawed for it.
func (s Server) Stop(ctx context.Context) error { return s.cluster.Stop(ctx, s.node) }

// Restart stops and starts it.
func (s Server) Restart(ctx context.Context) error { return s.cluster.Restart(ctx, s.node) }

// Kill ends it with SIGKILL, as a crash would.
func (s Server) Kill(ctx context.Context) error { return s.cluster.Kill(ctx, s.node) }

// PowerFail ends it as a loss of power would; see Cluster.PowerFail.
func (s Server) PowerFail(ctx context.Context) (cluster.Forgotten, error) {
	f, err := s.cluster.PowerFail(ctx, s.node)
	return cluster.Forgotten{Files: f.Files, Bytes: f.Bytes, Names: f.Names}, err
}

// Freeze stops it in its tracks: connections stay open and nothing answers, as when a host hangs.
func (s Server) Freeze(ctx context.Context) error {
	return s.do(ctx, func(ctx context.Context, m *member) error { return m.suspend(ctx, "STOP") })
}

// Thaw lets it go on.
func (s Server) Thaw(ctx context.Context) error {
	return s.do(ctx, func(ctx context.Context, m *member) error { return m.suspend(ctx, "CONT") })
}

// ExpectEnd says that it is going to end by itself, before it is started again: Died does not tell of it.
func (s Server) ExpectEnd(context.Context) error {
	m, err := s.cluster.roster.find(s.node)
	if err != nil {
		return err
	}
	m.process.expectEnd()
	return nil
}

// Assigned are the settings of this node alone, over those of the cluster.
func (s Server) Assigned(context.Context) (map[string]string, error) {
	if _, err := s.now(); err != nil {
		return nil, err
	}
	return s.cluster.record.own(s.node), nil
}

// Assign gives the node settings of its own in place of those it had. They hold from the next start; what runs goes on as it is.
func (s Server) Assign(ctx context.Context, own map[string]string) error {
	return s.do(ctx, func(ctx context.Context, m *member) error { return m.assign(ctx, own) })
}

// Settings are those that Reconfigure replaces: what Assign gave to the node alone is not among them.
func (s Server) Settings(context.Context) (map[string]string, error) {
	if _, err := s.now(); err != nil {
		return nil, err
	}
	return s.cluster.record.config(s.node), nil
}

// Reconfigure gives it these settings in place of those of the cluster, and restarts it; see Cluster.Reconfigure.
func (s Server) Reconfigure(ctx context.Context, settings map[string]string) error {
	return s.cluster.Reconfigure(ctx, settings, s.node)
}

// SetDisk gives it a disk of other limits while it runs; see Cluster.SetDisk.
func (s Server) SetDisk(ctx context.Context, d *pace.Disk) error {
	return s.cluster.SetDisk(ctx, d, s.node)
}

// Disk is its disk as it is now, with what is left in the bucket; nil if it has none with limits.
func (s Server) Disk(ctx context.Context) (*pace.Disk, error) {
	m, err := s.cluster.roster.find(s.node)
	if err != nil || s.cluster.record.Disk == nil {
		return nil, err
	}
	return m.layer.disk(ctx, m.node())
}

// Requests are those that were made of its disk until within the last second; none if it has no disk with limits.
func (s Server) Requests(ctx context.Context) (cluster.DiskRequests, error) {
	state, err := s.DiskState(ctx)
	if errors.Is(err, ErrNoDisk) {
		err = nil
	}
	return cluster.DiskRequests{At: state.At, Reads: state.Reads, Writes: state.Writes}, err
}

// CopyOf is the node whose data it has; "" if it has its own.
func (s Server) CopyOf(context.Context) (string, error) {
	n, err := s.now()
	return n.CopyOf, err
}

// CopyFrom gives it, while it does not run, the data of another as it is at one moment, and tells how long the other was frozen for
// that. What it had before is kept for CopyBack.
func (s Server) CopyFrom(ctx context.Context, node string) (frozen time.Duration, err error) {
	err = s.do(ctx, func(ctx context.Context, m *member) error {
		source, err := s.cluster.roster.find(node)
		if err != nil {
			return err
		}
		frozen, err = m.snapshot(ctx, source)
		return err
	})
	return frozen, err
}

// CopyBack gives it, while it does not run, its own data back. It is fine if it has it.
func (s Server) CopyBack(ctx context.Context) error {
	return s.do(ctx, func(ctx context.Context, m *member) error { return m.revert(ctx) })
}

// DiskState is how its disk was within the last second; ErrNoDisk if it has none.
func (s Server) DiskState(ctx context.Context) (forgetful.DiskState, error) {
	m, err := s.cluster.roster.find(s.node)
	if err != nil || s.cluster.record.Disk == nil {
		return forgetful.DiskState{}, ErrNoDisk
	}
	return m.layer.diskState(ctx, m.node())
}

// Host is the machine with a kernel of its own on which it runs, if it has one.
func (s Server) Host() Host { return Host(s) }
