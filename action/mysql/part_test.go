package mysql

import (
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
)

// A restart must not undo a switchover that was made by SQL alone, as that of an existing MariaDB is: its option file says that the old
// primary takes writes, and that the new one refuses them.
func TestARestartKeepsWhoTakesWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	on := newLab(t, "mariadb", 3)
	n2, err := on.Node(t.Context(), "n2")
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(n2.Target.Addresses[0], ":")
	follow := "CHANGE MASTER TO MASTER_HOST = '" + host + "', MASTER_PORT = " + port + ", MASTER_USER = 'plimsoll', MASTER_PASSWORD = '" +
		string(n2.Target.Password) + "', MASTER_USE_GTID = slave_pos"
	for _, s := range []struct {
		node  string
		texts []string
	}{
		{"n1", []string{"SET GLOBAL read_only = 1"}},
		{"n2", []string{"STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = 0"}},
		{"n3", []string{"STOP SLAVE", "RESET SLAVE ALL", follow, "START SLAVE"}},
	} {
		if err := on.Execute(t.Context(), s.node, s.texts, func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
	on.RolesChanged()
	for _, c := range []struct{ action, node, want string }{
		{"server.restart", "n1", "1"},
		{"server.restart", "n2", "0"},
		{"server.stop", "n1", ""},
		{"server.start", "n1", "1"}, // nobody knows any more what it was: another takes writes, and is followed
	} {
		act(t, on, c.action, c.node)
		if c.want == "" {
			continue
		}
		if v, err := on.Value(t.Context(), c.node, "SELECT @@GLOBAL.read_only"); err != nil || v != c.want {
			t.Errorf("after %s of %s: read_only is %s, %v, want %s", c.action, c.node, v, err, c.want)
		}
	}
}

// act does an action as a step would: what its check has observed is given to it.
func act(t *testing.T, on *cluster.Cluster, name, node string) {
	t.Helper()
	task := actiontest.Task(t, action.Servers(), name, "node: "+node)
	f, err := task.Check(t.Context(), on.ReadOnly())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := task.Act(t.Context(), on, action.Call{Before: f.Observed, Progress: func(float64, string) {}}); err != nil {
		t.Fatalf("%s of %s: %v", name, node, err)
	}
}
