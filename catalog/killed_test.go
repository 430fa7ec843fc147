package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/infra/local"
	"plimsoll/runbook"
	"plimsoll/runbook/books"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// TestEveryShippedRunbookSurvivesADeathAtEveryWrite executes every runbook that ships, with its real steps, inputs and natures,
// on a simulated cluster: real ones are for the torture. Around every write of the journal it keeps a copy of the state folder
// and of the world, which is what a SIGKILL there would leave, and lets another process's eyes go on from each. Its undo is killed
// at every write too.
func TestEveryShippedRunbookSurvivesADeathAtEveryWrite(t *testing.T) {
	t.Parallel()
	for _, name := range books.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := &killing{t: t, name: name, root: inMemory(t)}
			deaths := k.reference()
			if testing.Short() { // it was executed once, undisturbed
				return
			}
			k.undoes(deaths)
			var first []time.Duration
			for _, d := range deaths {
				first = append(first, k.survive(d))
			}
			slices.Sort(first)
			// Figures, not bounds: the machine may be busy.
			t.Logf("%d deaths; from a start to the first decision: median %s, longest %s", len(deaths),
				first[len(first)/2].Round(time.Millisecond), first[len(first)-1].Round(time.Millisecond))
		})
	}
}

// inMemory is a folder in memory, if there is such: a process's death loses nothing of what it wrote, on disk or not.
func inMemory(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "plimsoll")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// said are inputs of runbooks to which a value of the right type is not enough.
var said = map[string]map[string]string{
	"singlestore/add-leaf": {"leaf": "10.0.0.9:3306"}, "singlestore/remove-leaf": {"leaf": "10.0.0.9:3306"},
	"mysql/multi-source": {"sources": "n1:app1,n2:app2", "replica": "n2"}, "rds/multi-source": {"sources": "n1:app1,n2:app2", "replica": "n2"},
	"mysql/cut-over":    {"from": "n1", "to": "n2"},
	"mysql/cut-back":    {"from": "n2", "to": "n1"},
	"mysql/warm-tables": {"tables": "shop.orders"}, "mysql/resize-buffer-pool": {"size": "512M"},
	"aurora/add-reader": {"tables": "shop.orders"}, "mysql/warm-replica": {"tables": "shop.orders", "costly": "true"},
	"superdisk/create":  {"mount": "/data"},
	"superdisk/migrate": {"mount": "/data"},
}

type killing struct {
	t          *testing.T
	name, root string
	stays      int // the entry that intends what cannot be undone; 0: all can be
}

// looksFollow are the entries after which nothing is written but the next, unless the run ends: what was seen, decided and done.
var looksFollow = map[journal.Kind]bool{
	journal.Targeted: true, journal.Ready: true, journal.Valued: true, journal.Checked: true, journal.Approved: true, journal.Acted: true, journal.Verified: true,
}

// death is a moment at which the process may have been killed, and the folder with what it leaves.
type death struct {
	at     durable.Moment
	folder string
}

func (d death) String() string {
	if d.at.Before {
		return fmt.Sprintf("killed before entry %d", d.at.Number)
	}
	return fmt.Sprintf("killed at entry %d", d.at.Number)
}

// service is a process: its store in one folder, its world in the other.
func (k *killing) service(folder string, written func(durable.Moment)) *execute.Service {
	k.t.Helper()
	store, err := durable.Open(k.t.Context(), durable.Options{Folder: filepath.Join(folder, "state"), Version: journal.Interpreter, Written: written})
	if err != nil {
		k.t.Fatal(err)
	}
	w := fixture{filepath.Join(folder, "world")}
	if err := os.MkdirAll(w.folder, 0o700); err != nil {
		k.t.Fatal(err)
	}
	return &execute.Service{
		Store: store, Actions: w.actions(), User: "ann", Holder: "test", TTL: time.Hour, // nothing is written but by the run
		Open: func(_ context.Context, name string) (*cluster.Cluster, error) {
			m, err := local.New()
			return &cluster.Cluster{Name: name, Environment: "lab", Local: m, List: func(context.Context) ([]cluster.Node, error) {
				return []cluster.Node{{Name: "n1", Machine: m}, {Name: "n2", Machine: m}}, nil
			}}, err
		},
	}
}

