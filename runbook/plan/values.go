package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/cluster"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// Values are the results of a step's expressions.
type Values struct {
	Inputs  map[string]any
	Cluster string // on which the step acts, empty: the run's own
	Skip    bool
}

// Value evaluates a step's condition, its cluster and its inputs.
func Value(b *runbook.Runbook, st *journal.State, i *journal.Step, nodes []string) (v Values, err error) {
	env := st.Env(i)
	env["cluster"].(map[string]any)["nodes"] = nodes
	if i.Step.If != "" {
		ok, err := b.Truth(i.Step.If, env)
		if err != nil || !ok {
			return Values{Skip: err == nil}, err
		}
	}
	on, err := b.Fill(i.Step.Cluster, env)
	if err != nil {
		return v, err
	}
	if v.Cluster = runbook.TextOf(on); v.Cluster == st.Header.Cluster {
		v.Cluster = ""
	}
	filled, err := b.FillNode(i.Step.With, env)
	if err != nil || filled == nil {
		return v, err
	}
	v.Inputs, _ = filled.Plain().(map[string]any)
	return v, nil
}

// Targets evaluates what a group goes over; by default all nodes, the first, which is the primary, last.
func Targets(b *runbook.Runbook, s *runbook.Step, st *journal.State, nodes []string) ([]string, error) {
	if s.Rolling.Over == "" {
		if len(nodes) == 0 {
			return nil, nil
		}
		return append(slices.Clone(nodes[1:]), nodes[0]), nil
	}
	env := st.Env(nil)
	env["cluster"].(map[string]any)["nodes"] = nodes
	out, err := b.Evaluate(s.Rolling.Over, env)
	if err != nil {
		return nil, err
	}
	var targets []string
	switch out := out.(type) {
	case []string:
		targets = slices.Clone(out)
	case []any:
		for _, v := range out {
			targets = append(targets, runbook.TextOf(v))
		}
	default:
		return nil, fmt.Errorf("step %s: %q is %v, expected a list", s.ID, s.Rolling.Over, out)
	}
	seen := map[string]bool{}
	for _, t := range targets {
		if t == "" || seen[t] || strings.ContainsAny(t, "[]") {
			return nil, fmt.Errorf("step %s: target %q is empty, is listed twice or holds brackets", s.ID, t)
		}
		seen[t] = true
	}
	return targets, nil
}

func NodeNames(ctx context.Context, on *cluster.Cluster) ([]string, error) {
	nodes, err := on.PrimaryFirst(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	return names, nil
}
