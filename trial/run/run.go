// Package run executes a trial: it makes its clusters ready, puts them under load, carries out what the timeline says, and records
// what is measured, cell by cell and round by round.
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"plimsoll/analyze"
	"plimsoll/hint"
	"plimsoll/result"
	"plimsoll/trial/foresee"
	"plimsoll/trial/judge"
	"plimsoll/trial/progress"
	"plimsoll/trial/spec"
	"plimsoll/trial/underway"

	"plimsoll/durable"
	"plimsoll/lab"
)

// Options say where a trial runs, what becomes of it and who watches.
type Options struct {
	Lab      lab.Deps
	Dir      string // of the result; must not hold one
	Observer progress.Observer
	Log      *slog.Logger
	Version  string   // of Plimsoll
	Command  []string // as typed

	Noise time.Duration // how long the noise of the load is looked at first; 0: for a long trial NoiseLength, else not at all; below 0: never

	Production bool   // a person agreed to load on the cluster in production that Trial.Production names
	BreakLock  string // the reason to take a target whose last run, or trial, is gone
	// State is the state folder's store, where the rehearsals of runbooks are kept; nil: they are not.
	State *durable.Store
}

// Run runs a trial from the first server to the verdict. When ctx ends, or something fails, what was measured until then
// is kept and marked as partial, and the result is returned beside the error; one of a trial that measured nothing says so, and why.
// Nothing it started is left running.
func Run(ctx context.Context, t *spec.Trial, parts spec.Parts, options Options) (*result.Result, error) {
	parts.ClusterLock = underway.Telling(parts.ClusterLock, options.Lab.Machine, options.Lab.Home)
	r := &runner{
		trial: t, parts: parts, options: options, servers: map[string]*servers{}, maxima: map[string]float64{}, started: time.Now(),
		records: records{observer: options.Observer, log: options.Log},
	}
	var err error
	if r.folder, err = result.Create(options.Dir, t.Document.Format(), r.started); err != nil {
		return nil, err
	}
	r.underway = begun(ctx, r)
	r.host = hostFacts(ctx, options.Lab.Machine, options.Lab.Home)
	for _, f := range t.Faults(parts) {
		if f.Explain != "" {
			r.note("%s", f.Explain)
		}
	}
	r.observe(r.plan())
	var runErr error
	if t.RunsRunbooks() {
		runErr = r.openRuns(ctx)
	}
	if runErr == nil {
		runErr = tellForeseen(r, slices.Concat(foresee.Commands(t), foresee.SettingsOfLab(ctx, t, parts, options.Lab),
			foresee.RoomForData(ctx, t, options.Lab.Machine, options.Lab.Home)))
	}
	if runErr == nil {
		runErr = r.measure(ctx)
	}
	switch {
	case ctx.Err() != nil:
		runErr = ctx.Err() // what else went wrong then is a consequence
	case errors.As(runErr, &r.aborted):
		runErr = nil
	}
	runErr = errors.Join(runErr, r.stop(ctx), r.runs.close(ctx))
	r.observe(progress.Stage{Doing: progress.Judging, Share: -1})
	verdict := conclusion(r, runErr)
	points, pointsErr := r.folder.ReadSignals()
	verdict.Signals = judge.VariantSignals(t, &r.recording, points)
	writeErr := errors.Join(
		pointsErr,
		keepRehearsals(ctx, r, verdict),
		r.folder.Document(result.EnvironmentFile, environmentOf(r)),
		r.folder.Document(result.VerdictFile, verdict),
		r.folder.Close(),
		r.underway.End(context.WithoutCancel(ctx)),
	)
	r.observe(progress.Finished{Verdict: verdict})
	result, openErr := result.Open(options.Dir)
	return result, errors.Join(runErr, writeErr, openErr)
}

// begun writes down that the trial runs. It runs, too, where that cannot be written.
func begun(ctx context.Context, r *runner) *underway.Record {
	dir, err := filepath.Abs(r.options.Dir)
	if err != nil || r.options.Lab.Home == "" {
		return nil
	}
	record, err := underway.Begin(ctx, r.options.Lab.Machine, r.options.Lab.Home, underway.Trial{Name: r.trial.Name, Dir: dir, Began: r.started})
	if err != nil {
		r.options.Log.Warn("if this process is killed, trial list will not say so", "error", err)
		return nil
	}
	return record
}

