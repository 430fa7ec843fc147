package mysql

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
)

// shutsNobodyOut sets values with which a server serves Plimsoll no more: they are put back at once. Values that new sessions begin with do not keep it
// from what it does.
func shutsNobodyOut(t *testing.T, on *cluster.Cluster, mariadb bool) {
	t.Helper()
	t.Run("values that shut Plimsoll out", func(t *testing.T) {
		global := func(name string) string {
			t.Helper()
			v, err := on.Value(t.Context(), "n2", "SELECT @@GLOBAL."+name)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		undo := func(with string, before action.CheckResult, out action.Facts) {
			t.Helper()
			if err := bind(t, with).(action.Undoer).Undo(t.Context(), on, action.Call{Before: before.Observed, Output: out}); err != nil {
				t.Errorf("undo of %s: %v", with, err)
			}
		}
		shut := []string{"require_secure_transport"}
		if !mariadb {
			shut = append(shut, "max_user_connections")
		}
		for _, name := range shut {
			before, with := global(name), `{node: n2, name: `+name+`, value: "1"}`
			found := findingOf(t, on, with)
			_, err := bind(t, with).Act(t.Context(), on, action.Call{Before: found.Observed})
			var refused *hint.PermanentError
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "with "+name+" = 1 n2 does not serve a new connection of Plimsoll: ") || !strings.Contains(refused.Reason, "; it was put back to ") {
				t.Errorf("%s: %v", name, err)
			}
			if after := global(name); after != before {
				t.Errorf("%s is %s, and was %s", name, after, before)
			}
			undo(with, found, nil)
		}
		for name, value := range map[string]string{"sql_select_limit": "1", "autocommit": "OFF"} {
			with := `{node: n2, name: ` + name + `, value: "` + value + `"}`
			found := findingOf(t, on, with)
			out, err := bind(t, with).Act(t.Context(), on, action.Call{Before: found.Observed})
			if err != nil {
				t.Fatal(err)
			}
			if rows, err := on.Column(t.Context(), "n2", "SELECT 1 UNION ALL SELECT 2"); err != nil || len(rows) != 2 {
				t.Errorf("with %s = %s a session of Plimsoll is given %v, %v", name, value, rows, err)
			}
			if v, err := on.Value(t.Context(), "n2", "SELECT @@SESSION.autocommit"); err != nil || v != "1" {
				t.Errorf("with %s = %s a session of Plimsoll has autocommit %s, %v", name, value, v, err)
			}
			undo(with, found, out)
			if f := findingOf(t, on, with); f.State != action.Needed {
				t.Errorf("%s was not put back: %+v", name, f)
			}
		}
		if mariadb { // which refuses any value where it was 0 at the start
			const with = `{node: n2, name: max_user_connections, value: "7"}`
			found := findingOf(t, on, with)
			if _, err := bind(t, with).Act(t.Context(), on, action.Call{Before: found.Observed}); err == nil {
				t.Error("MariaDB took max_user_connections: the test shows nothing")
			}
			undo(with, found, nil)
		}
	})
}
