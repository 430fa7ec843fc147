package replication

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

var cloneAction = action.Action{
	Name: "mysql.clone", Version: 1,
	About: "Copies another server's data to an empty one with MySQL's clone plugin, while the donor keeps serving.",
	New:   func() action.Task { return &clone{} },
}

type clone struct {
	Node string `yaml:"node,required" doc:"The server to fill; it must be empty."`
	From string `yaml:"from" doc:"The donor. Default: a healthy replica, else the primary."`
}

var (
	_ action.Undoer         = (*clone)(nil)
	_ action.InFlightWaiter = (*clone)(nil)
)

func (c *clone) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// Check finds a server filled that the plugin says it has filled. One that does not run may be so for the clone's sake: the
// plugin ends it, and starts it only under a supervisor.
func (c *clone) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	f := action.CheckResult{State: action.Needed, Intended: action.Facts{"data": "of the cluster"}}
	n, err := on.Node(ctx, c.Node)
	if err != nil {
		return f, err
	}
	if n.Server != nil {
		if runs, err := n.Server.Running(ctx); err == nil && !runs {
			f.Reason = "it does not run"
			return f, nil
		}
	}
	s, err := serverOf(ctx, on, c.Node)
	if err != nil {
		return f, err
	}
	if s.mariadb {
		return f, &hint.PermanentError{Reason: "MariaDB has no clone plugin", Advice: "use mysql.copy, or mariadb-backup"}
	}
	done, err := isCloned(ctx, s, on)
	if err != nil {
		return f, err
	}
	if done {
		m, err := modeOf(ctx, s)
		if err != nil {
			return f, err
		}
		if m.refuses(s) && !m.opensAgain() { // else it was cut off before it was closed
			f.State = action.Satisfied
		}
		return f, nil
	}
	f.Observed = action.Facts{"data": "none"}
	if err := refuseUnlessEmpty(ctx, s); err != nil {
		return f, err
	}
	return f, refuseUnlessStartsClosed(ctx, s)
}

// refuseUnlessStartsClosed refuses a server that nothing keeps from taking writes when the clone has restarted it: it has the accounts of the cluster then.
func refuseUnlessStartsClosed(ctx context.Context, s *server) error {
	keeps, err := keepsMode(ctx, s)
	if err != nil || keeps {
		return err
	}
	m, err := modeOf(ctx, s)
	if err != nil || m.refuses(s) {
		return err
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("%s would accept writes as soon as it restarts with its clone: it ignores what is persisted (persisted_globals_load is OFF)", s.name()),
		Advice: "put super_read_only = ON into its option file, restart it, and try again"}
}

// isCloned tells whether the plugin has filled the server from a node of this cluster.
func isCloned(ctx context.Context, s *server, on *cluster.Cluster) (bool, error) {
	row, err := on.Row(ctx, s.name(), admin.CloneStateAndDonor)
	if engine.ClassOf(err) == engine.Missing || err == nil && len(row) < 2 {
		return false, nil // there is no plugin, or it has done nothing
	}
	if err != nil || row[0] != "Completed" {
		return false, err
	}
	nodes, err := on.List(ctx)
	if err != nil {
		return false, fmt.Errorf("list the nodes: %w", err)
	}
	for _, n := range nodes {
		if len(n.Target.Addresses) > 0 && withPort(n.Target.Addresses[0]) == row[1] {
			return true, nil
		}
	}
	return false, nil
}

// refuseUnlessEmpty refuses a server that has data of its own.
func refuseUnlessEmpty(ctx context.Context, s *server) error {
	names, err := s.on.Column(ctx, s.name(), `SELECT schema_name FROM information_schema.schemata
		WHERE schema_name NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'plimsoll')`)
	if err != nil {
		return fmt.Errorf("node %s: look for data: %w", s.name(), err)
	}
	if len(names) > 0 {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s is not empty, and all of its data would be deleted: %s", s.name(), strings.Join(names, ", ")),
			Advice: "name an empty server, or drop its databases"}
	}
	return nil
}

