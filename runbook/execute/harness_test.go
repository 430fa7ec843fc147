package execute

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/runbooktest"
)

func newService(store *durable.Store) *Service {
	return &Service{
		Store: store, Actions: action.Generic(), User: "ann", Known: "a test", Holder: "test", TTL: 5 * time.Second,
		Open: func(_ context.Context, cluster string) (*cluster.Cluster, error) {
			environment := "lab"
			if strings.HasPrefix(cluster, "prod") {
				environment = runbook.Production
			}
			return runbooktest.NewCluster(cluster, environment, "n1", "n2", "n3")
		},
	}
}

// bench is a state folder with a service, and a folder for what runbooks change.
type bench struct {
	*Service
	t      *testing.T
	folder string // for what is changed
	state  string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return newBenchOn(t, t.TempDir())
}

// newBenchOn works on a state folder that is there.
func newBenchOn(t *testing.T, state string) *bench {
	t.Helper()
	return newBenchWith(t, durable.Options{Folder: state, Version: journal.Interpreter})
}

// newBenchWith works on any store.
func newBenchWith(t *testing.T, o durable.Options) *bench {
	t.Helper()
	b := &bench{t: t, folder: t.TempDir(), state: o.Folder}
	store, err := durable.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	b.Service = newService(store)
	return b
}

// parse reads a runbook; DIR in its text is the folder.
func (b *bench) parse(text string) *runbook.Runbook {
	b.t.Helper()
	book, err := runbook.Parse("test.yaml", []byte(strings.ReplaceAll(text, "DIR", b.folder)), b.Actions)
	if err != nil {
		b.t.Fatal(err)
	}
	return book
}

// begin plans and begins a run.
func (b *bench) begin(q Request) string {
	b.t.Helper()
	if q.Cluster == "" {
		q.Cluster = "lab1"
	}
	p, err := b.Prepare(b.t.Context(), q)
	if err != nil {
		b.t.Fatal(err)
	}
	run, err := b.Begin(b.t.Context(), p)
	if err != nil {
		b.t.Fatal(err)
	}
	return run
}

// started begins a session of a run; the test waits for it, and closes the executor.
func (b *bench) started(run string, o journal.Command) *durable.Executor {
	b.t.Helper()
	e, err := b.Execute(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.Start(b.t.Context(), e, run, o); err != nil {
		b.t.Fatal(err)
	}
	return e
}

// runSession executes one session of a run to its end and returns how the run stands.
func (b *bench) runSession(run string, o journal.Command) *journal.State {
	b.t.Helper()
	e := b.started(run, o)
	if err := e.Wait(b.t.Context(), run); err != nil {
		b.t.Errorf("the session ended with %v", err)
	}
	if err := e.Close(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return b.stateOf(run)
}

func (b *bench) stateOf(run string) *journal.State {
	b.t.Helper()
	st, err := b.State(b.t.Context(), run)
	if err != nil {
		b.t.Fatal(err)
	}
	return st
}

// events are a run's events of some kinds.
func (b *bench) events(run string, kinds ...journal.Kind) []journal.Event {
	b.t.Helper()
	entries, err := b.Store.Entries(b.t.Context(), run)
	if err != nil {
		b.t.Fatal(err)
	}
	var all []journal.Event
	for _, entry := range entries {
		var e journal.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			b.t.Fatal(err)
		}
		for _, k := range kinds {
			if e.Kind == k {
				all = append(all, e)
			}
		}
	}
	return all
}

// read returns the lines of a file that runbooks wrote.
func (b *bench) read(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.folder, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.t.Fatal(err)
	}
	return string(data)
}

func (b *bench) put(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.folder, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := os.Remove(filepath.Join(b.folder, name)); err != nil {
		b.t.Fatal(err)
	}
}
