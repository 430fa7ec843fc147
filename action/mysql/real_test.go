package mysql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/hint"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

// newLab makes a cluster of real servers.
func newLab(t *testing.T, product string, nodes int) *cluster.Cluster {
	t.Helper()
	return newLabWith(t, product, nodes, nil)
}

// newLabWith has settings beside the usual one.
func newLabWith(t *testing.T, product string, nodes int, settings map[string]string) *cluster.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	config := map[string]string{"innodb_buffer_pool_size": "64M"}
	maps.Copy(config, settings)
	c := labtest.Cluster(t, lab.Spec{Name: "rb-" + product, Product: product, Nodes: nodes, Config: config})
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	on := lab.AsCluster(c, enginemysql.Engine{}, m)
	t.Cleanup(func() { _ = on.Close() }) // before the servers end
	return on
}

func values(on *cluster.Cluster, node string, queries ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		var all []string
		for _, q := range queries {
			v, err := on.Value(t.Context(), node, q)
			if err != nil {
				v = err.Error()
			}
			all = append(all, q+": "+v)
		}
		return strings.Join(all, "\n")
	}
}

func running(on *cluster.Cluster, node string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		n, err := on.Node(t.Context(), node)
		if err != nil {
			t.Fatal(err)
		}
		is, err := n.Server.Running(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		frozen, err := n.Server.(cluster.FaultProneServer).Frozen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return map[bool]string{true: "running", false: "stopped"}[is] + map[bool]string{true: ", frozen"}[frozen]
	}
}

// cuts are the moments at which what starts or stops a server is cut off.
var cuts = []time.Duration{0, 20 * time.Millisecond, time.Second}

// conform puts the actions through their suite on a real cluster.
func conform(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	find := func(all []action.Action, name string) action.Action {
		t.Helper()
		a, ok := action.Find(all, name)
		if !ok {
			t.Fatalf("no action %s", name)
		}
		return a
	}
	for _, c := range []struct {
		name string
		s    actiontest.Subject
	}{
		{"set-variable", actiontest.Subject{
			Action: setVariable, With: `{node: n2, name: max_connections, value: 77}`, Snapshot: values(on, "n2", "SELECT @@global.max_connections"),
		}},
		{"sql.execute", actiontest.Subject{
			Action: find(action.Generic(), "sql.execute"),
			With: `{statements: ["CREATE DATABASE IF NOT EXISTS rb", "CREATE TABLE IF NOT EXISTS rb.t (a INT)"], repeatable: true, want: "1",
				check: "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'rb'", undo: [DROP DATABASE IF EXISTS rb]}`,
			Snapshot: values(on, "n1", "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'rb'"),
		}},
		{"server.restart", actiontest.Subject{
			Action: find(action.Servers(), "server.restart"), With: `{node: n2}`, Always: true, Snapshot: running(on, "n2"), Cuts: cuts,
		}},
		{"server.stop", actiontest.Subject{Action: find(action.Servers(), "server.stop"), With: `{node: n2}`, Snapshot: running(on, "n2"), Cuts: cuts}},
		{"server.kill", actiontest.Subject{Action: find(action.Servers(), "server.kill"), With: `{node: n2}`, Snapshot: running(on, "n2"), Cuts: cuts[:1]}},
		{"server.freeze", actiontest.Subject{Action: find(action.Servers(), "server.freeze"), With: `{node: n2}`, Snapshot: running(on, "n2"), Cuts: cuts[:1]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.Cluster = on
			actiontest.Run(t, c.s)
		})
	}
}

// restartPasses restarts a replica: nothing is left of it once the replica answers and replicates, and it is said when it does not.
func restartPasses(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	restart, _ := action.Find(action.Servers(), "server.restart")
	task := actiontest.Bind(t, restart, `{node: n2}`)
	f, err := task.Check(t.Context(), on.ReadOnly())
	if err != nil {
		t.Fatal(err)
	}
	output, err := task.Act(t.Context(), on, action.Call{Before: f.Observed, Progress: func(float64, string) {}})
	if err != nil {
		t.Fatal(err)
	}
	passed := func() error { return task.(action.Passer).Passed(t.Context(), on.ReadOnly(), output) }
	limited, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	until(limited, t, "something is left of a restart", func() bool { return passed() == nil })
	dialect := func(word string) string {
		if version, err := on.Value(t.Context(), "n2", "SELECT VERSION()"); err == nil && strings.Contains(version, "MariaDB") {
			return word + " SLAVE"
		}
		return word + " REPLICA"
	}
	if err := on.Execute(t.Context(), "n2", []string{dialect("STOP")}, func(int) {}); err != nil {
		t.Fatal(err)
	}
	if err := passed(); err == nil || !strings.Contains(err.Error(), "node n2 does not replicate from") {
		t.Errorf("a replica that replicates no more: %v", err)
	}
	if err := on.Execute(t.Context(), "n2", []string{dialect("START")}, func(int) {}); err != nil {
		t.Fatal(err)
	}
	output["before"] = output["process"]
	if err := passed(); err == nil || !strings.Contains(err.Error(), "still runs as process") {
		t.Errorf("one that was not restarted: %v", err)
	}
}

