package report

import (
	"strings"
	"sync"
	"time"

	"plimsoll/report/chart"
	"plimsoll/result"
	"plimsoll/trial/progress"
)

// Watched is a running trial for who looks at it from time to time, such as a page. Its methods may be called from any goroutine.
type Watched struct {
	now  func() time.Time
	mu   sync.Mutex
	seen *liveState
}

// NewWatched begins to watch.
func NewWatched(now func() time.Time) *Watched {
	return &Watched{now: now, seen: newLiveState(now())}
}

// Observe takes an update in.
func (w *Watched) Observe(u progress.Update) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.observe(u, w.now())
}

// Look is how a trial stands.
type Look struct {
	Trial    string          `json:"trial"`
	Question string          `json:"question"`
	Doing    string          `json:"doing"`         // what it is busy with, and how far that is
	Busy     string          `json:"-"`             // the first alone
	Phase    string          `json:"phase"`         // under way; "" while there is no load
	Phases   []LookPhase     `json:"phases"`        // of the run under way, in order; the last is the one under way. None while there is no load
	Share    float64         `json:"share"`         // of the whole, 0 to 1
	Left     time.Duration   `json:"left_ns"`       // 0: not known
	Second   string          `json:"second"`        // the last second of load, in words
	Verdict  *result.Verdict `json:"verdict"`       // at the end
	Charts   []chart.Chart   `json:"charts"`        // of the run under way: throughput, response time
	Cells    []LookCell      `json:"cells"`         // those that have figures
	Events   []LookEvent     `json:"events"`        // the last few, the newest first
	Began    time.Time       `json:"began"`         // the watching
	Run      string          `json:"run,omitempty"` // under way: its cell and round

	// Generator is how the load generator has fared in the phase under way; nil: there is no load, or none yet.
	Generator *progress.Generator `json:"generator,omitempty"`
}

// LookPhase is a phase that has begun.
type LookPhase struct {
	Name   string        `json:"name"`
	Lasted time.Duration `json:"lasted_ns"`
	Length time.Duration `json:"length_ns,omitempty"` // of the one under way; 0: until what it does is done
	Now    bool          `json:"now,omitempty"`       // it is under way
}

// LookCell is a cell with its figures so far.
type LookCell struct {
	Name       string `json:"name"`
	Rounds     int    `json:"rounds"`
	Throughput string `json:"throughput"`
	P99        string `json:"p99"`
}

// LookEvent is something that happened.
type LookEvent struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Look is how the trial stands now.
func (w *Watched) Look() Look {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, now := w.seen, w.now()
	look := Look{Trial: p.plan.Trial, Question: p.plan.Question, Doing: p.what(), Busy: p.what(), Share: p.share(now), Verdict: p.answer, Began: p.began}
	if how := p.how(now); how != "" {
		look.Doing += " · " + how
	}
	look.Left, _ = p.left(now)
	if row, ok := p.latest(); ok {
		look.Second = reading(row)
	}
	if phase, ok := p.phaseNow(); ok {
		look.Phase = phase.Name
		for _, over := range p.run.Phases[:len(p.run.Phases)-1] {
			look.Phases = append(look.Phases, LookPhase{Name: over.Name, Lasted: over.To.Sub(over.From).Round(time.Second)})
		}
		look.Phases = append(look.Phases, LookPhase{phase.Name, spent(phase, now), p.length, true})
		if p.load.Seconds > 0 {
			generator := p.load
			look.Generator = &generator
		}
	}
	if len(p.run.rows) >= 2 {
		u := p.window()
		t := newTimeline(u, 600)
		look.Charts, look.Run = []chart.Chart{t.throughput(), withoutService(t.latency("p99"))}, strings.TrimSpace(u.Name())
	}
	for _, c := range p.plan.Cells {
		done, is := p.done[c.Name]
		if !is {
			continue
		}
		cell := LookCell{Name: c.Name, Rounds: done.Rounds}
		if f, ok := find(done.Figures, "throughput", ""); ok {
			cell.Throughput, _ = write(f)
		}
		if f, ok := find(done.Figures, "response_p99", ""); ok {
			cell.P99, _ = write(f)
		}
		look.Cells = append(look.Cells, cell)
	}
	for i := len(p.recent) - 1; i >= 0; i-- {
		e := p.recent[i]
		look.Events = append(look.Events, LookEvent{e.Time, eventName(e) + parenthesis(detailsOf(e))})
	}
	return look
}
