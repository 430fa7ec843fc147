package superdisk

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

var migrateAction = action.Action{
	Name: "superdisk.migrate", Version: 1,
	About: "Moves what lies on a local disk onto an array of which so far only the network leg exists, and mounts that in its place. The old disk is left as it is: it becomes the local leg when it is wiped and rebuilt. What uses the files must be stopped.",
	New: func() action.Task {
		return &migrate{create{array: array{Array: usual}, Chunk: 4 << 20, Reserve: 64 << 20}}
	},
}

// migrate takes what create does: local is the disk that is mounted now.
type migrate struct{ create }

var _ action.Undoer = (*migrate)(nil)

// Traits says lasting: once the files are used on the array, the old disk has not what was written since.
func (s *migrate) Traits() action.Traits {
	return action.Traits{Effect: action.Lasting, Repeatable: true}
}

func (s *migrate) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	m, status, a, found, err := s.look(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	local, network, err := s.legs(ctx, on, m)
	if err != nil {
		return action.CheckResult{}, refuse(err)
	}
	r := action.CheckResult{State: action.Needed, Observed: facts(a, found), Intended: action.Facts{"network": network, "mounted": s.Mount, "method": "files are copied from " + local}}
	if err := s.ours(a, found, network); err != nil {
		return r, err
	}
	switch {
	case found && a.Mount == s.Mount:
		r.State = action.Satisfied
		return r, nil
	case !status.Kernel.Fit:
		return r, &hint.PermanentError{Reason: status.Kernel.Why, Advice: "start the machine with another kernel"}
	case !found:
		if err := s.blank(ctx, m, network); err != nil {
			return r, err
		}
	}
	switch source, err := superdisk.MountedOn(ctx, m, s.Mount); {
	case err == nil && source == "" && found:
		r.Reason = "it was cut off while the array was mounted in the place of " + local
	case err != nil || source != local:
		return r, errors.Join(err, &hint.PermanentError{Reason: fmt.Sprintf("%s is mounted from %q, not from %s", s.Mount, source, local), Advice: "name the disk that it is mounted from"})
	}
	return r, nil
}

// ours refuses an array of that name which has not the network volume as its leg: files of another are on it.
func (s *migrate) ours(a superdisk.Array, found bool, network string) error {
	if _, in := a.On(network); !found || in {
		return nil
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("array %s (%s) is there already, and %s is no leg of it", a.Label(), a.UUID, s.Network), Advice: "give the array another name"}
}

func (s *migrate) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	m, _, a, found, err := s.look(ctx, on)
	if err != nil {
		return nil, err
	}
	local, network, err := s.legs(ctx, on, m)
	if err != nil {
		return nil, refuse(err)
	}
	if err := s.ours(a, found, network); err != nil {
		return nil, err
	}
	if !found {
		c.Progress(0, "making the array of the network leg alone")
		d := superdisk.Design{Name: s.Array, Local: local, Network: network, Chunk: s.Chunk, Reserve: s.Reserve}
		if err := superdisk.CreateAlone(ctx, m, d); err != nil {
			return nil, refuse(err)
		}
	}
	if a.Mount == "" {
		if err := superdisk.FormatBlank(ctx, m, s.path()); err != nil {
			return nil, err
		}
		if err := superdisk.Mount(ctx, m, s.path(), s.aside()); err != nil {
			return nil, err
		}
	}
	if a.Mount != s.Mount {
		c.Progress(-1, "copying files")
		if err := s.source(ctx, m, local); err != nil {
			return nil, err
		}
		if err := superdisk.CopyFiles(ctx, m, s.Mount, s.aside(), action.Mark(c)); err != nil {
			return nil, err
		}
		if err := s.swap(ctx, m); err != nil {
			return nil, err
		}
	}
	_, a, err = s.there(ctx, on)
	return action.Facts{"array": a.UUID, "device": a.Device}, errors.Join(err, note(ctx, on, m))
}

