package trial

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"plimsoll/analyze"
	"plimsoll/lab"
	"plimsoll/series"
)

// Site is where a trial runs and who watches.
type Site struct {
	Lab      lab.Deps
	Dir      string // of the result; must not hold one
	Observer Observer
	Log      *slog.Logger
	Version  string   // of Plimsoll
	Command  []string // as typed
}

// Run runs a trial from the first server to the verdict. When ctx ends, or something fails, what was measured until then
// is kept and marked as partial, and the result is returned beside the error; nothing measured is no result. Nothing it
// started is left running.
func (t *Trial) Run(ctx context.Context, parts Parts, site Site) (*Result, error) {
	r := &runner{trial: t, parts: parts, site: site, servers: map[string]*servers{}, maxima: map[string]float64{}, started: time.Now()}
	var err error
	if r.folder, err = newFolder(site.Dir, t.Document.Format(), r.started); err != nil {
		return nil, err
	}
	r.host = hostFacts(ctx, site.Lab.Machine, site.Lab.Home)
	r.observe(r.plan())
	runErr := r.measure(ctx)
	if ctx.Err() != nil {
		runErr = ctx.Err() // what else went wrong then is a consequence
	}
	runErr = errors.Join(runErr, r.stop(ctx))
	if runErr != nil && len(r.recording.stretches) == 0 {
		return nil, errors.Join(runErr, r.folder.discard())
	}
	r.observe(Stage{Doing: Judging, Share: -1})
	verdict := r.judge(runErr)
	writeErr := errors.Join(
		r.folder.document(environmentFile, r.environment()),
		r.folder.document(verdictFile, verdict),
		r.folder.close(),
	)
	r.observe(Finished{Verdict: verdict})
	result, openErr := Open(site.Dir)
	return result, errors.Join(runErr, writeErr, openErr)
}

// runner is a trial that runs.
type runner struct {
	trial   *Trial
	parts   Parts
	site    Site
	folder  *folder
	started time.Time

	watching  sync.Mutex          // the observer is told one thing at a time
	servers   map[string]*servers // by data set
	maxima    map[string]float64  // the largest rate, by data set
	recording recording
	settings  []Setting
	facts     map[string]string // of the engine
	host      map[string]string
	notes     []string
	invalid   []string
	done      int // cells measured, over all rounds
	spent     time.Duration
}

func (r *runner) measure(ctx context.Context) error {
	t := r.trial
	for round := 1; round <= t.Phases.Rounds; round++ {
		for _, c := range order(t.cells, round, t.Phases.Rounds) {
			began := time.Now()
			if err := r.cell(ctx, c, round); err != nil {
				if c.Name != "" {
					err = fmt.Errorf("cell %q: %w", c.Name, err)
				}
				return err
			}
			r.done++
			r.spent += time.Since(began)
			r.observe(CellDone{Cell: t.describeCell(c, &r.recording, t.options())})
			r.observe(r.plan())
		}
	}
	return nil
}

func (r *runner) plan() Plan {
	t := r.trial
	return Plan{Trial: t.Name, Question: t.Question, Cells: t.plain(), Rounds: t.Phases.Rounds, Left: t.left(r.done, r.spent)}
}

// Outline is what the trial would do and how long that would take.
func (t *Trial) Outline() Plan {
	return Plan{Trial: t.Name, Question: t.Question, Cells: t.plain(), Rounds: t.Phases.Rounds, Left: t.left(0, 0)}
}

// left estimates the time that remains, from the cells measured so far, else from the phases as planned.
func (t *Trial) left(done int, spent time.Duration) time.Duration {
	rest := time.Duration(len(t.cells)*t.Phases.Rounds - done)
	if done > 0 {
		return rest * (spent / time.Duration(done))
	}
	const restart = 8 * time.Second // restoring and starting a small server
	each := restart + t.length()
	if w := time.Duration(t.Phases.Warmup); w > 0 {
		each += w
	} else {
		each += min(30*time.Second, t.Phases.WarmupLimit)
	}
	const loading = 20 * time.Second
	return loading + rest*each
}

// length is how long a cell is measured, as far as that is known beforehand.
func (t *Trial) length() time.Duration {
	if len(t.Timeline) == 0 {
		return t.Phases.Measure
	}
	var sum time.Duration
	for _, s := range t.Timeline {
		sum += s.Length
	}
	return sum
}

// plain lists the cells without figures.
func (t *Trial) plain() []Cell {
	out := make([]Cell, len(t.cells))
	for i, c := range t.cells {
		out[i] = c.Cell
	}
	return out
}

func (t *Trial) options() analyze.Options {
	return analyze.Options{Confidence: t.Confidence, Seed: t.Seed}
}

// stop takes away every cluster that the trial made, also when ctx has ended.
func (r *runner) stop(ctx context.Context) error {
	r.observe(Stage{Doing: Stopping, Share: -1})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	var errs []error
	for _, s := range r.servers {
		errs = append(errs, s.down(ctx))
	}
	return errors.Join(errs...)
}

func (r *runner) observe(u Update) {
	r.watching.Lock()
	defer r.watching.Unlock()
	if r.site.Observer != nil {
		r.site.Observer.Observe(u)
	}
}

// happened books an event in the result and shows it.
func (r *runner) happened(e series.Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if err := r.folder.event(e); err != nil {
		r.site.Log.Warn("event not written", "kind", e.Kind, "error", err)
	}
	r.observe(Happened{e})
}

// note adds something that a reader of the result should know, once.
func (r *runner) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, have := range r.notes {
		if have == text {
			return
		}
	}
	r.notes = append(r.notes, text)
}
