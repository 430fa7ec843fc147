package channel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/internal/poll"
	"plimsoll/lab"
)

// fixture is separate servers of one product.
type fixture struct {
	*testing.T
	on *cluster.Cluster
}

func newFixture(t *testing.T, product string, nodes int) fixture {
	t.Helper()
	return newFixtureWith(t, product, nodes, nil)
}

// newFixtureWith has settings beside the usual ones.
func newFixtureWith(t *testing.T, product string, nodes int, settings map[string]string) fixture {
	t.Helper()
	t.Parallel()
	config := map[string]string{"innodb_buffer_pool_size": "48M", "sync_binlog": "0", "innodb_flush_log_at_trx_commit": "2"}
	redo := map[string]string{"mariadb": "innodb_log_file_size", "mysql": "innodb_redo_log_capacity", "rds-mysql": "innodb_redo_log_capacity"}[product]
	config[redo] = "16M"
	if product == "rds-mysql" {
		config["log_bin_trust_function_creators"] = "ON" // as in the parameter group of whoever has functions
	}
	maps.Copy(config, settings)
	c := labtest.Cluster(t, lab.Spec{Name: "ch-" + product, Product: product, Nodes: nodes, Separate: true, Config: config})
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	on := lab.AsCluster(c, enginemysql.Engine{}, m)
	if product == "rds-mysql" { // the tests do what AWS does, too
		on = labtest.AsAWS(c, m)
	}
	t.Cleanup(func() { _ = on.Close() })
	return fixture{t, on}
}

func (w fixture) isMySQL() bool {
	return !strings.Contains(w.value("n1", "SELECT VERSION()"), "MariaDB")
}

// sub is the world in a subtest.
func (w fixture) sub(name string, f func(fixture)) {
	w.Helper()
	w.Run(name, func(t *testing.T) { f(fixture{t, w.on}) })
}

// do executes statements on a node.
func (w fixture) do(node string, statements ...string) {
	w.Helper()
	if err := w.on.Execute(w.Context(), node, statements, func(int) {}); err != nil {
		w.Fatalf("%s: %v", node, err)
	}
}

// value is the one value of a query, an error's text if there is one.
func (w fixture) value(node, query string) string {
	v, err := w.on.Value(w.Context(), node, query)
	if err != nil {
		return err.Error()
	}
	return v
}

// eventually expects that a query soon has a value.
func (w fixture) eventually(node, query, want string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	got := ""
	err := poll.Until(ctx, 100*time.Millisecond, func() (string, error) {
		if got = w.value(node, query); got == want {
			return "", nil
		}
		return "it replicates", nil
	})
	if err != nil {
		w.Fatalf("%s: %s is %s, want %s: %v", node, query, got, want, err)
	}
}

// task binds an action's inputs.
func (w fixture) task(a action.Action, with string) action.Task {
	w.Helper()
	return actiontest.Bind(w, a, with)
}

func call(f action.CheckResult) action.Call {
	return action.Call{Run: "r", Step: "s", Attempt: 1, Token: "t", Epoch: 1, Since: time.Now(), Before: f.Observed, Progress: func(float64, string) {}}
}

// act looks, acts and looks whether it is done, as a run does.
func (w fixture) act(a action.Action, with string) action.Facts {
	w.Helper()
	task := w.task(a, with)
	f, err := task.Check(w.Context(), w.on.ReadOnly())
	if err != nil {
		w.Fatalf("check %s: %v", a.Name, err)
	}
	out, err := task.Act(w.Context(), w.on, call(f))
	if err != nil {
		w.Fatalf("%s: %v", a.Name, err)
	}
	if v, ok := task.(action.Verifier); ok {
		err = v.Verify(w.Context(), w.on.ReadOnly(), out)
	} else if f, err = task.Check(w.Context(), w.on.ReadOnly()); err == nil && f.State != action.Satisfied {
		err = fmt.Errorf("it is not so: %+v", f)
	}
	if err != nil {
		w.Fatalf("verify %s: %v", a.Name, err)
	}
	return out
}

// undo takes an action back.
func (w fixture) undo(a action.Action, with string) {
	w.Helper()
	if err := w.task(a, with).(action.Undoer).Undo(w.Context(), w.on, call(action.CheckResult{})); err != nil {
		w.Fatalf("undo %s: %v", a.Name, err)
	}
}

