package superdisk

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/superdisk"
)

var waitWholeAction = action.Action{
	Name: "superdisk.wait-whole", Version: 1,
	About: "Waits until both legs of an array are in step.",
	New:   func() action.Task { return &waitWhole{array: array{Array: usual}} },
}

type waitWhole struct {
	array
}

var _ action.Verifier = (*waitWhole)(nil)

func (w *waitWhole) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

func (w *waitWhole) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, _, a, found, err := w.look(ctx, on)
	if err == nil && !found {
		return w.noArray(), nil
	}
	r := action.CheckResult{State: action.Needed, Observed: facts(a, found), Intended: action.Facts{"missing": 0}}
	if err == nil && a.Whole() {
		r.State = action.Satisfied
		return recorded(ctx, on, a, r)
	}
	return r, err
}

func (w *waitWhole) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	m, a, err := w.there(ctx, on)
	if err != nil {
		return nil, err
	}
	err = superdisk.AwaitWhole(ctx, m, a.UUID, func(a superdisk.Array) {
		if a.Sync != nil {
			c.Progress(float64(a.Sync.Done)/float64(max(1, a.Sync.Total)), fmt.Sprintf("%s left", a.Sync.Left))
		}
	})
	if err != nil {
		return nil, err
	}
	return nil, note(ctx, on, m)
}

// Verify has nothing to add: it was whole, and may be otherwise a moment later.
func (w *waitWhole) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

var checkAction = action.Action{
	Name: "superdisk.check", Version: 2,
	About: "Makes md read both legs and compare them. If something differs, what the file system uses is compared once more, and the step fails if written data of files or blocks of the file system differ. Differences elsewhere are harmless: nothing was written there since the array was created or a leg was seeded.",
	New:   func() action.Task { return &check{array: array{Array: usual}, Rate: 100 << 20} },
}

type check struct {
	array

	Rate int64 `yaml:"rate" doc:"Bytes per second to read from each leg. Default 100 MiB."`
}

var (
	_ action.Verifier       = (*check)(nil)
	_ action.InFlightWaiter = (*check)(nil)
)

func (c *check) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

func (c *check) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, _, a, found, err := c.look(ctx, on)
	if err == nil && !found {
		return c.noArray(), nil
	}
	r := action.CheckResult{State: action.Needed, Observed: facts(a, found), Intended: action.Facts{"compared": true}}
	if err == nil && a.Degraded > 0 {
		err = &hint.PermanentError{Reason: fmt.Sprintf("array %s has one leg: there is nothing to compare", a.Label()), Advice: "rebuild the other first: superdisk/rebuild -i node=" + c.Node}
	}
	return r, err
}

func (c *check) Act(ctx context.Context, on *cluster.Cluster, call action.Call) (action.Facts, error) {
	m, a, err := c.there(ctx, on)
	if err != nil {
		return nil, err
	}
	found, err := superdisk.CompareFully(ctx, m, a.UUID, c.Rate, program, action.Mark(call), call.Progress)
	if err != nil {
		return nil, err
	}
	call.Progress(1, found.String())
	kept, err := records(on)
	if err != nil {
		return nil, err
	}
	s, err := superdisk.Inspect(ctx, m)
	if err != nil {
		return nil, err
	}
	if is, there := s.Find(a.UUID); there {
		if err := kept.HaveCompared(ctx, s, is, found); err != nil {
			return nil, err
		}
	}
	out := action.Facts{"bytes_that_differ": found.Differ, "found": found.String()}
	if found.Unknown == "" {
		out["bytes_in_files"], out["bytes_of_the_file_system"] = found.InFiles, found.Other
	}
	if !found.Clean() {
		return out, &hint.PermanentError{Reason: fmt.Sprintf("array %s: %s", a.Label(), found), Advice: superdisk.WhichIsRight("superdisk/detach-network -i node="+c.Node, "superdisk/reattach-network -i node="+c.Node)}
	}
	return out, nil
}

// Verify has nothing to add: the act has read all.
func (c *check) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

// AwaitInFlight ends a comparison whose Plimsoll has died.
func (c *check) AwaitInFlight(ctx context.Context, on *cluster.Cluster, call action.Call) error {
	m, a, err := c.there(ctx, on)
	if err != nil {
		return err
	}
	return errors.Join(superdisk.StopComparing(ctx, m, a.Device), action.AwaitProcesses(ctx, m, call))
}

var wipeAction = action.Action{
	Name: "superdisk.wipe", Version: 2,
	About: "Makes a disk blank when its array is stopped, because its data is no longer needed: wipes the superblock and the beginning of the file system.",
	New:   func() action.Task { return &wipe{} },
}

type wipe struct {
	Node   string `yaml:"node,required" doc:"The node whose machine it is."`
	Volume string `yaml:"volume,required" doc:"The disk: a device, or the id of a volume."`
	UUID   string `yaml:"uuid,required" doc:"The UUID of its array: a leg of another array is refused."`
}

func (w *wipe) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (w *wipe) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	m, err := on.Machine(ctx, w.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	device, err := deviceOf(ctx, on, m, w.Node, w.Volume)
	if err != nil {
		return action.CheckResult{}, refuse(err)
	}
	d, err := superdisk.Examine(ctx, m, device)
	r := action.CheckResult{State: action.Needed, Observed: action.Facts{"holds": d.Holds, "device": device}, Intended: action.Facts{"holds": "nothing"}}
	switch {
	case err != nil:
		return r, refuse(err)
	case d.Array == "":
		r.State = action.Satisfied
	case d.Array != w.UUID:
		return r, &hint.PermanentError{Reason: fmt.Sprintf("%s is a leg of array %s, not of %s", w.Volume, d.Array, w.UUID), Advice: "it belongs to another array: name the right volume"}
	}
	return r, nil
}

func (w *wipe) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	m, err := on.Machine(ctx, w.Node)
	if err != nil {
		return nil, err
	}
	device, err := deviceOf(ctx, on, m, w.Node, w.Volume)
	if err != nil {
		return nil, refuse(err)
	}
	super, err := superdisk.ReadSuperblock(ctx, m, device)
	if errors.Is(err, superdisk.ErrNoSuperblock) || err == nil && super.UUID() != w.UUID {
		return nil, nil // an act that was interrupted had wiped it
	}
	if err != nil {
		return nil, err
	}
	if err := superdisk.StopHolders(ctx, m, device); err != nil {
		return nil, err
	}
	if err := superdisk.EraseData(ctx, m, device, super); err != nil { // else its file system would be found on the next array of this disk
		return nil, err
	}
	return nil, superdisk.Wipe(ctx, m, device)
}
