package mysql

import (
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
)

// putsBackWhatChangedAlong undoes changes of variables with which the server changes another by itself: super_read_only = ON closes a server by read_only
// too, and OFF does not open it again.
func putsBackWhatChangedAlong(t *testing.T, on *cluster.Cluster, superReadOnly bool) {
	t.Helper()
	type change struct{ with, both string }
	all := []change{
		{`{node: n1, name: innodb_io_capacity, value: 100000}`, "SELECT CONCAT_WS(' ', @@GLOBAL.innodb_io_capacity, @@GLOBAL.innodb_io_capacity_max)"},
		{`{node: n1, name: innodb_io_capacity_max, value: 150}`, "SELECT CONCAT_WS(' ', @@GLOBAL.innodb_io_capacity, @@GLOBAL.innodb_io_capacity_max)"},
		{`{node: n1, name: innodb_max_dirty_pages_pct, value: 5}`, "SELECT CONCAT_WS(' ', @@GLOBAL.innodb_max_dirty_pages_pct, @@GLOBAL.innodb_max_dirty_pages_pct_lwm)"},
		{`{node: n1, name: collation_server, value: ascii_bin}`, "SELECT CONCAT_WS(' ', @@GLOBAL.character_set_server, @@GLOBAL.collation_server)"},
		{`{node: n1, name: character_set_server, value: ascii}`, "SELECT CONCAT_WS(' ', @@GLOBAL.character_set_server, @@GLOBAL.collation_server)"},
	}
	if superReadOnly {
		const both = "SELECT CONCAT_WS(' ', @@GLOBAL.read_only, @@GLOBAL.super_read_only)"
		all = append(all, change{`{node: n1, name: super_read_only, value: "ON"}`, both}, change{`{node: n1, name: read_only, value: "ON"}`, both})
	}
	for _, c := range all {
		before := valueOf(t, on, c.both)
		task := bind(t, c.with)
		found, output := actNow(t, on, task)
		if now := valueOf(t, on, c.both); now == before {
			t.Fatalf("%s changed nothing: %s", c.with, now)
		}
		for what, out := range map[string]action.Facts{"as it was left": output, "cut off": nil} {
			err := task.(action.Undoer).Undo(t.Context(), on, action.Call{Token: "undo", Before: found.Observed, Output: out, Progress: func(float64, string) {}})
			if now := valueOf(t, on, c.both); err != nil || now != before {
				t.Errorf("%s, %s, undone: %v, now %s, before %s", c.with, what, err, now, before)
			}
		}
	}
	// What somebody has set since stays.
	task := bind(t, `{node: n1, name: innodb_io_capacity, value: 100000}`)
	found, output := actNow(t, on, task)
	if _, along := found.Observed["innodb_io_capacity_max"]; !along {
		t.Fatalf("the check saw %v", found.Observed)
	}
	set := func(statement string) {
		t.Helper()
		if err := on.Execute(t.Context(), "n1", []string{statement}, func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
	was := [2]string{found.Observed["value"].(string), found.Observed["innodb_io_capacity_max"].(string)}
	set("SET GLOBAL innodb_io_capacity_max = 300000")
	err := task.(action.Undoer).Undo(t.Context(), on, action.Call{Token: "undo", Before: found.Observed, Output: output, Progress: func(float64, string) {}})
	if remains := action.RemainsOf(err); remains == nil || !strings.Contains(remains.What+remains.Why, "innodb_io_capacity_max") {
		t.Errorf("a maximum that was set since: %v", err)
	}
	if now := valueOf(t, on, "SELECT CONCAT_WS(' ', @@GLOBAL.innodb_io_capacity, @@GLOBAL.innodb_io_capacity_max)"); now != was[0]+" 300000" {
		t.Errorf("now %s, before %s", now, was)
	}
	set("SET GLOBAL innodb_io_capacity_max = " + was[1])
}

func valueOf(t *testing.T, on *cluster.Cluster, query string) string {
	t.Helper()
	v, err := on.Value(t.Context(), "n1", query)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
