package execute

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/runbooktest"
)

const guarded = `
runbook: test/guarded
guardrails:
  - {name: load, when: "db.load > 2 * baseline.db.load", for: 2s}
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a"}}
`

func TestGuardrailsCountABreachAfterItsTimeAndMissingDataAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	g := newGuard(b.parse(guarded), nil)
	now := time.Unix(1000, 0)
	at := func(after time.Duration, load float64, err error) string {
		now := now.Add(after)
		g.judge(now, map[string]float64{"db.load": load}, err)
		reason, _ := g.state(now)
		return reason
	}
	if r, _ := g.state(now); r == "" {
		t.Error("it lets act before anything was read")
	}
	if r := at(0, 10, nil); r != "" {
		t.Errorf("at rest: %s", r)
	}
	g.settle()
	for _, c := range []struct {
		after time.Duration
		load  float64
		err   error
		held  bool
	}{
		{1 * time.Second, 19, nil, false},
		{2 * time.Second, 21, nil, false}, // breached, not yet for long enough
		{3 * time.Second, 21, nil, false},
		{4 * time.Second, 21, nil, true},
		{5 * time.Second, 10, nil, true}, // gone, not yet for long enough
		{7 * time.Second, 10, nil, true}, // for long enough, and yet the breach was less than 5 s ago
		{8900 * time.Millisecond, 10, nil, true},
		{9 * time.Second, 10, nil, false},
		{10 * time.Second, 10, errors.New("refused"), true},
		{11 * time.Second, 10, nil, true},
		{13 * time.Second, 10, nil, false},
	} {
		if r := at(c.after, c.load, c.err); (r != "") != c.held {
			t.Errorf("after %s at %v: held by %q", c.after, c.load, r)
		}
	}
	if r, _ := g.state(now.Add(20 * time.Second)); !strings.Contains(r, "not read") {
		t.Errorf("with old readings: %q", r)
	}
}

// Nothing tells how long a breach that the first reading finds has lasted: no act begins until it is gone, or has lasted for as long as it must to count.
func TestABreachThatTheFirstReadingFindsHoldsTheFirstAct(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const rail = "{name: load, when: db.load > 10, for: 4s, then: stop}"
	book := b.parse(strings.Replace(guarded, `{name: load, when: "db.load > 2 * baseline.db.load", for: 2s}`, rail, 1))
	for _, c := range []struct {
		loads      []float64 // from second to second; below 0: they cannot be read
		held, stop string    // at each of them: x where it is so
	}{
		{[]float64{20, 20, 20, 20, 20}, "xxxxx", "....x"}, // it counts in the end
		{[]float64{20, 20, 5, 5}, "xx..", "...."},         // gone: there never was one that counts
		{[]float64{20, 5, 20, 20, 5}, "x....", "....."},   // one that comes later counts after its time alone
		{[]float64{5, 20, 20, 5}, "....", "...."},
		{[]float64{-1, 20, 5, 5, 5, 5}, "xxxxxx", "......"}, // no data holds until it was over for its time
	} {
		g, now := newGuard(book, nil), time.Unix(1000, 0)
		var held, stopped strings.Builder
		for _, load := range c.loads {
			var err error
			if load < 0 {
				err = errors.New("refused")
			}
			g.judge(now, map[string]float64{"db.load": load}, err)
			reason, stop := g.state(now)
			held.WriteString(mark(reason != ""))
			stopped.WriteString(mark(stop))
			if name, blind := g.holding(now); reason != "" && err == nil && c.loads[0] > 10 && (name != "load" || blind) {
				t.Errorf("%v: held by guardrail %q, blind %v: %s", c.loads, name, blind, reason)
			}
			now = now.Add(time.Second)
		}
		if held.String() != c.held || stopped.String() != c.stop {
			t.Errorf("%v: held %s, stopped %s; expected %s, %s", c.loads, held.String(), stopped.String(), c.held, c.stop)
		}
	}
}

