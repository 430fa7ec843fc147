package channel

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

func TestMultiSourceOnMariaDB(t *testing.T) { multiSource(newFixture(t, "mariadb", 3)) }
func TestMultiSourceOnMySQL(t *testing.T)   { multiSource(newFixture(t, "mysql", 3)) }

func multiSource(w fixture) {
	for _, source := range []string{"n1", "n2"} {
		database := "app" + source[1:]
		w.fill(source, database)
		w.do(source, "CREATE DATABASE elsewhere", "CREATE TABLE elsewhere.t (id INT PRIMARY KEY)",
			"CREATE USER writer IDENTIFIED BY 'w'", "GRANT SELECT, INSERT, UPDATE, DELETE ON "+database+".* TO writer",
			"CREATE FUNCTION "+database+".twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n",
			"CREATE TRIGGER "+database+".stamp BEFORE INSERT ON "+database+".bare FOR EACH ROW SET NEW.v = "+database+".twice(NEW.v)")
	}
	refusesSources(w)
	one, two := w.write("app1", "n1"), w.write("app2", "n2")
	w.sub("check-sources", func(w fixture) {
		w.looks(checkSources, `{sources: ["n1:app1", "n2:app2"], node: n3}`, w.snapshot("n3: SELECT COUNT(*) FROM information_schema.tables"))
	})
	w.refuses(addChannel, `{source: n1, node: n3, name: first, databases: [app1]}`, "were not copied")
	w.sub("seed", func(w fixture) {
		w.conform(seed, `{source: n1, node: n3, databases: [app1]}`,
			w.snapshot("n3: SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'app1'"), 0, 30*time.Millisecond, 150*time.Millisecond)
	})
	w.act(seed, `{source: n1, node: n3, databases: [app1]}`)
	w.refuses(seed, `{source: n2, node: n3, databases: [app1]}`, "no database app1")
	w.act(addChannel, `{source: n1, node: n3, name: first, databases: [app1]}`)
	w.act(seed, `{source: n2, node: n3, databases: [app2]}`)
	w.do("n2", "INSERT INTO app2.bare VALUES (600)")
	w.purge("n2")
	before := w.channels("n3")(w.T)
	w.refuses(addChannel, `{source: n2, node: n3, name: second, databases: [app2]}`, "n2 has purged")
	if after := w.channels("n3")(w.T); after != before {
		w.Errorf("a channel that was refused left %s", after)
	}
	w.undo(seed, `{source: n2, node: n3, databases: [app2]}`)
	w.act(seed, `{source: n2, node: n3, databases: [app2]}`)
	w.sub("channel", func(w fixture) {
		w.conform(addChannel, `{source: n2, node: n3, name: second, databases: [app2]}`, w.channels("n3"), 0, 20*time.Millisecond, 100*time.Millisecond)
	})
	w.act(addChannel, `{source: n2, node: n3, name: second, databases: [app2]}`)
	w.refuses(checkSources, `{sources: ["n1:app2"], node: n3}`, "no database app2")
	w.do("n1", "INSERT INTO elsewhere.t VALUES (1)", "INSERT INTO app1.bare VALUES (500)")
	one.end()
	two.end()
	for _, source := range []string{"n1", "n2"} {
		w.act(compareRows, `{source: `+source+`, node: n3, chunk: 5000, hold: 5m}`)
	}
	if v := w.value("n3", "SELECT CONCAT(COUNT(*), MAX(v)) FROM app1.bare"); v != "501000" {
		w.Errorf("the trigger fired twice, or not: %s", v)
	}
	if v := w.value("n3", "SELECT CONCAT(COUNT(*) > 0, ' ', app2.twice(4)) FROM app2.seen"); v != "1 8" {
		w.Errorf("view and function: %s", v)
	}
	if v := w.value("n3", "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'elsewhere'"); v != "0" {
		w.Error("the filter let elsewhere through")
	}
	w.sub("cut-over, undone when another node has taken over", takenOver)
	if err := w.task(addChannel, `{source: n1, node: n3, name: second, databases: [app1]}`).(action.Undoer).Undo(w.Context(), w.on, call(action.CheckResult{})); err == nil ||
		!strings.Contains(err.Error(), ", not from n1: it is not detached") {
		w.Errorf("the channel of another run was forgotten: %v", err)
	}
	lasts(w)
	keepsWhatWasWritten(w)
}

