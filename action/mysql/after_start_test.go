package mysql

import (
	"context"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/hint"
)

// service is a server that Plimsoll starts and whose settings it does not write, as one that systemd runs. What is to come right after its start does.
type service struct {
	cluster.Server
	cluster.Identified
	started func()
}

func (s service) Start(ctx context.Context) error {
	err := s.Server.Start(ctx)
	if s.started != nil {
		s.started()
	}
	return err
}

// asServices has the same servers without their settings.
func asServices(t *testing.T, on *cluster.Cluster, started func()) *cluster.Cluster {
	t.Helper()
	services := &cluster.Cluster{Name: on.Name, Engine: on.Engine, List: func(ctx context.Context) ([]cluster.Node, error) {
		nodes, err := on.List(ctx)
		for i := range nodes {
			nodes[i].Server = service{nodes[i].Server, nodes[i].Server.(cluster.Identified), started}
		}
		return nodes, err
	}}
	t.Cleanup(func() { _ = services.Close() })
	return services
}

// A replica that only a statement keeps closed is not opened by a restart: where that is known, the plan refuses, and where only its option file knows, a person
// is asked. What clients wrote in between is told.
func TestARestartDoesNotOpenAReplicaOfMariaDB(t *testing.T) {
	t.Parallel()
	on := newLab(t, "mariadb", 2)
	asks := "its option file decides whether it does when it starts: if not, clients could write to it until Plimsoll has made it read-only again, and those rows would exist on no other server. Make sure of it: put read_only = ON into its option file"
	opensNoReplica(t, on, asks)
	tellsWhatWasWritten(t, on, "(0-2-")
	closesItsOwn(t, on)
}

func TestARestartDoesNotOpenAReplicaOfMySQL(t *testing.T) {
	t.Parallel()
	on := newLab(t, "mysql", 2)
	restart := actiontest.Task(t, action.Servers(), "server.restart", "node: n2")
	services := asServices(t, on, nil)
	says := opensNoReplica(t, on, "")
	for _, want := range []string{"n2 refuses writes now, and nothing has it refuse them when it starts: clients could write to it", "execute SET PERSIST super_read_only = ON on it, then try again"} {
		if !strings.Contains(says, want) {
			t.Errorf("refused with %q, want %q", says, want)
		}
	}
	execute(t, on, "n2", "SET PERSIST super_read_only = ON") // as it says
	if f, err := restart.Check(t.Context(), services.ReadOnly()); err != nil || approval(restart, f) != "" {
		t.Errorf("what does it ask of a replica that is closed for good: %+v, %v", f, err)
	}
	execute(t, on, "n2", "RESET PERSIST super_read_only")
	uuid, err := on.Value(t.Context(), "n2", "SELECT @@server_uuid")
	if err != nil {
		t.Fatal(err)
	}
	tellsWhatWasWritten(t, on, "("+uuid+":")
	closesItsOwn(t, on)
}

func TestARestartAsksAboutAMySQLThatIgnoresWhatIsPersisted(t *testing.T) {
	t.Parallel()
	on := newLabWith(t, "mysql", 2, map[string]string{"persisted_globals_load": "OFF"})
	execute(t, on, "n2", "SET PERSIST super_read_only = ON") // which it does not load
	opensNoReplica(t, on, "Make sure of it: put super_read_only = ON into its option file")
}

func execute(t *testing.T, on *cluster.Cluster, node string, statements ...string) {
	t.Helper()
	if err := on.Execute(t.Context(), node, statements, func(int) {}); err != nil {
		t.Fatal(err)
	}
}

