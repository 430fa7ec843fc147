package execute

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/runbooktest"
)

const overTwo = `
runbook: test/two
inputs:
  source: {type: cluster}
  of: {type: node, of: source, default: n2}
steps:
  - id: there
    cluster: "${{ inputs.source }}"
    uses: command
    with: {run: "echo there >> DIR/log", check: "test -e DIR/log", undo: "rm -f DIR/log", repeatable: true}
  - id: here
    uses: command
    with: {run: "echo here >> DIR/here", check: "test -e DIR/here", undo: "rm -f DIR/here", repeatable: true}
`

// watched notes on which clusters markers are asked, in order.
type watched struct {
	mu     sync.Mutex
	boards map[string]*runbooktest.MemoryLock
	taken  []string
}

func (w *watched) clusterLock(on *cluster.Cluster) lock.ClusterLock {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.boards == nil {
		w.boards = map[string]*runbooktest.MemoryLock{}
	}
	if w.boards[on.Name] == nil {
		w.boards[on.Name] = &runbooktest.MemoryLock{}
	}
	return watching{w, w.boards[on.Name]}
}

type watching struct {
	w *watched
	*runbooktest.MemoryLock
}

func (m watching) Claim(ctx context.Context, c action.Claim) error {
	m.w.mu.Lock()
	m.w.taken = append(m.w.taken, c.Cluster)
	m.w.mu.Unlock()
	return m.MemoryLock.Claim(ctx, c)
}

func TestARunLocksAllItsClustersInTheOrderOfTheirNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	marks := &watched{}
	b.ClusterLock = marks.clusterLock
	book := b.parse(overTwo)
	p, err := b.Prepare(t.Context(), Request{Book: book, Cluster: "lab2", Inputs: map[string]string{"source": "lab1"}})
	if err != nil {
		t.Fatal(err)
	}
	if h := p.Header; !slices.Equal(h.Clusters, []string{"lab1", "lab2"}) || h.Plan.Steps[0].Cluster != "lab1" || h.Plan.Steps[1].Cluster != "" {
		t.Errorf("clusters %v, steps %+v", h.Clusters, h.Plan.Steps)
	}
	run, err := b.Begin(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(marks.taken, []string{"lab1", "lab2"}) {
		t.Errorf("taken in the order %v", marks.taken)
	}
	// Another run that wants one of them is refused, and keeps nothing of what it took before.
	for _, other := range []Request{{Book: b.parse(asking), Cluster: "lab1"}, {Book: book, Cluster: "lab2", Inputs: map[string]string{"source": "lab0"}}} {
		p, err := b.Prepare(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		var busy *lock.BusyError
		if _, err := b.Begin(t.Context(), p); !errors.As(err, &busy) || busy.Run != run {
			t.Errorf("a second run: %v", err)
		}
	}
	if lease, err := b.Store.Lease(t.Context(), "cluster lab0"); err != nil || lease.Holder != "" || marks.boards["lab0"].Has.Run != "" {
		t.Errorf("lab0 is held by %q and %q, %v", lease.Holder, marks.boards["lab0"].Has.Run, err)
	}
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Fatalf("outcome %q", st.Outcome)
	}
	if b.read("log") != "there\n" || b.read("here") != "here\n" {
		t.Error("a step did not act")
	}
	for _, name := range []string{"lab1", "lab2"} {
		if lease, err := b.Store.Lease(t.Context(), lock.LeaseName(name)); err != nil || lease.Holder != "" || marks.boards[name].Has.Run != "" {
			t.Errorf("%s is still held, %v", name, err)
		}
	}
	if opened := b.events(run, journal.Opened); len(opened[0].Epochs) != 2 {
		t.Errorf("epochs %v", opened[0].Epochs)
	}
	if st := b.runSession(run, journal.Command{Do: "cancel", Undo: true}); st.Outcome != journal.RunUndone || b.read("log") != "" {
		t.Errorf("taken back: %q, %q", st.Outcome, b.read("log"))
	}
}

// A run over two clusters whose process died when it had given back the first: what it holds of the second is given back.
func TestAnEndedRunGivesBackTheClustersThatItStillHolds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	marks := &watched{}
	b.ClusterLock = marks.clusterLock
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(overTwo), Cluster: "lab2", Inputs: map[string]string{"source": "lab1"}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := b.Begin(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	claim := marks.boards["lab2"].Has
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Fatal(st.Outcome)
	}
	claim.Held = false
	if err := marks.boards["lab2"].Claim(t.Context(), claim); err != nil { // as it was before the release
		t.Fatal(err)
	}
	if _, err := b.Store.Acquire(t.Context(), lock.LeaseName("lab2"), run, time.Minute); err != nil {
		t.Fatal(err)
	}
	if gave, err := b.GiveBack(t.Context(), run); !gave || err != nil {
		t.Errorf("gave back %v, %v", gave, err)
	}
	lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab2"))
	if err != nil || lease.Holder != "" || marks.boards["lab2"].Has.Run != "" {
		t.Errorf("lab2 is leased to %q and claimed by %q, %v", lease.Holder, marks.boards["lab2"].Has.Run, err)
	}
}

func TestAClusterOfProductionMakesTheRunOneOfProduction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(overTwo), Cluster: "lab2", Inputs: map[string]string{"source": "prod1"}})
	if err != nil || p.Header.Environment != runbook.Production {
		t.Errorf("environment %q, %v", p.Header.Environment, err)
	}
}

func TestAStepReachesOnlyClustersThatTheRunHasLocked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(`
runbook: test/stray
steps: [{id: a, cluster: lab9, uses: command, with: {run: "touch DIR/a"}}]
`), Cluster: "lab1"})
	if err != nil || !p.Header.Plan.Steps[0].Failed || !strings.Contains(p.Header.Plan.Steps[0].Reason, "has not locked cluster lab9") {
		t.Errorf("%+v, %v", p.Header.Plan.Steps, err)
	}
}

func TestAListOfClusters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	book := b.parse(`
runbook: test/many
inputs: {sources: {type: clusters}}
steps:
  - id: each
    rolling: {over: inputs.sources}
    steps:
      - {id: mark, cluster: "${{ target }}", uses: command, with: {run: "echo ${{ target }} >> DIR/log", repeatable: true}}
`)
	if _, err := book.Resolve(map[string]string{"sources": "a,,b"}); err == nil || !strings.Contains(err.Error(), "each once") {
		t.Errorf("an empty name: %v", err)
	}
	run := b.begin(Request{Book: book, Cluster: "lab1", Inputs: map[string]string{"sources": "lab3, lab2"}})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone || b.read("log") != "lab3\nlab2\n" {
		t.Errorf("outcome %q, log %q", st.Outcome, b.read("log"))
	}
}
