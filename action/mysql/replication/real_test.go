package replication

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

func TestOnMariaDB(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "mariadb", 3)
	conformAll(w)
	events(w)
	takesBack(w)
	refusals(w)
	copies(w)
	deadPrimary(w)
}

func TestOnMySQL(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "mysql", 3)
	conformAll(w)
	events(w)
	takesBack(w)
	refusals(w)
	clones(w)
	deadPrimary(w)
}

// conformAll puts the actions through their suite, and leaves the cluster as it was.
func conformAll(w fixture) {
	n1 := w.server("n1")
	w.conform(detachAction, `{node: n3}`, nil)
	w.does(detachAction, `{node: n3}`)
	w.conform(replicateAction, `{node: n3, source: n1}`, nil)
	w.does(replicateAction, `{node: n3}`)
	w.conform(demoteAction, `{node: n1, grace: 1s}`, nil)
	w.conform(applyRelayLogAction, `{node: n3}`, func(s *actiontest.Subject) {
		s.Snapshot = func(t *testing.T) string {
			is, err := statusOf(t.Context(), w.on, "n3")
			if err != nil || len(is.Sources) != 1 {
				t.Fatal(is, err)
			}
			return map[bool]string{true: "receives"}[is.Sources[0].Receives]
		}
	})
	w.must(w.server("n3").awaitRunning(w.Context(), "n1"))
	w.conform(checkSwitchoverAction, `{from: n1, to: n2}`, always)
	w.conform(pickReplicaAction, `{of: n1}`, always)
	w.conform(pickDonorAction, `{}`, always)

	// A replica that is kept behind a primary that is written to is never caught up, unless the writer stands still for as long.
	delay := map[bool]string{true: "CHANGE MASTER TO MASTER_DELAY = ", false: "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = "}[n1.mariadb]
	n3 := w.server("n3")
	w.must(n3.do(w.Context(), "", n3.dialect.Stop("")[0], delay+"6", n3.dialect.Start("")[0]))
	stop := w.writes()
	w.behind("n3")
	w.conform(caughtUpAction, `{node: n3}`, func(s *actiontest.Subject) { s.Always, s.Snapshot = true, func(*testing.T) string { return "" } })
	w.refuses(checkSwitchoverAction, `{from: n1, to: n3}`, "on purpose")
	stop()
	w.must(n3.do(w.Context(), "", n3.dialect.Stop("")[0], delay+"0", n3.dialect.Start("")[0]))
	w.does(caughtUpAction, `{node: n3}`)
	w.does(caughtUpAction, `{node: n2}`)

	w.must(setMode(w.Context(), n1, n1.refusing()))
	w.conform(promoteAction, `{node: n2, old: n1}`, func(s *actiontest.Subject) {
		s.Again = func(t *testing.T) { w.follow(t, "n2", "n1") }
	})
	w.stand(w.T, "n2", (*server).taking)
	w.conform(repointAction, `{source: n2, also: [n1]}`, func(s *actiontest.Subject) {
		s.Again = func(t *testing.T) {
			w.stand(t, "n1", (*server).refusing)
			w.stand(t, "n3", (*server).refusing)
			w.follow(t, "n3", "n1")
		}
	})
	w.stand(w.T, "n1", (*server).taking)
	w.follow(w.T, "n2", "n1")
	w.follow(w.T, "n3", "n1")
}

// TestWhatAnInventoryPersistedIsForgotten makes a server read-only by way of its lab that was persisted to take writes by who knows it
// by its address alone, and restarts it.
func TestWhatAnInventoryPersistedIsForgotten(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "mysql", 2)
	n2, ctx := w.server("n2"), t.Context()
	w.must(n2.do(ctx, "", admin.Persist(modeSuper, "OFF"), admin.Persist(modeNow, "OFF")))
	w.must(setMode(ctx, n2, n2.refusing()))
	w.must(w.cluster.Stop(ctx, "n2"))
	w.must(w.cluster.Start(ctx, "n2"))
	if m, err := modeOf(ctx, w.server("n2")); err != nil || !m.refuses(n2) {
		t.Errorf("after a restart a replica takes writes: %v, %v", m, err)
	}
}

