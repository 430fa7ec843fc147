package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// Describe fills in what the cluster is.
func Describe(ctx context.Context, on *cluster.Cluster, h *journal.Header, b *runbook.Runbook) error {
	nodes, err := on.PrimaryFirst(ctx)
	if err != nil {
		return err
	}
	h.Topology = topology(len(nodes))
	if len(nodes) > 0 {
		h.Primary = nodes[0].Name
	}
	if on.Engine != nil {
		h.Engine = on.Engine.Name()
	}
	if on.Engine == nil || len(nodes) == 0 {
		return nil
	}
	var facts engine.Facts
	err = errors.New("no node answers")
	for _, n := range hangingLast(on, nodes) { // the first may be down: that may be what the runbook is for
		db, openErr := on.Database(ctx, n.Name)
		if openErr != nil {
			continue
		}
		if facts, err = db.Facts(ctx); err == nil {
			if _, parts := engine.As[engine.Replicated](db); parts {
				h.Roles = b.RolesOf(h.Inputs, h.Primary)
			}
			break
		}
	}
	if err == nil {
		h.Product, h.Version = facts.Product, facts.Version
	}
	return nil
}

// hangingLast puts nodes that let questions wait behind those that may answer.
func hangingLast(on *cluster.Cluster, nodes []cluster.Node) []cluster.Node {
	hangs := func(n cluster.Node) bool { return on.Hangs(n.Name) }
	last := slices.DeleteFunc(slices.Clone(nodes), func(n cluster.Node) bool { return !hangs(n) })
	return slices.Concat(slices.DeleteFunc(slices.Clone(nodes), hangs), last)
}

// topology is the class of a cluster: one node, a pair, or more.
func topology(nodes int) string {
	switch nodes {
	case 0, 1:
		return "single"
	case 2:
		return "pair"
	}
	return "many"
}

// CheckNodes refuses an input of type node that the cluster does not have.
func CheckNodes(ctx context.Context, b *runbook.Runbook, on *cluster.Cluster, inputs map[string]any) error {
	for name, in := range b.Inputs {
		if in.Type != "node" {
			continue
		}
		one, err := on.Cluster(ctx, runbook.TextOf(inputs[in.Of]))
		if err == nil {
			_, err = one.Node(ctx, runbook.TextOf(inputs[name]))
		}
		if err != nil {
			return &InputError{Input: name, Err: err}
		}
	}
	return nil
}

// GravestEnvironment is the environment of a run over several clusters: that of the one that asks for the most care.
func GravestEnvironment(ctx context.Context, on *cluster.Cluster, all []string) (string, error) {
	most := -1
	for _, name := range all {
		one, err := on.Cluster(ctx, name)
		if err != nil {
			return "", err
		}
		at := slices.Index(cluster.Environments(), one.Environment)
		if at < 0 {
			return "", fmt.Errorf("cluster %s: environment %q, expected lab, staging or production", name, one.Environment)
		}
		most = max(most, at)
	}
	return cluster.Environments()[most], nil
}

// InputError says that an input names what there is not.
type InputError struct {
	Input string
	Err   error
}

func (e *InputError) Error() string { return fmt.Sprintf("input %s: %v", e.Input, e.Err) }
func (e *InputError) Unwrap() error { return e.Err }
