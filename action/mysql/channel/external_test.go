package channel

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

func TestExternalReplicaOnMariaDB(t *testing.T) { external(newFixture(t, "mariadb", 2)) }
func TestExternalReplicaOnMySQL(t *testing.T)   { external(newFixture(t, "mysql", 2)) }

const attachN2 = `{source: n1, node: n2}`

func external(w fixture) {
	w.fill("n1", "app1")
	w.do("n1", "CREATE USER writer IDENTIFIED BY 'w'", "GRANT SELECT, INSERT, UPDATE, DELETE ON app1.* TO writer")
	ws := w.write("app1", "n1")
	w.sub("keep-binlogs", func(w fixture) {
		w.do("n1", "SET GLOBAL binlog_expire_logs_seconds = 3600")
		w.conform(keepBinlogs, `{node: n1, for: 999999s}`, w.snapshot("n1: SELECT @@GLOBAL.binlog_expire_logs_seconds"))
		w.conform(releaseBinlogs, `{node: n1, seconds: 7200}`, w.snapshot("n1: SELECT @@GLOBAL.binlog_expire_logs_seconds"))
	})
	w.refuses(attach, attachN2, "has no data of n1")
	w.sub("restore-snapshot", func(w fixture) {
		w.conform(restoreSnapshot, attachN2, w.snapshot("n2: SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'app1'"), 400*time.Millisecond)
	})
	found := w.act(restoreSnapshot, attachN2)
	if held, ok := found["held_seconds"].(float64); !ok || held <= 0 || found["position"] == "" {
		w.Errorf("restored: %v", found)
	}
	w.sub("restore-snapshot, undone when the copy is in use", undoneInUse)
	w.sub("attach", func(w fixture) {
		w.conform(attach, attachN2, w.channels("n2"), 0, 20*time.Millisecond, 100*time.Millisecond)
	})
	w.sub("attach, undone in another world", undoneElsewhere)
	w.act(attach, attachN2)
	w.sub("compare", compares)
	w.sub("compare conforms", func(w fixture) {
		w.looks(compareRows, `{source: n1, node: n2, chunk: 600, hold: 5m}`, w.snapshot("n1: SELECT COUNT(*) FROM information_schema.tables",
			"n2: SELECT COUNT(*) FROM information_schema.tables"))
	})
	ws.end()
	w.kept("n1", ws)
	ws = w.write("app1", "n1", "n2")
	w.sub("cut-over", func(w fixture) {
		w.conform(cutOver, `{from: n1, to: n2, max_gap: 5m}`, both(w.channels("n1"), w.channels("n2"),
			w.snapshot("n1: SELECT @@GLOBAL.read_only", "n2: SELECT @@GLOBAL.read_only")), 0, 30*time.Millisecond, 300*time.Millisecond)
	})
	w.sub("cut-over, and the new server stays read-only", lockLost)
	w.sub("cut-over, and the new server hangs", hangsAtItsOpening)
	w.sub("cut-over, and the new server is closed by a restart", closedByARestart)
	w.sub("cut-over from a server that replicates itself", hasSources)
	w.tellsOfOptionFiles()
	w.do("n1", "CREATE EVENT app1.tick ON SCHEDULE EVERY 1 DAY STARTS NOW() + INTERVAL 1 DAY DO DELETE FROM app1.many WHERE id = 0")
	gap := w.act(cutOver, `{from: n1, to: n2, max_gap: 5m}`)
	if next, _ := gap[action.Next].(string); !strings.Contains(next, "n2 does not execute events that came to it by replication") || !strings.Contains(next, "EVENT `app1`.`tick` ENABLE") {
		w.Errorf("the writes are on n2, next: %q", next)
	}
	w.do("n2", "DROP EVENT app1.tick")
	w.comes(ws)
	w.act(compareRows, `{source: n2, node: n1, hold: 5m}`)
	w.Logf("there %v", gap)
	w.comparesNothing("n1", "n2")
	gap = w.act(cutOver, `{from: n2, to: n1, max_gap: 5m}`)
	w.comes(ws)
	w.Logf("and back %v", gap)
	w.comparesNothing("n2", "n1")
	ws.end()
	w.kept("n1", ws)
	w.act(compareRows, `{source: n1, node: n2, hold: 5m}`)
	w.sub("cut-over, and both servers are opened", bothOpen)
	for node, refuses := range map[string]bool{"n1": false, "n2": true} {
		w.restart(node)
		if v := w.value(node, "SELECT @@GLOBAL.read_only"); refuses != (v != "0" && v != "OFF") {
			w.Errorf("%s after the writes went there and back, and a restart: read_only is %s", node, v)
		}
	}
	w.do("n2", "SET GLOBAL read_only = OFF")
	w.refuses(cutOver, `{from: n1, to: n2, max_gap: 5m}`, "n2 accepts writes of its own")
	w.sub("purged", purged)
	w.sub("by place", byPlace)
}

