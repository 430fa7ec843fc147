package runbook

import (
	"fmt"
	"slices"

	"plimsoll/action"
	"plimsoll/internal/document"
)

// Bind makes a task of an action's name and its evaluated inputs.
func (b *Runbook) Bind(uses string, inputs map[string]any) (action.Task, error) {
	a, ok := action.Find(b.Actions, uses)
	if !ok {
		return nil, fmt.Errorf("there is no action %s", uses)
	}
	return a.Bind(nodeOf(inputs, &document.Node{File: uses}))
}

// Later lists the steps whose output the step's inputs or condition need.
func (b *Runbook) Later(s *Step) []string {
	names := StepsOf(s.If)
	var walk func(*document.Node)
	walk = func(n *document.Node) {
		if n == nil {
			return
		}
		for i, part := range pieces(n.Text) {
			if i%2 == 1 {
				names = append(names, StepsOf(part)...)
			}
		}
		for _, item := range n.Items {
			walk(item)
		}
		for _, e := range n.Entries {
			walk(e.Value)
		}
	}
	walk(s.With)
	walk(&document.Node{Text: s.Cluster})
	slices.Sort(names)
	return slices.Compact(names)
}

// RuledOut tells of a step whether its condition is false whatever the steps before it put out: a part of it that names none of them is.
func RuledOut(b *Runbook, s *Step, env map[string]any) bool {
	return slices.ContainsFunc(conditionsWithout(s.If), func(part string) bool {
		ok, err := b.compiled.truth(part, env)
		return err == nil && !ok
	})
}

// Truth evaluates a condition of the runbook.
func (b *Runbook) Truth(text string, env map[string]any) (bool, error) {
	return b.compiled.truth(text, env)
}

// Evaluate evaluates an expression of the runbook.
func (b *Runbook) Evaluate(text string, env map[string]any) (any, error) {
	return b.compiled.run(text, env)
}

// Fill evaluates the expressions in a text; one that is a single expression gives its value.
func (b *Runbook) Fill(text string, env map[string]any) (any, error) {
	return b.compiled.fill(text, env)
}

// FillNode evaluates the expressions in inputs.
func (b *Runbook) FillNode(n *document.Node, env map[string]any) (*document.Node, error) {
	return b.compiled.fillNode(n, env)
}