// AwaitInFlight waits until a clone that another Plimsoll began is over, and the server that it ends has ended.
func (c *clone) AwaitInFlight(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	n, err := on.Node(ctx, c.Node)
	if err != nil {
		return err
	}
	silent := time.Time{}
	return poll.Until(ctx, 200*time.Millisecond, func() (string, error) {
		state, err := on.Value(ctx, c.Node, admin.CloneState)
		switch {
		case err == nil && state != "In Progress", engine.ClassOf(err) == engine.Missing:
			return "", nil
		case err == nil:
			silent = time.Time{}
		case n.Server != nil:
			if runs, err := n.Server.Running(ctx); err == nil && !runs {
				return "", nil
			}
		}
		if err != nil && silent.IsZero() {
			silent = time.Now()
		}
		if !silent.IsZero() && time.Since(silent) > restartTime {
			return "", fmt.Errorf("after its clone: %w", err)
		}
		return "an earlier clone is still running in " + c.Node, nil
	})
}

// restartTime is how long a server may take to restart with the data of a clone, or to end.
const restartTime = 5 * time.Minute

func (c *clone) Act(ctx context.Context, on *cluster.Cluster, call action.Call) (action.Facts, error) {
	n, err := on.Node(ctx, c.Node)
	if err != nil {
		return nil, err
	}
	if n.Server != nil {
		if err := n.Server.Start(ctx); err != nil { // if the clone before ended it
			return nil, err
		}
	}
	s, err := serverOf(ctx, on, c.Node)
	if err != nil {
		return nil, err
	}
	done, err := isCloned(ctx, s, on)
	if err != nil {
		return nil, err
	}
	if done {
		return nil, setMode(ctx, s, s.refusing())
	}
	if err := refuseUnlessEmpty(ctx, s); err != nil {
		return nil, err
	}
	if err := refuseUnlessStartsClosed(ctx, s); err != nil {
		return nil, err
	}
	// The server restarts with the accounts of the cluster, and replicates at once. What is persisted outlives the clone.
	if err := keepMode(ctx, s, s.refusing()); err != nil {
		return nil, err
	}
	donor, err := c.donor(ctx, on)
	if err != nil {
		return nil, err
	}
	if m, ok := cluster.As[cluster.Monitored](n.Server); ok { // it restarts, or ends where nobody would start it
		if err := m.ExpectEnd(ctx); err != nil {
			return nil, err
		}
	}
	if err := cloneFrom(ctx, s, donor, call.Progress); err != nil {
		return nil, fmt.Errorf("clone %s: %w", donor.name(), err)
	}
	if err := c.revive(ctx, on, n); err != nil {
		return nil, err
	}
	if s, err = serverOf(ctx, on, c.Node); err != nil {
		return nil, err
	}
	if err := setMode(ctx, s, s.refusing()); err != nil {
		return nil, err
	}
	return action.Facts{"donor": donor.name()}, nil
}

// donor is the node that is named, else a healthy replica, else the primary.
func (c *clone) donor(ctx context.Context, on *cluster.Cluster) (*server, error) {
	name := c.From
	if name == "" {
		var err error
		if name, err = pickDonor(ctx, on, c.Node); err != nil {
			return nil, err
		}
	}
	return serverOf(ctx, on, name)
}

// installClonePlugin makes sure that a server has the plugin. It is not replicated.
func installClonePlugin(ctx context.Context, s *server) error {
	status, err := s.value(ctx, admin.ClonePluginStatus)
	if err != nil || status == "ACTIVE" {
		return err
	}
	m, err := modeOf(ctx, s)
	if err != nil {
		return err
	}
	if m[modeSuper] != "1" {
		return s.do(ctx, "", admin.InstallClonePlugin)
	}
	// It would refuse that too. For ordinary users it stays read only, and for all of them it is so again whatever comes of it.
	err = s.do(ctx, "", admin.SetGlobal("super_read_only", "0"), admin.InstallClonePlugin)
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return errors.Join(err, s.order(limited, func(orders admin.Orders) error {
		return admin.Close(limited, orders, s.opensWithin, admin.Variable{Name: modeSuper, Literal: "1"})
	}))
}

