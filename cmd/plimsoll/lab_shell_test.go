package main

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/poll"
	"plimsoll/lab"
)

// TestAShellExecutesAsTheAdministrator asks a real server by the cluster's name alone. Once killed, it is started with its data.
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
	serverIsStartedAgain(t)
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

// serverIsStartedAgain kills the server of lab asked, and follows what is said of it then.
func serverIsStartedAgain(t *testing.T) {
	t.Helper()
	server := func() lab.NodeStatus {
		out, said, code := typed(t, "lab", "list", "--json")
		var labs []lab.Status
		if err := json.Unmarshal([]byte(out), &labs); err != nil || code != 0 || len(labs) != 1 || len(labs[0].Nodes) != 1 {
			t.Fatalf("%d %v: %s%s", code, err, out, said)
		}
		return labs[0].Nodes[0]
	}
	says(t, 1, "remove it and its data: plimsoll lab down asked", "lab", "up", "mariadb", "--name", "asked")
	says(t, 0, "nothing to start; all its servers run (a frozen server counts as running)", "lab", "start", "asked")
	says(t, 0, "", "lab", "shell", "asked", "-e", "CREATE DATABASE kept")
	if err := syscall.Kill(server().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	err := poll.Until(t.Context(), 50*time.Millisecond, func() (string, error) {
		s := server()
		if s.State != lab.Stopped {
			return fmt.Sprintf("the server is %s", s.State), nil
		}
		if c, err := net.Dial("tcp", s.Address); err == nil { // a large process takes a moment to go
			_ = c.Close()
			return "its socket listens still", nil
		}
		return "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const advice = "hint: plimsoll lab start asked starts its server"
	says(t, 1, advice, "lab", "shell", "asked", "-e", "SELECT 1")
	says(t, 1, advice, "load", "run", "--target", "lab:asked", "--workload", "oltp_point_select", "--duration", "1s")
	says(t, 1, advice, "runbook", "plan", "mysql/set-variable", "--cluster", "asked", "-i", "name=sync_binlog", "-i", "value=100")
	says(t, 1, "with the data that is there; or choose another name", "lab", "up", "mariadb", "--name", "asked")
	says(t, 2, `cluster asked has no node "n9"`, "lab", "start", "asked", "--node", "n9")
	says(t, 2, `did you mean "asked"?`, "lab", "start", "askd")
	says(t, 0, "Cluster asked: n1 started", "lab", "start", "asked", "--node", "n1")
	if out, said, code := typed(t, "lab", "shell", "asked", "-e", "SHOW DATABASES LIKE 'kept'"); code != 0 || !strings.Contains(out, "kept") {
		t.Errorf("its data: %d %s%s", code, out, said)
	}
}
