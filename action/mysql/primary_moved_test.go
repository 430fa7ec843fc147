package mysql

import (
	"errors"
	"maps"
	"regexp"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/hint"
)

// A step that names no node changes the primary. Its undo is for that server, though another is the primary by then.
func TestAnUndoGoesToTheServerThatWasChangedOnMariaDB(t *testing.T) {
	t.Parallel()
	undoesWhereItActed(t, newLab(t, "mariadb", 2))
}

func TestAnUndoGoesToTheServerThatWasChangedOnMySQL(t *testing.T) {
	t.Parallel()
	undoesWhereItActed(t, newLab(t, "mysql", 2))
}

func undoesWhereItActed(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	retention := "SELECT @@GLOBAL.binlog_expire_logs_seconds"
	cases := []struct {
		action, with, query string
		task                action.Task
		found               action.CheckResult
		output              action.Facts
		before              [2]string // of n1 and n2
	}{
		{action: "mysql.set-variable", with: "{name: max_connections, value: 83}", query: "SELECT @@GLOBAL.max_connections"},
		{action: "mysql.keep-binlogs", with: "{for: 2000h}", query: retention},
		{action: "mysql.release-binlogs", with: "{seconds: 86400}", query: retention},
		{action: "mysql.resize-buffer-pool", with: "{size: 128M}", query: "SELECT @@GLOBAL.innodb_buffer_pool_size"},
	}
	nodes := [2]string{"n1", "n2"}
	see := func(query string) (seen [2]string) {
		t.Helper()
		for i, node := range nodes {
			v, err := on.Value(t.Context(), node, query)
			if err != nil {
				t.Fatal(err)
			}
			seen[i] = v
		}
		return seen
	}
	for _, node := range nodes {
		if err := on.Execute(t.Context(), node, []string{"SET GLOBAL binlog_expire_logs_seconds = 172800"}, func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range cases {
		c := &cases[i]
		c.before, c.task = see(c.query), bindAny(t, c.action, c.with)
		c.found, c.output = actNow(t, on, c.task)
		if now := see(c.query); now[0] == c.before[0] || now[1] != c.before[1] {
			t.Fatalf("%s: %v, before %v: only n1 was to be changed", c.action, now, c.before)
		}
	}
	const tables = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'moved'"
	const statements = `statements: [CREATE DATABASE IF NOT EXISTS moved, "CREATE TABLE IF NOT EXISTS moved.t (a INT PRIMARY KEY)"], undo: [DROP DATABASE moved]`
	sql := map[string]action.Task{
		"with a check":    bindAny(t, "sql.execute", `{`+statements+`, check: "`+tables+`", want: "1"}`),
		"without a check": bindAny(t, "sql.execute", `{`+statements+`}`),
	}
	calls := map[string]action.Call{}
	for _, name := range []string{"with a check", "without a check"} {
		found, output := actNow(t, on, sql[name])
		calls[name] = action.Call{Token: "undo", Before: found.Observed, Output: output, Progress: func(float64, string) {}}
	}
	later := bindAny(t, "mysql.set-variable", "{name: max_connections, value: 84}") // checked on n1, not acted on yet
	checked, err := later.Check(t.Context(), on.ReadOnly())
	if err != nil {
		t.Fatal(err)
	}

	actNow(t, on, bindAny(t, "mysql.demote", "{node: n1, grace: 0s}"))
	actNow(t, on, bindAny(t, "mysql.promote", "{node: n2, old: n1}"))

	var refused *hint.PermanentError
	if _, err := later.Act(t.Context(), on, action.Call{Before: checked.Observed}); !errors.As(err, &refused) {
		t.Errorf("an act on n2 of what was checked on n1: %v", err)
	}
	for name, call := range calls {
		if err := sql[name].(action.Undoer).Undo(t.Context(), on, call); !errors.As(err, &refused) {
			t.Errorf("sql.execute %s is undone on n2: %v", name, err)
		}
	}
	if n := see(tables); n != [2]string{"1", "1"} {
		t.Errorf("there are %v tables, and the undo was to be refused", n)
	}
	undoneByHand(t, on, refused.Advice, func() [2]string { return see(tables) })
	for i := len(cases) - 1; i >= 0; i-- { // in reverse, as a run does
		c := cases[i]
		call := action.Call{Before: c.found.Observed, Output: c.output, Progress: func(float64, string) {}}
		if err := c.task.(action.Undoer).Undo(t.Context(), on, call); err != nil {
			t.Errorf("undo of %s: %v", c.action, err)
		}
		if now := see(c.query); now != c.before {
			t.Errorf("undone, %s has %v on n1 and n2, and had %v", c.action, now, c.before)
		}
		call.Before = maps.Clone(call.Before)
		delete(call.Before, "node") // as a journal of an older Plimsoll has it
		if err := c.task.(action.Undoer).Undo(t.Context(), on, call); err == nil {
			t.Errorf("%s was undone on a server that nobody had noted", c.action)
		}
	}
}

// undoneByHand does what the refusal advises: the table was replicated, and is dropped on the server that is named for that.
func undoneByHand(t *testing.T, on *cluster.Cluster, advice string, tables func() [2]string) {
	t.Helper()
	named := regexp.MustCompile(`on (n\d) what was replicated, on (n\d) what was not; then plimsoll runbook cancel RUN --leave REASON`).FindStringSubmatch(advice)
	if named == nil {
		t.Fatalf("it advises %q", advice)
	}
	if err := on.Execute(t.Context(), named[1], []string{"DROP DATABASE moved"}, func(int) {}); err != nil {
		t.Fatal(err)
	}
	actNow(t, on, bindAny(t, "mysql.repoint", "{source: n2, also: [n1]}"))
	actNow(t, on, bindAny(t, "mysql.wait-caught-up", "{node: n1, source: n2}"))
	if n := tables(); n != [2]string{"0", "0"} {
		t.Errorf("undone by hand on %s, there are %v tables on n1 and n2", named[1], n)
	}
}

// bindAny reads the inputs of an action of MySQL, or of any engine.
func bindAny(t *testing.T, name, with string) action.Task {
	t.Helper()
	return actiontest.Task(t, append(Actions(), action.Generic()...), name, with)
}

// actNow checks and acts as a step does.
func actNow(t *testing.T, on *cluster.Cluster, task action.Task) (action.CheckResult, action.Facts) {
	t.Helper()
	found, err := task.Check(t.Context(), on.ReadOnly())
	if err != nil {
		t.Fatal(err)
	}
	output, err := task.Act(t.Context(), on, action.Call{Token: "act", Before: found.Observed, Progress: func(float64, string) {}})
	if err != nil {
		t.Fatal(err)
	}
	return found, output
}
