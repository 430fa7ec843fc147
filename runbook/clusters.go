package runbook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/internal/document"
)

// readNames reads names, of clusters or of other things: a list, or one text with commas; "" is none.
func readNames(n *document.Node) ([]any, error) {
	if n.Kind == document.Scalar && n.Quoted && n.Text == "" {
		return []any{}, nil
	}

	var texts []string
	switch n.Kind {
	case document.Scalar:
		texts = strings.Split(n.Text, ",")
	case document.Sequence:
		for _, item := range n.Items {
			texts = append(texts, item.Text)
		}
	}
	names := make([]any, len(texts))
	for i, text := range texts {
		if names[i] = strings.TrimSpace(text); names[i] == "" || slices.Contains(names[:i], names[i]) {
			return nil, n.Errorf("%q, expected names, each once", strings.Join(texts, ","))
		}
	}
	if len(names) == 0 && n.Kind != document.Sequence {
		return nil, n.Errorf("%s, expected a list of names", n.Kind)
	}
	return names, nil
}

// call replaces what a person calls clusters by their one name, in the inputs.
func (b *Runbook) call(inputs map[string]any, one func(string) string) {
	for name, in := range b.Inputs {
		switch v := inputs[name].(type) {
		case string:
			if in.Type == "cluster" {
				inputs[name] = one(v)
			}
		case []any:
			for i := range v {
				if in.Type == "clusters" {
					v[i] = one(textOf(v[i]))
				}
			}
		}
	}
}

// clusters lists all that a run changes, its own among them, in the order in which they are locked.
func (b *Runbook) clusters(own string, inputs map[string]any) []string {
	all := []string{own}
	for name, in := range b.Inputs {
		switch v := inputs[name].(type) {
		case string:
			if in.Type == "cluster" {
				all = append(all, v)
			}
		case []any:
			for _, one := range v {
				if in.Type == "clusters" {
					all = append(all, textOf(one))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// open opens a run's own cluster, from which the others can be reached.
func (s *Service) open(ctx context.Context, own string, all []string) (*cluster.Cluster, error) {
	site, err := s.Open(ctx, own)
	if err != nil {
		return nil, fmt.Errorf("open cluster %s: %w", own, err)
	}
	if len(all) <= 1 {
		return site, nil
	}
	site.Others = func(ctx context.Context, name string) (*cluster.Cluster, error) {
		if !slices.Contains(all, name) {
			return nil, &hint.PermanentError{Reason: fmt.Sprintf("the run has not locked cluster %s", name), Advice: "name it in an input of type cluster"}
		}
		peer, err := s.Open(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("open cluster %s: %w", name, err)
		}
		return peer, nil
	}
	for _, name := range all {
		if _, err := site.Cluster(ctx, name); err != nil {
			return nil, errors.Join(err, site.Close())
		}
	}
	return site, nil
}

// gravest is the environment of a run over several clusters: that of the one that asks for the most care.
func gravest(ctx context.Context, site *cluster.Cluster, all []string) (string, error) {
	most := -1
	for _, name := range all {
		one, err := site.Cluster(ctx, name)
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