// logOf is where a node's binary log ends.
func (w fixture) logOf(node string) admin.Place {
	w.Helper()
	s, err := dial(w.Context(), w.on, node)
	if err != nil {
		w.Fatal(err)
	}
	defer s.Close()
	end, err := s.end(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return end
}

// purge makes a node begin a new binary log and drop all before it. Nobody must be reading: what a connection that was left
// still reads is kept.
func (w fixture) purge(node string) {
	w.Helper()
	s, err := dial(w.Context(), w.on, node)
	if err != nil {
		w.Fatal(err)
	}
	defer s.Close()
	limit, tick := time.After(time.Minute), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	w.do(node, "FLUSH BINARY LOGS")
	for {
		left, err := s.rows(w.Context(), "SELECT id FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'")
		if err != nil {
			w.Fatal(err)
		}
		for _, connection := range left {
			_ = s.do(w.Context(), "end a reader", "KILL "+connection["id"]) // it may be gone
		}
		w.do(node, "PURGE BINARY LOGS TO '"+w.logOf(node).File+"'")
		logs, err := s.logs(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		if len(logs) == 1 {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			w.Fatalf("%s keeps %v", node, logs)
		}
	}
}

// withoutGTIDs ends MySQL's GTIDs on a node; MariaDB has them whatever is done.
func (w fixture) withoutGTIDs(node string) {
	w.Helper()
	if w.isMySQL() {
		w.do(node, "SET GLOBAL gtid_mode = ON_PERMISSIVE", "SET GLOBAL gtid_mode = OFF_PERMISSIVE", "SET GLOBAL gtid_mode = OFF")
	}
}

// assign gives a node settings for its next start.
func (w fixture) assign(node string, settings map[string]string) {
	w.Helper()
	n, err := w.on.Node(w.Context(), node)
	if err != nil {
		w.Fatal(err)
	}
	if err := n.Server.(cluster.Assignable).Assign(w.Context(), settings); err != nil {
		w.Fatal(err)
	}
}

// restart stops a node and starts it.
func (w fixture) restart(node string) {
	w.Helper()
	n, err := w.on.Node(w.Context(), node)
	if err != nil {
		w.Fatal(err)
	}
	if err := errors.Join(n.Server.Stop(w.Context()), n.Server.Start(w.Context())); err != nil {
		w.Fatal(err)
	}
}

// refuses expects an action to decline, by its check or its act, for a reason.
func (w fixture) refuses(a action.Action, with, want string) {
	w.Helper()
	task := w.task(a, with)
	f, err := task.Check(w.Context(), w.on.ReadOnly())
	if err == nil {
		_, err = task.Act(w.Context(), w.on, call(f))
	}
	var refusal *hint.PermanentError
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), want) {
		w.Errorf("%s %s: %v, want a refusal that says %q", a.Name, with, err, want)
	}
}

func (w fixture) conform(a action.Action, with string, snapshot func(*testing.T) string, cuts ...time.Duration) {
	w.Helper()
	actiontest.Run(w.T, actiontest.Subject{Action: a, Cluster: w.on, With: with, Snapshot: snapshot, Cuts: cuts})
}

// looks is conform of an action that only looks, and so is needed whenever it is asked for.
func (w fixture) looks(a action.Action, with string, snapshot func(*testing.T) string) {
	w.Helper()
	actiontest.Run(w.T, actiontest.Subject{Action: a, Cluster: w.on, With: with, Always: true, Snapshot: snapshot})
}

// snapshot describes what some queries say; each is "node: query".
func (w fixture) snapshot(queries ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		text := ""
		for _, q := range queries {
			node, query, _ := strings.Cut(q, ": ")
			text += q + " = " + w.value(node, query) + "\n"
		}
		return text
	}
}

// channels describes whom a node follows.
func (w fixture) channels(node string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		s, err := dial(t.Context(), w.on, node)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		all, err := s.states(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text := node + ":"
		for _, c := range all {
			text += fmt.Sprintf(" %q from %s runs %v databases %v gtid %v", c.Name, c.Source, c.Runs(), c.Databases, c.GTID)
		}
		return text + "\n"
	}
}

func both(parts ...func(*testing.T) string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		text := ""
		for _, p := range parts {
			text += p(t)
		}
		return text
	}
}

// writers change one table from several connections until they are told to stop, and remember what was acknowledged.
type writers struct {
	stop context.CancelFunc
	all  sync.WaitGroup
	mu   sync.Mutex
	done map[int]bool // ids whose insert was acknowledged
	last time.Time
}

// ranges are how many writers there were: each has ids of its own, for what is there already it could not insert.
var ranges atomic.Int64

