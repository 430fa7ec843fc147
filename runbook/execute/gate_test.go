package execute

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

const gated = `
runbook: test/gated
gate: {rehearsals: 2, max_age: 14d}
steps:
  - {id: a, uses: command, with: {run: "true", repeatable: true}}
`

func TestTheGateOpensAfterConsecutiveRehearsalsOfTheSameText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	book := b.parse(gated)
	production := func(book *runbook.Runbook, override string) error {
		t.Helper()
		p, err := b.Prepare(t.Context(), Request{Book: book, Cluster: "prod1", Override: override})
		if err != nil {
			t.Fatal(err)
		}
		run, err := b.Begin(t.Context(), p)
		if err == nil {
			b.runSession(run, journal.Command{Do: "run"})
		}
		return err
	}
	rehearse := func(book *runbook.Runbook, passed bool) {
		t.Helper()
		run := b.begin(Request{Book: book})
		b.runSession(run, journal.Command{Do: "run"})
		if err := b.stateOf(run).Rehearsal(run, "trial", passed).Keep(t.Context(), b.Store, book.Name); err != nil {
			t.Fatal(err)
		}
	}
	unlearned := func(book *runbook.Runbook, why string) {
		t.Helper()
		run := b.begin(Request{Book: book})
		r := b.runSession(run, journal.Command{Do: "run"}).Rehearsal(run, "trial", false)
		r.Nothing = why
		if err := r.Keep(t.Context(), b.Store, book.Name); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error, passed int, why string) {
		t.Helper()
		var g *plan.GateError
		if !errors.As(err, &g) || len(g.Passed) != passed || !strings.Contains(g.Why, why) {
			t.Errorf("got %v, want a gate with %d passed, %q", err, passed, why)
		}
	}
	refused(production(book, ""), 0, "")
	rehearse(book, true)
	refused(production(book, ""), 1, "")
	rehearse(book, false)
	rehearse(book, true)
	refused(production(book, ""), 1, "did not pass")
	unlearned(book, "its trial was INVALID")
	refused(production(book, ""), 1, "proved nothing: its trial was INVALID")
	rehearse(book, true)
	if err := production(book, ""); err != nil {
		t.Errorf("after two in a row, one that taught nothing between them: %v", err)
	}
	if err := b.Store.Keep(t.Context(), "rehearsal", book.Name, []byte(`{"passed": tr`)); err != nil {
		t.Fatal(err)
	}
	refused(production(book, ""), 0, "record 6 of its rehearsals cannot be read")
	changed := b.parse(gated + "# a byte more\n")
	refused(production(changed, ""), 0, "record 6 of its rehearsals cannot be read")
	rehearse(book, true)
	refused(production(changed, ""), 0, "another text")
	if err := production(changed, "the site is down"); err != nil {
		t.Errorf("with an override: %v", err)
	}
	runs, err := b.Store.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if h := b.stateOf(runs[0].ID).Header; h.Override != "the site is down" {
		t.Errorf("the override is not kept: %+v", h)
	}
}

