package rds_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/hint"
	"plimsoll/infra/aws/awstest"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

// blueGreenWorld is an instance whose copy, made by the stand-in, is a second real MySQL that really follows the first. The API is a
// stand-in; the servers are real, with the procedures of RDS that the way back takes.
func blueGreenWorld(t *testing.T) (*fixture, func(node string, texts ...string)) {
	t.Helper()
	c := labtest.Cluster(t, lab.Spec{Name: "bg", Product: "rds-mysql", Nodes: 2, Separate: true, Config: map[string]string{
		"innodb_buffer_pool_size": "48M", "innodb_redo_log_capacity": "16M", "sync_binlog": "0", "innodb_flush_log_at_trx_commit": "2",
	}})
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	real := labtest.AsAWS(c, m) // what AWS does to servers
	t.Cleanup(func() { _ = real.Close() })
	do := func(node string, texts ...string) {
		t.Helper()
		if err := real.Execute(context.Background(), node, texts, func(int) {}); err != nil {
			t.Errorf("%s: %v", node, err)
		}
	}
	address := map[string]string{}
	on := lab.AsCluster(c, enginemysql.Engine{}, m)
	nodes, err := on.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		address[n.Name] = n.Target.Addresses[0]
	}
	host, port, _ := strings.Cut(address["n1"], ":")
	do("n1", "CREATE DATABASE app", "CREATE TABLE app.t (id INT PRIMARY KEY)", "INSERT INTO app.t VALUES (1)", "CREATE USER follower IDENTIFIED BY 'f'", "GRANT REPLICATION SLAVE ON *.* TO follower")
	follow := func(host, port string) string {
		return fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '%s', SOURCE_PORT = %s, SOURCE_USER = 'follower', SOURCE_PASSWORD = 'f', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1", host, port)
	}
	s := awstest.New(t)
	s.Takes = 50 * time.Millisecond
	s.Green = func(string) string {
		do("n2", follow(host, port), "START REPLICA")
		return address["n2"]
	}
	s.SwitchedOver = func(old, _ awstest.Instance) { // as RDS: the former takes no writes, the copy has all and follows nobody
		do("n1", "SET GLOBAL super_read_only = ON")
		end, _ := real.Value(context.Background(), "n1", "SELECT @@GLOBAL.gtid_executed")
		do("n2", "SELECT WAIT_FOR_EXECUTED_GTID_SET('"+end+"', 60)", "STOP REPLICA", "RESET REPLICA ALL")
		_ = old
	}
	s.Parameter = func(_, name, value string) { do("n2", "SET GLOBAL "+name+" = "+value) }
	s.Rebooted = func(id string) {
		if id == "orders" { // the former server has its name back and restarts: nothing but its group holds it back
			do("n1", "SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF")
		}
	}
	s.Instances.Add(awstest.Instance{ID: "orders", Class: "db.m5.large", Engine: "mysql", Version: "8.4.6", Type: "gp3", GiB: 100, Address: address["n1"], Group: "own"})
	s.ParameterGroups.Add("own", "read_only", "0", false)
	w := &fixture{Server: s}
	w.on = &cluster.Cluster{
		Name: "orders", Environment: cluster.Lab, Engine: enginemysql.Engine{}, Local: m, AWS: &cluster.AWS{Region: "eu-west-1"},
		List: func(context.Context) ([]cluster.Node, error) {
			on := []cluster.Node{{Name: "db", Target: nodes[0].Target, Instance: "orders"}, {Name: "old", Target: nodes[0].Target, Instance: "orders-old1"}}
			for i, n := range on {
				on[i].Target.Addresses = []string{"127.0.0.1:1"}
				if is, there := s.Instances.Shown(n.Instance); there { // what its name leads to
					on[i].Target.Addresses = []string{is.Address}
				}
			}
			return on, nil
		},
	}
	t.Cleanup(func() { _ = w.on.Close() })
	return w, do
}