func mark(is bool) string {
	if is {
		return "x"
	}
	return "."
}

func TestABreachIsRememberedByTheProcessThatGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	now := time.Unix(1000, 0)
	for held, remembered := range map[string]bool{"load: db.load > 10": true, "load: no data: refused": false, "": false} {
		g := newGuard(b.parse(guarded), nil)
		g.restore(&journal.State{Held: held, Guardrail: "load", Blind: held != "" && !remembered, Changed: now})
		for _, after := range []time.Duration{1, 3, 4, 5} {
			at := now.Add(after * time.Second)
			g.judge(at, map[string]float64{"db.load": 1}, nil)
			if reason, _ := g.state(at); (reason != "") != (remembered && after < 5) {
				t.Errorf("%d s after it was held by %q: held by %q", after, held, reason)
			}
		}
	}
}

// A run that has changed something is in its middle, and what it changed may be why the first reading of a resumed one finds a breach: that counts after its time.
func TestTheFirstReadingHoldsAResumedRunOnlyBeforeItChangedSomething(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const rail = "{name: load, when: db.load > 10, for: 4s, then: stop}"
	book := b.parse(strings.Replace(guarded, `{name: load, when: "db.load > 2 * baseline.db.load", for: 2s}`, rail, 1) +
		"  - {id: looks, uses: wait, with: {run: \"true\", want: x}}\n")
	for name, c := range map[string]struct {
		acts []bool // of the two steps
		held string // from second to second
	}{
		"nothing was begun":       {[]bool{false, false}, "xxxxx"},
		"only a step that looks":  {[]bool{false, true}, "xxxxx"},
		"a step that changes":     {[]bool{true, false}, "....x"},
		"and then one that looks": {[]bool{true, true}, "....x"},
	} {
		st := &journal.State{Book: book, Baseline: map[string]float64{"db.load": 1}}
		for n := range book.Steps {
			st.Items = append(st.Items, &journal.Step{Key: book.Steps[n].ID, Step: &book.Steps[n], Acts: c.acts[n]})
		}
		st.Items[1].Did = map[string]any{"run": "true", "want": "x"}
		g, now := newGuard(book, nil), time.Unix(1000, 0)
		g.restore(st)
		var held strings.Builder
		for range c.held {
			g.judge(now, map[string]float64{"db.load": 20}, nil)
			reason, _ := g.state(now)
			held.WriteString(mark(reason != ""))
			now = now.Add(time.Second)
		}
		if held.String() != c.held {
			t.Errorf("%s: held %s, expected %s", name, held.String(), c.held)
		}
	}
}

func TestMetricsOfAnExpression(t *testing.T) {
	t.Parallel()
	for when, want := range map[string]string{
		"mysql.threads_running > 3 * baseline.mysql.threads_running": "mysql.threads_running",
		"p99 > 20 and max(errors, error_share * 2) >= 1":             "p99 errors error_share",
		"(db.load ?? 0) > 1 or db[\"lag\"] > 3":                      "db.load db.lag",
	} {
		if got := strings.Join(runbook.MetricsOf(when), " "); got != want {
			t.Errorf("%s: got %q, want %q", when, got, want)
		}
	}
	for that, want := range map[string]bool{"lag <= baseline.lag": true, "output.stdout != 'no baseline'": false, "watch[\"baseline_lag\"] < 3": false} {
		if got := runbook.NamesBaseline(that); got != want {
			t.Errorf("%s: names the baseline %v", that, got)
		}
	}
}

