package foresee

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

// DataAt looks for the data of the load where the cluster is the one that the trial puts under load. A cluster of the trial's own is not
// there yet, and what the trial prepares may make the data.
func DataAt(ctx context.Context, t *spec.Trial, on *cluster.Cluster) (all []Foreseen, err error) {
	e := t.Existing
	if e == nil {
		return nil, nil
	}
	node, err := on.Node(ctx, "")
	if err != nil {
		return nil, err
	}
	known := e.Listed && e.Name == on.Name
	if !known && !slices.ContainsFunc(node.Target.Addresses, func(a string) bool { return slices.Contains(e.Address.Addresses, a) }) {
		return nil, nil
	}
	target := node.Target
	target.Namespace = e.Address.Namespace
	db, err := on.Engine.Open(ctx, target)
	if engine.ClassOf(err) == engine.Denied {
		return nil, nil //nolint:nilerr // of which GrantsForLoad tells
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if hides(ctx, db, target.Namespace) {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, c := range t.Cells {
		trouble := Adopt(ctx, c, db, e)
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		if trouble == nil || seen[trouble.Error()] || engine.ClassOf(trouble) == engine.Denied { // of which GrantsForLoad tells
			continue
		}
		seen[trouble.Error()] = true
		f := Foreseen{Of: "data", Why: trouble.Error(), Do: hint.Of(trouble), Must: len(c.Prepare) == 0}
		if !f.Must {
			f.Why += ", unless what the trial prepares makes it"
		}
		all = append(all, f)
	}
	return all, nil
}

// hides tells whether a server may hide tables from an account that has no right to read them, of which GrantsForLoad tells.
func hides(ctx context.Context, db engine.Database, namespace string) bool {
	asked, can := engine.As[engine.Authorizing](db)
	if !can || namespace == "" {
		return false
	}
	lacks, err := asked.Lacks(ctx, []engine.Need{{Right: engine.ReadTables, Of: namespace}})
	return err == nil && len(lacks) > 0
}

// Adopt fits the workload of a cell, and the ledger beside it, to the data that is there. A person has prepared that of a target, or has not.
func Adopt(ctx context.Context, c *spec.Cell, db engine.Database, target *spec.ExistingCluster) error {
	if err := c.Workload.Adopt(ctx, db); err != nil {
		err = fmt.Errorf("check the data of %s: %w", c.Load.Workload, err)
		if target != nil {
			err = prepared(target, c.Source, c.Load.Parameters).Explain(err)
		}
		return err
	}
	if c.Beside == nil {
		return nil
	}
	if err := c.Beside.Adopt(ctx, db); err != nil {
		err = fmt.Errorf("check the ledger: %w", err)
		if target != nil {
			err = prepared(target, c.Beside.Name(), c.Load.Ledger.Parameters).Explain(err)
		}
		return err
	}
	return nil
}

// prepared is the data that a person prepares on a target before the trial, as plimsoll load names it.
func prepared(target *spec.ExistingCluster, source string, parameters *document.Node) workload.Typed {
	t := workload.Typed{Target: target.Name, Workload: source}
	if parameters != nil {
		for _, p := range parameters.Entries {
			t.Parameters = append(t.Parameters, p.Key+"="+p.Value.Text)
		}
	}
	if target.Listed || target.Password == nil { // the inventory knows
		return t
	}
	switch p := target.Password; {
	case p.Env != "":
		t.Password = []string{"--password-env", p.Env}
	case p.File != "":
		t.Password = []string{"--password-file", p.File}
	case len(p.Command) > 0:
		words := make([]string, len(p.Command))
		for i, w := range p.Command {
			words[i] = hint.Quoted(w)
		}
		t.Password = []string{"--password-command", strings.Join(words, " ")}
	}
	return t
}