func assign(t *testing.T, on *cluster.Cluster, node string, settings map[string]string) {
	t.Helper()
	n, err := on.Node(t.Context(), node)
	if err == nil {
		err = cluster.Reassign(t.Context(), n.Server.(cluster.Assignable), settings)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func approval(task action.Task, f action.CheckResult) string {
	return task.(action.ApprovalDemander).ApprovalReason(f)
}

// opensNoReplica has n2 closed by its option file, then by a statement alone. It returns what the check is refused with, or finds what is asked.
func opensNoReplica(t *testing.T, on *cluster.Cluster, asks string) (refused string) {
	t.Helper()
	services := asServices(t, on, nil)
	restart := actiontest.Task(t, action.Servers(), "server.restart", "node: n2")
	stop := actiontest.Task(t, action.Servers(), "server.stop", "node: n2")
	look := func(task action.Task) (action.CheckResult, error) {
		return task.Check(t.Context(), services.ReadOnly())
	}
	if f, err := look(restart); err != nil || approval(restart, f) != "" {
		t.Errorf("a replica that its option file closes: %+v, %v", f, err)
	}
	if c := stop.(action.Cautioned).Cautions(t.Context(), services.ReadOnly()); len(c) > 0 {
		t.Errorf("a replica that its option file closes: %v", c)
	}
	execute(t, on, "n2", "SET GLOBAL read_only = OFF", "SET GLOBAL read_only = ON")
	f, err := look(restart)
	if asks != "" && (err != nil || !strings.Contains(approval(restart, f), asks)) {
		t.Errorf("a replica that a statement closes: %+v, %v, want %q", f, err, asks)
	}
	if asks == "" && err == nil {
		t.Errorf("a replica that a statement closes: %+v, want that it is refused", f)
	}
	c := stop.(action.Cautioned).Cautions(t.Context(), services.ReadOnly())
	if len(c) != 1 || !strings.Contains(c[0].Text, "n2 refuses writes now, and ") {
		t.Errorf("its stop: %v", c)
	}
	if _, err := look(stop); err != nil {
		t.Errorf("its stop: %v", err)
	}
	if err == nil {
		return ""
	}
	return err.Error() + "; " + hint.Of(err)
}

// tellsWhatWasWritten has a client write to n2 right after its start, which opens it: by a restart, and by the undo of a stop.
func tellsWhatWasWritten(t *testing.T, on *cluster.Cluster, written string) {
	t.Helper()
	assign(t, on, "n2", map[string]string{"read_only": "OFF"}) // as an option file that nobody has corrected
	execute(t, on, "n1", "CREATE DATABASE opened", "CREATE TABLE opened.t (a INT AUTO_INCREMENT PRIMARY KEY)")
	until(t.Context(), t, "n2 has no table", func() bool {
		v, err := on.Value(t.Context(), "n2", "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'opened'")
		return err == nil && v == "1"
	})
	services := asServices(t, on, func() {
		execute(t, on, "n2", "INSERT INTO opened.t (a) SELECT NULL FROM DUAL WHERE @@GLOBAL.read_only = 0")
	})
	for _, name := range []string{"server.restart", "server.stop"} {
		execute(t, on, "n2", "SET GLOBAL read_only = ON")
		task := actiontest.Task(t, action.Servers(), name, "node: n2")
		f, err := task.Check(t.Context(), on.ReadOnly())
		if err != nil {
			t.Fatal(err)
		}
		call := action.Call{Attempt: 1, Before: f.Observed, Progress: func(float64, string) {}}
		_, err = task.Act(t.Context(), services, call)
		if undoer, is := task.(action.Undoer); is {
			if err != nil {
				t.Fatal(err)
			}
			err = undoer.Undo(t.Context(), services, call)
		}
		for _, want := range []string{"n2 accepted writes after its start, and is read-only now", written} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if refuses, known := on.RefusesWrites(t.Context(), "n2"); !refuses || !known {
			t.Errorf("%s left n2 open", name)
		}
		call.Attempt, call.Resumed = 2, true // what was closed by the first attempt
		if name == "server.restart" {
			if _, err := task.Act(t.Context(), services, call); err == nil || !strings.Contains(err.Error(), written) {
				t.Errorf("again: %v", err)
			}
		}
	}
}

// closesItsOwn restarts a replica of a lab that only a statement closed: Plimsoll writes that into the settings that it starts it with.
func closesItsOwn(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	for _, name := range []string{"server.restart", "server.stop"} {
		assign(t, on, "n2", map[string]string{"read_only": "OFF"})
		execute(t, on, "n2", "SET GLOBAL read_only = ON")
		act(t, on, name, "n2")
		if got := assigned(t, on, "n2")["read_only"]; got != "ON" {
			t.Errorf("%s: it is started with read_only %q", name, got)
		}
	}
}
