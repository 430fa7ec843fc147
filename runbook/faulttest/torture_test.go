package faulttest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/runbooktest"
)

// bench is a folder for what runbooks change, and clusters without an engine.
type bench struct {
	t       *testing.T
	folder  string
	Actions []action.Action
	Open    lock.Opener
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return &bench{t: t, folder: t.TempDir(), Actions: action.Generic(), Open: func(_ context.Context, name string) (*cluster.Cluster, error) {
		return runbooktest.NewCluster(name, "lab", "n1", "n2", "n3")
	}}
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

func (b *bench) put(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.folder, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// torture tortures a runbook but for what needs processes of its own.
func (b *bench) torture(text string, clusterLock *runbooktest.MemoryLock) Report {
	b.t.Helper()
	tt := Torture{
		Request: execute.Request{Book: b.parse(text), Cluster: "lab1"}, Folder: b.t.TempDir(), Actions: b.Actions, Open: b.Open,
		ClusterLock: func(*cluster.Cluster) lock.ClusterLock { return clusterLock }, Say: func(string) {},
		Child: func(context.Context, string, durable.Moment, func(context.Context) error) (Fate, error) {
			return Fate{}, nil
		},
	}
	experiments := []func(context.Context, *Report) error{tt.twice, tt.fail}
	if tt.Request.Book.Lock == runbook.LockNone {
		experiments = append(experiments, tt.sleep) // which needs no process then
	}
	var o Report
	if err := tt.worthIt(b.t.Context(), &o); err != nil {
		b.t.Fatal(err)
	}
	for _, experiment := range experiments {
		if err := experiment(b.t.Context(), &o); err != nil {
			b.t.Fatal(err)
		}
	}
	return o
}

func TestTheTortureFindsWhatIsNotRepeatableAndNotUndone(t *testing.T) {
	for _, c := range []struct{ name, step, want string }{
		{"sound", `{run: "touch DIR/f", check: "test -e DIR/f", undo: "rm -f DIR/f", repeatable: true}`, ""},
		{"not repeatable", `{run: "mkdir DIR/f", check: "test -e DIR/f", undo: "rmdir DIR/f 2>/dev/null || true", repeatable: true}`, "not repeatable"},
		{"undo does nothing", `{run: "touch DIR/f", check: "test -e DIR/f", undo: "true", repeatable: true}`, "undone, it is"},
		{"undo fails", `{run: "touch DIR/f", check: "test -e DIR/f", undo: "false", repeatable: true}`, "not undone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			o := b.torture("runbook: test/torture\nsteps:\n  - {id: a, uses: command, with: "+c.step+"}\n", &runbooktest.MemoryLock{})
			var all []string
			for _, trouble := range o.Troubles {
				all = append(all, trouble.Text)
			}
			if got := strings.Join(all, "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("troubles %q, want %q", got, c.want)
			}
			if entries, err := os.ReadDir(b.folder); c.want == "" && (err != nil || len(entries) > 0) {
				t.Errorf("it left %v, %v", entries, err)
			}
		})
	}
}

func TestTheTortureTakesNoClusterFromARunThatLocksNone(t *testing.T) {
	b := newBench(t)
	o := b.torture(`{runbook: test/look, lock: none, steps: [{id: a, uses: command, with: {run: "true", effect: none}}]}`, &runbooktest.MemoryLock{})
	if len(o.Troubles) > 0 {
		t.Errorf("troubles %v", o.Troubles)
	}
}

// What cannot be taken back is restored before the next try, and prepared anew.
func TestEachTryOfATortureBeginsAlike(t *testing.T) {
	b := newBench(t)
	restored := 0
	var tt Torture
	tt = Torture{
		Request: execute.Request{Book: b.parse(`{runbook: test/final, lock: none, steps: [{id: a, uses: command, with: {run: "mv DIR/from DIR/to", check: "test -e DIR/to"}}]}`), Cluster: "lab1"},
		Before:  []execute.Request{{Book: b.parse(`{runbook: test/first, lock: none, steps: [{id: a, uses: command, with: {run: "touch DIR/from", check: "test -e DIR/from"}}]}`), Cluster: "lab1"}},
		Folder:  t.TempDir(), Actions: b.Actions, Open: b.Open, ClusterLock: func(*cluster.Cluster) lock.ClusterLock { return nil }, Say: func(string) {},
		Save: func(context.Context) error { return nil },
		Restore: func(context.Context) error {
			restored++
			return os.RemoveAll(filepath.Join(b.folder, "to"))
		},
		Child: func(ctx context.Context, folder string, _ durable.Moment, _ func(context.Context) error) (Fate, error) {
			s, err := (&Torture{Folder: folder, Actions: b.Actions, Open: b.Open}).service(ctx, "")
			if err != nil {
				return Fate{}, err
			}
			_, _, err = tt.run(ctx, s, tt.Request, func(*journal.State) *journal.Command { return nil })
			return Fate{}, errors.Join(err, s.Store.Close())
		},
	}
	o, err := tt.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Twice, failed, before entry 1 and at entry 1, to which it does not come here; and in the end.
	if o.Tries != 4 || o.Restored != 4 || restored != 5 || len(o.Troubles) > 0 || strings.Join(o.Stays, " ") != "a" {
		t.Errorf("%+v, restored %d times", o, restored)
	}
}

func TestTheTortureTellsOfAnOwnerThatActsOnATakenCluster(t *testing.T) {
	b := newBench(t)
	tt := Torture{
		Request: execute.Request{Book: b.parse(`{runbook: test/deaf, steps: [{id: a, uses: command, with: {run: "touch DIR/f", check: "test -e DIR/f", undo: "rm -f DIR/f"}}]}`), Cluster: "lab1"},
		Folder:  t.TempDir(), Actions: b.Actions, Open: b.Open, ClusterLock: func(*cluster.Cluster) lock.ClusterLock { return nil }, Say: func(string) {},
	}
	var o Report
	if err := tt.worthIt(t.Context(), &o); err != nil {
		t.Fatal(err)
	}
	s, err := tt.service(t.Context(), "deaf")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := tt.run(t.Context(), s, tt.Request, func(*journal.State) *journal.Command { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.Store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := tt.robbed(t.Context(), &o, "sleep", filepath.Join(tt.Folder, "deaf"), neighbour{lock.LeaseName("lab1")}, true); err != nil {
		t.Fatal(err)
	}
	if len(o.Troubles) != 1 || !strings.Contains(o.Troubles[0].Text, "not fenced") {
		t.Errorf("troubles %v", o.Troubles)
	}
}

// What no check sees any more, a node that was made, is found all the same.
func TestTheTortureFindsANodeThatAnUndoLeaves(t *testing.T) {
	b := newBench(t)
	tt := Torture{
		Request: execute.Request{Book: b.parse(`{runbook: test/grow, lock: none, steps: [{id: a, uses: command, with: {run: "touch DIR/node DIR/f", check: "test -e DIR/f", undo: "rm -f DIR/f", repeatable: true}}]}`), Cluster: "lab1"},
		Folder:  t.TempDir(), Actions: b.Actions, ClusterLock: func(*cluster.Cluster) lock.ClusterLock { return nil }, Say: func(string) {},
		Open: func(ctx context.Context, name string) (*cluster.Cluster, error) {
			on, err := b.Open(ctx, name)
			if err != nil {
				return nil, err
			}
			list := on.List
			on.List = func(ctx context.Context) ([]cluster.Node, error) {
				nodes, err := list(ctx)
				if _, is := os.Stat(filepath.Join(b.folder, "node")); is == nil {
					nodes = append(nodes, cluster.Node{Name: "grown"})
				}
				return nodes, err
			}
			return on, nil
		},
	}
	var o Report
	if err := tt.worthIt(t.Context(), &o); err != nil {
		t.Fatal(err)
	}
	if err := tt.twice(t.Context(), &o); err != nil {
		t.Fatal(err)
	}
	if len(o.Troubles) != 1 || o.Troubles[0].Step != theNodes || !strings.Contains(o.Troubles[0].Text, "it is grown, n1, n2, n3, it was n1, n2, n3") {
		t.Errorf("troubles %v", o.Troubles)
	}
}

func TestTheTortureRefusesWhatHasNothingToDo(t *testing.T) {
	b := newBench(t)
	b.put("f", "")
	tt := Torture{
		Request: execute.Request{Book: b.parse(`{runbook: test/idle, steps: [{id: a, uses: command, with: {run: "true", check: "test -e DIR/f"}}]}`), Cluster: "lab1"},
		Folder:  t.TempDir(), Actions: b.Actions, Open: b.Open, Say: func(string) {},
	}
	if _, err := tt.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing to torture") {
		t.Errorf("got %v", err)
	}
}

// Of what stays, all that its check saw is compared, but what it is to make another.
func TestWhatATortureComparesOfAStepThatStays(t *testing.T) {
	b := newBench(t)
	tt := Torture{
		Request: execute.Request{Book: b.parse(`{runbook: test/stays, steps: [{id: a, uses: command, with: {run: "true"}}]}`), Cluster: "lab1"},
		Open:    b.Open,
	}
	seen := func(effect action.Effect, process, role string) string {
		all, err := tt.sights(t.Context(), journal.Plan{Steps: []journal.PlanStep{{
			Key: "a", Effect: effect, State: action.Needed, Observed: action.Facts{"process": process, "role": role},
			Intended: action.Facts{"process": action.Another, "role": "primary"},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return all["a"]
	}
	before := seen(action.Irreversible, "1", "replica")
	if after := seen(action.Irreversible, "2", "replica"); after != before {
		t.Errorf("another process: %s, was %s", after, before)
	}
	if after := seen(action.Irreversible, "1", "primary"); after == before {
		t.Errorf("another role is not seen: %s", after)
	}
	if seen(action.Reversible, "1", "replica") == seen(action.Reversible, "2", "replica") {
		t.Error("another process is not seen after a step that can be taken back")
	}
}

// A step that has nothing to do is tried by no try, and the torture says so.
func TestTheTortureNamesWhatItDidNotTry(t *testing.T) {
	b := newBench(t)
	o := b.torture(`runbook: test/torture
steps:
  - {id: a, uses: command, with: {run: "touch DIR/f", check: "test -e DIR/f", undo: "rm -f DIR/f", repeatable: true}}
  - {id: b, uses: command, with: {run: "exit 7", check: "true", undo: "exit 8", repeatable: true}}
`, &runbooktest.MemoryLock{})
	if len(o.Troubles) > 0 || strings.Join(o.Untried, " ") != "b" {
		t.Errorf("troubles %v, not tried %q", o.Troubles, o.Untried)
	}
}
