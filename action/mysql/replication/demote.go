package replication

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

var demoteAction = action.Action{
	Name: "mysql.demote", Version: 1,
	About: "Makes the primary refuse writes (super_read_only; read_only on MariaDB), waits for a while until open transactions end, then ends clients' connections.",
	New:   func() action.Task { return &demote{Grace: 5 * time.Second} },
}

// probeTime is how long a replica may take to answer that is to take the place of a primary.
const probeTime = 2 * time.Second

type demote struct {
	Node  string        `yaml:"node,required" doc:"The primary."`
	Grace time.Duration `yaml:"grace" doc:"How long the transactions that are open when it begins may take to end by themselves. Default 5s."`
	For   string        `yaml:"for" doc:"The replica that will replace it: it must answer and apply what it receives, right before writes are stopped. Default: no replica is checked."`
}

var (
	_ action.Undoer         = (*demote)(nil)
	_ action.InFlightWaiter = (*demote)(nil)
	_ action.Cautioned      = (*demote)(nil)
)

func (d *demote) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (d *demote) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := action.Operated(ctx, on, "make the primary a replica", "kube/switchover"); err != nil {
		return action.CheckResult{}, err
	}
	s, err := serverOf(ctx, on, d.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	m, err := modeOf(ctx, s)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: m.facts(), Intended: s.refusing().asFarAsKept(m).facts()}
	switch {
	case m.refuses(s) && !m.opensAgain():
		f.State = action.Satisfied
	case m[keptNow] == cannotBeKept && s.mariadb:
		f.Reason = optionFile(s, m, "whether it accepts writes after a restart", "") + "; users with READ ONLY ADMIN or SUPER can still write"
	case m[keptNow] == cannotBeKept:
		f.Reason = optionFile(s, m, "whether it accepts writes after a restart", closedAtStart(s))
	case s.mariadb:
		f.Reason = "users with READ ONLY ADMIN or SUPER can still write: their connections are ended, so that they look for the new primary"
	}
	return f, nil
}

// Cautions name the option file that decides what the server is after a restart, and who is connected to a MariaDB and may go on writing: a new connection may even when the present ones have been ended.
func (d *demote) Cautions(ctx context.Context, on *cluster.Cluster) []action.Caution {
	s, err := serverOf(ctx, on, d.Node)
	if err != nil {
		return nil
	}
	all := atStart(ctx, s, "whether it accepts writes after a restart", closedAtStart(s))
	if !s.mariadb {
		return all
	}
	who, err := on.Column(ctx, s.name(), admin.PassesReadOnly(admin.VersionOf(s.version)))
	if err != nil || len(who) == 0 {
		return all
	}
	slices.Sort(who)
	return append(all, action.Caution{Text: fmt.Sprintf("users who may write to a read-only server are connected to %s: %s. The run ends their connections; if they connect again and write, these rows exist on no other server, "+
		"and %[1]s cannot become a replica: stop the programs that use these accounts", s.name(), strings.Join(slices.Compact(who), ", "))})
}

// Act waits for what is open, then closes the server to writes and ends the connections of clients, so that each looks for
// the primary anew; what they had open is rolled back.
func (d *demote) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	s, err := serverOf(ctx, on, d.Node)
	if err != nil {
		return nil, err
	}
	c.Progress(0, "waiting for open transactions")
	if err := awaitOpenTransactions(ctx, s, d.Grace); err != nil {
		return nil, err
	}
	if err := d.probe(ctx, on); err != nil {
		return nil, action.NothingDone{Err: err}
	}
	if err := refuseEvents(ctx, s); err != nil {
		return nil, action.NothingDone{Err: err}
	}
	c.Progress(0.5, "making it read-only")
	if err := s.close(ctx); err != nil {
		return nil, err
	}
	c.Progress(0.8, "ending connections")
	ended, err := endClients(ctx, s)
	return action.Facts{"connections_ended": ended}, err
}

// probe refuses to stop writes for a replica that hangs, or has stopped, and beside another to which clients could write then.
func (d *demote) probe(ctx context.Context, on *cluster.Cluster) error {
	if d.For == "" {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	is, err := statusOf(limited, on, d.For)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		silence := peer{silent: err}.silence()
		if engine.ClassOf(err) != engine.Denied {
			silence += " within " + probeTime.String()
		}
		return &hint.PermanentError{Reason: fmt.Sprintf("%s %s, so %s was not made read-only: %v", d.For, silence, d.Node, err),
			Advice: "fix it, or name another replica"}
	case len(is.Sources) == 0 || !is.Sources[0].Receives || !is.Sources[0].Applies:
		return &hint.PermanentError{Reason: fmt.Sprintf("%s does not replicate now, so %s was not made read-only", d.For, d.Node), Advice: "fix it, or name another replica"}
	}
	all, err := ask(limited, on)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.name != d.Node && p.name != d.For && p.writable() {
			return refuseWritable(p, clientsMove(d.Node))
		}
	}
	return nil
}

// clientsMove is why no other replica may let clients write during a demotion.
func clientsMove(demoted string) string {
	return "the clients that the demotion of " + demoted + " disconnects could write to it"
}

// AwaitInFlight waits until a server that was told to refuse writes does: what clients hold can keep the statement waiting.
func (d *demote) AwaitInFlight(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	return settleClosing(ctx, on, d.Node)
}

