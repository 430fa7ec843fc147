package mysql

import (
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
)

// leavesWhatWasSetSince has somebody set again what a step has set: its undo leaves that. What an act left that did not end is put back.
func leavesWhatWasSetSince(t *testing.T, site *cluster.Cluster) {
	t.Helper()
	for _, c := range []struct{ action, with, variable, since string }{
		{"mysql.set-variable", "{node: n1, name: max_connections, value: 83}", "max_connections", "90"},
		{"mysql.keep-binlogs", "{node: n1, for: 2000h}", "binlog_expire_logs_seconds", "8000000"},
		{"mysql.release-binlogs", "{node: n1, seconds: 86400}", "binlog_expire_logs_seconds", "8000000"},
	} {
		shown := func() string {
			t.Helper()
			v, err := site.Value(t.Context(), "n1", "SELECT @@GLOBAL."+c.variable)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		set := func(value string) {
			t.Helper()
			if err := site.Execute(t.Context(), "n1", []string{"SET GLOBAL " + c.variable + " = " + value}, func(int) {}); err != nil {
				t.Fatal(err)
			}
		}
		first := shown()
		if c.variable == "binlog_expire_logs_seconds" {
			set("172800")
		}
		before, task := shown(), bindAny(t, c.action, c.with)
		found, output := actNow(t, site, task)
		left := shown()
		undo := func(output action.Facts) error {
			return task.(action.Undoer).Undo(t.Context(), site, action.Call{Token: "undo", Before: found.Observed, Output: output, Progress: func(float64, string) {}})
		}
		set(c.since)
		err := undo(output)
		if remains := action.RemainsOf(err); remains == nil || !strings.Contains(remains.Why, "somebody has changed it since, or a restart did") || shown() != c.since {
			t.Errorf("%s: %v, now %s", c.action, err, shown())
		}
		if c.action == "mysql.set-variable" { // a server that had made it another value has what was asked for after a restart
			set(left)
			if err := undo(action.Facts{"value": "84"}); err != nil || shown() != before {
				t.Errorf("%s, of a value that was asked for: %v, now %s", c.action, err, shown())
			}
		}
		for _, of := range []action.Facts{output, nil} {
			if set(left); of == nil {
				set(c.since)
			}
			if err := undo(of); err != nil || shown() != before {
				t.Errorf("%s, of an act that put out %v: %v, now %s, before %s", c.action, of, err, shown(), before)
			}
		}
		set(first)
	}
}

// leavesAPoolThatWasResizedSince is the same for the size of the buffer pool, which takes a while to change.
func leavesAPoolThatWasResizedSince(t *testing.T, site *cluster.Cluster) {
	t.Helper()
	const shown = "SELECT @@GLOBAL.innodb_buffer_pool_size"
	resize := func(size string) (action.Task, action.CheckResult, action.Facts) {
		task := bindAny(t, "mysql.resize-buffer-pool", "{node: n1, size: "+size+"}")
		found, output := actNow(t, site, task)
		return task, found, output
	}
	before, err := site.Value(t.Context(), "n1", shown)
	if err != nil {
		t.Fatal(err)
	}
	task, found, output := resize("128M")
	undo := func() error {
		return task.(action.Undoer).Undo(t.Context(), site, action.Call{Token: "undo", Before: found.Observed, Output: output, Progress: func(float64, string) {}})
	}
	resize("192M")
	err = undo()
	if remains := action.RemainsOf(err); remains == nil || !strings.Contains(remains.Why, "somebody has changed it since, or a restart did") {
		t.Errorf("of a pool that was resized since: %v", err)
	}
	resize("128M")
	if err := undo(); err != nil {
		t.Error(err)
	}
	if now, err := site.Value(t.Context(), "n1", shown); err != nil || now != before {
		t.Errorf("undone, it has %s, %v, before %s", now, err, before)
	}
}