// lockLost has others take the lock of the cluster while the new server is told to take writes: it does not, and the old one does again.
func lockLost(w fixture) {
	db, err := w.on.Database(w.Context(), "n2")
	if err != nil {
		w.Fatal(err)
	}
	var holder engine.Session
	release := func() {
		if holder != nil {
			_ = holder.Close() // its lock goes with it
		}
	}
	defer func() { release() }()
	ctx := cluster.WithOwner(w.Context(), func(ctx context.Context) error {
		release()
		var err error
		if holder, err = db.Session(ctx); err != nil {
			return err
		}
		return holder.Exec(ctx, "SELECT GET_LOCK('"+admin.ClaimLock+"', 10)", nil)
	})
	task := w.task(cutOver, `{from: n1, to: n2, max_gap: 5m}`)
	f, err := task.Check(w.Context(), w.on.ReadOnly())
	if err != nil {
		w.Fatal(err)
	}
	if _, err := task.Act(ctx, w.on, call(f)); err == nil || !strings.Contains(err.Error(), "n1 accepts writes again: n2 stays read-only: another connection took the lock plimsoll.claim") {
		w.Errorf("opened while others take the lock: %v", err)
	}
	if f, err := task.Check(w.Context(), w.on.ReadOnly()); err != nil || f.State != action.Needed {
		w.Errorf("afterwards: %+v, %v", f, err)
	}
	for node, refuses := range map[string]bool{"n1": false, "n2": true} {
		if v := w.value(node, "SELECT @@GLOBAL.read_only"); refuses != (v != "0" && v != "OFF") {
			w.Errorf("%s: read_only is %s", node, v)
		}
	}
}

// hasSources has the old server replicate itself: from a third one, by the channel that the way back would take, and from the new server. The
// cut-over is refused and changes nothing, until what it advises is done.
func hasSources(w fixture) {
	const with = `{from: n1, to: n2, max_gap: 5m}`
	third := "CHANGE MASTER TO MASTER_HOST = '127.0.0.9', MASTER_USER = 'x'"
	if w.isMySQL() {
		third = "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.9', SOURCE_USER = 'x'"
	}
	c := w.task(cutOver, with).(*cutover)
	for source, begin := range map[string]func(*serverPair) error{
		"127.0.0.9:3306": func(*serverPair) error { w.do("n1", third); return nil },
		"n2": func(s *serverPair) error {
			return errors.Join(s.prepareWayBack(w.Context()), s.from.run(w.Context(), s.forward.Name))
		},
	} {
		s, err := c.look(w.Context(), w.on)
		if err != nil {
			w.Fatal(err)
		}
		if source == "n2" {
			source = s.to.address()
		}
		err = begin(s)
		s.close()
		if err != nil {
			w.Fatal(err)
		}
		before := w.channels("n1")(w.T)
		w.refuses(cutOver, with, "n1 is itself a replica of "+source)
		if after := w.channels("n1")(w.T); after != before {
			w.Errorf("refused, and n1 replicates by %s, before by %s", after, before)
		}
		var refusal *hint.PermanentError
		if _, err := c.Check(w.Context(), w.on.ReadOnly()); !errors.As(err, &refusal) {
			w.Fatal(err)
		}
		w.executes(refusal.Advice)
		if f, err := c.Check(w.Context(), w.on.ReadOnly()); err != nil || f.State != action.Needed {
			w.Errorf("when %s is forgotten: %+v, %v", source, f, err)
		}
	}
}