// keepsWhatWasWritten takes the copies back when their channels are gone: the one that a client has written to since stays.
func keepsWhatWasWritten(w fixture) {
	w.undo(addChannel, `{source: n1, node: n3, name: first, databases: [app1]}`)
	w.undo(addChannel, `{source: n2, node: n3, name: second, databases: [app2]}`)
	w.do("n3", "INSERT INTO app1.bare VALUES (700)", "FLUSH BINARY LOGS", "CREATE DATABASE own", "CREATE TABLE own.t (id INT PRIMARY KEY)", "INSERT INTO own.t VALUES (1)")
	undo := func(with string) error {
		return w.task(seed, with).(action.Undoer).Undo(w.Context(), w.on, call(action.CheckResult{}))
	}
	const first, second = `{source: n1, node: n3, databases: [app1]}`, `{source: n2, node: n3, databases: [app2]}`
	var refused *hint.PermanentError
	if err := undo(first); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "clients have written to it since it was copied") {
		w.Errorf("undone though a client had written to it: %v", err)
	}
	if v := w.value("n3", "SELECT COUNT(*) FROM app1.bare WHERE v = 700 OR v = 1400"); v != "1" {
		w.Errorf("what the client wrote is gone: %s", v)
	}
	w.undo(seed, second)                                 // only its channel has written to it
	w.do("n3", "UPDATE plimsoll.seed SET own_file = ''") // as an older Plimsoll left it
	if err := undo(first); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "is not known") {
		w.Errorf("undone though nobody knows who wrote to it: %v", err)
	}
	w.executes(refused.Advice) // a person drops it
	w.undo(seed, first)
	w.act(seed, first)
	w.undo(seed, first)
	if v := w.value("n3", "SELECT GROUP_CONCAT(schema_name ORDER BY schema_name) FROM information_schema.schemata WHERE schema_name LIKE 'app%'"); v != "NULL" {
		w.Errorf("n3 has %s", v)
	}
}

// takenOver is a cut-over from n1 to n3 that was cut off while neither takes writes, and n2 does: that of old, or since then.
func takenOver(w fixture) {
	const with = `{from: n1, to: n3, way_back: false, max_gap: 5m}`
	closing, opening := "SET GLOBAL read_only = ON", "SET GLOBAL read_only = OFF"
	w.do("n3", closing)
	w.do("n1", closing)
	since := call(action.CheckResult{Observed: action.Facts{"writes": "n1", othersOpen: ""}})
	closed := func(when string, want bool) {
		w.Helper()
		if v := w.value("n1", "SELECT @@GLOBAL.read_only"); want != (v != "0" && v != "OFF") {
			w.Errorf("%s: read_only of n1 is %s", when, v)
		}
	}
	task := w.task(cutOver, with)
	if err := task.(action.Undoer).Undo(w.Context(), w.on, since); err == nil || !strings.Contains(err.Error(), "n2 accepts writes now, and did not before: n1 would be a second primary") {
		w.Errorf("undone while n2 takes writes: %v", err)
	}
	closed("n2 takes writes since", true)
	if _, err := task.Act(w.Context(), w.on, since); err == nil || !strings.Contains(err.Error(), "n2 accepts writes now, and did not before: n3 would be a second primary") {
		w.Errorf("continued while n2 takes writes: %v", err)
	}
	if v := w.value("n3", "SELECT @@GLOBAL.read_only"); v == "0" || v == "OFF" {
		w.Error("n3 was opened")
	}
	found, err := task.Check(w.Context(), w.on.ReadOnly())
	if err != nil || found.Observed[othersOpen] != "n2" {
		w.Fatalf("found %v, %v, want that n2 takes writes of its own", found.Observed, err)
	}
	if err := task.(action.Undoer).Undo(w.Context(), w.on, call(found)); err != nil {
		w.Fatal(err)
	}
	closed("n2 took writes before too", false)
	w.do("n3", opening)
}