// refusals says what is refused, and why.
func refusals(w fixture) {
	w.Run("refusals", func(t *testing.T) {
		w := w.of(t)
		w.refuses(detachAction, `{node: n1}`, "is the primary")
		w.refuses(checkSwitchoverAction, `{from: n1, to: n1}`, "already")
		w.refuses(checkSwitchoverAction, `{from: n2, to: n3}`, "n2 is not the primary")
		w.refuses(confirmDeadAction, `{node: n1}`, "n1 answers")
		w.refuses(replicateAction, `{node: n2, source: n2}`, "itself")
		w.refusesAct(promoteAction, `{node: n2, old: n1}`, "n1 accepts writes")

		n3, ctx := w.server("n3"), t.Context()
		nodes, err := w.on.List(ctx)
		w.must(err)
		for i := range nodes {
			nodes[i].Server = nil
		}
		remote := &cluster.Cluster{Name: w.on.Name, Engine: w.on.Engine, List: func(context.Context) ([]cluster.Node, error) { return nodes, nil }}
		defer func() { _ = remote.Close() }() // as an inventory without machines knows it
		found, err := w.task(promoteAction, `{node: n3, old: n1}`).Check(ctx, remote)
		w.must(err)
		if n3.mariadb != strings.Contains(found.Reason, "option file decides") {
			t.Errorf("promote by who cannot keep read_only over a restart: %+v", found)
		}

		w.must(n3.do(ctx, "", n3.dialect.StopReceiving("")[0]))
		w.refuses(checkSwitchoverAction, `{from: n1, to: n3}`, "not connected")
		w.must(n3.do(ctx, "", n3.dialect.Stop("")[0]))
		w.refuses(checkSwitchoverAction, `{from: n1, to: n3}`, "does not apply")
		w.must(w.on.Execute(ctx, "n1", []string{"INSERT INTO shop.t (v) VALUES (2)"}, func(int) {}))
		w.refusesAct(caughtUpAction, `{node: n3}`, "does not apply")
		w.must(n3.do(ctx, "", ignoring(n3, "shop.secret"), n3.dialect.Start("")[0]))
		w.must(n3.awaitRunning(ctx, "n1"))
		w.refuses(checkSwitchoverAction, `{from: n1, to: n3}`, "shop.secret")
		w.must(n3.do(ctx, "", n3.dialect.Stop("")[0], ignoring(n3, ""), n3.dialect.Start("")[0]))
		w.must(n3.awaitRunning(ctx, "n1"))

		// A chain: what others follow is not taken away, and is not what a switchover from n1 is for.
		w.follow(t, "n3", "n2")
		w.refuses(detachAction, `{node: n2}`, "n3 follows n2")
		w.refuses(checkSwitchoverAction, `{from: n1, to: n3}`, "not n1")
		w.must(setMode(ctx, n3, n3.taking())) // as its start opens it: that comes first
		w.refuses(checkSwitchoverAction, `{from: n1, to: n3}`, "n3 accepts writes, although it is set up to replicate from ")
		w.must(setMode(ctx, n3, n3.refusing()))
		w.follow(t, "n3", "n1")
	})
	w.Run("one server id for two", func(t *testing.T) {
		w := w.of(t)
		ctx, n3 := t.Context(), w.server("n3")
		had, err := n3.value(ctx, admin.Global("server_id"))
		w.must(err)
		n1, err := w.server("n1").value(ctx, admin.Global("server_id"))
		w.must(err)
		w.must(n3.do(ctx, "", "SET GLOBAL server_id = "+n1))
		w.refuses(checkSwitchoverAction, `{from: n1, to: n2}`, "n1 and n3 both have server_id "+n1)
		w.refusesAct(replicateAction, `{node: n3, source: n1}`, "both have server_id "+n1)
		n2, err := w.server("n2").value(ctx, admin.Global("server_id"))
		w.must(err)
		w.must(n3.do(ctx, "", "SET GLOBAL server_id = "+n2))
		w.refuses(pickReplicaAction, `{of: n1}`, "n2 and n3 both have server_id "+n2)
		w.must(n3.do(ctx, "", "SET GLOBAL server_id = "+had))
	})
	w.Run("a primary whose writes hang", func(t *testing.T) {
		w := w.of(t)
		w.must(w.on.Execute(t.Context(), "n1", []string{"CREATE DATABASE plimsoll", "CREATE TABLE plimsoll.claim (id INT PRIMARY KEY, expires DATETIME(6))", "INSERT INTO plimsoll.claim VALUES (1, '2026-01-01')"}, func(int) {}))
		w.does(caughtUpAction, `{node: n2}`)
		w.does(checkSwitchoverAction, `{from: n1, to: n2}`)
		db, err := w.on.Database(t.Context(), "n1")
		w.must(err)
		holder, err := db.Session(t.Context())
		w.must(err)
		w.must(holder.Exec(t.Context(), "FLUSH TABLES WITH READ LOCK", nil)) // as a full disk does
		w.refusesAct(checkSwitchoverAction, `{from: n1, to: n2}`, "n1 answers questions, but a small write to it (plimsoll.claim) got no answer within 15s")
		w.must(holder.Close())
		w.must(w.on.Execute(t.Context(), "n1", []string{"DROP DATABASE plimsoll"}, func(int) {}))
	})
	w.Run("a node that replicates from nobody", func(t *testing.T) {
		w := w.of(t)
		n3 := w.server("n3")
		w.must(n3.unfollow(t.Context())) // it has all, at this moment
		wait := w.task(caughtUpAction, `{node: n3}`)
		f, err := wait.Check(t.Context(), w.on.ReadOnly())
		w.must(err)
		if len(f.Awaits) != 1 || f.Awaits[0].From(nil) || !strings.Contains(fmt.Sprint(f.Awaits[0].Refusal), "n3 does not replicate from any server") ||
			!strings.HasPrefix(hint.Of(f.Awaits[0].Refusal), "mysql/rejoin -i node=n3 makes it replicate") {
			t.Errorf("a plan waits for it: %+v", f)
		}
		rejoin := w.task(replicateAction, `{node: n3}`).(action.Bringer)
		if !f.Awaits[0].From(rejoin.Brings(t.Context(), w.on.ReadOnly())) {
			t.Error("a plan that makes it replicate first does not wait for it")
		}
		w.follow(t, "n3", "n1")
		if f, err := wait.Check(t.Context(), w.on.ReadOnly()); err != nil || len(f.Awaits) > 0 {
			t.Errorf("it replicates: %+v, %v", f, err)
		}
	})
	w.Run("errant transactions", func(t *testing.T) {
		w := w.of(t)
		n3 := w.server("n3")
		w.must(setMode(t.Context(), n3, n3.taking()))
		for action, with := range map[*action.Action]string{&checkSwitchoverAction: `{from: n1, to: n2}`, &pickReplicaAction: `{of: n1, prefer: n2}`} { // clients would write there
			w.refuses(*action, with, "n3 accepts writes, although it is set up to replicate from ")
		}
		w.refusesAct(demoteAction, `{node: n1, for: n2, grace: 1s}`, "n3 accepts writes, although it is set up to replicate from ")
		w.must(w.on.Execute(t.Context(), "n3", []string{"INSERT INTO shop.t (id, v) VALUES (1000000, 3)"}, func(int) {}))
		w.must(n3.do(t.Context(), "", n3.dialect.Stop("")[0]))
		const row = "INSERT INTO shop.t (v) VALUES (2)" // more of them than n3 has of its own: MariaDB numbers both alike
		w.must(w.on.Execute(t.Context(), "n1", []string{row, row, row}, func(int) {}))
		w.refusesAct(caughtUpAction, `{node: n3}`, "n3 does not apply what it receives; it accepted writes itself: n3 has ")
		w.must(n3.do(t.Context(), "", n3.dialect.Start("")[0]))
		if n3.mariadb { // whose position says that it has caught up, by a number that a row of its own has too
			w.refusesAct(caughtUpAction, `{node: n3}`, "that n1 does not have")
		}
		// A third server: no switchover begins that could not point it at the new primary. It is closed, as the second that accepts writes, and what it
		// alone has is told: it is not taken for a server that has all that its source has.
		w.refuses(checkSwitchoverAction, `{from: n1, to: n2}`, "n3 has")
		w.refuses(checkSwitchoverAction, `{from: n1, to: n2}`, "n3 accepts writes, although it is set up to replicate from ")
		w.refusesAct(repointAction, `{source: n1}`, "n3 accepted writes while n1 was the primary, and is read-only now: n3 has ")
		if m, err := modeOf(t.Context(), n3); err != nil || !m.refuses(n3) {
			t.Errorf("n3 is %v, %v, want that it refuses writes", m, err)
		}
		w.refusesAct(repointAction, `{source: n1}`, "that n1 does not have") // though it is read-only already
		w.must(setMode(t.Context(), n3, n3.refusing()))
		w.refuses(checkSwitchoverAction, `{from: n1, to: n3}`, "that n1 does not have")
		w.refuses(replicateAction, `{node: n3}`, "that n1 does not have") // though it replicates already
		w.must(n3.unfollow(t.Context()))
		w.refuses(replicateAction, `{node: n3}`, "that n1 does not have")
		found, err := w.task(detachAction, `{node: n3}`).Check(t.Context(), w.on.ReadOnly())
		w.must(err)
		if reason := w.task(detachAction, `{node: n3}`).(action.ApprovalDemander).ApprovalReason(found); found.State != action.Needed || !strings.Contains(reason, "n3 has transactions that no other node has") {
			t.Errorf("found %+v, approval %q", found, reason)
		}
		w.does(detachAction, `{node: n3}`)
	})
	w.Run("purged binary logs", func(t *testing.T) { purged(w.of(t)) })
}

