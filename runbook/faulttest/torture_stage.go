package faulttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/internal/poll"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// prepare brings the lab to where the runbook has something to do.
func (t *Torture) prepare(ctx context.Context, name string) error {
	for n, q := range t.Before {
		t.Say(q.Book.Name)
		s, err := t.service(ctx, fmt.Sprintf("%s-%d", name, n+1))
		if err != nil {
			return err
		}
		st, _, err := t.run(ctx, s, q, func(*journal.State) *journal.Command { return nil })
		if err = errors.Join(err, s.Store.Close()); err != nil {
			return fmt.Errorf("prepare by %s: %w", q.Book.Name, err)
		}
		if st.Outcome != journal.RunDone {
			return fmt.Errorf("prepare by %s: %s at %s: %s", q.Book.Name, st.Status(), st.Position(), st.Why)
		}
	}
	return nil
}

// sights are what a try begins with, and what must be the same after an undo: the cluster's nodes, and what the checks of a plan's
// steps say. Only what a step that nothing takes back is to make another, such as the process that it restarts, may be another.
func (t *Torture) sights(ctx context.Context, p journal.Plan) (_ map[string]string, err error) {
	all := map[string]string{}
	for _, step := range p.Steps {
		observed := maps.Clone(step.Observed)
		if own := t.Request.Book.Step(runbook.IDOf(step.Key)); step.Effect.Stays() && (own == nil || own.Undo == nil) {
			maps.DeleteFunc(observed, func(name string, _ any) bool { return step.Intended[name] == action.Another })
		}
		data, err := json.Marshal([]any{step.State, observed})
		if err != nil {
			return nil, fmt.Errorf("compare states: %w", err)
		}
		all[step.Key] = string(data)
	}
	on, err := t.Open(ctx, t.Request.Cluster)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	nodes, err := on.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	all[theNodes] = strings.Join(names, ", ")
	if t.stage == nil { // before the first try
		t.snapshot, err = look(ctx, on)
	}
	return all, err
}

// theNodes stands among sights for which nodes there are; no step is called so.
const theNodes = "the nodes"

// aftermath looks at what a run left that was undone as far as it can be, and sets the stage for the next try. What was
// all taken back need not be restored: the checks see what they saw.
func (t *Torture) aftermath(ctx context.Context, o *Report, s *execute.Service, test, run string) error {
	st, err := s.State(ctx, run)
	if err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err // it was interrupted, which is nobody's trouble
	}
	stays := o.stays(test, st)
	if st.Outcome != journal.RunUndone && st.Outcome != journal.RunCancelled {
		o.trouble(test, st.Position(), "it could not be released: "+st.Status()+": "+st.Why)
	}
	now, err := settledSights(ctx, t, s, stays)
	if interrupted := context.Cause(ctx); interrupted != nil {
		return interrupted
	}
	if err == nil && maps.Equal(now, t.stage) {
		return nil
	}
	switch {
	case stays: // declared
	case err != nil:
		o.trouble(test, "", "undone, it cannot be planned any more: "+err.Error())
	default:
		for _, key := range slices.Sorted(maps.Keys(t.stage)) {
			if now[key] != t.stage[key] {
				o.trouble(test, key, "undone, it is "+now[key]+", it was "+t.stage[key])
			}
		}
	}
	return resetStage(ctx, t, o)
}

// settledSights is what the checks see when the cluster had time to become what it was: who was away has hints or a log to take in
// first. There is nothing to wait for where something stays.
func settledSights(ctx context.Context, t *Torture, s *execute.Service, stays bool) (map[string]string, error) {
	end := time.Now().Add(t.Settle)
	for {
		var now map[string]string
		p, err := s.Prepare(ctx, t.Request)
		if err == nil {
			now, err = t.sights(ctx, p.Header.Plan)
		}
		if err == nil && maps.Equal(now, t.stage) || stays || !time.Now().Before(end) {
			return now, err
		}
		if err := poll.Rest(ctx, time.Second); err != nil {
			return nil, err
		}
	}
}

// stays notes the steps that were not taken back, and tells whether there are any.
func (o *Report) stays(test string, st *journal.State) (any bool) {
	for _, i := range st.Items {
		if !i.UndoFailed() {
			continue
		}
		any = true
		if i.Lasts {
			o.Stays = appendNew(o.Stays, i.Step.ID)
		} else {
			o.trouble(test, i.Key, "it was not undone: "+i.Error)
		}
	}
	return any
}

// resetStage brings the lab back to where every try begins.
func resetStage(ctx context.Context, t *Torture, o *Report) (err error) {
	if t.Restore == nil {
		return nil
	}
	o.Restored++
	t.Say("restore the lab")
	if err := t.Restore(ctx); err != nil {
		return err
	}
	if err := t.prepare(ctx, fmt.Sprintf("restored-%d", o.Restored)); err != nil {
		return err
	}
	s, err := t.service(ctx, fmt.Sprintf("look-%d", o.Restored))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Store.Close()) }()
	p, err := s.Prepare(ctx, t.Request)
	if err != nil {
		return fmt.Errorf("plan on the restored lab: %w", err)
	}
	if !slices.ContainsFunc(p.Header.Plan.Steps, func(step journal.PlanStep) bool { return step.State == action.Needed }) {
		return errors.New("the restored lab is not as it was: there is nothing to do")
	}
	t.stage, err = t.sights(ctx, p.Header.Plan) // its servers' processes are others
	return err
}