// conformStart puts server.start through its suite, and leaves n2 stopped.
func conformStart(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	t.Run("server.start", func(t *testing.T) {
		n, err := on.Node(t.Context(), "n2")
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Server.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		start, _ := action.Find(action.Servers(), "server.start")
		actiontest.Run(t, actiontest.Subject{
			Action: start, Cluster: on, With: `{node: n2}`, Snapshot: running(on, "n2"), Cuts: cuts,
		})
	})
}

// looksOnly shows that the server itself refuses what a check's text does not show: a function that writes.
func looksOnly(t *testing.T, on *cluster.Cluster) {
	const called = "SELECT looks.f()"
	make := []string{
		"CREATE DATABASE looks", "CREATE TABLE looks.t (a INT)",
		"CREATE FUNCTION looks.f() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO looks.t VALUES (1); RETURN 1; END",
	}
	if err := on.Execute(t.Context(), "n1", make, func(int) {}); err != nil {
		t.Fatal(err)
	}
	rows := values(on, "n1", "SELECT COUNT(*) FROM looks.t")
	reading := on.ReadOnly()
	if v, err := reading.Value(t.Context(), "n1", called); err == nil || rows(t) != "SELECT COUNT(*) FROM looks.t: 0" {
		t.Errorf("a look wrote: %s, %v, %s", v, err, rows(t))
	}
	if v, err := reading.Value(t.Context(), "n1", "SELECT COUNT(*) FROM looks.t"); err != nil || v != "0" {
		t.Errorf("it does not look: %s, %v", v, err)
	}
	if v, err := on.Value(t.Context(), "n1", called); err != nil || v != "1" || rows(t) != "SELECT COUNT(*) FROM looks.t: 1" {
		t.Errorf("nobody may write: %s, %v, %s", v, err, rows(t))
	}
	if err := on.Execute(t.Context(), "n1", []string{"DROP DATABASE looks"}, func(int) {}); err != nil {
		t.Fatal(err)
	}
}

func TestOnMariaDB(t *testing.T) {
	t.Parallel()
	on := newLab(t, "mariadb", 2)
	looksOnly(t, on)
	claims(t, on)
	claimsByOneClock(t, on)
	claimsOfAnotherClock(t, on)
	fencesWhoSlept(t, on)
	endsOrdersOfOthers(t, on)
	claimsInABrokenTable(t, on)
	claimsWhereNobodyAnswers(t, on)
	claimsBesideAHang(t, on)
	claimPastAnEndedRun(t, on)
	claimsWithoutPrimary(t, on)
	claimsOfWhoSlept(t, on)
	outlives(t, on)
	leavesWhatWasSetSince(t, on)
	leavesAPoolThatWasResizedSince(t, on)
	putsBackWhatChangedAlong(t, on, false)
	shutsNobodyOut(t, on, true)
	refuses(t, on, `{name: max_conections, value: 80}`, "max_connections")
	away := asTarget(t, on)
	refuses(t, away, `{name: max_connections, value: 80, persist: also}`, "SET PERSIST")
	refuses(t, away, `{name: back_log, value: 77, persist: only}`, "SET PERSIST")
	refusesCheck(t, away, backLog, "only after a restart", "option file")
	refusesCheck(t, on, backLog, "only after a restart", "persist: only")
	for name, with := range map[string]string{
		"persist also": `{node: n1, name: max-connections, value: 80, persist: also}`,
		"persist only": `{node: n1, name: back_log, value: 78, persist: only}`,
	} {
		t.Run(name, func(t *testing.T) {
			actiontest.Run(t, actiontest.Subject{
				Action: setVariable, Cluster: on, With: with,
				Snapshot: func(t *testing.T) string { return fmt.Sprint(assigned(t, on, "n1")) },
			})
		})
	}
	keepsOverARestart(t, on)
	restartPasses(t, on)
	conformStart(t, on)
	claimsThatAreCopies(t, on)
	claimsApart(t, on)
}

