package plan

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// toy is a step that needs a thing, or brings one.
type toy struct {
	Need string `yaml:"need"`
	Give string `yaml:"give"`
	Done bool   `yaml:"done"`

	Effect action.Effect `yaml:"effect"`
}

func (y *toy) Traits() action.Traits {
	return action.Traits{Effect: cmp.Or(y.Effect, action.Reversible), Repeatable: true}
}

func (y *toy) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	r := action.CheckResult{State: action.Needed}
	if y.Done {
		r.State = action.Satisfied
	}
	if y.Need != "" {
		r.Awaits = []action.Awaits{{Any: []string{y.Need}, Refusal: &hint.PermanentError{Reason: "there is no " + y.Need + ", only a spoon", Advice: "take the spoon"}}}
	}
	return r, nil
}

func (*toy) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	return nil, errors.New("a plan acts on nothing")
}

func (y *toy) Brings(context.Context, *cluster.Cluster) []string { return []string{y.Give} }

func toys() []action.Action {
	return append(action.Generic(), action.Action{Name: "toy.use", Version: 1, About: "A toy.", New: func() action.Task { return &toy{} }})
}

func planOf(t *testing.T, engine, steps string) journal.Plan {
	t.Helper()
	b, err := runbook.Parse("t.yaml", []byte("runbook: test/toys\nlock: none\nsteps:\n"+steps), toys())
	if err != nil {
		t.Fatal(err)
	}
	on := &cluster.Cluster{Name: "c", Environment: "lab", List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{{Name: "n1"}}, nil }}
	p, err := Make(t.Context(), b, on, &journal.State{Header: journal.Header{Cluster: "c", Engine: engine}, Book: b, Targets: map[string][]string{}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What a step needs and does not find is refused in the plan, with what there is, unless a step before it brings it.
func TestAPlanRefusesWhatNoStepBrings(t *testing.T) {
	for name, c := range map[string]struct {
		before  string
		refused bool
	}{
		"nothing before":         {"", true},
		"brought":                {"  - {id: a, uses: toy.use, with: {give: fork}}\n", false},
		"brought long ago":       {"  - {id: a, uses: toy.use, with: {give: fork, done: true}}\n", true},
		"another thing":          {"  - {id: a, uses: toy.use, with: {give: knife}}\n", true},
		"skipped":                {"  - {id: a, uses: toy.use, with: {give: fork}, if: \"1 == 2\"}\n", true},
		"what brings nothing":    {"  - {id: a, uses: pause, with: {for: 1s}}\n  - {id: b, uses: sql.execute, with: {statements: [x]}, if: \"1 == 2\"}\n", true},
		"known later":            {"  - {id: a, uses: pause, with: {for: 1s}}\n  - {id: b, uses: toy.use, with: {give: \"${{ steps.a.state }}\"}}\n", false},
		"of each node":           {"  - {id: g, rolling: {}, steps: [{id: a, uses: toy.use, with: {give: fork}}]}\n", false},
		"of nodes known later":   {"  - {id: a, uses: pause, with: {for: 1s}}\n  - {id: g, rolling: {over: \"[steps.a.state]\"}, steps: [{id: b, uses: toy.use, with: {give: knife}}]}\n", false},
		"brought by one refused": {"  - {id: a, uses: toy.use, with: {need: oven, give: fork}}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, "", c.before+"  - {id: eat, uses: toy.use, with: {need: fork}}\n")
			eat := p.Steps[len(p.Steps)-1]
			if eat.Failed != c.refused || c.refused && (eat.Reason != "there is no fork, only a spoon" || eat.Advice != "take the spoon" || p.Trouble() == nil) {
				t.Errorf("%+v", eat)
			}
		})
	}
}

// A step whose condition is false whatever the steps before it put out is skipped, and not said to be known later.
func TestAStepThatIsRuledOutIsSkipped(t *testing.T) {
	const steps = "  - {id: a, uses: pause, with: {for: 1s}}\n" +
		"  - {id: b, uses: toy.use, if: 'cluster.engine == \"cql\" && steps.a.output.repair == \"yes\"'}\n" +
		"  - {id: c, uses: toy.use, if: 'cluster.engine == \"cql\"', with: {give: \"${{ steps.a.output.host }}\"}}\n" +
		"  - {id: d, uses: toy.use, if: 'cluster.engine == \"cql\" || steps.a.output.repair == \"yes\"'}\n"
	for engine, skipped := range map[string][]string{"mysql": {"b", "c"}, "cql": nil} {
		for _, s := range planOf(t, engine, steps).Steps[1:] {
			if want := slices.Contains(skipped, s.Key); s.Skip != want || (len(s.Later) > 0) == want {
				t.Errorf("on %s: %+v", engine, s)
			}
		}
	}
}

// writer is a task with a caution about a table, as sql.execute has one on a real server.
type writer struct{ of action.Table }

func (*writer) Traits() action.Traits { return action.Traits{Effect: action.Irreversible} }

func (*writer) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	return action.CheckResult{State: action.Needed}, nil
}