// lasts restarts the replica: channels and their filters must be as they were.
func lasts(w fixture) {
	before := w.channels("n3")(w.T)
	n, err := w.on.Node(w.Context(), "n3")
	if err != nil {
		w.Fatal(err)
	}
	if err := n.Server.Stop(w.Context()); err != nil {
		w.Fatal(err)
	}
	if err := n.Server.Start(w.Context()); err != nil {
		w.Fatal(err)
	}
	limited, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	s, err := dial(limited, w.on, "n3")
	if err != nil {
		w.Fatal(err)
	}
	defer s.Close()
	for _, channel := range []string{"first", "second"} {
		if err := s.until(limited, channel, "it does not run after a restart", admin.Channel.Runs); err != nil {
			w.Error(err)
		}
	}
	db, err := w.on.Database(limited, "n3")
	if err != nil {
		w.Fatal(err)
	}
	readings, err := db.(engine.Metered).Readings(limited)
	if err != nil {
		w.Fatal(err)
	}
	for _, signal := range []string{"mysql.replica_lag_seconds.first", "mysql.replica_stopped.second"} {
		if !slices.ContainsFunc(readings, func(r engine.Reading) bool { return r.Signal == signal }) {
			w.Errorf("there is no signal %s", signal)
		}
	}
	if after := w.channels("n3")(w.T); after != before {
		w.Errorf("after a restart\n%s, before\n%s", after, before)
	}
}

// refusesSources tries sources that cannot be, on the real servers.
func refusesSources(w fixture) {
	const both = `{sources: ["n1:app1", "n2:app2"], node: n3}`
	for _, c := range []struct{ node, set, back, with, want string }{
		{"n2", "SET GLOBAL binlog_format = MIXED", "SET GLOBAL binlog_format = ROW", both, "binlog_format MIXED"},
		{"n2", "SET GLOBAL server_id = 1", "SET GLOBAL server_id = 2", both, "same server_id 1"},
		{"n3", "CREATE DATABASE app2", "DROP DATABASE app2", both, "a database app2 of its own"},
		{"n1", "CREATE TABLE app1.m (id INT PRIMARY KEY) ENGINE = MyISAM", "DROP TABLE app1.m", both, "app1.m of n1 is MyISAM"},
		{"n1", "CREATE EVENT app1.e ON SCHEDULE EVERY 1 DAY DO SELECT 1", "DROP EVENT app1.e", both, "has 1 events"},
		{"n1", "CREATE DATABASE app2", "DROP DATABASE app2", `{sources: ["n1:app1+app2", "n2:app2"], node: n3}`, "both have a database app2"},
		{"n1", "", "", `{sources: ["n1:nosuch", "n2:app2"], node: n3}`, "no database nosuch"},
		{"n2", "SET GLOBAL gtid_domain_id = 1", "SET GLOBAL gtid_domain_id = 2", both, "same gtid_domain_id 1"},
	} {
		if w.isMySQL() && strings.Contains(c.set, "gtid_domain_id") {
			continue
		}
		if c.set != "" {
			w.do(c.node, c.set)
		}
		w.refuses(checkSources, c.with, c.want)
		if c.back != "" {
			w.do(c.node, c.back)
		}
	}
	if _, err := (w.task(checkSources, both)).Check(w.Context(), w.on.ReadOnly()); err != nil {
		w.Errorf("all is as it was, and %v", err)
	}
}
