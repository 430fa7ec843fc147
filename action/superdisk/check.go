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
	m, s, a, found, err := w.look(ctx, on)
	if err == nil && !found {
		return w.noArray(ctx, m, s), nil
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
	m, s, a, found, err := c.look(ctx, on)
	if err == nil && !found {
		return c.noArray(ctx, m, s), nil
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