func settleClosing(ctx context.Context, on *cluster.Cluster, node string) error {
	return poll.Until(ctx, 100*time.Millisecond, func() (string, error) {
		n, err := on.Value(ctx, node, admin.ClosingToWrites)
		if err != nil {
			return "", fmt.Errorf("node %s: %w", node, err)
		}
		if n == "0" {
			return "", nil
		}
		return node + " is still being made read-only", nil
	})
}

// Undo opens the server to writes again, if it took them before and none has taken its place. One that did not is not closed when it has
// become the primary since. A replica that was to replace it and does not replicate afterwards remains to be dealt with.
func (d *demote) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	s, err := serverOf(ctx, on, d.Node)
	if err != nil {
		return err
	}
	before := modeIn(c.Before)
	if before.reopens() {
		err = s.mayReopen(ctx, c.Resumed)
	} else {
		err = s.mayClose(ctx)
	}
	if err != nil {
		return err
	}
	if err := setMode(ctx, s, before); err != nil {
		return err
	}
	return d.replicaRemains(ctx, on)
}

// replicaRemains tells of the replica that was to replace the primary, if it does not replicate now: the run may have stopped its replication,
// or it does not answer.
func (d *demote) replicaRemains(ctx context.Context, on *cluster.Cluster) error {
	if d.For == "" {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	why := ""
	err := poll.Until(limited, 100*time.Millisecond, func() (string, error) {
		is, err := statusOf(limited, on, d.For)
		switch {
		case err != nil:
			return "", err
		case len(is.Sources) == 0 || !is.Sources[0].Applies:
			why = "it does not replicate"
			return "", nil
		case !is.Sources[0].Receives: // it may be connecting again
			why = "it does not receive what " + d.Node + " writes"
			return why, nil
		}
		why = ""
		return "", nil
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && why == "":
		why = fmt.Sprintf("it does not answer within %s, and may have stopped replicating; when it answers", probeTime)
	case why == "":
		return nil
	}
	return &action.Remains{What: "node " + d.For, Why: fmt.Sprintf("%s: mysql/rejoin -i node=%s makes it replicate from %s again", why, d.For, d.Node)}
}

// trxShownAnew is how far apart looks at innodb_trx must be: whoever looks again within 0.1 s is shown what was shown before
// (MariaDB and MySQL manuals, "InnoDB Information Schema Transaction and Locking Data: consistency").
const trxShownAnew = 150 * time.Millisecond

// awaitOpenTransactions waits until the transactions that are open now have ended, or a while.
func awaitOpenTransactions(ctx context.Context, s *server, grace time.Duration) error {
	first, err := s.on.Column(ctx, s.name(), admin.OpenTransactions)
	if err != nil {
		return fmt.Errorf("node %s: look for open transactions: %w", s.name(), err)
	}
	limited, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	tick := time.NewTicker(trxShownAnew)
	defer tick.Stop()
	for len(first) > 0 {
		select {
		case <-tick.C:
		case <-limited.Done():
			return ctx.Err()
		}
		now, err := s.on.Column(limited, s.name(), admin.OpenTransactions)
		if err != nil {
			return ctx.Err()
		}
		first = slices.DeleteFunc(first, func(id string) bool { return !slices.Contains(now, id) })
	}
	return nil
}

// close makes a server refuse writes. A client that holds a lock of tables would hold that up: after a second clients are
// ended until it is done.
func (s *server) close(ctx context.Context) error {
	done := make(chan error, 1)
	var closing atomic.Value // the connection that gives the order
	closing.Store("")
	go func() { done <- setModeBy(ctx, s, s.refusing(), func(connection string) { closing.Store(connection) }) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			if _, err := killConnections(ctx, s, admin.ClientsButSetters, closing.Load().(string)); err != nil && ctx.Err() == nil {
				continue // the mode is what matters
			}
		}
	}
}

// endClients ends the connections of clients and waits until they are gone; it returns how many there were.
func endClients(ctx context.Context, s *server) (int, error) {
	ended, err := killConnections(ctx, s, admin.Clients)
	if err != nil {
		return 0, err
	}
	return len(ended), poll.Until(ctx, 50*time.Millisecond, func() (string, error) {
		now, err := s.on.Column(ctx, s.name(), admin.Clients)
		if err != nil {
			return "", fmt.Errorf("node %s: look for connections: %w", s.name(), err)
		}
		if !slices.ContainsFunc(ended, func(id string) bool { return slices.Contains(now, id) }) {
			return "", nil
		}
		return "connections of clients do not end: their transactions are being rolled back", nil
	})
}

// hasEnded tells the error of a connection that is not there any more from all others: a thread's number can be in their texts.
func hasEnded(err error) bool { return engine.CodeOf(err) == admin.NoConnection }

// killConnections ends the connections that a query names, but those that are spared, and returns which.
func killConnections(ctx context.Context, s *server, which string, spared ...string) ([]string, error) {
	ids, err := s.on.Column(ctx, s.name(), which)
	if err != nil {
		return nil, fmt.Errorf("node %s: look for connections: %w", s.name(), err)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(spared, id) })
	for _, id := range ids {
		// One that ended meanwhile is unknown: that is what is wanted.
		if err := s.execute(ctx, "", admin.Kill(id)); err != nil && !hasEnded(err) {
			return nil, err
		}
	}
	return ids, nil
}