// write begins to write into database.many on the node that takes writes: when one declines, the other is tried.
func (w fixture) write(database string, nodes ...string) *writers {
	w.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(w.Context()))
	ws := &writers{stop: stop, done: map[int]bool{}}
	w.Cleanup(ws.end)
	for n := range 2 {
		ws.all.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond) // the machine has other things to do
			defer pace.Stop()
			for id, at := int(ranges.Add(1))*1_000_000, 0; ctx.Err() == nil; at++ {
				s, err := w.ordinary(ctx, nodes[at%len(nodes)])
				if err != nil {
					continue
				}
				for err == nil && ctx.Err() == nil {
					<-pace.C
					id++
					err = s.Exec(ctx, fmt.Sprintf("INSERT INTO %s.many (id, v, k) VALUES (%d, 'written', %d)", database, id, n), nil)
					if err == nil {
						ws.note(id)
						err = s.Exec(ctx, fmt.Sprintf("UPDATE %s.many SET k = k + 1 WHERE id <= 3", database), nil)
					}
				}
				_ = s.Close()
			}
		})
	}
	return ws
}

func (ws *writers) note(id int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.done[id] = true
	ws.last = time.Now()
}

func (ws *writers) end() {
	ws.stop()
	ws.all.Wait()
}

// acknowledged are the ids so far.
func (ws *writers) acknowledged() map[int]bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return maps.Clone(ws.done)
}

// ordinary logs in as somebody who may write and no more: read_only is for such.
func (w fixture) ordinary(ctx context.Context, node string) (engine.Session, error) {
	n, err := w.on.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	target := n.Target
	target.User, target.Password, target.Timeout = "writer", "w", 2*time.Second
	db, err := enginemysql.Engine{}.Open(ctx, target)
	if err != nil {
		return nil, err
	}
	s, err := db.Session(ctx)
	return s, errors.Join(err, db.Close())
}

// fill makes a database with all kinds of columns and keys.
func (w fixture) fill(node, database string) {
	w.Helper()
	w.do(node,
		"CREATE DATABASE "+database,
		"CREATE TABLE "+database+".many (id INT PRIMARY KEY, v VARCHAR(50), k INT, d DATETIME(3) DEFAULT '2026-01-02 03:04:05.678', half INT AS (k DIV 2) STORED)",
		"INSERT INTO "+database+".many (id, v, k) WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT n, CONCAT('v', n), n FROM r",
		"INSERT INTO "+database+".many (id, v, k) SELECT id + 1000, v, k FROM "+database+".many", "INSERT INTO "+database+".many (id, v, k) SELECT id + 2000, v, k FROM "+database+".many",
		"CREATE TABLE "+database+".pairs (a VARCHAR(20) CHARACTER SET latin1, b BIGINT UNSIGNED, v BLOB, PRIMARY KEY (a, b))",
		"INSERT INTO "+database+".pairs SELECT CONCAT('grün', k % 7), 18446744073709551615 - id, REPEAT(CHAR(id % 256), 3) FROM "+database+".many WHERE id <= 500",
		"CREATE TABLE "+database+".kinds (id INT PRIMARY KEY, t TINYINT, u BIGINT UNSIGNED, f FLOAT, g DOUBLE, n DECIMAL(20,5), b BIT(9), c CHAR(4), x TEXT CHARACTER SET utf8mb4, y VARBINARY(20), "+
			"d DATE, m TIME(6), s TIMESTAMP(6) NULL, e ENUM('a','b'), z SET('p','q','r'), j JSON, p POINT, w YEAR)",
		"INSERT INTO "+database+".kinds VALUES (1, -3, 18446744073709551615, 0.1, 1e-300, -12345.67891, b'101010101', 'ab', 'süß 🙂 '' \\\\ \\n', X'00FF27', '2024-02-29', '-838:59:58.999999', "+
			"'2026-05-06 07:08:09.123456', 'b', 'p,r', '{\"a\": [1, 2.50, null]}', POINT(1, 2.5), 2026), (2, NULL, 0, NULL, NULL, NULL, NULL, '', '', '', NULL, NULL, NULL, NULL, '', NULL, NULL, NULL)",
		"CREATE TABLE "+database+".bare (v INT)", "INSERT INTO "+database+".bare SELECT k FROM "+database+".many WHERE id < 50",
		"CREATE VIEW "+database+".seen AS SELECT id, v FROM "+database+".many WHERE k < 10",
	)
}