// reference executes the runbook once and returns all deaths it might have died.
func (k *killing) reference() (deaths []death) {
	k.t.Helper()
	folder := filepath.Join(k.root, "reference")
	var last journal.Kind // of the entry before, and how the world was when it was written
	var world []string
	s := k.service(folder, func(at durable.Moment) {
		if testing.Short() {
			return
		}
		var e journal.Event
		if err := json.Unmarshal(at.Data, &e); err != nil {
			k.t.Error(err)
		}
		if at.Before && looksFollow[last] && e.Kind != journal.Ended && slices.Equal(world, k.world(folder)) { // a death at the entry before leaves the same
			return
		}
		last, world = e.Kind, k.world(folder)
		deaths = append(deaths, k.kept(at, folder, "run"))
	})
	book, err := books.Read(k.name, s.Actions)
	if err != nil {
		k.t.Fatal(err)
	}
	p, err := s.Prepare(k.t.Context(), execute.Request{Book: book, Cluster: "lab1", Inputs: k.inputs(book)})
	if err != nil {
		k.t.Fatal(err)
	}
	run, err := s.Begin(k.t.Context(), p)
	if err != nil {
		k.t.Fatal(err)
	}
	st := k.execute(s, run, func(e *durable.Executor) error {
		return s.Start(k.t.Context(), e, run, journal.Command{Do: "run"})
	})
	if st.Outcome != journal.RunDone {
		k.t.Fatalf("undisturbed: %q at %s: %s (does it need more than inputs of the right types, or more outputs? say them in said and put)", st.Outcome, st.Position(), st.Why)
	}
	acts := 0
	for _, i := range st.Items {
		acts += i.Attempt
	}
	if acts == 0 {
		k.t.Error("no step acted: there was nothing to disturb")
	}
	k.stays = k.lasting(s, st, run)
	return deaths
}

// kept keeps a copy of the folder, as a death at a moment of what is under way would leave it.
func (k *killing) kept(at durable.Moment, folder, what string) death {
	k.t.Helper()
	d := death{at, filepath.Join(k.root, fmt.Sprintf("%s-%d-%v", what, at.Number, at.Before))}
	if err := os.CopyFS(d.folder, os.DirFS(folder)); err != nil {
		k.t.Error(err)
	}
	return d
}

// inputs are values of the right types; what a runbook needs beyond that stands in said.
func (k *killing) inputs(book *runbook.Runbook) map[string]string {
	inputs := map[string]string{}
	maps.Copy(inputs, said[k.name])
	for name, in := range book.Inputs {
		if _, is := inputs[name]; is {
			continue
		}
		if in.Default == nil {
			inputs[name] = map[runbook.InputType]string{
				"node": "n2", "cluster": "lab2", "clusters": "lab2,lab3", "integer": "1", "number": "0.5", "boolean": "false", "duration": "1s", "": "x", "text": "x",
			}[in.Type]
		}
		if len(in.Enum) > 0 {
			inputs[name] = in.Enum[0]
		}
	}
	return inputs
}

// execute executes one session, and agrees to what is asked. Runs whose process died go on by themselves, but those that get a command instead.
func (k *killing) execute(s *execute.Service, run string, start func(*durable.Executor) error, instead ...string) *journal.State {
	k.t.Helper()
	ctx := k.t.Context()
	asked := make(chan journal.Event, 64)
	agreed := make(chan struct{})
	go func() {
		defer close(agreed)
		for e := range asked {
			if err := s.Agree(ctx, run, e, "bob", "a rehearsal"); err != nil {
				k.t.Error(err)
			}
		}
	}()
	s.Observe = func(_ string, e journal.Event, _ time.Time) {
		if e.Kind == journal.Asked {
			asked <- e
		}
	}
	e, err := s.Execute(ctx, instead...)
	if err != nil {
		k.t.Fatal(err)
	}
	st, err := s.State(ctx, run) // one that was asked before the death is not asked again
	if err != nil {
		k.t.Fatal(err)
	}
	for _, i := range st.Items {
		if i.Phase == journal.StepAsking {
			asked <- journal.Event{Step: i.Key, Plan: st.Header.Plan.Hash}
		}
	}
	err = start(e)
	if err == nil {
		err = e.Wait(ctx, run)
	}
	close(asked)
	<-agreed
	if err := errors.Join(err, e.Close(ctx)); err != nil {
		k.t.Fatal(err)
	}
	if st, err = s.State(ctx, run); err != nil {
		k.t.Fatal(err)
	}
	return st
}