func TestARehearsalOfSomethingElseDoesNotCount(t *testing.T) {
	t.Parallel()
	b := &runbook.Runbook{
		Gate: &runbook.Gate{Rehearsals: 1, MaxAge: document.Age(24 * time.Hour)},
		Inputs: map[string]runbook.Input{
			"value": {}, "count": {Type: "integer"}, "node": {Type: "node"}, "note": {Rehearse: runbook.Alike{Any: true, Why: "it is a comment"}},
			"size": {Rehearse: runbook.Alike{From: "64M", To: "1G"}}, "spare": {Rehearse: runbook.Alike{Place: true}},
		},
	}
	said := func() map[string]any {
		return map[string]any{"value": "on", "count": int64(500), "node": "db7", "note": "tonight", "size": "512M", "spare": "db9"}
	}
	h := journal.Header{
		Hash: "h", Versions: map[string]int{"command": 1}, Product: "MariaDB", Version: "10.11.6-log", Topology: "pair",
		Inputs: said(), Roles: runbook.Roles{"node": runbook.ReplicaRole},
		Plan: journal.Plan{Steps: []journal.PlanStep{{Key: "each[db7].set", State: action.Needed, Effect: action.Reversible}, {Key: "look", State: action.Satisfied, Effect: action.Reversible}}},
	}
	for _, c := range []struct {
		want   string
		change func(*journal.Rehearsal)
	}{
		{"", func(*journal.Rehearsal) {}},
		{"", func(r *journal.Rehearsal) { r.At = time.Now().Add(-23 * time.Hour) }},
		{"did not pass", func(r *journal.Rehearsal) { r.Passed = false }},
		{"changed nothing", func(r *journal.Rehearsal) { r.Idle = true }},
		{"another text", func(r *journal.Rehearsal) { r.Hash = "g" }},
		{"other versions of its actions", func(r *journal.Rehearsal) { r.Versions = map[string]int{"command": 2} }},
		{"ran on MySQL 10.11", func(r *journal.Rehearsal) { r.Product = "MySQL" }},
		{"ran on MariaDB 10.6, this cluster is MariaDB 10.11", func(r *journal.Rehearsal) { r.Minor = "10.6" }},
		{"class many, this cluster is of class pair", func(r *journal.Rehearsal) { r.Topology = "many" }},
		{"too old", func(r *journal.Rehearsal) { r.At = time.Now().Add(-25 * time.Hour) }},
		{"used value=off, this run uses value=on", func(r *journal.Rehearsal) { r.Inputs["value"] = "off" }},
		{"used count=501, this run uses count=500", func(r *journal.Rehearsal) { r.Inputs["count"] = 501.0 }},
		{"used node=n1, the primary; db7 is the replica", func(r *journal.Rehearsal) {
			r.Inputs["node"], r.Roles = "n1", runbook.Roles{"node": runbook.PrimaryRole}
		}},
		{"", func(r *journal.Rehearsal) { r.Inputs["node"] = "n2" }},
		{"", func(r *journal.Rehearsal) { r.Inputs["spare"] = "new" }},
		{"", func(r *journal.Rehearsal) { r.Inputs["note"] = "a trial" }},
		{"", func(r *journal.Rehearsal) { r.Inputs["size"] = "64M" }},
		{"used size=2G", func(r *journal.Rehearsal) { r.Inputs["size"] = "2G" }},
		{"does not record its inputs", func(r *journal.Rehearsal) { r.Inputs = nil }},
		{"did not execute step set, which this run will execute", func(r *journal.Rehearsal) { r.Untouched = []string{"set"} }},
		{"", func(r *journal.Rehearsal) { r.Untouched = []string{"look"} }},
	} {
		st := journal.State{Header: h, Outcome: journal.RunDone, Book: b, Items: []*journal.Step{{Step: &runbook.Step{ID: "set"}, Acts: true}}}
		st.Header.Version = "10.11.9" // another patch of the same minor version
		st.Header.Inputs = said()
		r := st.Rehearsal("r", "trial", true)
		c.change(&r)
		if got, _ := plan.Differs(r, b, b.Gate, h); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	silent := h
	silent.Product, silent.Version = "", ""
	if got, _ := plan.Differs(journal.Rehearsal{Hash: h.Hash, Versions: h.Versions, Product: "MariaDB", Minor: "10.11"}, b, b.Gate, silent); got != "ran on MariaDB 10.11, and this cluster does not tell what it runs" {
		t.Errorf("of a cluster that does not answer: %q", got)
	}
	if (&journal.State{Outcome: journal.RunFailed}).Rehearsal("r", "trial", true).Passed {
		t.Error("a run that failed counts as a passed rehearsal")
	}
}

func TestAPlanTellsWhatDiffersAndCounts(t *testing.T) {
	t.Parallel()
	b := &runbook.Runbook{Inputs: map[string]runbook.Input{"node": {Type: "node"}, "size": {Rehearse: runbook.Alike{From: "64M", To: "1G", Why: "the pool is resized online"}}}}
	r := journal.Rehearsal{Inputs: map[string]any{"node": "n2", "size": "64M"}, Roles: runbook.Roles{"node": runbook.ReplicaRole}}
	h := journal.Header{Inputs: map[string]any{"node": "db7", "size": "512M"}, Roles: runbook.Roles{"node": runbook.ReplicaRole}}
	_, alike := plan.OtherInputs(b, r, h)
	want := []string{
		"node: n2 (replica) there, db7 (replica) here",
		"size: 64M there, 512M here; the runbook says that values from 64M to 1G count for one another: the pool is resized online",
	}
	if !slices.Equal(alike, want) {
		t.Errorf("got %q", alike)
	}
}

// A rehearsal of one value opened the gate for every other.
func TestTheGateIsOfTheInputsThatWereRehearsed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	book := b.parse(`
runbook: test/set
inputs: {name: {}, value: {}}
gate: {rehearsals: 1}
steps:
  - {id: set, uses: command, with: {run: "echo ${{ inputs.name }} ${{ inputs.value }}"}}
`)
	of := func(cluster, name, value string) Request {
		return Request{Book: book, Cluster: cluster, Inputs: map[string]string{"name": name, "value": value}}
	}
	run := b.begin(of("lab1", "max_connections", "500"))
	r := b.runSession(run, journal.Command{Do: "run"}).Rehearsal(run, "trial", true)
	if err := r.Keep(t.Context(), b.Store, book.Name); err != nil {
		t.Fatal(err)
	}
	p, err := b.Prepare(t.Context(), of("prod1", "read_only", "ON"))
	if err != nil || p.Gate.Open() || !strings.Contains(p.Gate.Why, "used name=max_connections, this run uses name=read_only") {
		t.Errorf("the gate for what was not rehearsed: %+v, %v", p.Gate, err)
	}
	// A later one of something else that would not have counted for that either is named only where there is no other.
	useless := r
	useless.Inputs, useless.Nothing, useless.Passed = map[string]any{"name": "sync_binlog", "value": "1"}, "its trial was INVALID", false
	if err := useless.Keep(t.Context(), b.Store, book.Name); err != nil {
		t.Fatal(err)
	}
	if p, err = b.Prepare(t.Context(), of("prod1", "read_only", "ON")); err != nil || !strings.Contains(p.Gate.Why, "used name=max_connections") {
		t.Errorf("beside one that proved nothing: %+v, %v", p.Gate, err)
	}
	useless.Hash, useless.Inputs = "another", nil
	if err := useless.Keep(t.Context(), b.Store, "test/other"); err != nil {
		t.Fatal(err)
	}
	other := *book
	other.Name = "test/other"
	q := of("prod1", "read_only", "ON")
	q.Book = &other
	if p, err = b.Prepare(t.Context(), q); err != nil || !strings.Contains(p.Gate.Why, "another text of the runbook, and proved nothing: its trial was INVALID") {
		t.Errorf("one alone that proved nothing: %+v, %v", p.Gate, err)
	}
	if p, err = b.Prepare(t.Context(), of("prod1", "max_connections", "500")); err != nil || !p.Gate.Open() {
		t.Errorf("the gate for what was rehearsed: %+v, %v", p.Gate, err)
	}
}

