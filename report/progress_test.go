package report

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"plimsoll/result"
	"plimsoll/trial/progress"

	"github.com/charmbracelet/lipgloss"

	"plimsoll/analyze"
	"plimsoll/report/reporttest"
	"plimsoll/series"
)

// replay tells an observer a result as if it happened now, up to but not including stop seconds of load. tick is called
// with the time of each update before it.
func replay(r *result.Result, o progress.Observer, stop int, tick func(time.Time)) {
	start := r.Environment.Started
	tick(start)
	cells := make([]result.Cell, len(r.Verdict.Cells))
	for i, c := range r.Verdict.Cells {
		cells[i] = result.Cell{Name: c.Name, Variant: c.Variant, Control: c.Control, Factors: c.Factors}
	}
	o.Observe(progress.Plan{Trial: r.Verdict.Trial, Question: r.Verdict.Question, Cells: cells, Rounds: r.Verdict.Cells[0].Rounds, Left: r.Environment.Ended.Sub(start)})
	o.Observe(progress.Stage{Doing: progress.Loading, Detail: "tpcc, 4 warehouses", Share: 0})
	for share := range 4 {
		tick(start.Add(time.Duration(share) * 6 * time.Second))
		o.Observe(progress.Stage{Doing: progress.Loading, Detail: "tpcc, 4 warehouses", Share: float64(share) / 4})
	}
	events, phases := r.Events, r.Verdict.Phases
	under := result.Row{}
	for _, row := range r.Seconds {
		if row.Operation != "all" {
			continue
		}
		if stop--; stop < 0 {
			return
		}
		tick(row.Time)
		for _, c := range r.Verdict.Cells {
			if under.Cell != row.Cell && c.Name == under.Cell {
				o.Observe(progress.CellDone{Cell: c})
			}
		}
		under = row
		for len(phases) > 0 && !phases[0].From.After(row.Time) {
			p := phases[0]
			phases = phases[1:]
			length := p.To.Sub(p.From)
			doing, detail := progress.Measuring, p.Name
			switch {
			case p.Name == "warmup":
				doing, detail = progress.WarmingUp, ""
			case p.Name == "measure":
				detail = ""
			case strings.Contains(p.Name, "/"):
				doing, length = progress.Disturbing, 0
			}
			p.To, p.Impact, p.Figures = time.Time{}, nil, nil
			o.Observe(progress.PhaseBegan{Phase: p, Length: length})
			o.Observe(progress.Stage{Doing: doing, Cell: p.Cell, Round: p.Round, Detail: detail, Share: -1})
		}
		for len(events) > 0 && events[0].Time.Before(row.Time.Add(time.Second)) {
			o.Observe(progress.Happened{Event: events[0]})
			events = events[1:]
		}
		tick(row.Time.Add(time.Second))
		o.Observe(progress.Second{Row: row})
	}
	o.Observe(progress.Finished{Verdict: r.Verdict})
}

// watcher is a liveState that is told the time.
type watcher struct {
	seen *liveState
	now  time.Time
}

func (w *watcher) Observe(u progress.Update) { w.seen.observe(u, w.now) }

func watched(r *result.Result, stop int) *watcher {
	w := &watcher{seen: newLiveState(r.Environment.Started)}
	replay(r, w, stop, func(at time.Time) { w.now = at })
	return w
}

func TestProgressKnowsHowFarItIs(t *testing.T) {
	r := reporttest.Timeline()
	w := watched(r, 200)
	left, ok := w.seen.left(w.now)
	if want := r.Environment.Ended.Sub(w.now); !ok || left != want {
		t.Errorf("left %v, want %v", left, want)
	}
	whole := r.Environment.Ended.Sub(r.Environment.Started)
	if got, want := w.seen.share(w.now), float64(w.now.Sub(r.Environment.Started))/float64(whole); got < want-0.01 || got > want+0.01 {
		t.Errorf("share %v, want %v", got, want)
	}
	if got := w.seen.what(); got != "measuring: recovery" && got != "disturbing: lab/restart" {
		t.Errorf("busy with %q", got)
	}
	w = watched(r, 1<<30)
	if w.seen.share(w.now) != 1 || w.seen.what() != "finished" {
		t.Errorf("at the end: %v, %q", w.seen.share(w.now), w.seen.what())
	}
}