// survive lets another process go on from a death, and returns how long it took until its first entry.
func (k *killing) survive(d death) (first time.Duration) {
	k.t.Helper()
	began := time.Now()
	s := k.service(d.folder, func(durable.Moment) {
		if first == 0 {
			first = time.Since(began)
		}
	})
	defer func() {
		if err := s.Store.Close(); err != nil {
			k.t.Error(err)
		}
		_ = os.RemoveAll(d.folder)
	}()
	run := k.only(s)
	st := k.execute(s, run, func(e *durable.Executor) error {
		if len(e.Continued()) != 1 && !d.ended(k, s, run) {
			return fmt.Errorf("%s: it did not go on by itself", d)
		}
		return nil
	})
	asked := map[string]bool{} // of whom a person had to look
	for st.Outcome == journal.RunFailed {
		for _, i := range st.Items {
			if i.Phase == journal.StepFailed && !i.Asks {
				k.t.Fatalf("%s: step %s failed: %s", d, i.Key, i.Error)
			}
			asked[i.Key] = asked[i.Key] || i.Phase == journal.StepFailed
		}
		st = k.execute(s, run, func(e *durable.Executor) error {
			return s.Start(k.t.Context(), e, run, journal.Command{Do: "resume", Reason: "looked"})
		})
	}
	if st.Outcome != journal.RunDone {
		k.t.Errorf("%s: %q at %s: %s", d, st.Outcome, st.Position(), st.Why)
	}
	k.examine(d, s, run, asked)
	return first
}

// only is the run that a store has.
func (k *killing) only(s *execute.Service) string {
	k.t.Helper()
	runs, err := s.Store.Runs(k.t.Context())
	if err != nil || len(runs) != 1 {
		k.t.Fatalf("%d runs, %v", len(runs), err)
	}
	return runs[0].ID
}

// ended tells whether the run had ended before the death.
func (d death) ended(k *killing, s *execute.Service, run string) bool {
	st, err := s.State(k.t.Context(), run)
	return err == nil && st.Outcome != ""
}

// examine looks that no finished step began again, and that nothing was done twice but by a person who was asked.
func (k *killing) examine(d death, s *execute.Service, run string, asked map[string]bool) {
	k.t.Helper()
	finished := map[string]bool{}
	for _, e := range k.events(s, run) {
		if e.Kind == journal.Intended && finished[e.Step] {
			k.t.Errorf("%s: the finished step %s began again", d, e.Step)
		}
		finished[e.Step] = finished[e.Step] || e.Kind == journal.Verified
	}
	for _, did := range k.world(d.folder) {
		times := map[string]int{} // several steps may wait for the same
		for line := range strings.Lines(did) {
			step, what, _ := strings.Cut(line, " ")
			if times[step]++; times[step] == 2 && !asked[step] {
				k.t.Errorf("%s: step %s has done it again: %s", d, step, what)
			}
		}
	}
}

// events reads the journal of a run, whose chain must be whole.
func (k *killing) events(s *execute.Service, run string) (all []journal.Event) {
	k.t.Helper()
	entries, err := s.Store.Entries(k.t.Context(), run)
	if err != nil {
		k.t.Fatal(err)
	}
	if err := durable.VerifyChain(entries); err != nil {
		k.t.Error(err)
	}
	for _, entry := range entries {
		var e journal.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			k.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// world is what was done to each thing: a line for each time, which begins with the step.
func (k *killing) world(folder string) (all []string) {
	k.t.Helper()
	folder = filepath.Join(folder, "world")
	files, err := os.ReadDir(folder)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			k.t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return all
}
