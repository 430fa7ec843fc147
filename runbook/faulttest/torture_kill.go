package faulttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// kill kills the process at every write, lets another go on, and looks at the journal. Just before a write things are as just
// after the one before it, unless an act is under way: then both are tried.
func (t *Torture) kill(ctx context.Context, o *Report) error {
	if _, err := killAt(ctx, t, o, durable.Moment{Number: 1, Before: true}); err != nil {
		return err
	}
	for n := 1; ; n++ {
		left, err := killAt(ctx, t, o, durable.Moment{Number: n})
		if err != nil || !left.cut {
			return err
		}
		if left.acting {
			if _, err := killAt(ctx, t, o, durable.Moment{Number: n + 1, Before: true}); err != nil {
				return err
			}
		}
	}
}

// left is what a death leaves.
type left struct {
	cut    bool // it came to it
	acting bool // an act was under way
}

// killAt kills a run at a moment, lets another process go on, and takes it back.
func killAt(ctx context.Context, t *Torture, o *Report, at durable.Moment) (l left, err error) {
	test := fmt.Sprintf("killed at entry %d", at.Number)
	if at.Before {
		test = fmt.Sprintf("killed before entry %d", at.Number)
	}
	t.Say(test)
	o.Tries++
	folder := filepath.Join(t.Folder, strings.ReplaceAll(test, " ", "-"))
	fate, err := t.Child(ctx, folder, at, nil)
	if err != nil {
		return l, fmt.Errorf("%s: %w", test, err)
	}
	l.cut = fate.Cut
	began := time.Now()
	if fate.Cut {
		if fate, err = t.Child(ctx, folder, durable.Moment{}, nil); err != nil {
			return l, fmt.Errorf("%s, continued: %w", test, err)
		}
	}
	s, err := t.reopen(ctx, folder)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, s.Store.Close()) }()
	run, entries, err := only(ctx, s)
	if err != nil {
		return l, fmt.Errorf("%s: %w: %s", test, err, fate.Said)
	}
	survived := at.Number // how many entries the death left
	if at.Before {
		survived--
	}
	if l.cut && len(entries) > survived {
		o.Resumed = max(o.Resumed, entries[survived].At.Sub(began))
		st, err := journal.Fold(entries[:survived], t.Actions)
		if err != nil {
			return l, fmt.Errorf("%s: %w", test, err)
		}
		for _, i := range st.Items {
			l.acting = l.acting || i.Phase == journal.StepActing || i.Phase == journal.StepUndoing
		}
	}
	if err := examineRun(ctx, o, test, s, run, entries); err != nil {
		return l, err
	}
	if st, err := s.State(ctx, run); err != nil {
		return l, err
	} else if st.Outcome == journal.RunDone {
		if err := t.examineCluster(ctx, o, test); err != nil {
			return l, err
		}
	}
	if err := t.giveBack(ctx, s, run); err != nil {
		return l, fmt.Errorf("%s, undone: %w", test, err)
	}
	if err := t.examineClaim(ctx, o, test, run); err != nil {
		return l, err
	}
	return l, t.aftermath(ctx, o, s, test, run)
}

// only is the one run of a store, with its journal.
func only(ctx context.Context, s *execute.Service) (run string, _ []durable.Entry, err error) {
	runs, err := s.Store.Runs(ctx)
	if err != nil {
		return "", nil, err
	}
	if len(runs) == 0 {
		return "", nil, errors.New("no run was begun")
	}
	entries, err := s.Store.Entries(ctx, runs[0].ID)
	return runs[0].ID, entries, err
}

// examineRun looks at the journal of a run that was killed and went on: no finished step may begin again, nothing be done twice
// that cannot be repeated, and it is done or a person is asked.
func examineRun(ctx context.Context, o *Report, test string, s *execute.Service, run string, entries []durable.Entry) error {
	if err := durable.VerifyChain(entries); err != nil {
		o.trouble(test, "", err.Error())
	}
	st, err := s.State(ctx, run)
	if err != nil {
		return err
	}
	finished, begun := map[string]bool{}, map[string]bool{}
	for _, entry := range entries {
		var e journal.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			return fmt.Errorf("%s: %w", test, err)
		}
		switch e.Kind {
		case journal.Intended:
			if finished[e.Step] {
				o.trouble(test, e.Step, "a finished step ran again")
			}
			if begun[e.Step] && !repeatable(st, e.Step) {
				o.trouble(test, e.Step, "a step that must not be repeated was repeated")
			}
			begun[e.Step] = true
		case journal.Cut:
			begun[e.Step] = false
		case journal.Verified:
			finished[e.Step] = true
		}
	}
	if st.Outcome == journal.RunDone {
		return nil
	}
	asks := false
	for _, i := range st.Items {
		if i.Asks {
			asks = true
			o.Asks = appendNew(o.Asks, i.Step.ID)
		}
	}
	if !asks {
		o.trouble(test, st.Position(), "it did not finish: "+st.Status()+": "+failures(st))
	}
	return nil
}

// failures is why a run did not come to its end.
func failures(st *journal.State) string {
	all := []string{}
	for _, i := range st.Items {
		if i.Error != "" {
			all = append(all, i.Error)
		}
	}
	if st.Why != "" {
		all = append(all, st.Why)
	}
	return strings.Join(all, "; ")
}

// repeatable tells whether a step says that it may act again after it was cut off.
func repeatable(st *journal.State, key string) bool {
	i := st.Item(key)
	if i == nil {
		return false
	}
	task, err := st.Book.Bind(i.Step.Uses, i.Inputs)
	return err == nil && task.Traits().Repeatable
}

// giveBack takes a run back as far as it can be.
func (t *Torture) giveBack(ctx context.Context, s *execute.Service, run string) error {
	return t.cancel(ctx, s, run, journal.Command{Do: journal.DoCancel, Undo: true, Reason: "torture"})
}

// giveUp ends a run whose cluster others have had, as its refusal advises: it leaves the cluster as it is.
func (t *Torture) giveUp(ctx context.Context, s *execute.Service, run string) error {
	return t.cancel(ctx, s, run, journal.Command{Do: journal.DoCancel, Leave: "torture", Reason: "torture"})
}

func (t *Torture) cancel(ctx context.Context, s *execute.Service, run string, first journal.Command) error {
	e, err := s.Execute(ctx)
	if err != nil {
		return err
	}
	for o := &first; o != nil && err == nil; {
		if err = s.Start(ctx, e, run, *o); err == nil {
			err = e.Wait(ctx, run)
		}
		var st *journal.State
		if err == nil {
			if st, err = s.State(ctx, run); err == nil {
				o = takeBack(st)
			}
		}
	}
	return errors.Join(err, e.Close(ctx))
}
