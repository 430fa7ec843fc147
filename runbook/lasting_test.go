package runbook

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"plimsoll/runbook/action"
)

// lasting is an action that can be taken back until it is done; it fails where it is told to.
type lasting struct {
	Fails string `yaml:"fails,required"`

	state *string
}

func (l *lasting) Nature() action.Nature {
	return action.Nature{Effect: action.Lasting, Repeatable: true}
}

func (l *lasting) Check(context.Context, *action.Site) (action.Finding, error) {
	f := action.Finding{State: action.Needed, Observed: action.Facts{"state": *l.state}, Intended: action.Facts{"state": "done"}}
	if *l.state == "done" {
		f.State = action.Satisfied
	}
	return f, nil
}

func (l *lasting) Act(context.Context, *action.Site, action.Call) (action.Facts, error) {
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

func (l *lasting) Undo(context.Context, *action.Site, action.Call) error {
	if *l.state == "done" {
		return &action.Refusal{Reason: "somebody lives there now"}
	}
	*l.state = "none"
	return nil
}

// What lasts once it is done is taken back before, and is irreversible after, whether the journal knows that it was done or not.
func TestWhatLastsIsTakenBackUntilItIsDone(t *testing.T) {
	for fails, want := range map[string]struct {
		outcome    Outcome
		state, why string
	}{
		"half-way":   {TakenBack, "none", ""},
		"at the end": {Cancelled, "done", "undo: it is irreversible once it is done: somebody lives there now"},
		"never":      {Cancelled, "done", "it is irreversible"},
	} {
		b, state := newBench(t), "none"
		b.Actions = append(b.Actions, action.Action{
			Name: "test.lasting", Version: 1, About: "Lasts.", New: func() action.Task { return &lasting{state: &state} },
		})
		run := b.begin(Request{Book: b.parse("runbook: test/lasting\nsteps:\n  - {id: a, uses: test.lasting, with: {fails: " + strconv.Quote(fails) + "}}\n  - {id: b, uses: command, with: {run: \"false\", undo: \"true\"}}\n")})
		b.stintOf(run, Order{Do: "run"})
		st := b.stintOf(run, Order{Do: "cancel", Undo: true})
		if st.Outcome != want.outcome || state != want.state || !strings.Contains(st.Item("a").Error, want.why) {
			t.Errorf("fails %s: %s, the state is %s: %q", fails, st.Outcome, state, st.Item("a").Error)
		}
	}
}
