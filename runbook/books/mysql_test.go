package books_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/durable"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/lab"
	"plimsoll/runbook/journal"
)

func TestTopologyOfMariaDB(t *testing.T) {
	t.Parallel()
	topology(newCluster(t, "mariadb"))
}

func TestTopologyOfMySQL(t *testing.T) {
	t.Parallel()
	topology(newCluster(t, "mysql"))
}

func topology(c *threeServers) {
	steps := []struct {
		name string
		do   func(*threeServers)
	}{
		{"one server by two names", oneServerTwice},
		{"a switchover that fails is taken back", switchoverTakenBack},
		{"a switchover whose target freezes goes back by itself", switchoverFrozen},
		{"a switchover killed in the middle", switchoverKilled},
		{"add and remove a replica", addAndRemove},
		{"rolling restart, the primary last", primaryLast},
		{"failover", failover},
	}
	for _, s := range steps {
		c.Run(s.name, func(t *testing.T) {
			of := *c
			of.T = t
			s.do(&of)
			c.lab, c.on = of.lab, of.on
		})
		if c.Failed() {
			return
		}
	}
}

// oneServerTwice plans on clusters in which a server stands by two addresses, as a node or as a spare.
func oneServerTwice(c *threeServers) {
	c.must(cluster.Distinct(c.Context(), c.on))
	other := lab.AsCluster(c.lab, enginemysql.Engine{}, c.deps.Machine) // by another name, as a person may have written it down
	other.Name = "other"
	if err := cluster.Distinct(c.Context(), c.on, other); err == nil || !strings.Contains(err.Error(), "node n1 of cluster "+clusterName+" and node n1 of cluster other are the same server") {
		c.Errorf("two clusters of the same servers: %v", err)
	}
	c.must(other.Close())
	n1, err := c.on.Node(c.Context(), "n1")
	c.must(err)
	n1.Name, n1.Target.Addresses = "again", []string{forwarder(c.T, n1.Target.Addresses[0])}
	for name, add := range map[string]func(*cluster.Cluster){
		"a node": func(on *cluster.Cluster) {
			list := on.List
			on.List = func(ctx context.Context) ([]cluster.Node, error) {
				nodes, err := list(ctx)
				return append(nodes, n1), err
			}
		},
		"a spare": func(on *cluster.Cluster) { on.Spares = append(on.Spares, n1) },
	} {
		store, err := durable.Open(c.Context(), durable.Options{Folder: c.TempDir(), Version: journal.Interpreter})
		c.must(err)
		s := serviceOn(store, func(context.Context) (*cluster.Cluster, error) {
			on := lab.AsCluster(c.lab, enginemysql.Engine{}, c.deps.Machine)
			add(on)
			return on, nil
		})
		_, err = begin(c.Context(), s, "mysql/switchover", "to=n2")
		if err == nil || !strings.Contains(err.Error(), "nodes n1 and again of cluster "+clusterName+" are the same server: both report server_") {
			c.Errorf("%s: %v", name, err)
		}
		c.must(store.Close())
	}
	// A switchover to the primary says that alone, and nothing of its other steps.
	store, err := durable.Open(c.Context(), durable.Options{Folder: c.TempDir(), Version: journal.Interpreter})
	c.must(err)
	s := serviceOn(store, func(context.Context) (*cluster.Cluster, error) {
		return lab.AsCluster(c.lab, enginemysql.Engine{}, c.deps.Machine), nil
	})
	if _, err := begin(c.Context(), s, "mysql/switchover", "to=n1"); err == nil || err.Error() != "step check cannot be checked: n1 is the primary already" {
		c.Errorf("to the primary: %v", err)
	}
	c.must(store.Close())
}

// forwarder passes connections on to a server, and returns its own address. It ends with the test.
func forwarder(t *testing.T, server string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer func() { _ = client.Close() }()
				to, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer func() { _ = to.Close() }()
				open.Go(func() {
					_, _ = io.Copy(client, to)
					_ = client.Close()
				})
				_, _ = io.Copy(to, client)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		open.Wait()
	})
	return listener.Addr().String()
}

// stopApplying and startApplying are the words of the products.
func applying(c *threeServers, verb string) string {
	if strings.Contains(c.says("n1", "SELECT VERSION()"), "MariaDB") {
		return verb + " SLAVE SQL_THREAD"
	}
	return verb + " REPLICA SQL_THREAD"
}