// runner is a trial that runs.
type runner struct {
	trial   *spec.Trial
	parts   spec.Parts
	options Options
	started time.Time
	records

	underway *underway.Record // nil: it could not be written

	servers   map[string]*servers         // by data set
	maxima    map[string]float64          // the largest rate, by data set
	runs      *runs                       // nil: the trial runs no runbook
	live      atomic.Pointer[liveMetrics] // of the load that is under way
	stopping  atomic.Bool                 // the clusters go down
	aborted   *abort
	settings  []result.Setting
	facts     map[string]string // of the engine
	host      map[string]string
	already   []string        // steps that had nothing to do, so that the trial shows nothing of them
	unchanged bool            // a change had nothing to do at all
	noise     bool            // was looked at
	foresaw   map[string]bool // the data sets of which it was told what is known before the load
	pace
}

func (r *runner) measure(ctx context.Context) error {
	t := r.trial
	for round := 1; round <= t.Phases.Rounds; round++ {
		for _, c := range order(t.Cells, round, t.Phases.Rounds) {
			began, before := time.Now(), r.preparing
			if err := r.cell(ctx, c, round); err != nil {
				if c.Name != "" {
					err = fmt.Errorf("cell %q: %w", c.Name, err)
				}
				return err
			}
			r.done++
			r.spent += time.Since(began) - (r.preparing - before)
			r.observe(progress.CellDone{Cell: judge.Cell(t, c, &r.recording, t.Options())})
			r.observe(r.plan())
		}
	}
	return nil
}

// order returns the cells of a round in the order in which they are run: each round begins elsewhere, and every other
// one goes backwards, so that a drift of the machine falls on all cells alike while cells that are compared stay neighbours.
func order(cells []*spec.Cell, round, rounds int) []*spec.Cell {
	n := len(cells)
	out := make([]*spec.Cell, n)
	shift := (round - 1) * n / max(rounds, 1)
	for i := range n {
		out[i] = cells[(i+shift)%n]
	}
	if round%2 == 0 {
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	}
	return out
}

func (r *runner) plan() progress.Plan {
	t := r.trial
	return progress.Plan{Trial: t.Name, Question: t.Question, Cells: plain(t), Rounds: t.Phases.Rounds, Left: left(t, r.pace)}
}

// Outline is what the trial would do and how long that would take.
func Outline(t *spec.Trial) progress.Plan {
	return progress.Plan{Trial: t.Name, Question: t.Question, Cells: plain(t), Rounds: t.Phases.Rounds, Left: left(t, pace{})}
}

// plain lists the cells without figures.
func plain(t *spec.Trial) []result.Cell {
	out := make([]result.Cell, len(t.Cells))
	for i, c := range t.Cells {
		out[i] = c.Cell
	}
	return out
}

// stop takes away every cluster that the trial made, also when ctx has ended.
func (r *runner) stop(ctx context.Context) error {
	r.stopping.Store(true)
	r.observe(progress.Stage{Doing: progress.Stopping, Share: -1})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	var errs []error
	for _, s := range r.servers {
		errs = append(errs, s.down(ctx))
	}
	return errors.Join(errs...)
}

// conclusion gives the verdict on what was measured until the trial came to its end, or was cut off by an error.
func conclusion(r *runner, cut error) result.Verdict {
	r.doubtGenerator()
	for _, note := range judge.LeftOut(r.trial, &r.recording) {
		r.note("%s", note)
	}
	c := judge.Course{Ended: endedBy(r, cut), Partial: cut != nil || r.aborted != nil, Invalid: r.invalid, Already: r.already, Unchanged: r.unchanged, Notes: r.notes}
	if !r.trial.CountsOnly() {
		c.Advice = r.doubts.advice()
	}
	if r.aborted != nil {
		c.Answer, c.Reason = r.aborted.answer, r.aborted.reason
	}
	return judge.Verdict(r.trial, &r.recording, c)
}

// endedBy is how a trial ended before its end: a person interrupted it, or something that it needs was missing or wrong. It is nil of
// one that came to its end, or whose change answered the question by failing.
func endedBy(r *runner, cut error) *result.Ended {
	switch {
	case errors.Is(cut, context.Canceled):
		return &result.Ended{How: result.Interrupted, Where: r.at}
	case cut != nil:
		return &result.Ended{How: result.CouldNotRun, Where: r.at, Why: cut.Error(), Do: hint.Of(cut)}
	case r.aborted != nil && r.aborted.answer == analyze.CouldNotRun:
		return &result.Ended{How: result.CouldNotRun, Where: r.at, Why: r.aborted.reason, Do: r.aborted.advice}
	}
	return nil
}
