package execute

import (
	"context"
	"encoding/json"
	"math"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/runbook/journal"
)

const rested = `
runbook: test/rested
steps:
  - {id: first, uses: pause, with: {for: 300ms}}
  - id: each
    rolling: {over: '["x", "y"]'}
    steps:
      - {id: rest, uses: pause, with: {for: 300ms}}
  - id: go
    approval: {}
`

func TestHowFarARunIsIsLearnedFromEarlierOnesAndFromRehearsals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	book := b.parse(rested)
	p, err := b.Prepare(t.Context(), Request{Book: book, Cluster: "lab1"})
	if err != nil || p.Expected != 0 {
		t.Fatalf("expected %s with nothing to learn from, %v", p.Expected, err)
	}
	run := b.begin(Request{Book: book})
	b.agreeing(run)
	st := b.stateOf(run)
	if took := st.Timings(); took["first"] <= 0 || took["rest"] <= 0 || took["go"] != 0 {
		t.Errorf("took %v", took)
	}
	// What a rehearsal in another store took counts too, and the median of the last five at that.
	for _, seconds := range []float64{1000, 100, 100, 100, 100, 9} {
		r := st.Rehearsal("r", "trial", true)
		r.Took = map[string]float64{"first": seconds, "rest": seconds}
		if err := r.Keep(t.Context(), b.Store, book.Name); err != nil {
			t.Fatal(err)
		}
	}
	if p, err = b.Prepare(t.Context(), Request{Book: book, Cluster: "lab1"}); err != nil || p.Expected != 300*time.Second {
		t.Errorf("expected %s, %v", p.Expected, err)
	}
	again := b.begin(Request{Book: book})
	e, err := b.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Start(t.Context(), e, again, journal.Command{Do: "run"}); err != nil {
		t.Fatal(err)
	}
	summary := func() (s journal.Summary) {
		r, err := b.Store.Run(t.Context(), again)
		if err == nil && r.Summary != nil {
			err = json.Unmarshal(r.Summary, &s)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	b.until(again, func(st *journal.State) bool { return st.Status() == "asking" && summary().Status == "asking" })
	if s := summary(); s.Share != 1 || s.Left != 0 {
		t.Errorf("only a person is left: %+v", s)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestShareAndTimeLeftInTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	book := b.parse(rested)
	if err := b.Store.Keep(t.Context(), "timing", book.Name, json.RawMessage(`{"first": 30, "each": 5, "rest": 10}`)); err != nil {
		t.Fatal(err)
	}
	half, goOn := make(chan struct{}), make(chan struct{})
	b.Between = func(_ context.Context, _ action.Task, _ *cluster.Cluster, c action.Call) (action.Facts, error) {
		if c.Step == "each[x].rest" {
			c.Progress(0.5, "half of it")
			close(half)
			<-goOn
		}
		return nil, nil
	}
	run := b.begin(Request{Book: book})
	e := b.started(run, journal.Command{Do: "run"})
	<-half
	var s journal.Summary
	b.until(run, func(*journal.State) bool {
		r, err := b.Store.Run(t.Context(), run)
		return err == nil && r.Summary != nil && json.Unmarshal(r.Summary, &s) == nil && s.Detail != ""
	})
	// Of 30 and twice 5 and 10 seconds, 30 and 5 and half of 10 are over.
	if s.Detail != "each[x].rest: half of it" || math.Abs(s.Share-40.0/60) > 1e-9 || s.Left.Round(time.Millisecond) != 20*time.Second {
		t.Errorf("in the middle: %+v", s)
	}
	close(goOn)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestPartsOfGroupsThatAreNotReachedYetCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(rested), Cluster: "lab1"})
	if err != nil {
		t.Fatal(err)
	}
	st := &journal.State{Header: p.Header, Book: b.parse(rested), Targets: map[string][]string{}}
	st.Expand()
	if parts := st.Parts(); len(parts) != 3 { // first, and rest for x and y
		t.Errorf("parts %+v", parts)
	}
	st.Targets["each"] = []string{"x", "y"}
	st.Healthy = map[string]bool{"each[x]": true}
	st.Expand()
	over := 0
	for _, p := range st.Parts() {
		if p.Over {
			over++
		}
	}
	if parts := st.Parts(); len(parts) != 5 || over != 1 { // and the looks at the cluster's health before each
		t.Errorf("parts %+v", parts)
	}
}

func TestWhatIsNotKnownYetCountsAsWork(t *testing.T) {
	t.Parallel()
	st := &journal.State{Targets: map[string][]string{}, Healthy: map[string]bool{}}
	st.Header.Plan.Steps = []journal.PlanStep{
		{Key: "join", Uses: "cql.join"},
		{Key: "others", Later: []string{"join"}},
		{Key: "go", Approval: "Go on?", Later: []string{"join"}},
	}
	if parts := st.Parts(); len(parts) != 2 || parts[1].Key != "others" {
		t.Errorf("parts %+v", parts)
	}
	var nothing learned
	if first, later := nothing.elapsed("join", time.Second), nothing.elapsed("join", time.Hour); first > 0.1 || later < 0.9 || later >= 1 {
		t.Errorf("of a part that nothing is known of, %.2f is done after a second and %.2f after an hour", first, later)
	}
	if share := (learned{"join": 10}).elapsed("join", time.Minute); share != 0.95 {
		t.Errorf("of a part that takes longer than ever, %.2f is done", share)
	}
}