// switchoverTakenBack lets the replica stop applying when the primary is closed: the switchover fails before the promotion,
// and is taken back as a whole.
func switchoverTakenBack(c *threeServers) {
	traffic := c.traffic()
	stop, start := applying(c, "STOP"), applying(c, "START")
	st := c.run(func(e journal.Event) {
		if e.Kind == journal.Intended && e.Step == "demote" {
			c.tell("n2", stop)
		}
	}, &journal.Command{Do: "cancel", Undo: true, Reason: "it failed"}, "mysql/switchover", "to=n2", "grace=100ms")
	if st.Outcome != journal.RunUndone {
		c.Errorf("outcome %s, %s: %s", st.Outcome, st.Position(), errorsOf(st))
	}
	c.tell("n2", start)
	traffic.await(c.T, 5)
	traffic.end()
	c.primaryIs("n1")
	if lost := traffic.lost(c, "n1"); len(lost) > 0 {
		c.Errorf("%d acknowledged writes are lost", len(lost))
	}
}

// switchoverFrozen freezes the target when writes have been stopped: within max_behind they go on where they were, and it is said.
func switchoverFrozen(c *threeServers) {
	n2, err := c.on.Node(c.Context(), "n2")
	c.must(err)
	target := n2.Server.(cluster.FaultProneServer)
	const maxBehind = 3 * time.Second
	var stopped, back time.Time
	traffic := c.traffic()
	st := c.run(func(e journal.Event) {
		switch {
		case e.Kind == journal.Verified && e.Step == "demote":
			c.must(target.Freeze(c.Context()))
			stopped = time.Now()
		case e.Kind == journal.Undone && e.Step == "demote":
			back = time.Now()
		}
	}, nil, "mysql/switchover", "to=n2", "grace=100ms", "max_behind="+maxBehind.String())
	if gap := back.Sub(stopped); st.Outcome != journal.RunUndone || back.IsZero() || gap > maxBehind+20*time.Second { // and what a busy machine adds
		c.Errorf("outcome %s, %s: %s; nobody could write for %s", st.Outcome, st.Position(), errorsOf(st), gap)
	}
	if why := st.FailureUndone(); !strings.Contains(why, "n2") || !strings.Contains(why, maxBehind.String()) {
		c.Errorf("it says %q", why)
	}
	traffic.await(c.T, 5) // while the target is frozen still
	c.must(target.Thaw(c.Context()))
	traffic.end()
	c.primaryIs("n1")
	if lost := traffic.lost(c, "n1"); len(lost) > 0 {
		c.Errorf("%d acknowledged writes are lost", len(lost))
	}
}

// switchoverKilled kills Plimsoll when it has decided to promote, and lets another go on.
func switchoverKilled(c *threeServers) {
	traffic := c.traffic()
	// A transaction that nobody ends is ended, and not waited for.
	db, err := c.on.Database(c.Context(), "n1")
	c.must(err)
	idle, err := db.Session(c.Context())
	c.must(err)
	for _, sql := range []string{"BEGIN", "INSERT INTO shop.orders VALUES ('never committed')"} {
		c.must(idle.Exec(c.Context(), sql, nil))
	}
	c.letGo()
	if !c.spawn("mysql/switchover to=n2 grace=100ms", "promote") {
		c.Fatal("it was not killed")
	}
	before := traffic.count()
	if c.spawn("", "") {
		c.Fatal("it was killed again")
	}
	c.take()
	st, events := c.last()
	if st.Outcome != journal.RunDone {
		c.Fatalf("%s %s: %s", st.Status(), st.Position(), errorsOf(st))
	}
	promotions := 0
	for _, e := range events {
		if e.Kind == journal.Acted && e.Step == "promote" {
			promotions++
		}
	}
	if promotions > 1 {
		c.Errorf("%d promotions", promotions)
	}
	traffic.await(c.T, 5)
	traffic.end()
	c.primaryIs("n2")
	if idle.Exec(c.Context(), "COMMIT", nil) == nil {
		c.Error("a transaction on the old primary was committed")
	}
	for _, node := range []string{"n2", "n1", "n3"} {
		c.caughtUp(node)
		if lost := traffic.lost(c, node); len(lost) > 0 {
			c.Errorf("%s lacks %d of %d acknowledged writes, %d of them from before", node, len(lost), len(traffic.acked), before)
		}
	}
	c.Logf("%d writes, none lost, the longest gap %s, refused: %v", len(traffic.acked), traffic.gap.Round(time.Millisecond), traffic.refused)
}

