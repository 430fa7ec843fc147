package runbook

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"plimsoll/action"
	"plimsoll/internal/document"
)

// samples are values of each type of input, as they come into an action's inputs. A text may be anything, and has none.
var samples = map[string]any{
	"node": "n1", "cluster": "c", "machine": "m", "integer": int64(1), "number": 1.0, "boolean": true, "duration": "1s",
	"list": []string{"x"}, "clusters": []string{"x"},
}

// mistyped refuses an input of the runbook that can never be what an action takes: with: {timeout: "${{ inputs.fast }}"} of a boolean.
func (c *checker) mistyped(a action.Action, with *document.Node) {
	for _, e := range with.Entries {
		t, known := a.Input(e.Key)
		name, alone := inputAlone(e.Value)
		in, declared := c.book.Inputs[name]
		if !known || !alone || !declared {
			continue
		}
		values := []any{}
		if sample, has := samples[string(in.Type)]; has {
			values = append(values, sample)
		}
		for _, one := range in.Enum {
			values = append(values, one)
		}
		for _, v := range values {
			if err := nodeOf(v, e.Value).Decode(reflect.New(t).Interface()); err != nil {
				c.refuse(e.Value, "input %q is %s, but %s of %s needs another type: %v", name, kindOf(in), e.Key, a.Name, reasonOf(err))
				break
			}
		}
	}
}

func kindOf(in Input) string {
	if len(in.Enum) > 0 {
		return "one of a list"
	}
	return "of type " + string(in.Type)
}

// reasonOf is what is wrong, without its place.
func reasonOf(err error) string {
	if ps, is := err.(document.Problems); is && len(ps) > 0 { //nolint:errorlint // Decode returns it as it is
		return ps[0].Text
	}
	return err.Error()
}

// inputAlone is the input that a value is, and nothing else: ${{ inputs.NAME }}.
func inputAlone(n *document.Node) (name string, is bool) {
	if n == nil || n.Kind != document.Scalar {
		return "", false
	}
	parts := pieces(n.Text)
	if len(parts) != 3 || parts[0] != "" || parts[2] != "" {
		return "", false
	}
	tree, err := parser.Parse(parts[1])
	if err != nil {
		return "", false
	}
	m, member := tree.Node.(*ast.MemberNode)
	if !member {
		return "", false
	}
	of, isName := m.Node.(*ast.IdentifierNode)
	property, isText := m.Property.(*ast.StringNode)
	if !isName || !isText || of.Value != "inputs" {
		return "", false
	}
	return property.Value, true
}

// CheckInputs refuses the values of inputs that some step could not take, as far as they alone tell: before anything is begun.
func (b *Runbook) CheckInputs(inputs map[string]any) error {
	env := map[string]any{"inputs": inputs}
	var ps document.Problems
	EachStep(b.Steps, func(s *Step) {
		a, known := action.Find(b.Actions, s.Uses)
		if !known || s.With == nil || s.With.Kind != document.Mapping || !b.surelyDone(s, env) {
			return
		}
		for _, e := range s.With.Entries {
			t, takes := a.Input(e.Key)
			if !takes || !ofInputs(e.Value) {
				continue
			}
			n, err := b.FillNode(e.Value, env)
			if err == nil {
				err = n.Decode(reflect.New(t).Interface())
			}
			if err != nil {
				ps = append(ps, e.Value.Errorf("step %s: %s of %s: %s", s.ID, e.Key, a.Name, reasonOf(err)))
			}
		}
	})
	return ps.Err()
}

// Impossible refuses inputs with which a step could never be done, as far as they alone tell: what a plan on any cluster would say.
func (b *Runbook) Impossible(inputs map[string]any) error {
	usual := maps.Clone(inputs)
	for name, in := range b.Inputs {
		if in.Default != nil {
			if v, err := in.read(in.Default); err == nil {
				usual[name] = v
			}
		}
	}
	return b.impossible(b.Steps, map[string]any{"inputs": inputs}, map[string]any{"inputs": usual})
}