func TestAGuardrailOverAMetricThatNothingShowsIsFoundBeforeTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Meter = func(*cluster.Cluster) Meter { return &dial{load: 3} }
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(strings.ReplaceAll(guarded, "db.load", "db.laod")), Cluster: "lab1"})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Guardrails) != 1 || p.Guardrails[0].Trouble != "there is no metric db.laod (did you mean db.load?)" {
		t.Errorf("read %+v", p.Guardrails)
	}
	if err := p.Trouble(); err == nil || !strings.Contains(err.Error(), "there is no metric db.laod") || !strings.Contains(hint.Of(err), "exist only in a trial") {
		t.Errorf("a run would be begun that waits for ever: %v", err)
	}
	if err := p.Unanswered(); err == nil || !strings.Contains(hint.Of(err), "such as mysql.threads_running") {
		t.Errorf("a rehearsal says nothing of it: %v", err)
	}
	p, err = b.Prepare(t.Context(), Request{Book: b.parse(guarded), Cluster: "lab1"})
	if err != nil || p.Unanswered() != nil {
		t.Fatal(err, p.Unanswered())
	}
	if len(p.Guardrails) != 1 || p.Guardrails[0].Trouble != "" || p.Guardrails[0].Metrics["db.load"] != 3 {
		t.Errorf("read %+v", p.Guardrails)
	}
	if err := p.Trouble(); err != nil {
		t.Error(err)
	}
	p, err = b.Prepare(t.Context(), Request{Book: b.parse(strings.Replace(guarded, "db.load > 2 * baseline.db.load", "(db.laod ?? 0) > 2", 1)), Cluster: "lab1"})
	if err != nil || p.Trouble() != nil {
		t.Errorf("a guardrail that says what counts without a value can be answered: %v, %v", err, p.Trouble())
	}
}

// dial is a meter that a test turns.
type dial struct {
	mu   sync.Mutex
	load float64
	err  error
}

func (d *dial) set(load float64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.load, d.err = load, err
}

func (d *dial) Read(context.Context) (map[string]float64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return map[string]float64{"db.load": d.load}, d.err
}

func TestNoActBeginsDuringABreach(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	d := &dial{load: 100}
	b.Meter = func(*cluster.Cluster) Meter { return d }
	const rail = "when: db.load > 10, for: 1h, then: stop"
	run := b.begin(Request{Book: b.parse(strings.Replace(guarded, `when: "db.load > 2 * baseline.db.load", for: 2s`, rail, 1))})
	e := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(st *journal.State) bool { return st.Status() == "held" })
	if st := b.stateOf(run); b.read("a") != "" || len(b.events(run, journal.Intended)) != 0 || !strings.Contains(st.Held, "at the first reading") {
		t.Errorf("it acted during a breach that was there before it: held by %q", st.Held)
	}
	d.set(1, nil)
	if err := e.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Outcome != journal.RunDone {
		t.Errorf("when the breach is gone: outcome %q", st.Outcome)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestNoActBeginsWithoutMetrics(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	d := &dial{err: errors.New("refused")}
	b.Meter = func(*cluster.Cluster) Meter { return d }
	run := b.begin(Request{Book: b.parse(strings.Replace(guarded, "for: 2s", "for: 0s", 1))})
	e := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(st *journal.State) bool { return st.Status() == "held" })
	if b.read("a") != "" || len(b.events(run, journal.Intended)) != 0 {
		t.Error("it acted without data")
	}
	d.set(1, nil)
	if err := e.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Outcome != journal.RunDone {
		t.Errorf("outcome %q", st.Outcome)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// lingering is a ClusterLock whose cluster takes its time when an act is about to begin.
type lingering struct {
	*runbooktest.MemoryLock
	linger func()
}

func (l lingering) Claim(ctx context.Context, c action.Claim) error {
	l.linger()
	return l.MemoryLock.Claim(ctx, c)
}

func TestAnActDoesNotBeginWhenABreachCameWhileTheClusterWasAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	d := &dial{load: 1}
	b.Meter = func(*cluster.Cluster) Meter { return d }
	var run string
	var once sync.Once
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock {
		return lingering{&runbooktest.MemoryLock{}, func() {
			if run == "" || len(b.events(run, journal.Intended)) == 0 {
				return
			}
			once.Do(func() {
				d.set(100, nil)
				b.until(run, func(st *journal.State) bool { return st.Held != "" })
			})
		}}
	}
	run = b.begin(Request{Book: b.parse(strings.Replace(guarded, "for: 2s", "for: 0s", 1))})
	e := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(*journal.State) bool { return len(b.events(run, journal.Cut)) > 0 })
	if cut := b.events(run, journal.Cut); b.read("a") != "" || !strings.Contains(cut[0].Reason, "did not begin: guardrail") {
		t.Errorf("it acted during a breach: %q, %+v", b.read("a"), cut)
	}
	d.set(1, nil)
	if err := e.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Outcome != journal.RunDone || st.Item("a").Attempt != 2 {
		t.Errorf("outcome %q, %+v", st.Outcome, st.Item("a"))
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestARunWithoutAMeterIsHeldAndParks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(guarded)})
	e := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(st *journal.State) bool { return st.Status() == "held" })
	if err := e.Close(t.Context()); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Status() != "parked" || st.Outcome != "" {
		t.Errorf("status %q", st.Status())
	}
}