// caughtUp waits until a node has all that the primary has.
func (c *threeServers) caughtUp(node string) {
	c.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	const rows = "SELECT COUNT(*) FROM shop.orders"
	for end := time.Now().Add(patience); c.says(node, rows) != c.says("", rows); <-tick.C {
		if time.Now().After(end) {
			is, err := c.standing(node)
			c.Fatalf("%s does not catch up: %+v, %v", node, is, err)
		}
	}
}

// receives waits until a replica is connected to its source and applies what it takes.
func (c *threeServers) receives(node string) {
	c.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		is, err := c.standing(node)
		if err == nil && len(is.Sources) == 1 && is.Sources[0].Receives && is.Sources[0].Applies {
			return
		}
		if time.Now().After(end) {
			c.Fatalf("%s is not connected: %+v, %v", node, is, err)
		}
	}
}

func addAndRemove(c *threeServers) {
	traffic := c.traffic()
	st := c.done("mysql/add-replica")
	added, _ := st.Item("server").Output["node"].(string)
	traffic.await(c.T, 5)
	traffic.end()
	c.primaryIs("n2")
	c.caughtUp(added)
	if lost := traffic.lost(c, added); added == "" || len(lost) > 0 {
		c.Errorf("the new replica %q lacks %d acknowledged writes", added, len(lost))
	}
	if len(traffic.refused) > 0 {
		c.Errorf("writes were refused while a replica was added: %v", traffic.refused)
	}
	c.refused("is the primary", "mysql/remove-replica", "node=n2")
	c.done("mysql/remove-replica", "node="+added, "drain=100ms")
	if len(c.lab.Nodes()) != 3 {
		c.Errorf("%d nodes, want 3", len(c.lab.Nodes()))
	}
	c.primaryIs("n2")
}

func primaryLast(c *threeServers) {
	st := c.done("mysql/rolling-restart")
	if got := strings.Join(st.Targets["each"], " "); got != "n1 n3 n2" {
		c.Errorf("restarted %s, want the primary n2 last", got)
	}
	c.primaryIs("n2")
}

// failover kills the primary under load.
func failover(c *threeServers) {
	c.refused("n2 answers", "mysql/failover")
	traffic := c.traffic()
	for _, n := range []string{"n1", "n3"} { // which may still be about to reconnect after the restart
		c.receives(n)
	}
	traffic.await(c.T, 5)
	c.must(c.lab.Server("n2").Kill(c.Context()))
	failsOver := func() *journal.State { return c.done("mysql/failover", "checks=3") } // apart as they are by default: on a busy machine its last words arrive late
	if strings.Contains(c.says("n1", "SELECT VERSION()"), "MariaDB") {
		failsOver = func() *journal.State { return fenceAdvised(c) }
	}
	st := failsOver()
	picked, _ := st.Item("pick").Output["node"].(string)
	traffic.await(c.T, 5)
	traffic.end()
	c.primaryIs(picked)
	for _, n := range []string{"n1", "n3"} {
		c.caughtUp(n)
	}
	lost := traffic.lost(c, picked)
	c.Logf("%s was promoted; %d of %d acknowledged writes are lost, the longest gap is %s", picked, len(lost), len(traffic.acked), traffic.gap.Round(time.Millisecond))

	// The old primary comes back and takes no writes. What it had sent to nobody keeps it out.
	c.must(c.lab.Start(c.Context(), "n2"))
	is, err := c.standing("n2")
	c.must(err)
	if !is.ReadOnly || is.Follows() != "" {
		c.Errorf("the old primary came back as %+v", is)
	}
	if len(traffic.lost(c, "n2")) == len(lost) && len(lost) > 0 || c.errant("n2", picked) {
		c.refused("that "+picked+" does not have", "mysql/rejoin", "node=n2")
		return
	}
	c.done("mysql/rejoin", "node=n2")
	c.primaryIs(picked)
}

// lostMachine is a server whose machine cannot be reached while it is lost.
type lostMachine struct {
	lab.Server
	lost *atomic.Bool
}