func TestProgressThatTakesLongerThanPlanned(t *testing.T) {
	p := newLiveState(time.Unix(0, 0))
	p.observe(progress.Plan{Trial: "late", Left: time.Minute}, time.Unix(0, 0))
	if left, ok := p.left(time.Unix(90, 0)); ok {
		t.Errorf("%v left after a minute and a half of one", left)
	}
	if share := p.share(time.Unix(90, 0)); share != nearlyDone {
		t.Errorf("%v is done of what goes on", share)
	}
}

func TestProgressKeepsAnHour(t *testing.T) {
	p := newLiveState(time.Unix(0, 0))
	p.observe(progress.PhaseBegan{Phase: result.Phase{Name: "measure", Round: 1, From: time.Unix(0, 0)}}, time.Unix(0, 0))
	for i := range 100_000 {
		at := time.Unix(int64(i), 0)
		p.observe(progress.Second{Row: result.Row{Time: at, Round: 1, Operation: "all", Length: time.Second, Tally: series.Tally{Done: 1}}}, at)
		p.observe(progress.Happened{Event: series.Event{Time: at, Kind: "node.flap"}}, at)
	}
	if n := len(p.run.rows); n < keptSeconds || n > 2*keptSeconds {
		t.Errorf("%d seconds are kept", n)
	}
	if len(p.recent) > keptEvents {
		t.Errorf("%d events are kept", len(p.recent))
	}
	u := p.window()
	if len(u.Phases) != 1 || u.Phases[0].From.Before(u.Start) || u.Phases[0].To.After(u.End) {
		t.Errorf("the phase %+v is not clipped to %v to %v", u.Phases, u.Start, u.End)
	}
}

func TestScreenFitsEverySize(t *testing.T) {
	for name, r := range map[string]*result.Result{"comparison": reporttest.Comparison(), "timeline": reporttest.Timeline(), "settings": reporttest.Settings()} {
		for _, stop := range []int{0, 1, 50, 150, 1 << 30} {
			w := watched(r, stop)
			for _, size := range [][2]int{{130, 40}, {80, 24}, {60, 16}, {40, 10}, {20, 5}, {300, 100}, {1, 1}} {
				got := strings.Split(screen{Palette: Terminal{}.Palette(), width: size[0], height: size[1]}.draw(w.seen, w.now), "\n")
				if len(got) > size[1] {
					t.Errorf("%s after %d at %v: %d lines", name, stop, size, len(got))
				}
				for _, l := range got {
					if lipgloss.Width(l) > size[0] {
						t.Errorf("%s after %d at %v: %d columns: %q", name, stop, size, lipgloss.Width(l), l)
					}
				}
			}
		}
	}
}