func (*writer) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	return nil, errors.New("a plan acts on nothing")
}

func (w *writer) Cautions(context.Context, *cluster.Cluster) []action.Caution {
	return []action.Caution{{Text: "there is no table " + w.of.String(), Table: w.of}, {Text: "n1 is a replica"}}
}

// A plan warns of a table that is not there, and does not refuse it; unless a step before may make it.
func TestAPlanWarnsOfATableThatNoStepMakes(t *testing.T) {
	actions := append(toys(), action.Action{Name: "toy.write", Version: 1, About: "Writes.", New: func() action.Task { return &writer{action.Table{Database: "shop", Name: "orders"}} }})
	for name, c := range map[string]struct {
		before string
		warned bool
	}{
		"nothing before":    {"", true},
		"it is made":        {"  - {id: a, uses: sql.execute, with: {statements: [CREATE TABLE shop.orders (id INT)]}}\n", false},
		"another is made":   {"  - {id: a, uses: sql.execute, with: {statements: [CREATE TABLE shop.items (id INT)]}}\n", true},
		"it is skipped":     {"  - {id: a, uses: sql.execute, with: {statements: [CREATE TABLE shop.orders (id INT)]}, if: \"1 == 2\"}\n", true},
		"a procedure":       {"  - {id: a, uses: sql.execute, with: {statements: [CALL shop.make()]}}\n", false},
		"another action":    {"  - {id: a, uses: toy.use, with: {give: fork}}\n", false},
		"a wait":            {"  - {id: a, uses: pause, with: {for: 1s}}\n", true},
		"an approval":       {"  - {id: a, approval: {note: Go on?}}\n", true},
		"known later":       {"  - {id: a, uses: pause, with: {for: 1s}}\n  - {id: b, uses: toy.use, with: {give: \"${{ steps.a.state }}\"}}\n", false},
		"of nodes as later": {"  - {id: a, uses: pause, with: {for: 1s}}\n  - {id: g, rolling: {over: \"[steps.a.state]\"}, steps: [{id: b, uses: toy.use, with: {give: knife}}]}\n", false},
	} {
		b, err := runbook.Parse("t.yaml", []byte("runbook: test/toys\nlock: none\nsteps:\n"+c.before+"  - {id: w, uses: toy.write}\n"), actions)
		if err != nil {
			t.Fatal(err)
		}
		on := &cluster.Cluster{Name: "c", Environment: "lab", List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{{Name: "n1"}}, nil }}
		p, err := Make(t.Context(), b, on, &journal.State{Header: journal.Header{Cluster: "c"}, Book: b, Targets: map[string][]string{}})
		if err != nil {
			t.Fatal(err)
		}
		w := p.Steps[len(p.Steps)-1]
		if slices.Contains(w.Warnings, "there is no table shop.orders") != c.warned || !slices.Contains(w.Warnings, "n1 is a replica") || w.Failed {
			t.Errorf("%s: %+v", name, w)
		}
		w.Warnings = nil
		p.Steps[len(p.Steps)-1] = w
		if hash := p.HashFor(journal.Header{Cluster: "c"}); p.Hash == "" || hash != (journal.Plan{Steps: p.Steps}).HashFor(journal.Header{Cluster: "c"}) {
			t.Errorf("%s: the hash is of the warnings too", name)
		}
	}
}

// A step with an undo of its own can be undone, whatever its action says of itself.
func TestAStepWithAnUndoOfItsOwnIsReversible(t *testing.T) {
	for _, effect := range []action.Effect{action.Irreversible, action.NoUndo, action.Lasting} {
		for undo, want := range map[string]action.Effect{"": effect, ", undo: {uses: toy.use}": action.Reversible} {
			p := planOf(t, "mysql", "  - {id: a, uses: toy.use, with: {effect: "+string(effect)+"}"+undo+"}\n")
			if is := p.Steps[0].Effect; is != want {
				t.Errorf("%s%s: %s, want %s: %+v", effect, undo, is, want, p.Steps[0])
			}
		}
	}
	p := planOf(t, "mysql", "  - {id: a, uses: toy.use, with: {effect: none}, undo: {uses: toy.use}}\n")
	if is := p.Steps[0].Effect; is != action.None {
		t.Errorf("of a step that changes nothing: %s", is)
	}
}
