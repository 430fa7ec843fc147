package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// Lack is what the account that Plimsoll uses would have to be granted on some nodes of a cluster for a run.
type Lack struct {
	Cluster string   `json:"cluster"`
	Nodes   []string `json:"nodes"`
	engine.Lack
}

// wanted is what the steps of a plan need of the databases of one cluster.
type wanted struct {
	all     []engine.Need
	primary []engine.Need
}

// lacks compares what the steps need, and the claim, with what the accounts are granted. A node that does not answer is left out: the
// checks say so.
func (s *Service) lacks(ctx context.Context, on *cluster.Cluster, b *runbook.Runbook, h journal.Header) []Lack {
	by := map[string]*wanted{}
	for _, name := range h.AllClusters() {
		by[name] = &wanted{}
		if s.ClusterLock != nil {
			by[name].primary = append(by[name].primary, engine.Need{Right: engine.KeepClaim, For: "the lock of the run"})
		}
	}
	for _, step := range h.Plan.Steps {
		one := by[h.Cluster]
		if other, is := by[step.Cluster]; is {
			one = other
		}
		if one == nil || step.Skip || step.State == action.Satisfied {
			continue
		}
		one.all = append(one.all, needsOf(b, step)...)
	}
	var found []Lack
	for _, name := range h.AllClusters() {
		one, err := on.Cluster(ctx, name)
		if err == nil {
			found = append(found, LacksOf(ctx, one, by[name].all, by[name].primary)...)
		}
	}
	return found
}

// needsOf is what a step needs; of one whose inputs are known later, what its action needs in any case.
func needsOf(b *runbook.Runbook, step journal.PlanStep) []engine.Need {
	a, known := action.Find(b.Actions, step.Uses)
	if !known {
		return nil
	}
	task := a.New()
	if len(step.Later) == 0 && step.Inputs != nil {
		if bound, err := b.Bind(step.Uses, step.Inputs); err == nil {
			task = bound
		}
	}
	p, is := task.(action.Privileged)
	if !is {
		return nil
	}
	needs := slices.Clone(p.Needs())
	if step.Failed && !step.Denied { // no grant makes it possible, except where what it looks for is hidden from the account
		needs = slices.DeleteFunc(needs, func(n engine.Need) bool { return !hides(n.Right) })
	}
	for i := range needs {
		needs[i].For = "step " + step.Key
	}
	return needs
}

// hides tells whether a server denies that there is such a thing to an account that lacks a right on it.
func hides(r engine.Right) bool {
	return slices.Contains([]engine.Right{engine.ReadTables, engine.WriteTables, engine.MakeTables, engine.AlterTables, engine.MakeIndexes, engine.CopyTables}, r)
}

// LacksOf asks the nodes of a cluster, and its primary for more. Nodes that lack the same stand together.
func LacksOf(ctx context.Context, on *cluster.Cluster, all, ofPrimary []engine.Need) []Lack {
	nodes, err := on.List(ctx)
	if err != nil || on.Engine == nil {
		return nil
	}
	if len(nodes) > 1 {
		all = slices.Concat(all, []engine.Need{{Right: engine.SeeReplication, For: "to find the primary"}})
	}
	primary, err := on.Primary(ctx)
	if err != nil { // it may be any of them
		primary = cluster.Node{}
	}
	var found []Lack
	for _, n := range nodes {
		if on.Hangs(n.Name) {
			continue // it does not answer
		}
		needs := all
		if n.Name == primary.Name || primary.Name == "" {
			needs = slices.Concat(all, ofPrimary)
		}
		for _, lack := range lacksAt(ctx, on, n, needs) {
			same := slices.IndexFunc(found, func(f Lack) bool { return f.Grant == lack.Grant })
			if same < 0 {
				found = append(found, Lack{Cluster: on.Name, Lack: lack})
				same = len(found) - 1
			}
			found[same].Nodes = append(found[same].Nodes, n.Name)
		}
	}
	return found
}

// lacksAt asks one node; none where it does not answer. A server that does not let the account into the database that the cluster names may
// answer outside of it.
func lacksAt(ctx context.Context, on *cluster.Cluster, n cluster.Node, needs []engine.Need) []engine.Lack {
	if len(needs) == 0 {
		return nil
	}
	db, err := on.Database(ctx, n.Name)
	if outside := n.Target; engine.ClassOf(err) == engine.Denied && outside.Namespace != "" {
		needs = slices.Concat(needs, []engine.Need{{Right: engine.ReadTables, Of: outside.Namespace, For: "to connect to the cluster's database"}})
		outside.Namespace = ""
		if db, err = on.Engine.Open(ctx, outside); err == nil {
			defer func() { _ = db.Close() }() // it only looked
		}
	}
	if err != nil {
		return nil
	}
	asked, can := engine.As[engine.Authorizing](db)
	if !can {
		return nil
	}
	lacks, err := asked.Lacks(ctx, needs)
	if err != nil {
		return nil
	}
	return lacks
}

