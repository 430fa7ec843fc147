package runbook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/runbook/action"
)

// progress is how far an act says it is.
type progress struct {
	mu    sync.Mutex
	share float64
	text  string
	began time.Time
}

func (p *progress) tell(share float64, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share, p.text = share, text
}

func (p *progress) now() (float64, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.share, p.text
}

// job is one thing that is being done: a check, an act, a verification, an undo, a look at the cluster's health.
type job struct {
	key      string
	progress progress
}

// begin does f beside the loop; what came of it comes back on results.
func (r *runner) begin(key string, timeout time.Duration, f func(ctx context.Context, p *progress) (*Event, error)) {
	j := &job{key: key}
	j.progress.share, j.progress.began = -1, time.Now()
	r.jobs[key] = j
	ctx, cancel := context.WithTimeoutCause(r.acting, timeout, fmt.Errorf("not done after %s", timeout))
	r.group.Go(func() {
		defer cancel()
		e, err := f(ctx, &j.progress)
		if err != nil {
			err = explain(ctx, err)
		}
		r.results <- result{key: key, event: e, err: err, cut: ctx.Err() != nil}
	})
}

// result is what came of a job: an event or an error.
type result struct {
	key   string
	event *Event
	err   error
	cut   bool // it was cut off in the middle
}

// finalError is one that no further attempt can mend.
type finalError struct {
	error
	asks bool // a person must look how things stand
}

func (e finalError) Unwrap() error { return e.error }

func (r *runner) beginCheck(i *Item) {
	key, uses, inputs := i.Key, i.Step.Uses, i.Inputs
	interrupted, call := i.Phase == Acting, r.call(i)
	r.begin(key, i.Step.Timeout, func(ctx context.Context, _ *progress) (*Event, error) {
		began := time.Now()
		task, err := r.state.Book.bind(uses, inputs)
		if err != nil {
			return nil, finalError{error: err}
		}
		if left, ok := task.(action.Settler); ok && interrupted {
			if err := left.Settle(ctx, r.reading, call); err != nil {
				return nil, finalError{error: err, asks: true}
			}
		}
		f, err := task.Check(ctx, r.reading)
		if err != nil {
			return nil, fmt.Errorf("check: %w", err)
		}
		e := &Event{Kind: Checked, Step: key, Finding: &f, Took: time.Since(began)}
		if c, ok := task.(action.Cautious); ok && f.State == action.Needed {
			e.Caution = c.Caution(f)
		}
		return e, nil
	})
}

func (r *runner) beginAct(i *Item) {
	key, inputs := i.Key, i.Inputs
	call := r.call(i)
	r.begin(key, i.Step.Timeout, func(ctx context.Context, p *progress) (*Event, error) {
		call.Progress = p.tell
		task, err := r.state.Book.bind(i.Step.Uses, inputs)
		if err != nil {
			return nil, finalError{error: err}
		}
		act := task.Act
		if between := r.service.act; between != nil {
			act = func(ctx context.Context, on *action.Site, c action.Call) (action.Facts, error) {
				return between(ctx, task, on, c)
			}
		}
		out, err := act(ctx, r.site, call)
		if err != nil {
			// Cut off in the middle, an act that cannot be repeated leaves something that only a person can judge.
			if ctx.Err() != nil && !task.Nature().Repeatable {
				return nil, finalError{error: explain(ctx, err), asks: true}
			}
			return nil, err
		}
		return &Event{Kind: Acted, Step: key, Attempt: call.Attempt, Output: out, Took: time.Since(p.began)}, nil
	})
}

func (r *runner) call(i *Item) action.Call {
	return action.Call{
		Run: r.journal.Run(), Step: i.Key, Attempt: i.Attempt, Token: i.Token, Epoch: r.state.Epoch, Since: i.Since, Before: i.Before,
	}
}

// beginVerify looks whether what was meant is so now: by the action, then by the step's own condition.
func (r *runner) beginVerify(i *Item) {
	key, inputs, output := i.Key, i.Inputs, i.Output
	env := r.state.env(i)
	r.begin(key, i.Step.Timeout, func(ctx context.Context, _ *progress) (*Event, error) {
		task, err := r.state.Book.bind(i.Step.Uses, inputs)
		if err != nil {
			return nil, finalError{error: err}
		}
		observed, err := verify(ctx, task, r.reading, output)
		if err == nil && i.Step.Verify != nil {
			err = r.hold(ctx, i.Step.Verify, env, task, output, observed)
		}
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		return &Event{Kind: Verified, Step: key, Output: output}, nil
	})
}

func verify(ctx context.Context, task action.Task, site *action.Site, output action.Facts) (action.Facts, error) {
	if v, ok := task.(action.Verifier); ok {
		return nil, v.Verify(ctx, site, output)
	}
	f, err := task.Check(ctx, site)
	if err == nil && f.State != action.Satisfied {
		err = fmt.Errorf("it is not so afterwards: %v, intended %v", f.Observed, f.Intended)
		if f.Reason != "" {
			err = fmt.Errorf("%w (%s)", err, f.Reason)
		}
	}
	return f.Observed, err
}