// cloneFrom runs the clone and returns when the server has ended or restarted itself.
func cloneFrom(ctx context.Context, s *server, donor *server, tell func(float64, string)) error {
	host, port, err := net.SplitHostPort(donor.address())
	if err != nil {
		return fmt.Errorf("address of %s: %w", donor.name(), err)
	}
	for _, of := range []*server{donor, s} {
		if err := installClonePlugin(ctx, of); err != nil {
			return err
		}
	}
	target := donor.node.Target
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchClone(watching, s, tell)
	}()
	err = s.execute(ctx, target.Password, admin.CloneFrom(host, port, target.User, target.Password, donor.encrypted())...)
	stop()
	<-watched
	if err == nil || endedByClone(err) {
		return ctx.Err()
	}
	return err
}

// endedByClone tells the errors of a clone that is complete: 3707, the server cannot restart itself without a supervisor and
// has ended; or it has restarted under our connection.
func endedByClone(err error) bool {
	var e *engine.Error
	if errors.As(err, &e) {
		return e.Code == "3707" || e.Lost
	}
	return false
}

// watchClone tells how far a clone is.
func watchClone(ctx context.Context, s *server, tell func(float64, string)) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		row, err := s.on.Row(ctx, s.name(), admin.CloneProgress)
		if err != nil || len(row) < 3 {
			continue
		}
		data, _ := strconv.ParseFloat(row[0], 64)
		estimate, _ := strconv.ParseFloat(row[1], 64)
		if estimate > 0 {
			tell(min(0.99, data/estimate), fmt.Sprintf("%s, %.0f of %.0f MiB", strings.ToLower(row[2]), data/(1<<20), estimate/(1<<20)))
		}
	}
}

// revive starts a server that its clone has ended, and waits until it answers.
func (c *clone) revive(ctx context.Context, on *cluster.Cluster, n cluster.Node) error {
	err := poll.Try(ctx, 100*time.Millisecond, func() error {
		if n.Server != nil {
			if runs, err := n.Server.Running(ctx); err != nil {
				return err
			} else if !runs {
				if err := n.Server.Start(ctx); err != nil {
					return err
				}
			}
		}
		if err := on.Answers(ctx, c.Node); err != nil {
			return err
		}
		s, err := serverOf(ctx, on, c.Node)
		if err != nil {
			return err
		}
		if done, err := isCloned(ctx, s, on); err != nil || !done {
			return errors.Join(errors.New("the server does not report that its clone is complete"), err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s did not come back with its data: %w", c.Node, err)
	}
	return nil
}

// Undo makes a server that was made here empty again.
func (c *clone) Undo(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	if s, err := serverOf(ctx, on, c.Node); err == nil {
		if err := refuseIfUsed(ctx, s); err != nil {
			return err
		}
		if done, err := isCloned(ctx, s, on); err == nil && !done && refuseUnlessEmpty(ctx, s) == nil {
			return nil
		}
		if on.Grower == nil { // it keeps the data: it is to do nothing with it
			if err := setMode(ctx, s, s.refusing()); err != nil {
				return err
			}
			if err := s.unfollow(ctx); err != nil {
				return err
			}
		}
	} else if err := on.MayGo(ctx, c.Node); err != nil { // it does not answer, and others may say that they follow it
		return err
	}
	return emptyAgain(ctx, on, c.Node)
}

// refuseIfUsed refuses to empty a server that others follow, or to which clients write beside which there is no other primary: it became a
// part of the cluster since it was filled.
func refuseIfUsed(ctx context.Context, s *server) error {
	is, err := s.status(ctx)
	if err != nil {
		return err
	}
	if err := refuseLeader(ctx, s, is); err != nil {
		return err
	}
	if !is.Primary() {
		return nil
	}
	others, err := s.peers(ctx)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.answers() && o.is.Primary() {
			return nil
		}
	}
	return &hint.PermanentError{Reason: s.name() + " is the primary now: its data is not deleted", Advice: "keep it; to remove it, run mysql/switchover -i to=NODE first"}
}

// emptyAgain empties a server that Plimsoll made, and starts it.
func emptyAgain(ctx context.Context, on *cluster.Cluster, node string) error {
	n, err := on.Node(ctx, node)
	if err != nil {
		return err
	}
	if on.Grower == nil || n.Server == nil {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s has the cluster's data, and Plimsoll did not create this server, so it does not empty it", node),
			Advice: "empty it by hand, or leave it: it refuses writes and replicates from no server"}
	}
	if err := on.Grower.Reset(ctx, node); err != nil {
		return err
	}
	return n.Server.Start(ctx)
}
