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

var seed = action.Action{
	Name: "mysql.seed", Version: 1,
	About: "Copies databases from a running server by SQL, all at one position, from which mysql.channel then replicates. Writers wait for a moment on these tables on MySQL, and not at all on MariaDB.",
	New:   func() action.Task { return &sowing{} },
}

type sowing struct {
	Source    string   `yaml:"source,required" doc:"The node to copy from."`
	Node      string   `yaml:"node,required" doc:"The node to copy to. It must not have databases of these names."`
	Databases []string `yaml:"databases,required" doc:"The databases."`
}

var (
	_ action.Undoer    = (*sowing)(nil)
	_ action.Validator = (*sowing)(nil)
)

func (s *sowing) Validate() error {
	if len(s.Databases) == 0 {
		return errors.New("no databases")
	}
	return nil
}

func (s *sowing) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (s *sowing) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	source, replica, err := pair(ctx, on, s.Source, s.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	defer closeAll(source, replica)
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"copied": "nothing"}, Intended: action.Facts{"copied": strings.Join(s.Databases, ", ")}}
	rows, err := seedsOf(ctx, replica, s.Databases)
	if err != nil {
		return f, err
	}
	var whole []string
	for _, row := range rows {
		switch {
		case row.source == source.address() && row.state == done:
			whole = append(whole, row.database)
		case row.source == source.address():
			f.Reason = "a copy was cut off: it starts again"
		}
	}
	if len(whole) > 0 {
		f.Observed["copied"] = strings.Join(whole, ", ")
	}
	if len(whole) == len(s.Databases) {
		f.State = action.Satisfied
		return f, nil
	}
	if err := s.together(whole); err != nil {
		return f, err
	}
	return f, s.fits(ctx, on, replica)
}

// together refuses to add a database to those that were copied at another position.
func (s *sowing) together(whole []string) error {
	if len(whole) == 0 {
		return nil
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s was copied before, at a different position than the rest would be", strings.Join(whole, ", ")),
		Advice: "undo that copy, and copy all at once; or give the rest a channel of its own",
	}
}

func (s *sowing) fits(ctx context.Context, on *cluster.Cluster, replica *server) error {
	p, err := profileOf(ctx, replica)
	if err != nil {
		return err
	}
	one, err := supplyOf(ctx, on, s.Source, s.Databases)
	if err != nil {
		return err
	}
	if err := fitTogether(p, []supply{one}); err != nil {
		return err
	}
	return takesOthers(ctx, replica, p, []supply{one})
}

func (s *sowing) Act(ctx context.Context, on *cluster.Cluster, call action.Call) (action.Facts, error) {
	source, replica, err := pair(ctx, on, s.Source, s.Node)
	if err != nil {
		return nil, err
	}
	defer closeAll(source, replica)
	rows, err := seedsOf(ctx, replica, s.Databases)
	if err != nil {
		return nil, err
	}
	if len(rows) == len(s.Databases) && !slices.ContainsFunc(rows, func(row seedRow) bool { return row.state != done || row.source != source.address() }) {
		return nil, nil // all of it was done before
	}
	if err := s.fits(ctx, on, replica); err != nil {
		return nil, err
	}
	if err := clearSeed(ctx, replica, source.address(), s.Databases); err != nil {
		return nil, err
	}
	domain, err := source.variable(ctx, "gtid_domain_id")
	if err != nil {
		return nil, err
	}
	if err := beginSeed(ctx, replica, source.address(), domain, s.Databases); err != nil {
		return nil, err
	}
	c := copier{source: source, replica: replica, tell: call.Progress}
	at, err := c.all(ctx, s.Databases)
	if err != nil {
		return nil, err
	}
	if err := endSeed(ctx, replica, s.Databases, at, c.rows); err != nil {
		return nil, err
	}
	return action.Facts{"rows": c.rows, "tables": c.tables, "position": at.gtids, "place": at.place.String()}, nil
}

// Undo drops what was copied, unless clients have written to it since.
func (s *sowing) Undo(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	source, replica, err := pair(ctx, on, s.Source, s.Node)
	if err != nil {
		return err
	}
	defer closeAll(source, replica)
	c, err := replica.from(ctx, source)
	if err != nil {
		return err
	}
	if c != nil {
		return &hint.PermanentError{Reason: fmt.Sprintf("channel %q replicates into the databases that would be dropped", c.Name), Advice: "undo the channel first"}
	}
	if err := seedUnused(ctx, replica, source.address(), s.Databases); err != nil {
		return err
	}
	return clearSeed(ctx, replica, source.address(), s.Databases)
}
