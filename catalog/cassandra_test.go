package catalog

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/trial/progress"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"

	"plimsoll/analyze"
	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/workload"
)

func TestOnCassandra(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	t.Parallel() // most of its time is waited
	ring := labtest.UpNodes(t, "cassandra", 2)
	t.Run("workloads", func(t *testing.T) { workloadsOn(t, ring) })
	t.Run("the owner of a key is asked", func(t *testing.T) { asksTheOwner(t, ring) })
	t.Run("a coordinator that hangs", func(t *testing.T) { hangsInATrial(t, ring) })
	t.Run("runbooks", func(t *testing.T) { booksOn(t, ring) })
}

// workloadsOn runs what keeps records by key: its data is made and counted, its operations end well, and the ledger finds every
// write that was acknowledged.
func workloadsOn(t *testing.T, db labtest.Server) {
	for _, c := range []struct{ name, with string }{
		{"ycsb-a", "{records: 300, fields: 2}"},
		{"kv", "{records: 300, read: 70, insert: 20, update: 10}"},
		{"ycsb-e", "{records: 300}"},
		{"ledger", "{}"},
		{"../examples/latte-profile/workload.yaml", "{scale: 0.0005}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			with, err := document.Parse("with", []byte(c.with))
			if err != nil {
				t.Fatal(err)
			}
			w, err := Workload(&document.Node{Kind: document.Scalar, Text: c.name}, with, db.Engine)
			if err != nil {
				t.Fatal(err)
			}
			var done, total int64
			if err := w.Prepare(t.Context(), db, func(d, of int64, _ string) { done, total = d, of }); err != nil {
				t.Fatal(err)
			}
			if done != total {
				t.Errorf("%d of %d rows made", done, total)
			}
			if err := w.Adopt(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			tally := labtest.Drive(t, w, db, 1, 4, 60)
			for class, n := range tally.Errors {
				if class != engine.Timeout { // which is how a server that gets no turn answers
					t.Errorf("%d operations ended in %s: %v", n, class, tally.First[class])
				}
			}
			if len(tally.Done) != len(w.Operations()) {
				t.Errorf("done %v of %v", tally.Done, w.Operations())
			}
			if audited, keeps := w.(workload.Audited); keeps {
				a, err := audited.Audit(t.Context(), db, nil)
				if err != nil {
					t.Fatal(err)
				}
				if a.Acknowledged == 0 || len(a.Lost)+len(a.Stale)+len(a.Corrupt) > 0 {
					t.Errorf("%+v", a)
				}
			}
			if err := w.Cleanup(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// asksTheOwner reads rows that one node keeps each: every node coordinates the reads of its own rows, and no others.
func asksTheOwner(t *testing.T, ring labtest.Server) {
	maker, err := ring.Engine.Open(t.Context(), ring.Target)
	if err != nil {
		t.Fatal(err)
	}
	defer maker.Close()
	labtest.Ask(t, maker, "CREATE KEYSPACE owned WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", "CREATE TABLE owned.t (id int PRIMARY KEY)")
	target := ring.Target
	target.Namespace = "owned"
	db, err := ring.Engine.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	session, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	read, err := session.Prepare(t.Context(), "SELECT id FROM t WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	const keys, times = 16, 8
	for key := range int64(keys) {
		for range times {
			if err := read.Exec(t.Context(), []engine.Value{{Kind: engine.Integer, Int: key}}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	var coordinated []int
	for _, address := range ring.Target.Addresses {
		alone := ring.Target
		alone.Addresses = []string{address}
		db, err := ring.Engine.Open(t.Context(), engine.Alone(ring.Engine, alone))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		counted := func(view string) int {
			rows := labtest.Query(t, db, "SELECT count FROM system_views."+view+" WHERE keyspace_name = 'owned' AND table_name = 't'")
			n, err := strconv.Atoi(strings.Join(rows, " "))
			if err != nil {
				t.Fatalf("%s of %s: %v", view, address, err)
			}
			return n
		}
		coordinated = append(coordinated, counted("coordinator_read_latency"))
		if here := counted("local_read_latency"); coordinated[len(coordinated)-1] != here {
			t.Errorf("%s coordinated %d reads, and was asked for %d", address, coordinated[len(coordinated)-1], here)
		}
	}
	if sum := coordinated[0] + coordinated[1]; sum != keys*times || slices.Contains(coordinated, 0) {
		t.Errorf("%v reads were coordinated of %d", coordinated, keys*times)
	}
}

// hangsInATrial freezes a node in a baseline: the load keeps away from it, and the trial is INVALID and says whose fault that was.
func hangsInATrial(t *testing.T, ring labtest.Server) {
	with, err := document.Parse("with", []byte("{records: 300}"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := Workload(&document.Node{Kind: document.Scalar, Text: "ycsb-c"}, with, ring.Engine)
	if err == nil {
		err = w.Prepare(t.Context(), ring, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	tr, err := spec.Parse("trial.yaml", []byte(`trial: hanging
cluster: {target: 'cql://`+ring.Target.User+`@`+strings.Join(ring.Target.Addresses, ",")+`/`+ring.Target.Namespace+`', password: {file: `+passwordFile(t, ring)+`}}
load: {workload: ycsb-c, rate: 50, connections: 16, timeout: 4s, consistency: ONE}
timeline:
  - baseline: 20s
phases: {warmup: 2s, rounds: 1}
`), spec.Options{}, Parts())
	if err != nil {
		t.Fatal(err)
	}
	machine, err := Machine()
	if err != nil {
		t.Fatal(err)
	}
	f := &freezing{T: t, cluster: ring.Cluster, address: ring.Target.Addresses[1], avoided: make(chan struct{})}
	result, err := run.Run(t.Context(), tr, Parts(), run.Options{
		Lab: lab.Deps{Machine: machine, Home: t.TempDir()}, Dir: filepath.Join(t.TempDir(), "result"), Observer: f,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Version: "test",
	})
	f.done.Wait()
	if err != nil {
		t.Fatal(err)
	}
	said := "baseline: the node at " + ring.Target.Addresses[1] + " accepted requests but answered none for "
	if v := result.Verdict; v.Verdict != analyze.Invalid || !slices.ContainsFunc(v.Reasons, func(r string) bool { return strings.Contains(r, said) }) {
		t.Errorf("%s: %q, want INVALID: %s", v.Verdict, v.Reasons, said)
	}
	if !slices.ContainsFunc(result.Events, func(e series.Event) bool {
		return e.Kind == "load.avoids" && e.Detail["address"] == ring.Target.Addresses[1]
	}) {
		t.Errorf("no event tells that the load kept away: %+v", result.Events)
	}
}

// passwordFile is a file with a server's password: tests that run beside one another have one environment.
func passwordFile(t *testing.T, db labtest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(db.Target.Password), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// freezing freezes the second node when the baseline begins, until the load keeps away from it.
type freezing struct {
	*testing.T
	cluster *lab.Cluster
	address string // of the node
	frozen  atomic.Bool
	avoided chan struct{}
	done    sync.WaitGroup

	keeps atomic.Bool // away from the node
}

func (f *freezing) Observe(u progress.Update) {
	switch u := u.(type) {
	case progress.PhaseBegan:
		if u.Name == "baseline" {
			f.done.Go(f.freeze)
		}
	case progress.Happened:
		if u.Kind == "load.avoids" && u.Detail["address"] == f.address && f.frozen.Load() {
			f.keeps.Store(true)
		}
	case progress.Second:
		if f.keeps.Load() {
			select {
			case f.avoided <- struct{}{}:
			default:
			}
		}
	}
}

func (f *freezing) freeze() {
	node := f.cluster.Nodes()[1].Name
	if err := f.cluster.Server(node).Freeze(f.Context()); err != nil {
		f.Error(err)
		return
	}
	f.frozen.Store(true)
	limited, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	for range 5 { // seconds, of which the first may still be the node's own
		select {
		case <-f.avoided:
		case <-limited.Done():
			f.Error("the load did not keep away from the node")
		}
	}
	if err := f.cluster.Server(node).Thaw(context.WithoutCancel(f.Context())); err != nil {
		f.Error(err)
	}
}
