package execute

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/runbook/journal"
)

// job is one thing that is being done: a check, an act, a verification, an undo, a look at the cluster's health.
type job struct {
	key      string
	kind     jobKind
	progress progress
	cancel   context.CancelCauseFunc
	until    time.Time // when it is given up
	cut      string    // why it was cut off; empty: it was not
	assesses bool      // it looks what came of a step, which a cancellation and a failure wait for
}

// jobKind says which job may be cut off.
type jobKind int

const (
	looking  jobKind = iota // changes nothing: may always be cut off
	waiting                 // an act without an effect that may be cut off
	yielding                // an act that may be cut off
	firm                    // an act or an undo that is to end by itself
)

// kindOf is the kind of an act.
func kindOf(n action.Traits) jobKind {
	switch {
	case !n.Interruptible:
		return firm
	case n.Effect == action.None:
		return waiting
	}
	return yielding
}

// result is what came of a job: an event or an error.
type result struct {
	key   string
	event *journal.Event
	err   error
	kept  chan error // of an event in the middle of the job, which goes on: whether it was written
}

// reachOf is how a job has the loop write how far it came.
func reachOf(ctx context.Context, r *runner, key string) func(text string) error {
	return func(text string) error {
		note := result{key: key, event: &journal.Event{Kind: journal.Said, Step: key, Reached: text}, kept: make(chan error, 1)}
		select {
		case r.results <- note:
			return <-note.kept
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// errCut is the cause of a context that ended because its job was cut off.
var errCut = errors.New("cut off")

// begin does f beside the loop; what came of it comes back on results.
func (r *runner) begin(key string, kind jobKind, timeout time.Duration, f func(ctx context.Context, p *progress) (*journal.Event, error)) {
	j := &job{key: key, kind: kind, until: time.Now().Add(timeout)}
	j.progress.share, j.progress.began = -1, time.Now()
	r.jobs[key] = j
	cuttable, cancel := context.WithCancelCause(r.acting)
	j.cancel = cancel
	ctx, stop := context.WithTimeoutCause(cuttable, timeout, fmt.Errorf("timed out after %s", timeout))
	r.group.Go(func() {
		defer cancel(nil)
		defer stop()
		e, err := f(ctx, &j.progress)
		if look := (*assessed)(nil); err != nil && !errors.As(err, &look) {
			err = explain(ctx, err)
		}
		r.results <- result{key: key, event: e, err: err}
	})
}

// cutOff ends jobs that need not end by themselves: all that may be, when no new work is begun, and acts that a breached
// guardrail forbids.
func (r *runner) cutOff() {
	reason, most := r.stopping(), yielding
	if reason == "" && r.state.Stopping != nil {
		reason = "a person cancelled"
	}
	if reason == "" && r.broken() != nil {
		reason = "another step failed"
	}
	least := looking
	if reason == "" {
		least = yielding
		if reason, _ = r.guard.state(time.Now()); reason != "" {
			reason = "guardrail " + reason
		}
	}
	if reason == "" {
		return
	}
	for _, j := range r.jobs {
		if j.assesses && r.stopping() == "" {
			continue
		}
		if j.cut == "" && j.kind >= least && j.kind <= most {
			j.cut = reason
			j.cancel(errCut)
		}
	}
}

// take writes what came of a job. What failed because it was cut off by us did not fail: a look is simply done again, an act
// too, and the journal says so; when the session itself was ended it goes on saying that the act was begun.
func (r *runner) take(res result) error {
	if res.kept != nil {
		err := r.write(*res.event)
		res.kept <- err
		return err
	}
	j := r.jobs[res.key]
	delete(r.jobs, res.key)
	var not notBegun
	var taken takenError
	var look *assessed
	switch {
	case errors.As(res.err, &look):
		if r.assessed == nil {
			r.assessed = journal.Assessments{}
		}
		if j.cut == "" && r.acting.Err() == nil {
			r.assessed[res.key] = &look.Assessment
		}
		return nil
	case res.err == nil:
		return r.write(*res.event)
	case j.cut != "" && j.kind == looking:
		return nil
	case r.acting.Err() != nil:
		return nil //nolint:nilerr // the session was ended, which is told elsewhere
	case errors.As(res.err, &taken):
		r.stopped[res.key] = true
		return nil //nolint:nilerr // the next look sees that it is lost, and parks; the journal goes on saying that the act was begun
	case errors.As(res.err, &not) && r.state.Item(res.key).Phase == journal.StepUndoing: // the next session takes it back
		if r.held.Lost() != nil {
			return nil //nolint:nilerr // the next look sees that it is lost, and parks
		}
		return not.error
	case errors.As(res.err, &not):
		return r.write(*unbegunEvent(r, res.key, not.Error()))
	case j.cut != "":
		return r.write(journal.Event{Kind: journal.Cut, Step: res.key, Reason: j.cut})
	}
	return r.write(*failureEvent(r, res))
}

// explain puts the reason for a cancelled context in the place of "context deadline exceeded".
func explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, cause) {
		return cause
	}
	return err
}