func TestProductionRefusesARunbookThatSaysNothingOfAGate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const ungated = "runbook: test/ungated\nsteps: [{id: a, uses: command, with: {run: \"true\", repeatable: true}}]\n"
	gate := func(text string) plan.GateState {
		t.Helper()
		p, err := b.Prepare(t.Context(), Request{Book: b.parse(text), Cluster: "prod1"})
		if err != nil {
			t.Fatal(err)
		}
		return p.Gate
	}
	if g := gate(ungated); !g.Missing || g.Open() || g.Refusal("") == nil || g.Refusal("the site is down") != nil {
		t.Errorf("without a gate: %+v", g)
	}
	if g := gate(ungated + "gate: {none: it only looks}\n"); !g.Open() || g.None != "it only looks" {
		t.Errorf("none, with a reason: %+v", g)
	}
	b.Rules.Gate = &runbook.Gate{Rehearsals: 2}
	if g := gate(ungated); g.Missing || g.Open() || g.Needed != 2 || !g.Default {
		t.Errorf("with the inventory's: %+v", g)
	}
	if g := gate(ungated + "gate: {rehearsals: 1}\n"); g.Needed != 1 || g.Default {
		t.Errorf("with one of its own: %+v", g)
	}
	for _, bad := range []string{"gate: none", "gate: {none: \" \"}", "gate: {none: x, rehearsals: 1}", "gate: {rehearsals: 0}", "gate: {max_age: 14d}"} {
		if _, err := runbook.Parse("t.yaml", []byte(ungated+bad+"\n"), b.Actions); err == nil || !strings.Contains(err.Error(), "t.yaml:3:") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A rehearsal in which every step found its work done, or was left out, shows nothing of how it is done.
func TestARehearsalOfNothingDoesNotCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("b", "")
	book := b.parse(`
runbook: test/gated
gate: {rehearsals: 1}
steps:
  - {id: a, if: cluster.environment == "production", uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a"}}
  - {id: b, uses: command, with: {run: "touch DIR/b", check: "test -e DIR/b"}}
`)
	st := b.runSession(b.begin(Request{Book: book}), journal.Command{Do: "run"})
	if r := st.Rehearsal("r", "trial", true); !r.Passed || !r.Idle || !slices.Equal(r.Untouched, []string{"a", "b"}) {
		t.Errorf("a rehearsal of nothing: %+v", r)
	}
}

// A command that runs beside a step that has nothing to do makes no rehearsal of that step.
func TestARehearsalBesideWhichACommandRanDoesNotCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	book := b.parse(`
runbook: test/beside
gate: {rehearsals: 1}
steps:
  - {id: beside, uses: command, with: {run: "echo beside"}}
  - {id: index, uses: command, with: {run: "touch DIR/index", check: "test -e DIR/index"}}
`)
	b.put("index", "")
	run := b.begin(Request{Book: book})
	st := b.runSession(run, journal.Command{Do: "run"})
	if got := st.AlreadySo(); !slices.Equal(got, []string{"index"}) || st.ActedWithEngine() {
		t.Errorf("already so: %q", got)
	}
	if err := st.Rehearsal(run, "trial", true).Keep(t.Context(), b.Store, book.Name); err != nil {
		t.Fatal(err)
	}
	b.remove("index")
	p, err := b.Prepare(t.Context(), Request{Book: book, Cluster: "prod1"})
	if err != nil || p.Gate.Open() || !strings.Contains(p.Gate.Why, "did not execute step index") {
		t.Errorf("the gate: %+v, %v", p.Gate, err)
	}
}
