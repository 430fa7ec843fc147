package execute

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// lasting is an action that can be taken back until it is done; it fails where it is told to.
type lasting struct {
	Fails string `yaml:"fails,required"`

	state *string
}

func (l *lasting) Traits() action.Traits {
	return action.Traits{Effect: action.Lasting, Repeatable: true}
}

func (l *lasting) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"state": *l.state}, Intended: action.Facts{"state": "done"}}
	if *l.state == "done" {
		f.State = action.Satisfied
	}
	return f, nil
}

func (l *lasting) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	*l.state = "half"
	if l.Fails == "half-way" {
		return nil, errors.New("half-way")
	}
	*l.state = "done"
	if l.Fails == "at the end" {
		return nil, errors.New("at the end")
	}
	return nil, nil
}

func (l *lasting) Undo(context.Context, *cluster.Cluster, action.Call) error {
	if *l.state == "done" {
		return &hint.PermanentError{Reason: "somebody lives there now"}
	}
	*l.state = "none"
	return nil
}

// What lasts once it is done is taken back before, and stays after, whether the journal knows that it was done or not.
func TestWhatLastsIsTakenBackUntilItIsDone(t *testing.T) {
	t.Parallel()
	for fails, want := range map[string]struct {
		outcome    journal.Outcome
		state, why string
	}{
		"half-way":   {journal.RunUndone, "none", ""},
		"at the end": {journal.RunFailed, "done", "undo: there is no undo once it is done: somebody lives there now"},
		"never":      {journal.RunFailed, "done", ""}, // the cancellation is not taken
	} {
		b, state := newBench(t), "none"
		b.Actions = append(b.Actions, action.Action{
			Name: "test.lasting", Version: 1, About: "Lasts.", New: func() action.Task { return &lasting{state: &state} },
		})
		run := b.begin(Request{Book: b.parse("runbook: test/lasting\nsteps:\n  - {id: a, uses: test.lasting, with: {fails: " + strconv.Quote(fails) + "}}\n  - {id: b, uses: command, with: {run: \"false\", undo: \"true\"}}\n")})
		b.runSession(run, journal.Command{Do: "run"})
		st := b.runSession(run, journal.Command{Do: "cancel", Undo: true})
		if st.Outcome != want.outcome || state != want.state || !strings.Contains(st.Item("a").Error, want.why) {
			t.Errorf("fails %s: %s, the state is %s: %q", fails, st.Outcome, state, st.Item("a").Error)
		}
		if want.outcome == journal.RunUndone {
			continue
		}
		if refused := "step a is done, and cannot be undone"; fails == "never" && !strings.Contains(st.Refused, refused) {
			t.Errorf("cancel says %q, want %q", st.Refused, refused)
		}
		if lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1")); err != nil || lease.Holder != run {
			t.Errorf("the cluster is held by %q, %v", lease.Holder, err)
		}
		if st := b.runSession(run, journal.Command{Do: "cancel", Undo: true, Leave: "we live with it"}); st.Outcome != journal.RunCancelled || state != want.state {
			t.Errorf("fails %s, left: %s, the state is %s", fails, st.Outcome, state)
		}
	}
}