func TestABlueGreenDeploymentAndItsWayBack(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	w, do := blueGreenWorld(t)
	call := func(token string) action.Call {
		return action.Call{Token: token, Since: time.Now(), Progress: func(float64, string) {}}
	}
	act := func(name, with string) {
		t.Helper()
		task := w.bind(t, name, with)
		if _, err := task.Check(t.Context(), w.on); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := task.Act(ctx, w.on, call("one")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f, err := task.Check(t.Context(), w.on); err != nil || f.State != action.Satisfied {
			t.Fatalf("%s: %+v %v", name, f, err)
		}
		if err := task.(action.Verifier).Verify(t.Context(), w.on, nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	served := func() string {
		i, _ := w.Instances.Shown("orders")
		return i.Address + " " + i.Version
	}
	blue := served()
	const create = "{node: db, name: next, version: 9.7.4}"
	act("rds.create-blue-green", create)
	if err := w.bind(t, "rds.create-blue-green", create).(action.Undoer).Undo(t.Context(), w.on, call("another")); err == nil {
		t.Error("a deployment that another run made is deleted")
	}
	if err := w.bind(t, "rds.create-blue-green", create).(action.Undoer).Undo(t.Context(), w.on, call("one")); err != nil || w.Asked("DeleteBlueGreenDeployment") != 1 {
		t.Fatalf("it is not taken back: %v", err)
	}
	do("n2", "STOP REPLICA", "RESET REPLICA ALL")
	w.Fail("CreateBlueGreenDeployment", awstest.Lost)
	task := w.bind(t, "rds.create-blue-green", create)
	_, _ = task.Act(t.Context(), w.on, call("one")) // its answer is lost
	if err := task.(action.InFlightWaiter).AwaitInFlight(t.Context(), w.on, call("one")); err != nil {
		t.Fatal(err)
	}
	act("rds.create-blue-green", create)
	if n := w.Asked("CreateBlueGreenDeployment"); n != 2 {
		t.Errorf("%d deployments were made", n)
	}
	act("rds.switch-blue-green", "{node: db, name: next}")
	if now := served(); now == blue || !strings.HasSuffix(now, "9.7.4") {
		t.Errorf("orders is served by %s, as before", now)
	}
	var permanent *hint.PermanentError
	if _, err := w.bind(t, "rds.switch-back", "{node: db, old: old}").Check(t.Context(), w.on); !asPermanent(err, &permanent) || !strings.Contains(permanent.Reason, "does not replicate, or has stopped") {
		t.Errorf("without the way back: %v", err)
	}
	green, _ := w.Instances.Shown("orders")
	host, port, _ := strings.Cut(green.Address, ":")
	do("n1", fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '%s', SOURCE_PORT = %s, SOURCE_USER = 'follower', SOURCE_PASSWORD = 'f', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1", host, port), "START REPLICA")
	do("n2", "INSERT INTO app.t VALUES (2)")
	if _, err := w.bind(t, "rds.switch-back", "{node: db, old: old}").Act(t.Context(), w.on, call("back")); !asPermanent(err, &permanent) || !strings.Contains(permanent.Reason, "still accepts writes") {
		t.Errorf("writes would be lost: %v", err)
	}
	do("n2", "SET GLOBAL read_only = ON")
	w.Fail("ModifyDBInstance", awstest.Lost) // the first change of a name is made, and its answer lost
	back := w.bind(t, "rds.switch-back", "{node: db, old: old}")
	if _, err := back.Act(t.Context(), w.on, call("back")); err != nil {
		if err := back.(action.InFlightWaiter).AwaitInFlight(t.Context(), w.on, call("back")); err != nil {
			t.Fatal(err)
		}
	}
	act("rds.switch-back", "{node: db, old: old}")
	if now := served(); now != blue {
		t.Errorf("orders is served by %s, and was by %s", now, blue)
	}
	if rows, err := w.on.Value(t.Context(), "db", "SELECT COUNT(*) FROM app.t"); err != nil || rows != "2" {
		t.Errorf("what was written in between: %s rows, %v", rows, err)
	}
	if n := w.Asked("ModifyDBInstance"); n != 2 {
		t.Errorf("%d changes of names", n)
	}
	do("n1", "INSERT INTO app.t VALUES (3)")
}

func asPermanent(err error, into **hint.PermanentError) bool {
	p, is := err.(*hint.PermanentError) //nolint:errorlint // it is wrapped nowhere here
	*into = p
	return is
}

func TestASwitchoverThatRDSTakesBackIsNotCalledDone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Node{}.Target, nil)
	call := action.Call{Token: "one", Progress: func(float64, string) {}}
	if _, err := w.bind(t, "rds.create-blue-green", "{node: db1, name: next}").Check(t.Context(), w.on); err == nil {
		t.Error("a member of Aurora has a deployment of its own")
	}
	w.Instances.Add(awstest.Instance{ID: "orders", Class: "db.m5.large", Engine: "mysql", Version: "8.4.6", Group: "own"})
	if _, err := w.bind(t, "rds.create-blue-green", "{node: db1, name: next}").Act(t.Context(), w.on, call); err != nil {
		t.Fatal(err)
	}
	w.BlueGreens.FailSwitchover("next")
	_, err := w.bind(t, "rds.switch-blue-green", "{node: db1, name: next}").Act(t.Context(), w.on, call)
	if err == nil || !strings.Contains(err.Error(), "rolled back the switchover of next") {
		t.Errorf("got %v", err)
	}
}