func TestScreenShows(t *testing.T) {
	r := reporttest.Comparison()
	w := watched(r, 4*90+70)
	got := screen{Palette: Terminal{}.Palette(), width: 130, height: 40}.draw(w.seen, w.now)
	for _, want := range []string{
		"binlog-cost", "left", "measuring binlog row, connections=8, round 1 of 3", "of 1 min", "throughput  ", "p99 response", "warmup",
		"6,119", "5,975", "5,220", "9,370", "◂", "Ctrl-C stops cleanly",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	w.Observe(progress.Finished{Verdict: result.Verdict{Verdict: analyze.Fail, Claims: []analyze.JudgedClaim{{Verdict: analyze.Fail}}}})
	if got := (screen{Palette: Terminal{}.Palette(), width: 100, height: 30}).draw(w.seen, w.now); !strings.Contains(got, "✗ FAIL") {
		t.Error("the verdict is not shown")
	}
}

func TestLines(t *testing.T) {
	var b strings.Builder
	r := reporttest.Timeline()
	now := r.Environment.Started
	l := Lines(&b, func() time.Time { return now })
	replay(r, l, 1<<30, func(at time.Time) { now = at })
	l.Say("Stopping: what was measured is kept.")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/lines.txt", []byte(b.String()))
	if strings.ContainsRune(b.String(), '\x1b') || !utf8.ValidString(b.String()) {
		t.Error("plain lines hold control sequences")
	}
}

// Who looks at a running trial sees the phases of the run under way and how its load generator fares in this one, while there is load.
func TestALookAtATrialKnowsItsPhase(t *testing.T) {
	began := time.Unix(1000, 0)
	now := began
	w := NewWatched(func() time.Time { return now })
	begin := func(phase string, length time.Duration, doing progress.Doing) {
		w.Observe(progress.PhaseBegan{Phase: result.Phase{Name: phase, Cell: "c", Round: 1, From: now}, Length: length})
		w.Observe(progress.Stage{Doing: doing, Cell: "c", Round: 1, Share: -1})
	}
	look := func(phase string, generator int, phases ...LookPhase) {
		t.Helper()
		got := w.Look()
		seconds := 0
		if got.Generator != nil {
			seconds = got.Generator.Seconds
		}
		if got.Phase != phase || !slices.Equal(got.Phases, phases) || seconds != generator {
			t.Errorf("in %q it shows %q, %+v, and a generator of %d seconds", phase, got.Phase, got.Phases, seconds)
		}
	}
	w.Observe(progress.Plan{Trial: "t", Rounds: 1})
	look("", 0)
	begin("warmup", 10*time.Second, progress.WarmingUp)
	now = began.Add(4 * time.Second)
	w.Observe(progress.Second{Row: result.Row{Time: now, Cell: "c", Round: 1}, Generator: progress.Generator{Seconds: 4}})
	look("warmup", 4, LookPhase{"warmup", 4 * time.Second, 10 * time.Second, true})
	now = began.Add(10 * time.Second)
	begin("lab/freeze", 0, progress.Disturbing)
	now = began.Add(13 * time.Second)
	look("lab/freeze", 0, LookPhase{Name: "warmup", Lasted: 10 * time.Second}, LookPhase{"lab/freeze", 3 * time.Second, 0, true})
	w.Observe(progress.Second{Row: result.Row{Time: now, Cell: "c", Round: 1}, Generator: progress.Generator{Seconds: 3, Doubts: []string{"late"}}})
	look("lab/freeze", 3, LookPhase{Name: "warmup", Lasted: 10 * time.Second}, LookPhase{"lab/freeze", 3 * time.Second, 0, true})
	w.Observe(progress.Stage{Doing: progress.Restoring, Cell: "c", Round: 2, Share: -1})
	look("", 0)
}

// BenchmarkScreen is what a redraw costs, twice a second on the machine that makes the load.
func BenchmarkScreen(b *testing.B) {
	r := reporttest.Comparison()
	w := &watcher{seen: newLiveState(r.Environment.Started)}
	replay(r, w, 400, func(at time.Time) { w.now = at })
	first := w.seen.run.rows[0]
	for i := range keptSeconds {
		row := first
		row.Time = row.Time.Add(time.Duration(i) * time.Second)
		w.Observe(progress.Second{Row: row})
	}
	s := screen{Palette: Terminal{Color: true}.Palette(), width: 130, height: 40}
	for b.Loop() {
		s.draw(w.seen, w.now)
	}
}

// A trial that turns out to take longer than was thought does not run backwards.
func TestTheShareOfATrialNeverGoesDown(t *testing.T) {
	began := time.Unix(1000, 0)
	p := newLiveState(began)
	p.observe(progress.Plan{Trial: "t", Left: time.Minute}, began)
	before := p.share(began.Add(30 * time.Second))
	p.observe(progress.Plan{Trial: "t", Left: 5 * time.Minute}, began.Add(30*time.Second))
	if after := p.share(began.Add(31 * time.Second)); before != 0.5 || after != before {
		t.Errorf("from %.2f to %.2f", before, after)
	}
}