func (m lostMachine) Running(ctx context.Context) (bool, error) {
	if m.lost.Load() {
		return false, errors.New("ssh: no route to host")
	}
	return m.Server.Running(ctx)
}

// fenceAdvised fails over from n2, whose machine is lost between the check of the fence and its act, and does what the refusal advises: the run
// is cancelled and a new one asks a person, and a run goes on when the machine can be reached again.
func fenceAdvised(c *threeServers) *journal.State {
	ctx := c.Context()
	store, err := durable.Open(ctx, durable.Options{Folder: c.store, Version: journal.Interpreter})
	c.must(err)
	defer func() { c.must(store.Close()) }()
	lost, loses := &atomic.Bool{}, &atomic.Bool{}
	s := serviceOn(store, func(context.Context) (*cluster.Cluster, error) {
		site := lab.AsCluster(c.lab, enginemysql.Engine{}, c.deps.Machine)
		list := site.List
		site.List = func(ctx context.Context) ([]cluster.Node, error) {
			nodes, err := list(ctx)
			for i, n := range nodes {
				if own, ok := n.Server.(lab.Server); ok && n.Name == "n2" {
					nodes[i].Server = lostMachine{own, lost}
				}
			}
			return nodes, err
		}
		return site, nil
	})
	var advice string
	asked := make(chan journal.Event, 1)
	s.Observe = func(run string, e journal.Event, _ time.Time) {
		switch {
		case e.Kind == journal.Intended && e.Step == "fence":
			lost.Store(loses.Load())
		case e.Kind == journal.Failed && e.Step == "fence":
			advice = journal.OfRun(e.Note, run)
		case e.Kind == journal.Asked:
			asked <- e
		}
	}
	x, err := s.Execute(ctx)
	c.must(err)
	defer func() { c.must(x.Close(context.WithoutCancel(ctx))) }()
	session := func(run string, o journal.Command) *journal.State {
		c.must(s.Start(ctx, x, run, o))
		c.must(x.Wait(ctx, run))
		st, err := s.State(ctx, run)
		c.must(err)
		return st
	}
	fails := func() string {
		lost.Store(false)
		loses.Store(true)
		run, err := begin(ctx, s, "mysql/failover", "checks=3")
		c.must(err)
		st := session(run, journal.Command{Do: "run"})
		want := "make that machine reachable, then plimsoll runbook resume " + run + "; or plimsoll runbook cancel " + run + ", and start a new one, which asks a person"
		if st.Outcome != journal.RunFailed || !strings.Contains(advice, want) {
			c.Fatalf("%s at %s: %s; it advises %q", st.Status(), st.Position(), errorsOf(st), advice)
		}
		return run
	}
	if st := session(fails(), journal.Command{Do: "cancel"}); st.Outcome != journal.RunCancelled {
		c.Fatalf("cancelled as advised: %s, %s", st.Status(), st.Refused)
	}
	run, err := begin(ctx, s, "mysql/failover", "checks=3")
	c.must(err)
	c.must(s.Start(ctx, x, run, journal.Command{Do: "run"}))
	select {
	case e := <-asked:
		if e.Step != "fence" || !strings.Contains(e.Caution, "n2 cannot be fenced from here") {
			c.Errorf("step %s asks: %q", e.Step, e.Caution)
		}
	case <-time.After(patience):
		c.Error("a new run asks nobody")
	}
	c.must(s.Tell(ctx, run, journal.Message{Say: "cancel"}))
	c.must(x.Wait(ctx, run))
	run = fails()
	lost.Store(false)
	loses.Store(false)
	st := session(run, journal.Command{Do: "resume"})
	if st.Outcome != journal.RunDone {
		c.Fatalf("resumed as advised: %s at %s: %s", st.Status(), st.Position(), errorsOf(st))
	}
	return st
}

// errant tells whether a node has rows that the primary has not.
func (c *threeServers) errant(node, primary string) bool {
	has, err := c.on.Column(c.Context(), node, "SELECT id FROM shop.orders")
	c.must(err)
	theirs, err := c.on.Column(c.Context(), primary, "SELECT id FROM shop.orders")
	c.must(err)
	there := map[string]bool{}
	for _, id := range theirs {
		there[id] = true
	}
	for _, id := range has {
		if !there[id] {
			return true
		}
	}
	return false
}
