package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/series"
	"plimsoll/trial/judge"
	"plimsoll/trial/progress"
	"plimsoll/trial/spec"
)

// disturb is a phase in which a change is made. One that follows another under the same name belongs to that one's phase.
func (d *cellRun) disturb(ctx context.Context, call spec.Call) error {
	goesOn := d.now != nil && d.now.Change && d.now.Phase == call.Name()
	if !goesOn {
		d.begin(call.Name(), 0, true)
	}
	d.observe(progress.Stage{Doing: progress.Disturbing, Cell: d.cell.Name, Round: d.round, Detail: call.Name(), Share: -1})
	now, began, done := d.now, time.Now(), make(chan error, 1)
	go func() {
		if !goesOn {
			now.Before = d.watch.look(ctx)
			_, now.Primary = d.servers.shown(ctx)
		}
		moved, promoted := d.shuffling(ctx), d.promoting(ctx)
		changed := make(chan error, 1)
		go func() {
			steps, err := d.change(ctx, call)
			now.Steps = append(now.Steps, steps...)
			for _, step := range steps {
				if call.Book.Looks(step.Key) {
					now.Looks = append(now.Looks, step.Key)
				}
			}
			changed <- err
		}()
		err := d.attend(ctx, now, changed)
		now.Promotions = append(now.Promotions, promoted()...)
		now.Streams = append(now.Streams, d.flowing(append(d.streams(ctx), moved()...), began)...)
		d.over.move(d.servers.serving())
		done <- err
	}()
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			running = false
		default:
		}
		if _, err := d.next(ctx); err != nil { // also the second in which the change ended
			if running {
				err = errors.Join(err, <-done)
			}
			return err
		}
	}
	return nil
}

// change runs a change or a runbook and books when it began and ended. It returns the steps of a runbook.
func (r *runner) change(ctx context.Context, c *spec.Cell, round int, s *servers, call spec.Call) ([]judge.Span, error) {
	tell := func(e series.Event) {
		e.Cell, e.Round = c.Name, round
		r.happened(e)
	}
	tell(series.Event{Kind: series.ChangeStart, Name: call.Name()})
	began := time.Now()
	steps, err := carryOut(ctx, r, c, round, s, call, tell)
	end := series.Event{Kind: series.ChangeEnd, Name: call.Name(), Detail: map[string]any{"seconds": time.Since(began).Seconds()}}
	if err != nil {
		end.Detail["error"] = err.Error()
		err = fmt.Errorf("%s: %w", call.Name(), err)
	}
	tell(end)
	return steps, err
}

func carryOut(ctx context.Context, r *runner, c *spec.Cell, round int, s *servers, call spec.Call, tell func(series.Event)) ([]judge.Span, error) {
	if call.Book != nil {
		steps, err := r.execute(ctx, s, call, tell, func(step string) {
			r.observe(progress.Stage{Doing: progress.Disturbing, Cell: c.Name, Round: round, Detail: call.Name() + ", step " + step, Share: -1})
		})
		return steps, refusalOf(r, call, err, tell)
	}
	f, _ := r.parts.Fault(call.Change)
	use, err := f.Use(call)
	if err != nil {
		return nil, err
	}
	s.unsettled = s.unsettled || f.Unsettles
	return nil, suffer(ctx, s.cluster, use, tell)
}