// source mounts the old disk again where it was, if an act that was cut off had unmounted it: what it has is copied once more.
func (s *migrate) source(ctx context.Context, m infra.Machine, local string) error {
	at, err := superdisk.MountedOn(ctx, m, s.Mount)
	switch {
	case err != nil:
		return err
	case at == "":
		return superdisk.Mount(ctx, m, local, s.Mount)
	case at != local:
		return &hint.PermanentError{Reason: fmt.Sprintf("%s is mounted from %s, not from %s", s.Mount, at, local), Advice: "name the disk that it is mounted from"}
	}
	return nil
}

// swap mounts the array where the old disk was.
func (s *migrate) swap(ctx context.Context, m infra.Machine) error {
	if err := superdisk.Unmount(ctx, m, s.Mount); err != nil {
		return hint.With(err, "something still uses "+s.Mount+": stop the server first (fuser -vm "+s.Mount+")")
	}
	if err := superdisk.Unmount(ctx, m, s.aside()); err != nil {
		return err
	}
	return superdisk.Mount(ctx, m, s.path(), s.Mount)
}

// AwaitInFlight waits for a copy that goes on though its Plimsoll died.
func (s *migrate) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	m, err := on.Machine(ctx, s.Node)
	if err != nil {
		return err
	}
	return action.Settled(ctx, m, c)
}

// Undo takes the array apart as long as the files are not used on it.
func (s *migrate) Undo(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	m, _, a, found, err := s.look(ctx, on)
	if err != nil {
		return err
	}
	if found && a.Mount == s.Mount {
		return &hint.PermanentError{Reason: "the files are on the array by now, and what was written since is nowhere else", Advice: "go on: superdisk/rebuild gives it its local leg"}
	}
	_, network, err := s.legs(ctx, on, m)
	if err != nil || !found {
		return err
	}
	if err := s.ours(a, found, network); err != nil {
		return err
	}
	if a.Mount != "" {
		if err := superdisk.Unmount(ctx, m, a.Mount); err != nil {
			return err
		}
	}
	if err := superdisk.Erase(ctx, m, a.Device); err != nil {
		return err
	}
	if err := superdisk.Stop(ctx, m, a.Device); err != nil {
		return err
	}
	return superdisk.Wipe(ctx, m, network)
}

var eraseAction = action.Action{
	Name: "superdisk.erase", Version: 1,
	About: "Takes from a disk that is not mounted that it holds a file system, so that it can become a leg. What was on it is lost.",
	New:   func() action.Task { return &erase{} },
}

type erase struct {
	Node   string `yaml:"node,required" doc:"On which node's machine."`
	Volume string `yaml:"volume,required" doc:"The disk: a device, or the id of a volume."`
}

func (e *erase) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (e *erase) look(ctx context.Context, on *cluster.Cluster) (infra.Machine, superdisk.Disk, error) {
	m, err := on.Machine(ctx, e.Node)
	if err != nil {
		return m, superdisk.Disk{}, err
	}
	device, err := deviceOf(ctx, on, m, e.Node, e.Volume)
	if err != nil {
		return m, superdisk.Disk{}, refuse(err)
	}
	d, err := superdisk.Examine(ctx, m, device)
	return m, d, err
}

func (e *erase) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, d, err := e.look(ctx, on)
	r := action.CheckResult{State: action.Needed, Observed: action.Facts{"device": d.Device, "holds": d.Holds}, Intended: action.Facts{"holds": "nothing"}}
	switch {
	case err != nil:
	case d.Holds == "":
		r.State = action.Satisfied
	case d.Used:
		r.Reason = d.Holds // an earlier step may free it
	}
	return r, err
}

func (e *erase) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	m, d, err := e.look(ctx, on)
	if err != nil || d.Holds == "" {
		return nil, err
	}
	if d.Used || d.Array != "" {
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("%s is not erased: %s", d.Device, d.Holds), Advice: "name the disk that is of no use any more"}
	}
	return nil, superdisk.Erase(ctx, m, d.Device)
}
