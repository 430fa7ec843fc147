package catalog

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/analyze"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/result"
	"plimsoll/trial/progress"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
	"plimsoll/workload/ledger"
)

// leaving is a runbook in whose midst something happens, before a node is to leave.
const leaving = `runbook: test/leaving
steps:
  - {id: meanwhile, uses: command, with: {run: "until [ -e FILE ]; do sleep 0.1; done; [ ! -s FILE ]", effect: none}, timeout: 10m}
  - {id: leave, uses: cql.decommission, with: {node: n2}}
`

// watching is what is done when steps of a run begin.
type watching map[string]func()

func (w watching) Observe(u progress.Update) {
	if u, is := u.(progress.Happened); is && u.Kind == "step.start" && w[u.Name] != nil {
		w[u.Name]()
	}
}

// meanwhile is a trial that has a node leave, before which something happens under load.
func (w *troubled) meanwhile(happens func()) *result.Result {
	w.Helper()
	folder := w.TempDir()
	file, over := filepath.Join(folder, "leaving.yaml"), filepath.Join(folder, "over")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(leaving, "FILE", over)), 0o600); err != nil {
		w.Fatal(err)
	}
	var happening sync.WaitGroup
	defer happening.Wait() // also if the trial ends the test
	result := w.trial("{run: "+file+", limit: 8m}", watching{"meanwhile": func() {
		happening.Go(func() {
			happens()
			said := ""
			if w.Failed() {
				said = "it did not happen: nobody leaves"
			}
			if err := os.WriteFile(over, []byte(said), 0o600); err != nil {
				w.Error(err)
			}
		})
	}})
	happening.Wait()
	return result
}

// prepares makes what the ledger needs, which a trial leaves as it is.
func (w *troubled) prepares() {
	l, err := Workload(&document.Node{Kind: document.Scalar, Text: ledger.Name}, nil, w.ring.Engine)
	if err == nil {
		err = l.Prepare(w.of.Context(), w.ring, nil)
	}
	if err != nil {
		w.of.Fatal(err)
	}
}

// trial changes the ring under the load of a ledger.
func (w *troubled) trial(change string, o watching) *result.Result {
	w.Helper()
	password := passwordFile(w.T, w.ring)
	nodes := ""
	for _, n := range []string{"n1", "n2", "n3"} {
		nodes += "\n      - {name: " + n + `, address: "` + w.node(n).Target.Addresses[0] + `", machine: local}`
	}
	parts := Parts()
	parts.Inventory = func() (*inventory.Inventory, error) {
		return inventory.Parse(inventory.File, []byte(`clusters:
  ring:
    engine: cql
    environment: staging
    user: `+w.ring.Target.User+`
    password: {file: `+password+`}
    database: `+w.ring.Target.Namespace+`
    nodes:`+nodes+"\n"))
	}
	parts.OpenCluster = func(_ context.Context, name string, _ infra.Machine) (*cluster.Cluster, error) {
		on := w.on()
		on.Name = name
		return on, nil
	}
	tr, err := spec.Parse("trial.yaml", []byte(`trial: troubled
cluster: {target: ring}
load: {workload: ledger, rate: 30, connections: 16, timeout: 10s}
timeline:
  - baseline: 5s
  - `+change+`
  - recovery: 5s
phases: {warmup: 2s, rounds: 1}
expect: [lost_writes == 0]
`), spec.Options{}, parts)
	if err != nil {
		w.Fatal(err)
	}
	machine, err := Machine()
	if err != nil {
		w.Fatal(err)
	}
	result, err := run.Run(w.Context(), tr, parts, run.Options{
		Lab: lab.Deps{Machine: machine, Home: w.TempDir()}, Dir: filepath.Join(w.TempDir(), "result"), Observer: o,
		Log: slog.New(slog.NewTextHandler(w.Output(), nil)), Version: "test",
	})
	if err != nil {
		w.Fatal(err)
	}
	return result
}

// says expects a verdict, what the reasons or the notes say, and that no acknowledged write is lost.
func (w *troubled) says(result *result.Result, want analyze.Answer, texts ...string) {
	w.Helper()
	v := result.Verdict
	said := strings.Join(append(v.Reasons, v.Notes...), "\n")
	w.Logf("%s: %s", v.Verdict, said)
	if v.Verdict != want {
		w.Errorf("%s, want %s", v.Verdict, want)
	}
	for _, text := range texts {
		if !strings.Contains(said, text) {
			w.Errorf("nothing says: %s", text)
		}
	}
	if len(v.Claims) != 1 || v.Claims[0].Verdict != analyze.Pass {
		w.Errorf("of lost writes: %+v", v.Claims)
	}
}

func (w *troubled) on() *cluster.Cluster {
	w.Helper()
	machine, err := Machine()
	if err != nil {
		w.Fatal(err)
	}
	return lab.AsCluster(w.ring.Cluster, w.ring.Engine, machine)
}

func (w *troubled) node(name string) cluster.Node {
	w.Helper()
	n, err := w.on().Node(w.Context(), name)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

// host is a node's address without its port.
func (w *troubled) host(n cluster.Node) string {
	w.Helper()
	host, _, err := net.SplitHostPort(n.Target.Addresses[0])
	if err != nil {
		w.Fatal(err)
	}
	return host
}

// member is a node as n1 has it.
func (w *troubled) member(node string) (m engine.Member, known bool) {
	ring, err := w.ring.Database.(engine.Ringed).Ring(w.Context(), w.node("n1").Target.Addresses[0])
	if err != nil {
		return m, false
	}
	return ring.Find(w.node(node).Target.Addresses[0])
}

// part is what a node is to the ring; "" if it is no member.
func (w *troubled) part(node string) engine.Part {
	m, _ := w.member(node)
	return m.Part
}

// task is an action on the ring.
func (w *troubled) task(name, with string) action.Task {
	w.Helper()
	return actiontest.Task(w, Actions(), name, with)
}

func (w *troubled) leaves() action.Task { return w.task("cql.decommission", "node: n2") }

// nodetool has a node do something, and returns what it says; whether it does is seen by what comes of it.
func (w *troubled) nodetool(n cluster.Node, args ...string) (said string) {
	c, err := n.Tool(args...)
	if err != nil {
		w.Error(err)
		return ""
	}
	out, err := n.Machine.Run(w.Context(), c)
	if err != nil {
		w.Logf("nodetool %s: %v", args[0], err)
	}
	return string(out.Stdout)
}

// whole waits until the ring is.
func (w *troubled) whole() {
	w.Helper()
	on := w.on()
	defer func() { _ = on.Close() }()
	ctx, cancel := context.WithTimeout(w.Context(), 5*time.Minute)
	defer cancel()
	if _, err := w.task("cql.wait-whole", "{}").Act(ctx, on, action.Call{Progress: func(float64, string) {}}); err != nil {
		w.Fatal(err)
	}
}

// starts starts a node, and waits until the ring is whole.
func (w *troubled) starts(node string) {
	w.Helper()
	if err := w.ring.Cluster.Start(w.Context(), node); err != nil {
		w.Fatal(err)
	}
	w.whole()
}

// until waits for something.
func (w *troubled) until(what string, so func() bool) {
	limited, cancel := context.WithTimeout(w.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limited.Done():
			w.Errorf("never: %s", what)
			return
		}
	}
}
