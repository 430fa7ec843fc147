package execute

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// runner executes one session of a run: a loop that writes one event at a time, with jobs that work beside it.
type runner struct {
	service *Service
	journal *durable.Journal
	state   *journal.State
	cluster *cluster.Cluster
	reading *cluster.Cluster
	guard   *guard
	held    lock.Leases // none for a runbook without a lock, and for a run that is given up

	outside context.Context // ends with the process alone
	acting  context.Context // of the jobs
	cut     context.CancelCauseFunc
	group   sync.WaitGroup
	jobs    map[string]*job
	results chan result
	written map[int]bool // numbers of the entries that this process wrote
	words   []durable.Message
	learned learned
	told    time.Time
	shown   float64         // the share that was told last: it is never taken back
	worked  map[string]work // on parts, by their keys

	gone         bool            // its clusters, or one of them, are another's by now
	claimRefused map[string]bool // clusters of which it was said that they no longer prolong the claim

	stopped map[string]bool // steps whose act was refused to go on in its middle, since another run has a cluster of this one

	assessed journal.Assessments // steps that were begun and not finished, as this session has found them
}

// turn is how often the loop looks at what it is not woken by: messages, times.
const turn = 200 * time.Millisecond

// write appends an event and folds it in.
func (r *runner) write(e journal.Event) error {
	switch e.Kind {
	case journal.Intended, journal.Acted, journal.Verified, journal.Held, journal.Ended:
		e.Metrics = r.guard.reading(time.Now())
	}
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	entry, err := r.journal.Append(data)
	if err != nil {
		return err
	}
	r.written[entry.Number] = true
	if err := r.state.Apply(entry, r.service.Actions); err != nil {
		return err
	}
	r.service.observe(r.journal.Run(), e, entry)
	return nil
}

func (r *runner) loop(ctx context.Context) (err error) {
	tick := time.NewTicker(turn)
	defer tick.Stop()
	// What was said while nobody executed it comes before any question.
	if r.words, err = r.service.Store.Messages(ctx, r.journal.Run(), r.state.Heard); err != nil {
		return err
	}
	for {
		if r.state.Outcome != "" && len(r.jobs) == 0 {
			return rememberShown(ctx, r)
		}
		e, err := r.decide(ctx)
		if err != nil {
			return err
		}
		if e != nil {
			if err := r.write(*e); err != nil {
				return err
			}
			r.tell(true)
			if e.Kind == journal.Parked {
				return errParked
			}
			continue
		}
		beginJobs(r) //nolint:contextcheck // jobs have a context of their own: r.acting
		r.cutOff()
		r.tell(false)
		select {
		case res := <-r.results:
			if err := r.take(res); err != nil {
				return err
			}
		case <-tick.C:
			if r.words, err = r.service.Store.Messages(ctx, r.journal.Run(), r.state.Heard); err != nil {
				return err
			}
		case <-r.guard.changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// stopping tells why no new work is begun.
func (r *runner) stopping() (reason string) {
	select {
	case <-r.journal.Draining():
		return "the Plimsoll process that executed it ended"
	default:
	}
	if err := r.held.Lost(); err != nil {
		return journal.OneLine(err)
	}
	return ""
}

// broken returns the first step that failed for good.
func (r *runner) broken() *journal.Step {
	for _, i := range r.state.Items {
		if i.Phase == journal.StepFailed {
			return i
		}
	}
	return nil
}

// current lists the steps that may be worked on now, and the targets whose health is to be looked at first.
func (r *runner) current() (items []*journal.Step, health []*journal.Step, group *runbook.Step) {
	s := r.state
	for n := range s.Book.Steps {
		step := &s.Book.Steps[n]
		if step.Rolling == nil {
			if i := s.Item(step.ID); !i.Over() {
				return []*journal.Step{i}, nil, nil
			}
			continue
		}
		targets, known := s.Targets[step.ID]
		if !known {
			return nil, nil, step
		}
		room := step.Rolling.MaxUnavailable
		for _, target := range targets {
			i := nextOn(r, step, target)
			if i == nil || room == 0 {
				continue
			}
			room--
			if s.Healthy[step.ID+"["+target+"]"] {
				items = append(items, i)
			} else {
				health = append(health, i)
			}
		}
		if len(items)+len(health) > 0 {
			return items, health, nil
		}
	}
	return nil, nil, nil
}

// nextOn is the first step of a target that is not over.
func nextOn(r *runner, group *runbook.Step, target string) *journal.Step {
	for m := range group.Steps {
		if i := r.state.Item(journal.Key(group.ID, target, group.Steps[m].ID)); !i.Over() {
			return i
		}
	}
	return nil
}

// beginJobs begins what is to be done and is not being done.
func beginJobs(r *runner) {
	if r.stopping() != "" || r.state.Outcome != "" {
		return
	}
	if r.state.Stopping != nil || r.undoesFailure() {
		if i := stepReverting(r); i != nil {
			if r.jobs[i.Key] == nil {
				r.beginUndo(i)
			}
			return
		}
		for _, i := range r.unassessed() {
			if r.jobs[i.Key] == nil {
				r.beginAssess(i)
			}
		}
		return
	}
	if r.broken() != nil {
		return
	}
	items, health, _ := r.current()
	var busy []string
	for _, i := range items {
		busy = append(busy, i.Target)
	}
	for _, i := range health {
		if r.state.Begun(i) { // its own node may be as it left it
			busy = append(busy, i.Target)
		}
	}
	for _, i := range health {
		if r.jobs[i.Group+"["+i.Target+"]"] == nil {
			r.beginHealth(r.state.Book.Step(i.Group), i.Target, busy)
		}
	}
	for _, i := range items {
		if r.jobs[i.Key] != nil {
			continue
		}
		switch {
		case i.Phase == journal.StepChecking && i.Finding == nil, i.Phase == journal.StepRetrying && !time.Now().Before(i.Until):
			r.beginCheck(i)
		case i.Phase == journal.StepActing && r.written[i.Intent]:
			r.beginAct(i)
		case i.Phase == journal.StepActing: // begun by a process that died: look first
			r.beginCheck(i)
		case i.Phase == journal.StepVerifying:
			r.beginVerify(i)
		}
	}
}

// stepReverting is the step whose undo has begun.
func stepReverting(r *runner) *journal.Step {
	for _, i := range r.state.Items {
		if i.Phase == journal.StepUndoing {
			return i
		}
	}
	return nil
}

// asProblem makes a problem of an input's place out of an error.
func asProblem(err error) string {
	var ps document.Problems
	if errors.As(err, &ps) {
		lines := make([]string, len(ps))
		for i, p := range ps {
			lines[i] = p.Text
		}
		return strings.Join(lines, "; ")
	}
	return err.Error()
}