// purged shows that n3, which follows nobody, is not a replica of n1 when n1 has no longer what it lacks.
func purged(w fixture) {
	ctx, n1, n3 := w.Context(), w.server("n1"), w.server("n3")
	mode, err := modeOf(ctx, n3)
	w.must(err)
	reset := map[bool][]string{true: {"RESET MASTER", "SET GLOBAL gtid_slave_pos = ''"}, false: {"RESET BINARY LOGS AND GTIDS"}}[n3.mariadb]
	w.must(n3.do(ctx, "", reset...)) // as one that was never filled
	w.must(n1.do(ctx, "", "FLUSH BINARY LOGS"))
	limit, tick := time.After(time.Minute), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for logs := []string{"", ""}; len(logs) > 1; { // what a connection reads is kept, until it has gone on or was found dead
		w.must(n1.do(ctx, "", "INSERT INTO shop.t (v) VALUES (5)"))
		logs, err = w.on.Column(ctx, "n1", "SHOW BINARY LOGS")
		w.must(err)
		w.must(n1.do(ctx, "", "PURGE BINARY LOGS TO "+admin.Text(logs[len(logs)-1])))
		select {
		case <-tick.C:
		case <-limit:
			w.Fatalf("n1 keeps %v", logs)
		}
	}
	if n3.mariadb { // which is told by its source, once it asks
		w.refusesAct(replicateAction, `{node: n3}`, "n3 cannot follow n1: ")
		w.refusesAct(replicateAction, `{node: n3}`, "1236")
	} else {
		w.refuses(replicateAction, `{node: n3}`, "that n1 no longer has in its binary logs")
	}
	w.must(n3.unfollow(ctx))
	w.must(setMode(ctx, n3, mode))
}

