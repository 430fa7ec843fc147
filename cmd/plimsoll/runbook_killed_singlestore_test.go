package main

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/torturecmd"
	"plimsoll/durable"
	"plimsoll/runbook/faulttest"
	"plimsoll/runbook/journal"
)

// TestWhatAKilledPlimsollBeganInASingleStoreGoesOn kills it in the middle of every act, where the torture kills it between them.
// The next waits for the end of what was begun, by sdb-admin or in the cluster, and begins nothing of it again.
func TestWhatAKilledPlimsollBeganInASingleStoreGoesOn(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("kills processes")
	}
	s := newStandIn(t)
	began := s.cluster.String()
	s.killedInEveryAct(t, "singlestore/add-leaf", "create", "add", "rebalance")
	if strings.Count(s.cluster.String(), "on 10.0.0.9:3306") == 0 {
		t.Errorf("nothing is on the leaf:\n%s", s.cluster)
	}
	s.killedInEveryAct(t, "singlestore/remove-leaf", "leave", "delete")
	if strings.Contains(s.cluster.String(), "10.0.0.9") || strings.Count(s.cluster.String(), "copy ") != strings.Count(began, "copy ") {
		t.Errorf("it left\n%s\nof\n%s", s.cluster, began)
	}
	count := map[string]int{}
	calls, _ := s.cluster.Calls()
	for _, words := range calls {
		count[strings.Fields(words)[0]]++
	}
	delete(count, "list-nodes")
	if want := map[string]int{"create-node": 1, "add-leaf": 1, "remove-leaf": 1, "delete-node": 1}; !maps.Equal(count, want) {
		t.Errorf("sdb-admin was told %v, want %v", count, want)
	}
}

// killedInEveryAct runs a runbook, by as many processes as there are acts and one. Each but the last is killed in one of them.
func (s *standIn) killedInEveryAct(t *testing.T, book string, acts ...string) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	release := s.cluster.Hold(t)
	var left func() // ends what the process before left under way
	for _, act := range acts {
		p := s.start(t, book, store)
		if left != nil {
			p.waits(t, s)
			release = s.cluster.Hold(t)
			left()
		}
		p.until(t, func() bool { return s.cluster.Holding() == 1 })
		t.Logf("%s: killed in the middle of %s", book, act)
		if fate := p.kill(); !fate.Cut {
			t.Fatalf("it was not killed: %s", fate.Said)
		}
		left = release
	}
	p := s.start(t, book, store)
	p.waits(t, s)
	left()
	if end := <-p.ended; end.err != nil || end.fate.Cut {
		t.Fatalf("%v: %s", end.err, end.fate.Said)
	}
	st, intents := journalOf(t, store)
	if st.Outcome != journal.RunDone || !slices.Equal(intents, acts) {
		t.Errorf("%s: %q at %s: %s; acts %q, want %q", book, st.Outcome, st.Position(), st.Why, intents, acts)
	}
}

// journalOf is how the only run of a store stands, and which steps began to act.
func journalOf(t *testing.T, folder string) (_ *journal.State, intents []string) {
	t.Helper()
	store, err := durable.Open(t.Context(), durable.Options{Folder: folder, Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	runs, err := store.Runs(t.Context())
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	entries, err := store.Entries(t.Context(), runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		var e journal.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == journal.Intended {
			intents = append(intents, e.Step)
		}
	}
	st, err := journal.Fold(entries, catalog.Actions())
	if err != nil {
		t.Fatal(err)
	}
	return st, intents
}

// process is a plimsoll that runs a runbook, or goes on with it.
type process struct {
	cut   context.CancelFunc
	ended chan processEnd
}

type processEnd struct {
	fate faulttest.Fate
	err  error
}

func (s *standIn) start(t *testing.T, book, store string) process {
	t.Helper()
	ctx, cut := context.WithCancel(t.Context())
	p := process{cut, make(chan processEnd, 1)}
	var running sync.WaitGroup
	running.Go(func() {
		fate, err := torturecmd.RunChild(ctx, s.victim(book), store, durable.Moment{}, nil)
		p.ended <- processEnd{fate, err}
	})
	t.Cleanup(func() {
		cut()
		running.Wait()
	})
	return p
}

// kill kills it and says what it had come to.
func (p process) kill() faulttest.Fate {
	p.cut()
	return (<-p.ended).fate
}

// until waits until something is so, while the process lives.
func (p process) until(t *testing.T, so func() bool) {
	t.Helper()
	tick, limit := time.NewTicker(5*time.Millisecond), time.NewTimer(2*time.Minute)
	defer tick.Stop()
	defer limit.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatal("it did not come in two minutes")
		case end := <-p.ended:
			t.Fatalf("it ended: %v: %s", end.err, end.fate.Said)
		}
	}
}

// waits looks that it neither ends nor begins anything while what the process before it began goes on. On a machine on which a
// process needs longer than that for its start it shows less.
func (p process) waits(t *testing.T, s *standIn) {
	t.Helper()
	const longer = time.Second
	end := time.NewTimer(longer)
	defer end.Stop()
	over := false
	p.until(t, func() bool {
		select {
		case <-end.C:
			over = true
		default:
		}
		if s.cluster.Holding() > 1 {
			t.Fatal("it began something while what was begun before goes on")
		}
		return over
	})
}