func TestOnMySQL(t *testing.T) {
	t.Parallel()
	on := newLab(t, "mysql", 2)
	looksOnly(t, on)
	claims(t, on)
	claimsByOneClock(t, on)
	claimsOfAnotherClock(t, on)
	fencesWhoSlept(t, on)
	endsOrdersOfOthers(t, on)
	claimsInABrokenTable(t, on)
	claimsWhereNobodyAnswers(t, on)
	claimsBesideADeadNode(t, on)
	claimPastAnEndedRun(t, on)
	claimsWithoutPrimary(t, on)
	claimsOfWhoSlept(t, on)
	outlives(t, on)
	leavesWhatWasSetSince(t, on)
	leavesAPoolThatWasResizedSince(t, on)
	putsBackWhatChangedAlong(t, on, true)
	shutsNobodyOut(t, on, false)
	refuses(t, on, `{name: innodb_flush_log_at_trx_commit, value: 3}`, "would use 2")
	refuses(t, on, `{name: back_logg, value: 77, persist: only}`, "back_log")
	refusesAct(t, on, backLog, "only after a restart", "persist: only")
	for _, c := range []struct{ name, with string }{
		{"persist also", `{name: innodb_log_buffer_size, value: 32M, persist: also}`},
		{"persist only", `{name: loose-back-log, value: 78, persist: only}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			actiontest.Run(t, actiontest.Subject{
				Action: setVariable, Cluster: on, With: c.with,
				Snapshot: values(on, "", "SELECT @@global.innodb_log_buffer_size", "SELECT @@global.back_log",
					"SELECT GROUP_CONCAT(variable_name, '=', variable_value ORDER BY variable_name) FROM performance_schema.persisted_variables"),
			})
		})
	}
	claimsThatAreCopies(t, on)
}

// TestServersOfMySQL restarts, stops, kills and freezes servers for most of its time, beside what is done to those of TestOnMySQL.
func TestServersOfMySQL(t *testing.T) {
	t.Parallel()
	on := newLab(t, "mysql", 2)
	keepsOverARestart(t, on)
	restartPasses(t, on)
	conformStart(t, on)
}

// keepsOverARestart sets what only a restart changes, restarts, and takes it back.
func keepsOverARestart(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	const kept = `{node: n2, name: back_log, value: 77, persist: only}`
	before := findingOf(t, on, kept)
	if _, err := bind(t, kept).Act(t.Context(), on, action.Call{}); err != nil {
		t.Fatal(err)
	}
	if v, err := on.Value(t.Context(), "n2", "SELECT @@GLOBAL.back_log"); err != nil || v == "77" {
		t.Errorf("before the restart back_log is %s, %v", v, err)
	}
	conform(t, on) // which restarts it
	if f := findingOf(t, on, backLog); f.State != action.Satisfied {
		t.Errorf("after the restart: %+v", f)
	}
	if err := bind(t, kept).(action.Undoer).Undo(t.Context(), on, action.Call{Before: before.Observed}); err != nil {
		t.Fatal(err)
	}
	if f := findingOf(t, on, kept); f.Observed["persisted"] != notKept {
		t.Errorf("taken back, and it keeps %v", f.Observed)
	}
}

// asTarget is the cluster as one that Plimsoll has not made: it does not write what its servers are started with.
func asTarget(t *testing.T, on *cluster.Cluster) *cluster.Cluster {
	t.Helper()
	nodes, err := on.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		nodes[i].Server = nil
	}
	away := &cluster.Cluster{Name: on.Name, Engine: on.Engine, List: func(context.Context) ([]cluster.Node, error) { return nodes, nil }}
	t.Cleanup(func() { _ = away.Close() })
	return away
}

// assigned is what a node is started with.
func assigned(t *testing.T, on *cluster.Cluster, node string) map[string]string {
	t.Helper()
	n, err := on.Node(t.Context(), node)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := n.Server.(cluster.Assignable).Assigned(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return settings
}

// backLog is a variable that neither product changes while it runs.
const backLog = `{node: n2, name: back_log, value: 77}`

func findingOf(t *testing.T, on *cluster.Cluster, with string) action.CheckResult {
	t.Helper()
	f, err := bind(t, with).Check(t.Context(), on.ReadOnly())
	if err != nil {
		t.Fatalf("check of %s: %v", with, err)
	}
	return f
}

func bind(t *testing.T, with string) action.Task {
	t.Helper()
	return actiontest.Bind(t, setVariable, with)
}

// refuses expects that a check ends with an error that names something.
func refuses(t *testing.T, on *cluster.Cluster, with, want string) {
	t.Helper()
	if _, err := bind(t, with).Check(t.Context(), on.ReadOnly()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("check of %s: %v, want %q", with, err, want)
	}
}

// refusesCheck expects that a check declines for a reason, with advice: the server tells before it is asked to change anything.
func refusesCheck(t *testing.T, on *cluster.Cluster, with, want, advice string) {
	t.Helper()
	_, err := bind(t, with).Check(t.Context(), on.ReadOnly())
	var refusal *hint.PermanentError
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, want) || !strings.Contains(refusal.Advice, advice) {
		t.Errorf("check of %s: %v, want a refusal that says %q and advises %q", with, err, want, advice)
	}
}

// refusesAct expects that an act declines for a reason, with advice.
func refusesAct(t *testing.T, on *cluster.Cluster, with, want, advice string) {
	t.Helper()
	if f := findingOf(t, on, with); f.State != action.Needed {
		t.Fatalf("%s is %s", with, f.State)
	}
	_, err := bind(t, with).Act(t.Context(), on, action.Call{})
	var refusal *hint.PermanentError
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, want) || !strings.Contains(refusal.Advice, advice) {
		t.Errorf("act of %s: %v, want a refusal that says %q and advises %q", with, err, want, advice)
	}
}
