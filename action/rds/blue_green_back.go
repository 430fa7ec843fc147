package rds

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func backBlueGreen(at api) action.Action {
	return action.Action{
		Name: "rds.switch-back", Version: 1,
		About: "Switches back after a blue/green switchover: the new server is made read-only, the former one, which has replicated from it since, applies all writes, and the names are swapped. The new server becomes NAME-new1.",
		New:   func() action.Task { return &wayBack{onInstance: onInstance{api: at}} },
	}
}

type wayBack struct {
	onInstance
	Old string `yaml:"old,required" doc:"The node whose instance is NAME-old1: the former server, which replicates from the new one."`
}

var (
	_ action.Verifier         = (*wayBack)(nil)
	_ action.InFlightWaiter   = (*wayBack)(nil)
	_ action.ApprovalDemander = (*wayBack)(nil)
)

func (a *wayBack) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// sides are both instances, by whichever names they have now.
type sides struct {
	r             *aws.RDS
	name, old     string // of the instance, and of the former one until it has its name back
	aside         string // of the other one, from then on
	now, former   aws.Instance
	moved, called bool // the new server has made way; the former has its name back
}

func (a *wayBack) look(ctx context.Context, on *cluster.Cluster) (s sides, err error) {
	if s.r, err = a.api.of(ctx, on); err != nil {
		return s, err
	}
	if s.name, err = a.id(ctx, on); err != nil {
		return s, err
	}
	n, err := on.Node(ctx, a.Old)
	if err != nil {
		return s, err
	}
	s.old, s.aside = n.Instance, s.name+"-new1"
	if s.old != s.name+"-old1" {
		return s, &hint.PermanentError{
			Reason: fmt.Sprintf("node %s is instance %q, and a blue/green switchover of %s leaves %s-old1", a.Old, s.old, s.name, s.name),
			Advice: "add it to plimsoll.yaml as a node with instance: " + s.name + "-old1",
		}
	}
	there := func(id string) (aws.Instance, bool, error) {
		i, err := s.r.Instance(ctx, id)
		if errors.Is(err, aws.ErrNotFound) {
			return i, false, nil
		}
		return i, err == nil, err
	}
	aside, moved, err := there(s.aside)
	if err != nil {
		return s, err
	}
	former, waits, err := there(s.old)
	if err != nil {
		return s, err
	}
	named, named2, err := there(s.name)
	switch {
	case err != nil:
		return s, err
	case moved && !waits && named2:
		s.now, s.former, s.moved, s.called = aside, named, true, true
	case moved && waits:
		s.now, s.former, s.moved = aside, former, true
	case waits && named2:
		s.now, s.former = named, former
	default:
		return s, &hint.PermanentError{
			Reason: fmt.Sprintf("%s and %s do not both exist, so there is no former server to switch back to", s.name, s.old), Advice: "switching back is possible only after rds/blue-green, until the former instance is deleted",
		}
	}
	return s, errors.Join(s.now.Usable(), s.former.Usable())
}

func (a *wayBack) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	s, err := a.look(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"instance": s.name, "served by": "the new server"}, Intended: action.Facts{"instance": s.name, "served by": "the former server"},
	}
	switch {
	case s.called:
		f.Observed["served by"], f.State = "the former server", action.Satisfied
		return f, nil
	case s.moved:
		f.Observed["served by"], f.Reason = "nobody", "a switch back was begun"
		return f, nil
	}
	follows, err := a.follows(ctx, on, s)
	if err == nil && !follows {
		err = &hint.PermanentError{
			Reason: fmt.Sprintf("%s does not replicate, or has stopped: it lacks the writes since the switchover", s.old), Advice: "attach it to the new one first: rds/external-replica",
		}
	}
	return f, err
}

// ApprovalReason says what clients will notice.
func (a *wayBack) ApprovalReason(f action.CheckResult) string {
	return fmt.Sprintf("two instances are renamed and restart; until both are done no server answers as %v, which takes minutes", f.Observed["instance"])
}

// ask runs a query on the server of an instance, with the account of a node.
func (a *wayBack) ask(ctx context.Context, on *cluster.Cluster, node string, i aws.Instance, queries ...string) (rows []map[string]string, err error) {
	n, err := on.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	target := n.Target
	target.Addresses = []string{i.Endpoint}
	db, err := on.Engine.Open(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("ask instance %s: %w", i.ID, err)
	}
	defer db.Close()
	s, err := db.Session(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask instance %s: %w", i.ID, err)
	}
	defer s.Close()
	t, ok := s.(engine.Tabular)
	if !ok {
		return nil, errors.New("this database does not name its columns")
	}
	for _, q := range queries {
		if rows, err = t.Table(ctx, q); err != nil {
			return nil, fmt.Errorf("ask instance %s: %w", i.ID, err)
		}
	}
	return rows, nil
}