// impossible looks at steps with the inputs of env. Of a step that takes more than inputs, what is not known yet stands for itself, and it is
// refused where the usual inputs would not be.
func (b *Runbook) impossible(steps []Step, env, usual map[string]any) error {
	for i := range steps {
		s := &steps[i]
		if !b.surelyDone(s, env) {
			continue
		}
		if err := b.impossible(s.Steps, env, usual); err != nil {
			return err
		}
		if s.Uses == "" {
			continue
		}
		err := refusal(b, s, env)
		if err != nil && hasExpression(s.With) && !ofInputs(s.With) && refusal(b, s, usual) != nil {
			continue
		}
		if err != nil {
			return fmt.Errorf("step %s: %s", s.ID, reasonOf(err))
		}
	}
	return nil
}

// SettingsOf are those that a runbook's steps give servers which are done whatever the cluster is, as far as the inputs tell.
func SettingsOf(b *Runbook, inputs map[string]any) []map[string]string {
	return settingsIn(b, b.Steps, map[string]any{"inputs": inputs})
}

func settingsIn(b *Runbook, steps []Step, env map[string]any) (all []map[string]string) {
	for i := range steps {
		s := &steps[i]
		if !b.surelyDone(s, env) {
			continue
		}
		all = append(all, settingsIn(b, s.Steps, env)...)
		task, err := known(b, s, env)
		changes, are := task.(action.SettingsChanger)
		if err != nil || !are {
			continue
		}
		given := map[string]string{}
		for name, value := range changes.Settings() {
			if name != notKnown && value != notKnown {
				given[name] = value
			}
		}
		if len(given) > 0 {
			all = append(all, given)
		}
	}
	return all
}

// notKnown stands for a value that only a run knows.
const notKnown = "unknown"

// refusal is why an action refuses the inputs of a step, as far as they are known; nil where an expression cannot be computed yet.
func refusal(b *Runbook, s *Step, env map[string]any) error {
	_, err := known(b, s, env)
	return err
}

// known is the task of a step, as far as its inputs are known; nil for a group, and where an expression cannot be computed yet.
func known(b *Runbook, s *Step, env map[string]any) (action.Task, error) {
	if s.Uses == "" {
		return nil, nil
	}
	with := s.With
	if with != nil && with.Kind == document.Mapping {
		with = with.Clone()
		for _, e := range s.With.Entries {
			if hasExpression(e.Value) && !ofInputs(e.Value) {
				with.Put(e.Key, &document.Node{Kind: document.Scalar, Text: notKnown})
			}
		}
	}
	with, err := b.FillNode(with, env)
	if err != nil {
		return nil, nil //nolint:nilerr // the plan tells
	}
	values := map[string]any{}
	if with != nil {
		values, _ = with.Plain().(map[string]any)
	}
	return b.Bind(s.Uses, values)
}

// surelyDone tells whether a step is not skipped, as far as the inputs tell.
func (b *Runbook) surelyDone(s *Step, env map[string]any) bool {
	if s.If == "" {
		return true
	}
	if slices.ContainsFunc(namesIn(s.If), func(name string) bool { return name != "inputs" }) {
		return false
	}
	is, err := b.Truth(s.If, env)
	return err == nil && is
}

// ofInputs tells whether a value holds expressions, and all of them over inputs alone.
func ofInputs(n *document.Node) bool {
	if !hasExpression(n) {
		return false
	}
	only := true
	var walk func(*document.Node)
	walk = func(n *document.Node) {
		if n == nil {
			return
		}
		for i, part := range pieces(n.Text) {
			if i%2 == 1 && slices.ContainsFunc(namesIn(part), func(name string) bool { return name != "inputs" }) {
				only = false
			}
		}
		for _, item := range n.Items {
			walk(item)
		}
		for _, e := range n.Entries {
			walk(e.Value)
		}
	}
	walk(n)
	return only
}

// namesIn lists the names that an expression begins from: inputs, steps, target, cluster.
func namesIn(text string) []string {
	tree, err := parser.Parse(text)
	if err != nil {
		return []string{""}
	}
	var v identifiers
	ast.Walk(&tree.Node, &v)
	return v
}

type identifiers []string

func (v *identifiers) Visit(n *ast.Node) {
	if name, is := (*n).(*ast.IdentifierNode); is {
		*v = append(*v, name.Value)
	}
}