// What a metric was before the change is what it is compared with after a failure too, not what the change has made of it.
func TestTheBaselineIsThatOfBeforeTheChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	d := &dial{load: 10}
	b.Meter = func(*cluster.Cluster) Meter { return d }
	b.put("fail", "")
	run := b.begin(Request{Book: b.parse(`
runbook: test/baseline
guardrails:
  - {name: load, when: "db.load > 2 * baseline.db.load"}
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a"}}
  - {id: b, uses: command, with: {run: "test ! -e DIR/fail", repeatable: true}}
`)})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunFailed || st.Baseline["db.load"] != 10 {
		t.Fatalf("%q, baseline %v", st.Outcome, st.Baseline)
	}
	for _, e := range b.events(run, journal.Intended)[1:] {
		if e.Baseline != nil {
			t.Errorf("%s: the baseline %v was taken anew", e.Step, e.Baseline)
		}
	}
	d.set(100, nil)
	b.remove("fail")
	e, err := b.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close(t.Context()) }()
	if err := b.Start(t.Context(), e, run, journal.Command{Do: "resume"}); err != nil {
		t.Fatal(err)
	}
	b.until(run, func(st *journal.State) bool { return st.Status() == "held" })
	d.set(10, nil)
	if err := e.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Outcome != journal.RunDone {
		t.Errorf("when the load is as before: %q, %s", st.Outcome, st.Why)
	}
}

// A guardrail may be called anything: that there are no metrics is told by what was read, not by words in its name.
func TestAGuardrailCalledNoDataLossIsNotBlind(t *testing.T) {
	t.Parallel()
	book := newBench(t).parse(guarded)
	book.Guardrails[0].Name = "no data loss"
	g := newGuard(book, nil)
	now := time.Unix(1000, 0)
	g.judge(now, map[string]float64{"db.load": 1}, nil)
	g.settle()
	for range 10 {
		now = now.Add(time.Second)
		g.judge(now, map[string]float64{"db.load": 100}, nil)
	}
	reason, _ := g.state(now)
	if rail, blind := g.holding(now); !strings.HasPrefix(reason, "no data loss: ") || rail != "no data loss" || blind {
		t.Errorf("held by %q of %q, blind %v", reason, rail, blind)
	}
	g.judge(now, nil, errors.New("refused"))
	reason, _ = g.state(now)
	if _, blind := g.holding(now); reason == "" || !blind {
		t.Errorf("without metrics it is held by %q, blind %v", reason, blind)
	}
	// A later session goes by what was told, not by the words: this name has a colon and "no data" in it.
	later := newGuard(book, nil)
	later.restore(&journal.State{Held: "p99: no data loss: db.load > 2", Guardrail: "p99: no data loss", Changed: now})
	if later.breached != "p99: no data loss" || !later.lately.Equal(now) {
		t.Errorf("a later session remembers %q of %v", later.breached, later.lately)
	}
}