func (a *wayBack) follows(ctx context.Context, on *cluster.Cluster, s sides) (bool, error) {
	rows, err := a.ask(ctx, on, a.Old, s.former, "SHOW REPLICA STATUS")
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		if row["Replica_IO_Running"] == "Yes" && row["Replica_SQL_Running"] == "Yes" {
			return true, nil
		}
	}
	return false, nil
}

// Act goes on from where an attempt before it ended, which the names of the instances tell.
func (a *wayBack) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	s, err := a.look(ctx, on)
	if err != nil {
		return nil, err
	}
	if !s.moved {
		if err := a.level(ctx, on, s, c); err != nil {
			return nil, err
		}
		if err := a.rename(ctx, s.r, s.name, s.aside, c); err != nil {
			return nil, err
		}
		if s, err = a.look(ctx, on); err != nil {
			return nil, err
		}
	}
	if !s.called {
		if err := a.stand(ctx, on, s); err != nil {
			return nil, err
		}
		if err := a.rename(ctx, s.r, s.old, s.name, c); err != nil {
			return nil, err
		}
	}
	on.RolesChanged()
	return action.Facts{"aside": s.aside}, nil
}

// level waits until the former server has all that the new one has, which must take no writes any more.
func (a *wayBack) level(ctx context.Context, on *cluster.Cluster, s sides, c action.Call) error {
	rows, err := a.ask(ctx, on, a.Node, s.now, "SELECT @@GLOBAL.read_only AS still, @@GLOBAL.gtid_executed AS done")
	if err != nil {
		return err
	}
	if len(rows) != 1 || rows[0]["still"] != "1" {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s still accepts writes, which would be lost", s.name), Advice: "set read_only to 1 in its parameter group first",
		}
	}
	done := strings.ReplaceAll(rows[0]["done"], "\n", "")
	return a.api.look(ctx, s.r, c, func(ctx context.Context) (bool, string, error) {
		rows, err := a.ask(ctx, on, a.Old, s.former, "SELECT GTID_SUBTRACT('"+done+"', @@GLOBAL.gtid_executed) AS lacks")
		if err != nil {
			return false, "", err
		}
		return len(rows) == 1 && rows[0]["lacks"] == "", s.old + " to have all writes", nil
	})
}

// stand has the former server follow nobody any more.
func (a *wayBack) stand(ctx context.Context, on *cluster.Cluster, s sides) error {
	rows, err := a.ask(ctx, on, a.Old, s.former, "SHOW REPLICA STATUS")
	if err != nil || len(rows) == 0 {
		return err
	}
	procedures, err := a.ask(ctx, on, a.Old, s.former,
		`SELECT routine_name AS p FROM information_schema.routines WHERE routine_schema = 'mysql' AND routine_name IN ('rds_reset_external_source', 'rds_reset_external_master') ORDER BY 1 DESC`)
	if err != nil {
		return err
	}
	if len(procedures) == 0 {
		return &hint.PermanentError{Reason: s.old + " has no procedure to end replication that this account may call", Advice: "use RDS's administrator"}
	}
	name := procedures[0]["p"]
	_, err = a.ask(ctx, on, a.Old, s.former, "CALL mysql.rds_stop_replication", "CALL mysql."+name)
	return err
}

func (a *wayBack) rename(ctx context.Context, r *aws.RDS, from, to string, c action.Call) error {
	if err := r.Rename(ctx, from, to); err != nil && !aws.IsBusy(err) { // busy: an attempt before this one is under way
		return err
	}
	return a.api.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		i, err := r.Instance(ctx, to)
		if errors.Is(err, aws.ErrNotFound) {
			return false, fmt.Sprintf("instance %s to be called %s", from, to), nil
		}
		return err == nil && i.Settled(), fmt.Sprintf("instance %s, which is %s", to, i.Status), err
	})
}

// Verify asks the server that has the instance's name whether it takes writes; one that its parameter group holds back does not yet.
func (a *wayBack) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	f, err := a.Check(ctx, on)
	if err == nil && f.State != action.Satisfied {
		err = fmt.Errorf("%v is served by %v", f.Observed["instance"], f.Observed["served by"])
	}
	if err != nil {
		return err
	}
	return answers(ctx, on, a.Node)
}

// AwaitInFlight waits for a change of names that was asked for.
func (a *wayBack) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	name, err := a.id(ctx, on)
	if err != nil {
		return err
	}
	return a.api.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		for _, id := range []string{name, name + "-old1", name + "-new1"} {
			i, err := r.Instance(ctx, id)
			if err == nil && i.Status == "renaming" {
				return false, "instance " + id + ", which is renamed", nil
			}
			if err != nil && !errors.Is(err, aws.ErrNotFound) {
				return false, "", err
			}
		}
		return true, "", nil
	})
}
