package execute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

func (r *runner) beginCheck(i *journal.Step) {
	key, uses, name, inputs := i.Key, i.Step.Uses, i.Cluster, i.Inputs
	interrupted, call, unplanned := i.Phase == journal.StepActing || i.Open, r.call(i), whyUnplanned(r, i)
	r.begin(key, looking, i.Step.Timeout, func(ctx context.Context, p *progress) (*journal.Event, error) {
		began := time.Now()
		call.Progress = p.tell
		task, err := r.state.Book.Bind(uses, inputs)
		if err != nil {
			return nil, finalError{error: err}
		}
		reading, err := r.reading.Cluster(ctx, name)
		if err != nil {
			return nil, err
		}
		if left, ok := task.(action.InFlightWaiter); ok && interrupted {
			if err := left.AwaitInFlight(ctx, reading, call); unreachable(err) {
				return nil, openError{err}
			} else if err != nil {
				return nil, finalError{error: openError{err}, asks: true}
			}
		}
		f, err := task.Check(ctx, reading)
		if err != nil {
			return nil, fmt.Errorf("check: %w", err)
		}
		return &journal.Event{Kind: journal.Checked, Step: key, Finding: &f, Took: time.Since(began), Caution: caution(task, f, unplanned)}, nil
	})
}

func (r *runner) beginAct(i *journal.Step) {
	key, uses, name, inputs := i.Key, i.Step.Uses, i.Cluster, i.Inputs
	call := r.call(i)
	task, bindErr := r.state.Book.Bind(uses, inputs)
	kind := firm
	if bindErr == nil {
		kind = kindOf(task.Traits())
	}
	r.begin(key, kind, i.Step.Timeout, func(ctx context.Context, p *progress) (*journal.Event, error) {
		call.Progress, call.Reach = p.tell, reachOf(ctx, r, key)
		if bindErr != nil {
			return nil, finalError{error: bindErr}
		}
		on, err := r.cluster.Cluster(ctx, name)
		if err != nil {
			return nil, err
		}
		act := task.Act
		if between := r.service.Between; between != nil {
			act = func(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
				return between(ctx, task, on, c)
			}
		}
		// Once more, for whoever slept since the intent was written.
		if err := mayActNow(ctx, r); err != nil {
			return nil, notBegun{err}
		}
		if reason, _ := r.guard.state(time.Now()); reason != "" && task.Traits().Effect != action.None { // to ask took a while
			return nil, notBegun{errors.New("guardrail " + reason)}
		}
		ctx, taken := r.owned(ctx)
		out, err := act(ctx, on, call)
		if lost := taken(); lost != nil {
			return nil, lost
		}
		if err != nil {
			return nil, unfinished(ctx, err, task.Traits())
		}
		return &journal.Event{Kind: journal.Acted, Step: key, Attempt: call.Attempt, Output: out, Took: time.Since(p.began)}, nil
	})
}

// takenError says that an act was refused to go on in its middle: what it would have put out is not known.
type takenError struct{ error }

func (e takenError) Unwrap() error { return e.error }

// owned is the context of an act, in which nothing is changed once the run has lost its clusters; taken says so afterwards, whatever
// the act made of the refusal.
func (r *runner) owned(ctx context.Context) (owned context.Context, taken func() error) {
	var refused atomic.Pointer[takenError]
	owned = cluster.WithOwner(ctx, func(ctx context.Context) error {
		err := r.held.StillOurs(ctx)
		if err != nil && r.held.Lost() != nil {
			refused.Store(&takenError{err})
		}
		return err
	})
	return owned, func() error {
		if e := refused.Load(); e != nil {
			return *e
		}
		return nil
	}
}

func (r *runner) call(i *journal.Step) action.Call {
	return action.Call{
		Run: r.journal.Run(), Step: i.Key, Attempt: i.Attempt, Token: i.Token, Epoch: r.state.Epoch(i), Since: i.Since, Before: i.Before,
		Resumed: !r.written[i.Begun],
	}
}

