package channel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
)

// supplyText reads NODE:DATABASE+DATABASE, or CLUSTER/NODE:DATABASE.
func supplyText(text string) (node string, databases []string, err error) {
	node, rest, ok := strings.Cut(text, ":")
	if !ok || node == "" || rest == "" || slices.Contains(strings.Split(rest, "+"), "") {
		return "", nil, fmt.Errorf("source %q, expected NODE:DATABASE or NODE:DATABASE+DATABASE", text)
	}
	return node, strings.Split(rest, "+"), nil
}

var checkSources = action.Action{
	Name: "mysql.check-sources", Version: 1,
	About: "Checks that one replica can replicate from all of these sources at the same time: versions, products, settings and databases. Refuses with the reason if it cannot.",
	New:   func() action.Task { return &sources{} },
}

type sources struct {
	Sources []string `yaml:"sources,required" doc:"What to take from each source: NODE:DATABASE or NODE:DATABASE+DATABASE; a node of another cluster of the run is CLUSTER/NODE."`
	Node    string   `yaml:"node,required" doc:"The node that will replicate from all of them."`
}

var (
	_ action.Validator = (*sources)(nil)
	_ action.Verifier  = (*sources)(nil)
)

func (s *sources) Validate() error {
	if len(s.Sources) == 0 {
		return errors.New("no sources")
	}
	for _, text := range s.Sources {
		if _, _, err := supplyText(text); err != nil {
			return err
		}
	}
	return nil
}

func (s *sources) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

// Check looks at all of it: a plan is refused before anything is done.
func (s *sources) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	return action.CheckResult{State: action.Needed, Intended: action.Facts{"replica": s.Node, "sources": strings.Join(s.Sources, ", ")}}, s.look(ctx, on)
}

func (s *sources) look(ctx context.Context, on *cluster.Cluster) error {
	replica, err := dial(ctx, on, s.Node)
	if err != nil {
		return err
	}
	defer replica.Close()
	its, err := profileOf(ctx, replica)
	if err != nil {
		return err
	}
	var all []supply
	for _, text := range s.Sources {
		node, databases, err := supplyText(text)
		if err != nil {
			return err
		}
		one, err := supplyOf(ctx, on, node, databases)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	if err := fitTogether(its, all); err != nil {
		return err
	}
	return takesOthers(ctx, replica, its, all)
}

// supplyOf looks at a source and at what it is to give.
func supplyOf(ctx context.Context, on *cluster.Cluster, node string, databases []string) (supply, error) {
	source, err := dial(ctx, on, node)
	if err != nil {
		return supply{}, err
	}
	defer source.Close()
	p, err := profileOf(ctx, source)
	if err != nil {
		return supply{}, err
	}
	p.Address = source.address()
	return supply{p, databases}, canCopy(ctx, source, databases)
}

// takesOthers refuses sources that do not fit to those that the replica has copied from before.
func takesOthers(ctx context.Context, s *server, its profile, new []supply) error {
	rows, err := seedsOfServer(ctx, s)
	if err != nil {
		return err
	}
	there, err := s.databases(ctx)
	if err != nil {
		return err
	}
	for _, one := range new {
		for _, row := range rows {
			if row.source == one.Address {
				continue
			}
			if its.Domain != "" && row.domain == one.Domain {
				return &hint.PermanentError{
					Reason: fmt.Sprintf("%s and %s, from which %s replicates already, have the same gtid_domain_id %s", one.Node, row.source, s.name, one.Domain),
					Advice: "give every source a gtid_domain_id of its own",
				}
			}
			if slices.Contains(one.databases, row.database) {
				return &hint.PermanentError{
					Reason: fmt.Sprintf("%s has a database %s from %s already", s.name, row.database, row.source), Advice: "rename one of them",
				}
			}
		}
		for _, database := range one.databases {
			ours := slices.ContainsFunc(rows, func(row seedRow) bool { return row.database == database })
			if slices.Contains(there, database) && !ours {
				return &hint.PermanentError{
					Reason: fmt.Sprintf("%s has a database %s of its own", s.name, database), Advice: "drop or rename it there",
				}
			}
		}
	}
	return nil
}

// Act has nothing to do but to look again.
func (s *sources) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	return nil, s.look(ctx, on)
}

// Verify has nothing more to look at.
func (s *sources) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }
