package faulttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// takeBack cancels with undo, and what cannot be taken back is left.
func takeBack(st *journal.State) *journal.Command {
	o := journal.Command{Do: journal.DoCancel, Undo: true, Reason: "torture"}
	last := journal.Command{}
	if len(st.Orders) > 0 {
		last = st.Orders[len(st.Orders)-1]
	}
	switch {
	case last.Do != journal.DoCancel:
		return &o
	case !st.Outcome.Over() && last.Leave == "": // it was not taken, or an undo failed: what stands is left, for the next try
		o.Leave = "torture"
		return &o
	}
	return nil
}

// twice lets every repeatable act happen twice, and takes the run back.
func (t *Torture) twice(ctx context.Context, o *Report) error {
	var again sync.Map // the steps that failed the second time
	o.again = &again
	defer func() { o.again = nil }()
	return failAndUndo(ctx, t, o, "twice", func(ctx context.Context, task action.Task, on *cluster.Cluster, c action.Call) (action.Facts, error) {
		out, err := task.Act(ctx, on, c)
		if err != nil || !task.Traits().Repeatable {
			return out, err
		}
		if out, err = task.Act(ctx, on, c); err != nil {
			again.Store(c.Step, true)
			return out, fmt.Errorf("the second time: %w", err)
		}
		return out, nil
	}, "")
}

// fail lets one step after another fail when it has acted, and takes the run back.
func (t *Torture) fail(ctx context.Context, o *Report) error {
	var ids []string
	runbook.EachStep(t.Request.Book.Steps, func(s *runbook.Step) {
		if s.Uses != "" {
			ids = append(ids, s.ID)
		}
	})
	for _, id := range ids {
		acted := false
		if err := failAndUndo(ctx, t, o, "failed at "+id, func(ctx context.Context, task action.Task, on *cluster.Cluster, c action.Call) (action.Facts, error) {
			out, err := task.Act(ctx, on, c)
			acted = acted || runbook.IDOf(c.Step) == id
			if err == nil && runbook.IDOf(c.Step) == id {
				err = &hint.PermanentError{Reason: "failed by the torture"}
			}
			return out, err
		}, id); err != nil {
			return err
		}
		if !acted {
			o.Untried = appendNew(o.Untried, id)
		}
	}
	return nil
}

// failAndUndo runs with an actor in between, takes the run back and compares what the checks see.
func failAndUndo(ctx context.Context, t *Torture, o *Report, test string, act execute.Actor, failing string) (err error) {
	o.Tries++
	t.Say(test)
	s, err := t.service(ctx, strings.ReplaceAll(test, " ", "-"))
	if err != nil {
		return err
	}
	s.Between = act
	defer func() { err = errors.Join(err, s.Store.Close()) }()
	first := true
	_, run, err := t.run(ctx, s, t.Request, func(st *journal.State) *journal.Command {
		if first {
			o.unexpected(test, failing, st)
		}
		first = false
		return takeBack(st)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", test, err)
	}
	return t.aftermath(ctx, o, s, test, run)
}

// unexpected notes steps that failed though nobody let them fail.
func (o *Report) unexpected(test, failing string, st *journal.State) {
	for _, i := range st.Items {
		twice := false
		if o.again != nil {
			_, twice = o.again.Load(i.Key)
		}
		switch {
		case i.Phase != journal.StepFailed || i.Step.ID == failing:
		case twice:
			o.trouble(test, i.Key, "it is not repeatable: "+i.Error)
		default:
			o.trouble(test, i.Key, "it failed: "+i.Error)
		}
	}
	if st.Outcome != journal.RunDone && st.Outcome != journal.RunFailed && (failing == "" || st.FailureUndone() == "") {
		o.trouble(test, st.Position(), "it did not finish: "+st.Status()+": "+st.Why)
	}
}