// denied adds to a refusal of the servers, which says what was asked first, all that the account lacks for the runbook.
func (s *Service) denied(ctx context.Context, on *cluster.Cluster, b *runbook.Runbook, h journal.Header, err error) error {
	if engine.ClassOf(err) != engine.Denied {
		return err
	}
	h.Plan = journal.Plan{}
	runbook.EachStep(b.Steps, func(step *runbook.Step) {
		h.Plan.Steps = append(h.Plan.Steps, journal.PlanStep{Key: step.ID, Uses: step.Uses, Later: []string{"the grants"}})
	})
	if lacks := s.lacks(ctx, on, b, h); len(lacks) > 0 {
		return &LackError{All: lacks, Err: err}
	}
	return err
}

// held says who has one of a run's clusters, in which of them several nodes accept writes, which do not tell, and which an ended run has not
// given back: those are asked again when they are taken.
func (s *Service) held(ctx context.Context, on *cluster.Cluster, h journal.Header, p *Prepared) {
	p.Silent, p.Writers = map[string]string{}, map[string][]string{}
	for _, name := range h.AllClusters() {
		one, err := on.Cluster(ctx, name)
		if err != nil {
			continue
		}
		if writers := one.Writers(ctx); len(writers) > 1 {
			p.Writers[name] = writers
		}
		var busy *lock.BusyError
		var claimed *action.ClaimedError
		left, err := s.locks().Held(ctx, one, name)
		if left != nil {
			if executes, err := s.Store.Executes(ctx, left.Run); err != nil || !executes { // else it is about to
				p.Unreleased = append(p.Unreleased, *left)
			}
		}
		switch {
		case errors.As(err, &busy), errors.As(err, &claimed):
			p.Silent, p.Refusing, p.NoLogin, p.Held = nil, nil, nil, err
			return
		case err != nil:
			p.Silent[name] = journal.OneLine(err)
			if engine.ClassOf(err) == engine.Denied {
				p.Refusing = append(p.Refusing, name)
			}
			if engine.RefusesLogin(err) {
				p.NoLogin = append(p.NoLogin, name)
			}
		}
	}
}

// LackError says that an account lacks privileges, with what to type.
type LackError struct {
	All []Lack
	Err error // of who was refused; nil: nothing was tried
}

// Unwrap is the refusal of the server.
func (e *LackError) Unwrap() error { return e.Err }

func (e *LackError) Error() string {
	var parts []string
	for _, l := range e.All {
		parts = append(parts, l.String())
	}
	return strings.Join(parts, "; ")
}

// String is what is missing where, and for what.
func (l Lack) String() string {
	return fmt.Sprintf("account %s of cluster %s lacks %s on %s at %s (%s)", l.Account, l.Cluster, strings.Join(l.Privileges, ", "), l.Where,
		strings.Join(l.Nodes, ", "), strings.Join(l.For, ", "))
}

// Hint is what an administrator has to type.
func (e *LackError) Hint() string {
	var grants []string
	for _, l := range e.All {
		if !slices.Contains(grants, l.Grant+";") {
			grants = append(grants, l.Grant+";")
		}
	}
	return "as an administrator: " + strings.Join(grants, " ")
}

// Trouble lists why a run that began now would stop: what its checks found, what its account lacks, room that is too little, and guardrails
// that cannot be answered.
func (p *Prepared) Trouble() error {
	var advice []string
	var all []error
	add := func(err error) {
		if err == nil {
			return
		}
		all = append(all, err)
		var advised interface{ Hint() string }
		if errors.As(err, &advised) && advised.Hint() != "" {
			advice = append(advice, advised.Hint())
		}
	}
	add(p.Header.Plan.Trouble())
	if len(p.Lacks) > 0 {
		add(&LackError{All: p.Lacks})
	}
	for _, r := range p.Room {
		add(r.Trouble())
	}
	if !p.Header.Plan.NothingToDo() {
		add(p.Unanswered())
	}
	if len(advice) == 0 {
		return errors.Join(all...)
	}
	return hint.With(errors.Join(all...), strings.ReplaceAll(strings.Join(advice, "; "), ";; ", "; ")) // a statement ends with one of its own
}