// beginVerify looks whether what was meant is so now: by the action, then by the step's own condition.
func (r *runner) beginVerify(i *journal.Step) {
	key, step, name, inputs, output := i.Key, i.Step, i.Cluster, i.Inputs, maps.Clone(i.Output)
	env := r.state.Env(i)
	r.begin(key, looking, i.Step.Timeout, func(ctx context.Context, p *progress) (*journal.Event, error) {
		task, err := r.state.Book.Bind(step.Uses, inputs)
		if err != nil {
			return nil, finalError{error: err}
		}
		reading, err := r.reading.Cluster(ctx, name)
		if err != nil {
			return nil, err
		}
		observed, err := verify(ctx, task, reading, output)
		if err == nil && step.Verify != nil {
			err = holdVerify(ctx, r, step.Verify, env, seen{task, reading, output, observed})
		}
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		return &journal.Event{Kind: journal.Verified, Step: key, Output: output, Took: time.Since(p.began)}, nil
	})
}

func verify(ctx context.Context, task action.Task, on *cluster.Cluster, output action.Facts) (action.Facts, error) {
	if v, ok := task.(action.Verifier); ok {
		return nil, v.Verify(ctx, on, output)
	}
	f, err := task.Check(ctx, on)
	if err == nil && f.State != action.Satisfied {
		err = fmt.Errorf("the result differs from the intent: found %v, intended %v", f.Observed, f.Intended)
		if f.Reason != "" {
			err = fmt.Errorf("%w (%s)", err, f.Reason)
		}
	}
	return f.Observed, err
}

// seen is what a step put out and saw, and with what it looks again.
type seen struct {
	task             action.Task
	reading          *cluster.Cluster
	output, observed action.Facts
}

// holdVerify waits until a step's own condition holds.
func holdVerify(ctx context.Context, r *runner, v *runbook.Verify, env map[string]any, s seen) error {
	end := time.Now().Add(v.Within)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		env["output"], env["observed"] = map[string]any(s.output), map[string]any(s.observed)
		ok, err := false, r.guard.proof(v.That, env, time.Now())
		if err == nil {
			ok, err = r.state.Book.Truth(v.That, env)
		}
		if ok {
			return nil
		}
		if !time.Now().Before(end) {
			if err == nil {
				err = fmt.Errorf("not true: %s", v.That)
			}
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if f, err := s.task.Check(ctx, s.reading); err == nil {
			s.observed = f.Observed
		}
	}
}

// beginUndo takes a step back and looks that it is: an undo that is found begun is done again, which must come to the same.
func (r *runner) beginUndo(i *journal.Step) {
	key, step, name, inputs := i.Key, i.Step, i.Cluster, i.Did
	call := r.call(i)
	call.Before, call.Output = i.Found, maps.Clone(i.Output)
	if call.Token == "" { // it was to be done anew: what is found by no token is that of every step
		call.Token = r.journal.Run() + "-undo-" + key
	}
	env := r.state.Env(i)
	env["observed"] = map[string]any(i.Found)
	unsettled := i.Intent != 0 || i.Open || !r.written[i.Undo]
	r.begin(key, firm, i.Step.Timeout, func(ctx context.Context, p *progress) (*journal.Event, error) {
		call.Progress, call.Reach = p.tell, reachOf(ctx, r, key)
		if err := mayActNow(ctx, r); err != nil {
			return nil, notBegun{err}
		}
		ctx, taken := r.owned(ctx)
		on, err := r.cluster.Cluster(ctx, name)
		var by action.Task // the step's own undo; nil: the action's
		if err == nil && step.Undo != nil {
			by, err = undoTask(r, step.Undo, env)
		}
		if err == nil && unsettled {
			err = r.settle(ctx, on, step.Uses, inputs, by, call)
		}
		switch {
		case err != nil:
		case by != nil:
			err = undoBy(ctx, r, on, by, call)
		default:
			err = r.undo(ctx, on, step.Uses, inputs, call)
		}
		if lost := taken(); lost != nil {
			return nil, lost
		}
		undone := &journal.Event{Kind: journal.Undone, Step: key, Took: time.Since(p.began)}
		if remains := action.RemainsOf(err); remains != nil {
			undone.Left = map[string]string{remains.What: plan.OnCluster(journal.OfRun(remains.Why, r.journal.Run()), cmp.Or(name, r.state.Header.Cluster))}
		} else if err != nil {
			return nil, fmt.Errorf("undo: %w", err)
		}
		return undone, nil
	})
}