// hold waits until a step's own condition holds.
func (r *runner) hold(ctx context.Context, v *Verify, env map[string]any, task action.Task, output, observed action.Facts) error {
	end := time.Now().Add(v.Within)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		env["output"], env["observed"] = map[string]any(output), map[string]any(observed)
		ok, err := r.state.Book.compiled.truth(v.That, env)
		if ok {
			return nil
		}
		if !time.Now().Before(end) {
			if err == nil {
				err = fmt.Errorf("%s does not hold", v.That)
			}
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if f, err := task.Check(ctx, r.reading); err == nil {
			observed = f.Observed
		}
	}
}

// beginUndo takes a step back and looks that it is: an undo that is found begun is done again, which must come to the same.
func (r *runner) beginUndo(i *Item) {
	key, inputs := i.Key, i.Inputs
	call := r.call(i)
	call.Before = i.Found
	env := r.state.env(i)
	env["observed"] = map[string]any(i.Found)
	r.begin(key, i.Step.Timeout, func(ctx context.Context, p *progress) (*Event, error) {
		call.Progress = p.tell
		var err error
		if i.Step.Undo != nil {
			err = r.undoBy(ctx, i.Step.Undo, env, call)
		} else {
			err = r.undo(ctx, i.Step.Uses, inputs, call)
		}
		if err != nil {
			return nil, fmt.Errorf("undo: %w", err)
		}
		return &Event{Kind: Undone, Step: key, Took: time.Since(p.began)}, nil
	})
}

func (r *runner) undo(ctx context.Context, uses string, inputs map[string]any, call action.Call) error {
	task, err := r.state.Book.bind(uses, inputs)
	if err != nil {
		return err
	}
	u, ok := task.(action.Undoer)
	if !ok {
		return fmt.Errorf("%s has no undo", uses)
	}
	return u.Undo(ctx, r.site, call)
}

// undoBy takes a step back by another action.
func (r *runner) undoBy(ctx context.Context, u *Use, env map[string]any, call action.Call) error {
	with, err := r.state.Book.compiled.fillNode(u.With, env)
	if err != nil {
		return err
	}
	var inputs map[string]any
	if with != nil {
		inputs, _ = with.Plain().(map[string]any)
	}
	task, err := r.state.Book.bind(u.Uses, inputs)
	if err != nil {
		return err
	}
	f, err := task.Check(ctx, r.reading)
	if err != nil || f.State == action.Satisfied {
		return err
	}
	out, err := task.Act(ctx, r.site, call)
	if err != nil {
		return err
	}
	_, err = verify(ctx, task, r.reading, out)
	return err
}

// beginHealth waits until all nodes but those being worked on answer.
func (r *runner) beginHealth(group *Step, target string, busy []string) {
	key := group.ID + "[" + target + "]"
	r.begin(key, group.Rolling.Settle, func(ctx context.Context, p *progress) (*Event, error) {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			err := healthy(ctx, r.reading, busy)
			if err == nil {
				return &Event{Kind: Ready, Step: key}, nil
			}
			p.tell(-1, "waiting for the cluster: "+firstLine(err.Error()))
			select {
			case <-tick.C:
			case <-ctx.Done():
				return nil, fmt.Errorf("the cluster is not healthy: %w", err)
			}
		}
	})
}

func healthy(ctx context.Context, site *action.Site, busy []string) error {
	nodes, err := site.List(ctx)
	if err != nil {
		return err
	}
	var all error
	for _, n := range nodes {
		if !slices.Contains(busy, n.Name) {
			all = errors.Join(all, site.Answers(ctx, n.Name))
		}
	}
	return all
}

// failure is the event of a failed attempt. An undo that failed leaves the step stuck; a cluster that is not healthy
// ends the run.
func (r *runner) failure(res result) *Event {
	text := res.err.Error()
	i := r.state.Item(res.key)
	if i == nil {
		return &Event{Kind: Ended, Outcome: Broken, Reason: "before " + res.key + ": " + firstLine(text)}
	}
	if i.Phase == Reverting {
		return &Event{Kind: Stuck, Step: i.Key, Error: text}
	}
	e := &Event{Kind: Failed, Step: i.Key, Attempt: i.Attempt, Error: text, Class: string(engine.ClassOf(res.err))}
	var final finalError
	var refusal *action.Refusal
	if errors.As(res.err, &final) {
		e.Final, e.Asks = true, final.asks
	}
	if errors.As(res.err, &refusal) {
		e.Final, e.Note = true, refusal.Advice
	}
	if e.Final || i.Failures >= i.Step.Retry.Max || !r.retryable(i, e) {
		e.Final = true
		return e
	}
	e.Until = time.Now().Add(i.Step.Retry.Backoff.wait(i.Failures + 1))
	return e
}

func (r *runner) retryable(i *Item, e *Event) bool {
	if i.Step.Retry.If == "" {
		return true
	}
	env := r.state.env(i)
	env["error"] = map[string]any{"text": e.Error, "class": e.Class}
	ok, err := r.state.Book.compiled.truth(i.Step.Retry.If, env)
	return err == nil && ok
}

// explain puts the reason for a cancelled context in the place of "context deadline exceeded".
func explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, cause) {
		return cause
	}
	return err
}