// ignoring is the statement that leaves a table out of replication, or none.
func ignoring(s *server, table string) string {
	if s.mariadb {
		return "SET GLOBAL replicate_ignore_table = " + admin.Text(table)
	}
	return "CHANGE REPLICATION FILTER REPLICATE_IGNORE_TABLE = (" + table + ")"
}

// nodes describes which servers there are.
func (w fixture) nodes(t *testing.T) string {
	t.Helper()
	all := ""
	for _, n := range w.cluster.Nodes() {
		all += n.Name + " " + string(n.State) + "\n"
	}
	return all
}

// once is for what takes seconds: it is cut off one time.
var once = []time.Duration{20 * time.Millisecond}

// creates makes a server for a new replica.
func (w fixture) creates() (made string) {
	w.Helper()
	create, _ := action.Find(action.Servers(), "server.create")
	w.conform(create, `{}`, func(s *actiontest.Subject) { s.Always, s.Snapshot, s.Cuts = true, w.nodes, once })
	return w.does(create, `{settings: {max_connections: "77"}}`)["node"].(string)
}

// copies makes a new replica of a copy of n2, on MariaDB.
func copies(w fixture) {
	made := w.creates()
	w.must(w.cluster.Stop(w.Context(), "n2"))
	w.conform(copyAction, `{node: `+made+`, from: n2}`, func(s *actiontest.Subject) {
		s.Cuts = once
		s.Snapshot = func(t *testing.T) string {
			n, err := w.on.Node(t.Context(), made)
			if err != nil {
				t.Fatal(err)
			}
			of, err := copyOf(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			return of
		}
	})
	w.does(copyAction, `{node: `+made+`, from: n2}`)
	w.must(w.cluster.Start(w.Context(), "n2"))
	w.refuses(copyAction, `{node: `+made+`, from: `+made+`}`, "two servers")
	w.serves(made)
}

// clones makes a new replica of a clone, on MySQL.
func clones(w fixture) {
	made := w.creates()
	w.must(w.cluster.Start(w.Context(), made))
	w.refuses(cloneAction, `{node: n2}`, "n2 is not empty")
	w.conform(cloneAction, `{node: `+made+`}`, func(s *actiontest.Subject) {
		s.Cuts = []time.Duration{200 * time.Millisecond}
		s.Snapshot = func(t *testing.T) string {
			v, err := w.on.Value(t.Context(), made, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'shop'")
			if err != nil {
				return err.Error()
			}
			return v
		}
	})
	w.does(cloneAction, `{node: `+made+`, from: n1}`)
	w.serves(made)
	spareIsClosed(w)
}

// spareIsClosed clones to a server of which Plimsoll writes no settings, and which takes writes as a spare one does: it does not with the clone.
func spareIsClosed(w fixture) {
	create, _ := action.Find(action.Servers(), "server.create")
	ctx, made := w.Context(), w.does(create, `{}`)["node"].(string)
	w.must(w.cluster.Start(ctx, made))
	spare := w.server(made)
	w.must(setMode(ctx, spare, spare.taking()))
	on := &cluster.Cluster{Name: w.on.Name, Engine: w.on.Engine, List: func(ctx context.Context) ([]cluster.Node, error) {
		nodes, err := w.on.List(ctx)
		nodes = slices.Clone(nodes)
		for i := range nodes {
			nodes[i].Server = plainServer{nodes[i].Server, w.cluster.Server(nodes[i].Name)}
		}
		return nodes, err
	}}
	defer func() { _ = on.Close() }()
	outside := fixture{w.T, on, w.cluster}
	outside.does(cloneAction, `{node: `+made+`, from: n2}`)
	closed := func(when string) {
		w.Helper()
		s := outside.server(made)
		m, err := modeOf(ctx, s)
		if err != nil || !m.refuses(s) || m.opensAgain() {
			w.Errorf("%s the server is %v, %v, want that it refuses writes", when, m, err)
		}
	}
	closed("after its clone")
	kept, err := w.on.Value(ctx, made, admin.Persisted(modeSuper))
	if err != nil || kept != "ON" {
		w.Errorf("kept over its restart: %s, %v", kept, err)
	}
	w.must(setMode(ctx, outside.server(made), spare.taking())) // as an act that was cut off leaves it
	if found, err := outside.task(cloneAction, `{node: `+made+`}`).Check(ctx, on.ReadOnly()); err != nil || found.State != action.Needed {
		w.Errorf("a clone that is open: %+v, %v", found, err)
	}
	err = outside.task(cloneAction, `{node: `+made+`}`).(action.Undoer).Undo(ctx, on, action.Call{Progress: func(float64, string) {}})
	if err == nil || !strings.Contains(err.Error(), "does not empty it") {
		w.Errorf("undo: %v", err)
	}
	closed("after its undo")
	if is := outside.status(made); len(is.Sources) > 0 {
		w.Errorf("after its undo it follows %s", is.Follows())
	}
	destroy, _ := action.Find(action.Servers(), "server.destroy")
	w.does(destroy, `{node: `+made+`}`)
}

// plainServer is a server whose settings are not Plimsoll's to write.
type plainServer struct {
	cluster.Server
	monitored interface{ ExpectEnd(context.Context) error }
}

func (s plainServer) ExpectEnd(ctx context.Context) error { return s.monitored.ExpectEnd(ctx) }

// serves makes a filled server a replica, and takes it away again.
func (w fixture) serves(made string) {
	w.Helper()
	ctx := w.Context()
	w.must(w.cluster.Start(ctx, made))
	w.does(replicateAction, `{node: `+made+`}`)
	w.must(w.on.Execute(ctx, "n1", []string{"INSERT INTO shop.t (v) VALUES (4)"}, func(int) {}))
	w.does(caughtUpAction, `{node: `+made+`}`)
	for query, want := range map[string]string{
		"SELECT COUNT(*) FROM shop.t": "", "SELECT @@max_connections": "77", admin.Global("read_only"): "1",
	} {
		got, err := w.on.Value(ctx, made, query)
		w.must(err)
		if want == "" {
			want, err = w.on.Value(ctx, "n1", query)
			w.must(err)
		}
		if got != want {
			w.Errorf("%s on %s: %s, want %s", query, made, got, want)
		}
	}
	w.does(detachAction, `{node: `+made+`}`)
	destroy, _ := action.Find(action.Servers(), "server.destroy")
	if w.server("n1").mariadb { // MySQL takes longer to be made again, and shows nothing more
		w.conform(destroy, `{node: `+made+`}`, func(s *actiontest.Subject) {
			s.Snapshot, s.Cuts = w.nodes, once
			s.Again = func(t *testing.T) {
				again, err := w.on.Grower.Grow(t.Context(), "again", nil)
				if err != nil || again != made {
					t.Fatalf("%s was made again as %s, %v", made, again, err)
				}
			}
		})
	}
	for range 2 {
		w.does(destroy, `{node: `+made+`}`)
	}
	if _, err := w.on.Node(ctx, made); err == nil {
		w.Errorf("%s is still there", made)
	}
}

// deadPrimary is for what is done when n1 is gone.
func deadPrimary(w fixture) {
	w.must(w.cluster.Kill(w.Context(), "n1"))
	w.conform(confirmDeadAction, `{node: n1, checks: 3, every: 50ms}`, func(s *actiontest.Subject) {
		s.Always, s.Snapshot = true, func(*testing.T) string { return "" }
	})
	w.conform(fenceAction, `{node: n1}`, func(s *actiontest.Subject) {
		s.Snapshot = func(t *testing.T) string {
			own, err := w.cluster.Server("n1").Assigned(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return own[modeNow]
		}
		s.Again = func(t *testing.T) {
			if err := w.cluster.Server("n1").Assign(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
	})
	w.does(fenceAction, `{node: n1}`)
	w.must(w.cluster.Start(w.Context(), "n1"))
	if is, err := statusOf(w.Context(), w.on, "n1"); err != nil || !is.ReadOnly {
		w.Errorf("a fenced primary came back as %+v, %v", is, err)
	}

	// One that hangs keeps its replicas' connections open; nothing comes over them.
	w.must(setMode(w.Context(), w.server("n1"), w.server("n1").taking()))
	w.must(w.server("n2").awaitRunning(w.Context(), "n1"))
	w.must(w.cluster.Server("n1").Freeze(w.Context()))
	w.dead(`{node: n1, checks: 3, every: 200ms}`)
	picked := w.does(pickReplicaAction, `{of: n1}`)
	if got := picked["node"]; got != "n2" {
		w.Errorf("picked %v, want n2: n3 was detached", got)
	}
	words := strings.ReplaceAll(fmt.Sprint(picked["received"]), ",", ", ") // n2 was the primary once, and has transactions of its own
	domain, at, _ := strings.Cut(words, ":1-")
	if _, err := strconv.Atoi(domain); err == nil { // of MariaDB, which has no such form
		words = "sequence number " + at + " of domain " + domain
	}
	if has, said := fmt.Sprint(picked["received"]), fmt.Sprint(picked["may be lost"]); len(has) < 5 || !strings.HasPrefix(said, "transactions that n1 committed after "+words+" and sent to no replica exist only on it") {
		w.Errorf("what n1 may have alone: %q, after %q", said, has)
	}
	if out := w.does(fenceAction, `{node: n1}`); out["way"] != "ended" {
		w.Errorf("fence of a frozen server: %v", out)
	}
	w.does(applyRelayLogAction, `{node: n2}`)
	// What the picked one had received and has no longer, and what another has, would be lost.
	gone := "11111111-1111-1111-1111-111111111111:1-3"
	if w.server("n2").mariadb {
		gone = "77:1-3"
	}
	w.refusesAct(promoteAction, `{node: n2, old: n1, received: "`+strings.TrimPrefix(fmt.Sprint(picked["received"], ",", gone), ",")+`"}`, "a restart discarded what it had not applied")
	w.refusesAct(promoteAction, `{node: n3, old: n1}`, " transactions that n2 has, which would be lost")
	w.does(promoteAction, `{node: n2, old: n1, received: "`+fmt.Sprint(picked["received"])+`"}`)
	if p, err := w.on.Primary(w.Context()); err != nil || p.Name != "n2" {
		w.Errorf("the primary is %s, %v", p.Name, err)
	}
}

// takesBack shows that an undo looks at the world as an act does: it opens no second primary, and leads no replica to a source
// that has a successor.
func takesBack(w fixture) {
	w.Run("undo after another took the cluster", func(t *testing.T) {
		w := w.of(t)
		ctx := t.Context()
		undo := func(a action.Action, with string, before action.Facts, resumed bool, want string) {
			t.Helper()
			limited, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			err := w.task(a, with).(action.Undoer).Undo(limited, w.on, action.Call{Token: "t", Before: before, Resumed: resumed, Progress: func(float64, string) {}})
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("undo of %s %s: %v, want %q", a.Name, with, err, want)
			}
		}
		closed := func(node string) {
			t.Helper()
			if is, err := statusOf(ctx, w.on, node); err != nil || !is.ReadOnly {
				t.Errorf("%s: %+v, %v, want read only", node, is, err)
			}
		}
		before, err := modeOf(ctx, w.server("n1"))
		w.must(err)
		following := action.Facts{"follows": w.server("n1").address()}
		w.does(demoteAction, `{node: n1, grace: 1s}`)
		w.does(promoteAction, `{node: n2, old: n1}`)
		undo(demoteAction, `{node: n1}`, before.facts(), false, "n2 accepts writes: n1 would be a second primary")
		closed("n1")
		undo(detachAction, `{node: n3}`, following, false, "") // it follows n1 still
		w.must(w.server("n3").unfollow(ctx))
		undo(detachAction, `{node: n3}`, following, false, "n1, which is no longer the primary: n2 is")

		// A new primary that hangs is not overlooked: its replica says whom it follows, and to who was away its silence is enough.
		w.must(w.server("n3").follow(ctx, w.server("n2").asSource()))
		w.must(w.cluster.Server("n2").Freeze(ctx))
		undo(demoteAction, `{node: n1}`, before.facts(), false, "n3 replicates from n2, which does not answer")
		w.must(w.server("n3").unfollow(ctx))
		undo(demoteAction, `{node: n1}`, before.facts(), true, "n2 does not answer, and may have become the primary")
		closed("n1")
		w.must(w.cluster.Server("n2").Thaw(ctx))

		// The old primary as a replica stays one.
		w.must(w.server("n1").follow(ctx, w.server("n2").asSource()))
		w.must(setMode(ctx, w.server("n2"), w.server("n2").refusing()))
		undo(demoteAction, `{node: n1}`, before.facts(), false, "n1 replicates from n2 now")
		w.stand(t, "n1", (*server).taking)
		w.follow(t, "n2", "n1")
		w.follow(t, "n3", "n1")
	})
	w.Run("a promotion whose lock changes hands", stolenLock(w))
	w.Run("a replica that takes writes after its next start", func(t *testing.T) {
		w := w.of(t)
		n3, task := w.server("n3"), w.task(repointAction, `{source: n1}`)
		w.must(keepMode(t.Context(), n3, n3.taking())) // as a promotion that was cut off leaves it
		if f, err := task.Check(t.Context(), w.on.ReadOnly()); err != nil || f.State != action.Needed {
			t.Errorf("repoint: %+v, %v, want that it is needed", f, err)
		}
		if f, err := w.task(replicateAction, `{node: n3, source: n1}`).Check(t.Context(), w.on.ReadOnly()); err != nil || f.State != action.Needed {
			t.Errorf("replicate: %+v, %v, want that it is needed", f, err)
		}
		w.does(repointAction, `{source: n1}`)
		if m, err := modeOf(t.Context(), n3); err != nil || m.opensAgain() || !m.refuses(n3) {
			t.Errorf("n3 is %v, %v", m, err)
		}
	})
	w.Run("a replica that hangs", func(t *testing.T) {
		w := w.of(t)
		w.must(w.cluster.Server("n2").Freeze(t.Context()))
		began := time.Now()
		w.refusesAct(demoteAction, `{node: n1, grace: 1s, for: n2}`, "n2 does not answer within 2s, so n1 was not made read-only")
		if is, err := statusOf(t.Context(), w.on, "n1"); err != nil || is.ReadOnly {
			t.Errorf("n1: %+v, %v, want that it takes writes", is, err)
		}
		w.refuses(caughtUpAction, `{node: n2, source: n1, within: 1s}`, "n2 has not caught up within 1s")
		w.refusesAct(caughtUpAction, `{node: n2, source: n1, within: 1s}`, "n2 has not caught up within 1s")
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %s to give up", took)
		}
		out := w.does(repointAction, `{source: n1}`)
		if left, _ := out[action.LeftOut].(map[string]any); len(left) != 1 || left["n2"] == nil {
			t.Errorf("left out: %v", out)
		}
		w.must(w.cluster.Server("n2").Thaw(t.Context()))
		w.must(w.server("n2").awaitRunning(t.Context(), "n1"))
		if out := w.does(repointAction, `{source: n1}`); out[action.LeftOut] != nil {
			t.Errorf("left out: %v", out)
		}
	})
	w.Run("a replica that hangs when it is promoted", func(t *testing.T) {
		w := w.of(t)
		before, err := modeOf(t.Context(), w.server("n1"))
		w.must(err)
		w.does(demoteAction, `{node: n1, grace: 1s, for: n2}`)
		began := time.Now()
		_, err = w.task(promoteAction, `{node: n2, old: n1}`).Act(t.Context(), w.on, action.Call{Token: "t", Progress: func(_ float64, text string) {
			if text == "making it writable" {
				w.must(w.cluster.Server("n2").Freeze(t.Context()))
			}
		}})
		var nothing action.NothingDone
		if !errors.As(err, &nothing) || !strings.Contains(err.Error(), "n2 does not answer within 10s: it stays read-only, and may have stopped replicating") {
			t.Errorf("promote: %v", err)
		}
		remains := action.RemainsOf(w.task(demoteAction, `{node: n1, for: n2}`).(action.Undoer).Undo(t.Context(), w.on, action.Call{Before: before.facts()}))
		if remains == nil || !strings.Contains(remains.Error(), "node n2: it does not answer within 2s") {
			t.Errorf("the undo of the demotion leaves %v", remains)
		}
		if is, err := statusOf(t.Context(), w.on, "n1"); err != nil || is.ReadOnly {
			t.Errorf("n1: %+v, %v, want that it takes writes", is, err)
		}
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("nobody could write for %s", took)
		}
		w.must(w.cluster.Server("n2").Thaw(t.Context()))
		if is, err := statusOf(t.Context(), w.on, "n2"); err != nil || !is.ReadOnly {
			t.Errorf("n2 after it hung: %+v, %v, want that it is read-only", is, err)
		}
		w.does(replicateAction, `{node: n2, source: n1}`)
		w.follow(t, "n2", "n1")
	})
	w.Run("a node that follows nobody", func(t *testing.T) {
		w := w.of(t)
		w.must(w.server("n3").unfollow(t.Context()))
		out := w.does(repointAction, `{source: n1}`)
		left, _ := out[action.LeftOut].(map[string]any)
		if why, _ := left["n3"].(string); len(left) != 1 || !strings.Contains(why, "does not replicate from any server: run mysql/rejoin -i node=n3 if it should replicate from n1") {
			t.Errorf("left out: %v", out)
		}
		if out := w.does(repointAction, `{source: n1, leave: [n3]}`); out[action.LeftOut] != nil {
			t.Errorf("left alone on purpose, and left out: %v", out)
		}
		n3 := w.server("n3")
		w.must(keepMode(t.Context(), n3, n3.taking())) // as a promotion by an earlier release leaves it that was cut off
		w.does(repointAction, `{source: n1}`)
		if m, err := modeOf(t.Context(), n3); err != nil || m.opensAgain() {
			t.Errorf("n3 is %v, %v, want that it refuses writes after its next start too", m, err)
		}
		w.follow(t, "n3", "n1")
	})
	w.Run("a second primary before a switchover", func(t *testing.T) {
		w := w.of(t)
		n3 := w.server("n3")
		w.must(n3.unfollow(t.Context()))
		w.must(setMode(t.Context(), n3, n3.taking()))
		w.refuses(checkSwitchoverAction, `{from: n1, to: n2}`, "n1 and n3 both accept writes")
		w.must(setMode(t.Context(), n3, n3.refusing()))
		w.does(repointAction, `{source: n1, also: [n3]}`)
		w.follow(t, "n3", "n1")
	})
	w.Run("removal of what is followed", func(t *testing.T) {
		w := w.of(t)
		n1 := w.server("n1")
		destroy, _ := action.Find(action.Servers(), "server.destroy")
		w.must(setMode(t.Context(), n1, n1.refusing())) // as a switchover leaves it that died after the demotion
		w.refuses(detachAction, `{node: n1}`, "n2 follows n1")
		w.refusesAct(destroy, `{node: n1}`, "n2 replicates from n1")
		w.must(setMode(t.Context(), n1, n1.taking()))
		w.refusesAct(destroy, `{node: n1}`, "n1 is the primary")
	})
}

// stolenLock has the lock of n3 taken by another between the question whether the cluster is still the run's, which is asked right before each
// statement, and the statement.
func stolenLock(w fixture) func(t *testing.T) {
	return func(t *testing.T) {
		w := w.of(t)
		db, err := w.on.Database(t.Context(), "n3")
		w.must(err)
		var holder engine.Session
		steal := func(context.Context) error {
			if holder != nil {
				_ = holder.Close() // its lock goes with it
			}
			var err error
			if holder, err = db.Session(t.Context()); err != nil {
				return err
			}
			return holder.Exec(t.Context(), "SELECT GET_LOCK('"+admin.ClaimLock+"', 10)", nil)
		}
		defer func() { _ = holder.Close() }()
		n3 := w.server("n3")
		if err := n3.open(cluster.WithOwner(t.Context(), steal)); err == nil || !strings.Contains(err.Error(), "n3 stays read-only: another connection took the lock plimsoll.claim") {
			t.Errorf("opened while others take the lock: %v", err)
		}
		if m, err := modeOf(t.Context(), n3); err != nil || !m.refuses(n3) {
			t.Errorf("n3 is %v, %v, want read only", m, err)
		}
		w.must(n3.open(t.Context())) // the lock stays with the last of them
		if m, err := modeOf(t.Context(), n3); err != nil || m.refuses(n3) {
			t.Errorf("n3 is %v, %v, want that it takes writes", m, err)
		}
		w.must(setMode(t.Context(), n3, n3.refusing()))
		// Cut off before it takes writes, it does not take them after its next start either.
		cutOff := errors.New("the process ended")
		if err := n3.open(cluster.WithOwner(t.Context(), func(context.Context) error { return cutOff })); !errors.Is(err, cutOff) {
			t.Errorf("opened by a process that had ended: %v", err)
		}
		closed := func(why string) {
			t.Helper()
			if m, err := modeOf(t.Context(), n3); err != nil || !m.refuses(n3) || m.opensAgain() {
				t.Errorf("%s: n3 is %v, %v, want read-only, now and after its next start", why, m, err)
			}
		}
		closed("cut off")
		// The order of a process that is gone by now, which a server that hung executes when it goes on, comes too late.
		n3.opensWithin = 300 * time.Millisecond
		late := func(context.Context) error { time.Sleep(400 * time.Millisecond); return nil }
		var stays *admin.StaysReadOnlyError
		if err := n3.open(cluster.WithOwner(t.Context(), late)); !errors.As(err, &stays) || !strings.Contains(err.Error(), "or that took longer than 300ms") {
			t.Errorf("opened too late: %v, want that it surely stays closed", err)
		}
		closed("too late")
		// Nor does it change what another has made of the server meanwhile: nobody would take writes.
		promoted := func(context.Context) error {
			defer time.Sleep(400 * time.Millisecond)
			return holder.Exec(t.Context(), "SET GLOBAL read_only = 0", nil)
		}
		w.must(n3.open(cluster.WithOwner(t.Context(), promoted)))
		taking := func(why string) {
			t.Helper()
			if m, err := modeOf(t.Context(), n3); err != nil || m[modeNow] != "0" {
				t.Errorf("%s: n3 is %v, %v, want that it takes writes", why, m, err)
			}
		}
		taking("opened too late, and by another meanwhile")
		if err := setMode(cluster.WithOwner(t.Context(), late), n3, n3.refusing()); err == nil || !strings.Contains(err.Error(), "n3 was not made read-only: it did not execute the statement within 300ms") {
			t.Errorf("closed too late: %v", err)
		}
		taking("closed too late")
		n3.opensWithin = admin.OpensWithin
		w.must(setMode(t.Context(), n3, n3.refusing()))
		// Whoever opens a server otherwise, such as one that it has restarted, gives the same order.
		w.must(n3.do(t.Context(), "", "SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = ON"))
		c, _ := engine.As[engine.Configurable](db)
		w.must(holder.Close()) // the lock is nobody's, as it is where a primary has the claim
		w.must(c.Change(t.Context(), "read_only", "OFF"))
		w.must(n3.do(t.Context(), "", "SET GLOBAL general_log = OFF", "SET GLOBAL log_output = 'FILE'"))
		if orders, err := n3.value(t.Context(), "SELECT COUNT(*) FROM mysql.general_log WHERE argument LIKE 'SET GLOBAL read_only = IF(IS_USED_LOCK(%UTC_TIMESTAMP(6) <%, 0, 99)'"); err != nil || orders != "1" {
			t.Errorf("%s orders to take writes were void after a time, %v, want one", orders, err)
		}
		taking("opened by Change")
		w.must(c.Change(t.Context(), "read_only", "ON"))
		if m, err := modeOf(t.Context(), n3); err != nil || m[modeNow] != "1" {
			t.Errorf("n3 is %v, %v, want that it refuses writes", m, err)
		}
		w.must(setMode(t.Context(), n3, n3.refusing()))
		// What was closed by hand for now alone is closed for its next start too before another is promoted.
		w.must(keepMode(t.Context(), n3, n3.taking()))
		for _, a := range []action.Action{fenceAction, demoteAction} {
			if f, err := w.task(a, `{node: n3}`).Check(t.Context(), w.on.ReadOnly()); err != nil || f.State != action.Needed {
				t.Errorf("%s of a server that is closed until its next start: %+v, %v", a.Name, f, err)
			}
		}
		w.must(keepMode(t.Context(), n3, n3.refusing()))
	}
}