// settle waits for what the act of a step, or an undo that was cut off, left under way: the action's own, or by another.
func (r *runner) settle(ctx context.Context, on *cluster.Cluster, uses string, inputs map[string]any, by action.Task, call action.Call) error {
	task, err := r.state.Book.Bind(uses, inputs)
	if err != nil {
		return err
	}
	reading, err := r.reading.Cluster(ctx, on.Name)
	if err != nil {
		return err
	}
	for _, t := range []action.Task{task, by} {
		if left, ok := t.(action.InFlightWaiter); ok {
			if err := left.AwaitInFlight(ctx, reading, call); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *runner) undo(ctx context.Context, on *cluster.Cluster, uses string, inputs map[string]any, call action.Call) error {
	task, err := r.state.Book.Bind(uses, inputs)
	if err != nil {
		return err
	}
	u, ok := task.(action.Undoer)
	if !ok {
		return fmt.Errorf("%s has no undo", uses)
	}
	err = u.Undo(ctx, on, call)
	if refusal := (*hint.PermanentError)(nil); task.Traits().Effect == action.Lasting && errors.As(err, &refusal) {
		return lastingError{fmt.Errorf("there is no undo once it is done: %w", err)}
	}
	return err
}

// lastingError refuses the undo of what is done for good.
type lastingError struct{ error }

func (e lastingError) Unwrap() error { return e.error }

// undoTask is the action that a step names for its undo, with its inputs.
func undoTask(r *runner, u *runbook.Use, env map[string]any) (action.Task, error) {
	with, err := r.state.Book.FillNode(u.With, env)
	if err != nil {
		return nil, err
	}
	var inputs map[string]any
	if with != nil {
		inputs, _ = with.Plain().(map[string]any)
	}
	return r.state.Book.Bind(u.Uses, inputs)
}

// undoBy takes a step back by another action.
func undoBy(ctx context.Context, r *runner, on *cluster.Cluster, task action.Task, call action.Call) error {
	reading, err := r.reading.Cluster(ctx, on.Name)
	if err != nil {
		return err
	}
	f, err := task.Check(ctx, reading)
	if err != nil || f.State == action.Satisfied {
		return err
	}
	out, err := task.Act(ctx, on, call)
	if err != nil {
		return err
	}
	_, err = verify(ctx, task, reading, out)
	return err
}

// healthTime is how long one look at all nodes may take: a node that hangs is asked anew, for it may be another by now.
const healthTime = 10 * time.Second

// beginHealth waits until all nodes but those being worked on answer.
func (r *runner) beginHealth(group *runbook.Step, target string, busy []string) {
	key := group.ID + "[" + target + "]"
	r.begin(key, looking, group.Rolling.Settle, func(ctx context.Context, p *progress) (*journal.Event, error) {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			look, looked := context.WithTimeoutCause(ctx, healthTime, fmt.Errorf("no answer within %s", healthTime))
			err := healthy(look, r.reading, busy)
			looked()
			if err == nil {
				return &journal.Event{Kind: journal.Ready, Step: key, Took: time.Since(p.began)}, nil
			}
			p.tell(-1, "waiting for the cluster to be healthy: "+runbook.FirstLine(err.Error()))
			select {
			case <-tick.C:
			case <-ctx.Done():
				return nil, fmt.Errorf("the cluster is not healthy: %w", err)
			}
		}
	})
}

func healthy(ctx context.Context, on *cluster.Cluster, busy []string) error {
	nodes, err := on.List(ctx)
	if err != nil {
		return err
	}
	var all error
	for _, n := range nodes {
		if !slices.Contains(busy, n.Name) {
			all = errors.Join(all, on.Answers(ctx, n.Name))
		}
	}
	return all
}
