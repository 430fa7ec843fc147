package main

import (
	"strings"
	"testing"
)

// TestAShellExecutesAsTheAdministrator asks a real server by the cluster's name alone.
func TestAShellExecutesAsTheAdministrator(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("starts a real server")
	}
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Cleanup(func() { typed(t, "lab", "down", "asked") })
	if out, said, code := typed(t, "lab", "up", "mariadb", "--name", "asked"); code != 0 {
		t.Fatalf("%d %s%s", code, out, said)
	}
	out, said, code := typed(t, "lab", "shell", "asked", "--execute", "SELECT 6 * 7 AS answer, CURRENT_USER() AS who")
	if code != 0 || !strings.Contains(out, "answer") || !strings.Contains(out, "42") || !strings.Contains(out, "plimsoll@") {
		t.Errorf("%d %s%s", code, out, said)
	}
	out, said, code = typed(t, "lab", "shell", "asked", "-e", "SELECT 1 AS zebra, 2 AS ant, 3 AS ant, NULL AS cow")
	if lines := strings.Split(out, "\n"); code != 0 || strings.Join(strings.Fields(out), " ") != "zebra ant ant 2 cow 1 2 3 NULL" {
		t.Errorf("columns in the order of the query: %d %q%s", code, lines, said)
	}
	if out, said, code = typed(t, "lab", "shell", "asked", "-e", "SELECT * FROM sbtest1"); code == 0 || !strings.Contains(said, "write DATABASE.TABLE") || strings.Contains(said, "mysql://") {
		t.Errorf("without a database: %d %s%s", code, out, said)
	}
	t.Setenv("PATH", t.TempDir())
	if out, said, code = typed(t, "lab", "shell", "asked", "--node", "n1"); code == 0 || !strings.Contains(said, "hint: plimsoll lab shell asked --node n1 --execute STATEMENT needs none") {
		t.Errorf("without a client: %d %s%s", code, out, said)
	}
	if out, said, code = typed(t, "lab", "shell", "asked", "--node", "n9", "--execute", "SELECT 1"); code == 0 {
		t.Errorf("a node that is not there: %s%s", out, said)
	}
	if out, said, code = typed(t, "lab", "shell", "asked", "-e", "SELEKT"); code == 0 || !strings.Contains(said, "1064") {
		t.Errorf("%d %s%s", code, out, said)
	}
}