// comparesNothing looks at the first step of a cut-over to where the writes are already: there is nothing to compare, and it says so.
func (w fixture) comparesNothing(source, node string) {
	w.Helper()
	task := w.task(compareRows, `{source: `+source+`, node: `+node+`, unless_moved: true}`)
	f, err := task.Check(w.Context(), w.on.ReadOnly())
	if want := node + " accepts them, and " + source + " replicates from it"; err != nil || f.State != action.Satisfied || !strings.Contains(f.Reason, want) {
		w.Errorf("found %+v, %v, want that %s", f, err, want)
	}
	if err := task.(action.Verifier).Verify(w.Context(), w.on.ReadOnly(), nil); err != nil {
		w.Errorf("verify: %v", err)
	}
	f, err = w.task(compareRows, `{source: `+node+`, node: `+source+`, unless_moved: true}`).Check(w.Context(), w.on.ReadOnly())
	if err != nil || f.State != action.Needed {
		w.Errorf("the other way: %+v, %v, want that it is compared", f, err)
	}
}

// tellsOfOptionFiles looks at a cut-over by way of an inventory without machines: on MariaDB a restart would give the writes back.
func (w fixture) tellsOfOptionFiles() {
	w.Helper()
	nodes, err := w.on.List(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for i := range nodes {
		nodes[i].Server = nil
	}
	remote := &cluster.Cluster{Name: w.on.Name, Engine: w.on.Engine, List: func(context.Context) ([]cluster.Node, error) { return nodes, nil }}
	defer func() { _ = remote.Close() }()
	for on, want := range map[*cluster.Cluster]bool{remote: !w.isMySQL(), w.on: false} {
		f, err := w.task(cutOver, `{from: n1, to: n2, max_gap: 5m}`).Check(w.Context(), on.ReadOnly())
		if err != nil || want != strings.Contains(f.Reason, "put read_only = ON into that of n1, and remove read_only from that of n2") {
			w.Errorf("reason %q, %v", f.Reason, err)
		}
	}
}

// closedByARestart has a cut-over cut off after the new server has taken a write that the old one has not received, and the new server refuse writes since,
// as after a restart: nobody writes, and the newest row is there alone. Whether the run is undone or goes on, the row is kept, and the replica follows.
func closedByARestart(w fixture) {
	const with = `{from: n1, to: n2, max_gap: 5m}`
	c := w.task(cutOver, with).(*cutover)
	id := 700_000
	cutOff := func(completed bool) action.Call {
		w.Helper()
		f, err := c.Check(w.Context(), w.on.ReadOnly())
		if err != nil {
			w.Fatal(err)
		}
		pair, err := c.look(w.Context(), w.on)
		if err != nil {
			w.Fatal(err)
		}
		defer pair.close()
		err = errors.Join(pair.from.keepReadOnly(w.Context(), true), c.prepare(w.Context(), pair))
		if completed {
			err = errors.Join(err, pair.to.drop(w.Context(), pair.forward.Name))
		}
		if err = errors.Join(err, pair.to.takeWrites(w.Context())); err != nil {
			w.Fatal(err)
		}
		id++
		w.do("n2", fmt.Sprintf("INSERT INTO app1.many (id, v, k) VALUES (%d, 'newest', 1)", id), "SET GLOBAL read_only = ON")
		return call(f)
	}
	ends := func(writable, replica string) {
		w.Helper()
		if v := w.value(writable, "SELECT @@GLOBAL.read_only"); v != "0" && v != "OFF" {
			w.Errorf("%s does not accept writes: read_only is %s", writable, v)
		}
		if v := w.value(replica, "SELECT @@GLOBAL.read_only"); v == "0" || v == "OFF" {
			w.Errorf("%s accepts writes", replica)
		}
		for _, node := range []string{writable, replica} {
			w.eventually(node, fmt.Sprintf("SELECT COUNT(*) FROM app1.many WHERE id = %d", id), "1")
		}
		w.do(writable, fmt.Sprintf("DELETE FROM app1.many WHERE id = %d", id))
		w.eventually(replica, fmt.Sprintf("SELECT COUNT(*) FROM app1.many WHERE id = %d", id), "0")
	}
	for _, completed := range []bool{false, true} {
		if err := c.Undo(w.Context(), w.on, cutOff(completed)); err != nil {
			w.Fatalf("undo, with the channel removed %v: %v", completed, err)
		}
		ends("n1", "n2")
		cutOff(completed)
		w.act(cutOver, with)
		ends("n2", "n1")
		w.act(cutOver, `{from: n2, to: n1, max_gap: 5m}`)
	}
}

// bothOpen has a restart open the old server after a cut-over: neither the undo nor another run opens or closes anything until one of the two is closed.
func bothOpen(w fixture) {
	const with, both = `{from: n1, to: n2, max_gap: 5m}`, "n1 and n2 both accept writes"
	w.act(cutOver, with)
	w.do("n1", "SET GLOBAL read_only = OFF")
	w.refuses(cutOver, with, both)
	if err := w.task(cutOver, with).(action.Undoer).Undo(w.Context(), w.on, call(action.CheckResult{})); err == nil || !strings.Contains(err.Error(), both) {
		w.Errorf("undone while both accept writes: %v", err)
	}
	w.do("n1", "SET GLOBAL read_only = ON")
	w.undo(cutOver, with)
}

// hangsAtItsOpening has the new server hang when it is told to take writes: the act ends soon, and a later one completes it.
func hangsAtItsOpening(w fixture) {
	n2, err := w.on.Node(w.Context(), "n2")
	if err != nil {
		w.Fatal(err)
	}
	server := n2.Server.(cluster.FaultProneServer)
	frozen := false
	ctx := cluster.WithOwner(w.Context(), func(ctx context.Context) error {
		if frozen {
			return nil
		}
		closed := w.value("n1", "SELECT @@GLOBAL.read_only")
		is, err := w.on.Database(ctx, "n2")
		if err != nil {
			return err
		}
		r, _ := engine.As[engine.Replicated](is)
		status, err := r.ReplicationStatus(ctx)
		if err != nil || closed == "0" || closed == "OFF" || len(status.Sources) == 0 || status.Sources[0].Applies {
			return err
		}
		frozen = true
		return server.Freeze(ctx)
	})
	task := w.task(cutOver, `{from: n1, to: n2, max_gap: 5m}`)
	f, err := task.Check(w.Context(), w.on.ReadOnly())
	if err != nil {
		w.Fatal(err)
	}
	began := time.Now()
	_, err = task.Act(ctx, w.on, call(f))
	if err := server.Thaw(w.Context()); err != nil {
		w.Fatal(err)
	}
	if !frozen || err == nil || !strings.Contains(err.Error(), "n2 does not answer within 10s") || time.Since(began) > time.Minute {
		w.Errorf("frozen %v: %v after %s, want that it does not wait for long", frozen, err, time.Since(began).Round(time.Second))
	}
	w.act(cutOver, `{from: n1, to: n2, max_gap: 5m}`)
	w.undo(cutOver, `{from: n1, to: n2, max_gap: 5m}`)
}

// purged shows that a copy is refused of which the source has no longer what follows it.
func purged(w fixture) {
	w.undo(attach, attachN2)
	w.do("n1", "INSERT INTO app1.many (id, v, k) VALUES (99999, 'gone', 1)")
	w.purge("n1")
	w.refuses(attach, attachN2, "purged")
}

// byPlace attaches a copy where there are no GTIDs to go by, from the end of the binary log that came with it, and moves the
// writes there and back.
func byPlace(w fixture) {
	w.withoutGTIDs("n1")
	w.undo(restoreSnapshot, attachN2)
	ws := w.write("app1", "n1")
	first := `{source: n1, node: n2, position: "` + w.logOf("n1").File + `:4"}`
	if w.isMySQL() {
		w.refuses(attach, attachN2, "gtid_mode OFF")
		w.refuses(attach, first, "these do not replicate")
		w.assign("n2", map[string]string{"gtid_mode": "OFF"})
	}
	w.comes(ws)
	found := w.act(restoreSnapshot, attachN2)
	w.Logf("found %v", found)
	at, _ := found["place"].(string)
	file, _, known := strings.Cut(at, ":")
	if !known || w.logOf("n1").File != file {
		w.Fatalf("the copy's log ends at %q, and n1 writes %v", at, w.logOf("n1"))
	}
	w.comes(ws)
	with := `{source: n1, node: n2, position: "` + at + `"}`
	w.refuses(attach, `{source: n1, node: n2, position: "binlog.000001:4"}`, "has purged binary log binlog.000001")
	w.refuses(attach, `{source: n1, node: n2, position: "binlog.999999:4"}`, "has no binary log binlog.999999")
	w.refuses(attach, `{source: n1, node: n2, position: "`+file+`:999999999"}`, "ends at")
	w.act(attach, with)
	if text := w.channels("n2")(w.T); !strings.Contains(text, "runs true") || !strings.Contains(text, "gtid false") {
		w.Errorf("attached by place: %s", text)
	}
	if same := w.act(compareRows, `{source: n1, node: n2, chunk: 600, hold: 5m}`); same["different"] != int64(0) {
		w.Errorf("from %s: %v", at, same)
	}
	ws.end()
	w.kept("n1", ws)
	w.act(compareRows, `{source: n1, node: n2, hold: 5m}`) // which waits for what n2 is behind
	w.kept("n2", ws)
	ws = w.write("app1", "n1", "n2")
	w.act(cutOver, `{from: n1, to: n2, max_gap: 5m}`)
	w.comes(ws)
	w.act(compareRows, `{source: n2, node: n1, hold: 5m}`)
	if text := w.channels("n1")(w.T); !strings.Contains(text, "gtid false") {
		w.Errorf("the way back: %s", text)
	}
	w.act(cutOver, `{from: n2, to: n1, max_gap: 5m}`)
	w.comes(ws)
	ws.end()
	w.kept("n1", ws)
	w.act(compareRows, `{source: n1, node: n2, hold: 5m}`)
	w.kept("n2", ws)
	closedByARestart(w)
}

// comes waits until writers have written again.
func (w fixture) comes(ws *writers) {
	w.Helper()
	before, limit := len(ws.acknowledged()), time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for len(ws.acknowledged()) < before+5 {
		select {
		case <-tick.C:
		case <-limit:
			w.Fatal("nobody writes any more")
		}
	}
}

// kept proves that a node has every write that was acknowledged.
func (w fixture) kept(node string, ws *writers) {
	w.Helper()
	done := ws.acknowledged()
	if len(done) < 10 {
		w.Errorf("only %d writes beside all this", len(done))
	}
	ids := make([]string, 0, len(done))
	for id := range done {
		ids = append(ids, strconv.Itoa(id))
	}
	if n := w.value(node, "SELECT COUNT(*) FROM app1.many WHERE id IN ("+strings.Join(ids, ",")+")"); n != strconv.Itoa(len(done)) {
		w.Errorf("%s has %s of %d acknowledged writes", node, n, len(done))
	}
}

// compares shows that a comparison under load finds nothing where nothing is, and all that is planted.
func compares(w fixture) {
	same := w.act(compareRows, `{source: n1, node: n2, chunk: 600, hold: 5m}`)
	if same["different"] != int64(0) || same["tables"] != 4 || same["rows"].(int64) < 3600+500+2+49 {
		w.Errorf("nothing was planted: %v", same)
	}
	if w.isMySQL() {
		w.do("n2", "SET GLOBAL super_read_only = OFF")
		defer w.do("n2", "SET GLOBAL super_read_only = ON")
	}
	w.do("n2", "SET SESSION sql_log_bin = 0", "UPDATE app1.many SET v = 'V700' WHERE id = 700", "DELETE FROM app1.many WHERE id IN (701, 702)",
		"UPDATE app1.pairs SET v = 'x' LIMIT 4", "INSERT INTO app1.bare VALUES (7), (7)", "UPDATE app1.kinds SET f = 0.10000001 + 1e-7 WHERE id = 1",
		"CREATE TABLE app1.more (id INT PRIMARY KEY)")
	found := w.act(compareRows, `{source: n1, node: n2, chunk: 600, hold: 5m, on_difference: report}`)
	text := ""
	for _, d := range found["differences"].([]any) {
		d := d.(map[string]any)
		text += difference{d["table"].(string), d["where"].(string), d["rows"].(int64)}.String() + "\n"
	}
	for _, want := range []string{"app1.many: 3 rows from 700 to 702", "app1.pairs: 4 rows", "app1.bare: 2 rows", "app1.kinds: 1 rows from 1 to 1", "app1.more: only on n2"} {
		if !strings.Contains(text, want) {
			w.Errorf("%q is not in\n%s", want, text)
		}
	}
	if found["different"] != int64(10) {
		w.Errorf("%v rows differ, want 10\n%s", found["different"], text)
	}
	w.refuses(compareRows, `{source: n1, node: n2, databases: [app1], hold: 5m}`, "n1 and n2 differ: ")
	w.refuses(compareRows, `{source: n2, node: n1}`, "does not replicate from n2")
	w.do("n2", "SET SESSION sql_log_bin = 0", "DROP TABLE app1.more", "DELETE FROM app1.bare WHERE v = 7 LIMIT 2",
		"UPDATE app1.kinds SET f = 0.1 WHERE id = 1", "UPDATE app1.many SET v = 'v700' WHERE id = 700")
	w.do("n2", "SET SESSION sql_log_bin = 0", "INSERT INTO app1.many (id, v, k) VALUES (701, 'v701', 701), (702, 'v702', 702)",
		"UPDATE app1.pairs SET v = REPEAT(CHAR((18446744073709551615 - b) % 256), 3) WHERE v = 'x'")
	w.act(compareRows, `{source: n1, node: n2, chunk: 5000, hold: 5m}`)
}

// undoneInUse takes a snapshot back when the copy has got the writes.
func undoneInUse(w fixture) {
	undo := func() error {
		return w.task(restoreSnapshot, attachN2).(action.Undoer).Undo(w.Context(), w.on, call(action.CheckResult{}))
	}
	w.do("n1", "SET GLOBAL read_only = ON")
	if err := undo(); err == nil || !strings.Contains(err.Error(), "n2 accepts writes, and n1 does not") {
		w.Errorf("undone while n2 has the writes: %v", err)
	}
	w.do("n1", "SET GLOBAL read_only = OFF")
	if n := w.value("n2", "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'app1'"); n != "1" {
		w.Errorf("n2 has %s databases app1, want that it keeps the copy", n)
	}
}

// undoneElsewhere takes an attachment back when others have changed replication since: the server took writes before.
func undoneElsewhere(w fixture) {
	w.act(attach, attachN2)
	before := action.CheckResult{Observed: action.Facts{"read_only": false, othersOpen: ""}}
	undo := func() error { return w.task(attach, attachN2).(action.Undoer).Undo(w.Context(), w.on, call(before)) }
	closed := func(when string, want bool) {
		w.Helper()
		if v := w.value("n2", "SELECT @@GLOBAL.read_only"); want != (v != "0" && v != "OFF") {
			w.Errorf("%s: read_only is %s", when, v)
		}
	}
	other, follow, forget := "CHANGE MASTER 'other' TO MASTER_HOST = '127.0.0.9', MASTER_USER = 'x'", "CHANGE MASTER TO MASTER_HOST = '127.0.0.9'", "RESET SLAVE 'other' ALL"
	stop := "STOP SLAVE"
	if w.isMySQL() {
		other, follow = "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.9', SOURCE_USER = 'x' FOR CHANNEL 'other'", "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.9'"
		stop, forget = "STOP REPLICA", "RESET REPLICA ALL FOR CHANNEL 'other'"
	}
	w.do("n2", other)
	if err := undo(); err != nil {
		w.Fatal(err)
	}
	closed("while it follows another by a channel of its own", true)
	w.do("n2", forget)
	w.act(attach, attachN2)
	w.do("n2", stop, follow)
	if err := undo(); err == nil || !strings.Contains(err.Error(), "replicates from 127.0.0.9:") {
		w.Errorf("sent to another: %v", err)
	}
	closed("while its channel follows another", true)
	w.do("n2", map[bool]string{false: "RESET SLAVE ALL", true: "RESET REPLICA ALL"}[w.isMySQL()])
	if err := undo(); err != nil {
		w.Fatal(err)
	}
	closed("when nothing else follows", false)
}
