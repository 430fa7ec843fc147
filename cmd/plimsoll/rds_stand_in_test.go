package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/infra/aws/awstest"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/inventory"
	"plimsoll/lab"
)

// rdsStandIn is a cluster of the inventory whose instances are a stand-in's of the API (awstest), for no account of AWS was there to be
// asked, with real MySQL servers behind their names. What AWS does to a server, the stand-in has done to the real one.
type rdsStandIn struct {
	t       *testing.T
	api     *awstest.Server
	servers *lab.Cluster
	on      *cluster.Cluster  // the servers themselves
	address map[string]string // of the servers, by their names in the lab
	fill    func()            // puts the instances as they are at first

	mu  sync.Mutex
	led map[net.Conn]bool // connections to names of instances
}

// newRDS makes the servers and their API, which plimsoll finds by its environment.
func newRDS(t *testing.T, nodes int, separate bool) *rdsStandIn {
	t.Helper()
	s := &rdsStandIn{t: t, api: awstest.New(t), address: map[string]string{}, led: map[net.Conn]bool{}}
	s.servers = labtest.Cluster(t, lab.Spec{Name: "rds", Product: "rds-mysql", Nodes: nodes, Separate: separate, Config: map[string]string{
		"innodb_buffer_pool_size": "32M", "innodb_redo_log_capacity": "8M", "sync_binlog": "0", "innodb_flush_log_at_trx_commit": "2",
	}})
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	s.on = labtest.AsAWS(s.servers, here)
	t.Cleanup(func() { _ = s.on.Close() })
	list, err := s.on.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		s.address[n.Name] = n.Target.Addresses[0]
	}
	s.do("n1", "CREATE USER follower IDENTIFIED BY 'f'", "GRANT REPLICATION SLAVE ON *.* TO follower", "CREATE DATABASE app", "CREATE TABLE app.t (id INT PRIMARY KEY)", "INSERT INTO app.t VALUES (1)")
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": s.api.URL, "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_EC2_METADATA_DISABLED": "true",
		"PLIMSOLL_HOME": t.TempDir(), "STAND_IN_PASSWORD": string(list[0].Target.Password), "FOLLOWER_PASSWORD": "f",
	} {
		t.Setenv(name, value)
	}
	t.Chdir(t.TempDir())
	return s
}

// do asks a server; what fails is the test's failure.
func (s *rdsStandIn) do(node string, texts ...string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.on.Execute(ctx, node, texts, func(int) {}); err != nil {
		s.t.Errorf("%s: %s: %v", node, strings.Join(texts, "; "), err)
	}
}

// follow has a server follow another, by GTID.
func (s *rdsStandIn) follow(node, source string) {
	host, port, _ := strings.Cut(s.address[source], ":")
	s.do(node, fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '%s', SOURCE_PORT = %s, SOURCE_USER = 'follower', SOURCE_PASSWORD = 'f', "+
		"SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1", host, port), "START REPLICA")
}

// describe writes the inventory. Nodes are instances by their names in it, each with its address.
func (s *rdsStandIn) describe(aurora string, nodes ...[3]string) {
	var list []string
	for _, n := range nodes {
		list = append(list, fmt.Sprintf("{name: %s, instance: %s, address: %q}", n[0], n[1], n[2]))
	}
	target, err := s.servers.Target("n1")
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(inventory.File, []byte(`clusters:
  orders:
    engine: mysql
    environment: lab
    user: `+target.User+`
    password: {env: STAND_IN_PASSWORD}
    replication: {user: follower, password: {env: FOLLOWER_PASSWORD}}
    aws: {region: eu-west-1, every: 20ms`+aurora+`}
    nodes: [`+strings.Join(list, ", ")+`]
`), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// pair is a primary and its replica: two instances of RDS, or the writer and the reader of a cluster of Aurora.
func pairOfRDS(t *testing.T, aurora bool, servers int) *rdsStandIn {
	s := newRDS(t, servers, false)
	node := map[string]string{"orders": "n1", "orders-2": "n2"}
	s.api.Rebooted = func(id string) {
		if err := s.servers.Stop(context.Background(), node[id]); err != nil {
			t.Error(err)
		}
		if err := s.servers.Start(context.Background(), node[id]); err != nil {
			t.Error(err)
		}
	}
	s.api.Parameter = func(_, name, value string) {
		for _, n := range []string{"n1", "n2"} {
			s.do(n, "SET GLOBAL "+name+" = "+value)
		}
	}
	s.api.Promoted = func(id, former string) {
		to, from := node[id], node[former]
		if aurora { // the former writer becomes a reader
			s.do(from, "SET GLOBAL super_read_only = ON")
		}
		s.do(to, "STOP REPLICA", "RESET REPLICA ALL", "SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF")
		if aurora {
			s.follow(from, to)
		}
	}
	s.fill = func() {
		i := awstest.Instance{ID: "orders", Class: "db.m5.large", Engine: "mysql", Version: "9.7.4", Type: "gp2", GiB: 100, Address: s.address["n1"], Group: "own"}
		s.api.Instances.Add(i)
		i.ID, i.Address, i.Source = "orders-2", s.address["n2"], "orders"
		if aurora {
			i.Source = ""
		}
		s.api.Instances.Add(i)
		s.api.ParameterGroups.Add("own", "max_connections", "151", false)
		if aurora {
			s.api.Clusters.Add("shop", "aurora-mysql", "orders", "orders-2")
			s.api.Endpoints.Add("shop", "every")
		}
	}
	is := ""
	nodes := [][3]string{{"db1", "orders", s.address["n1"]}, {"db2", "orders-2", s.address["n2"]}}
	if aurora {
		is = ", aurora: shop"
	}
	if servers == 3 { // the third is a reader that is to be created; its server runs before, which a look at all nodes needs
		s.api.Joined = func(string, string) string { return s.address["n3"] }
		nodes = append(nodes, [3]string{"db3", "new", s.address["n3"]})
	}
	s.describe(is, nodes...)
	s.fill()
	return s
}

// blueGreenOfRDS is an instance whose copy is a second server that follows it. The names of instances lead to whichever server has them
// by then, as those of RDS do.
func blueGreenOfRDS(t *testing.T) *rdsStandIn {
	s := newRDS(t, 2, true)
	s.api.Green = func(string) string {
		s.do("n2", "STOP REPLICA", "RESET REPLICA ALL")
		s.follow("n2", "n1")
		return s.address["n2"]
	}
	serves, closed := "n1", false                                   // which server has the instance's name, and whether its parameter group closes it
	s.api.SwitchedOver = func(awstest.Instance, awstest.Instance) { // as RDS: the former takes no writes, the copy has all and follows nobody
		serves = "n2"
		s.do("n1", "SET GLOBAL super_read_only = ON")
		end, err := s.on.Value(context.Background(), "n1", "SELECT @@GLOBAL.gtid_executed")
		if err != nil {
			t.Error(err)
		}
		s.do("n2", "SELECT WAIT_FOR_EXECUTED_GTID_SET('"+end+"', 60)", "STOP REPLICA", "RESET REPLICA ALL")
		s.cut() // of both instances: RDS drops their connections in a switchover
	}
	obey := func() {
		if closed {
			s.do(serves, "SET GLOBAL read_only = ON")
		} else {
			s.do(serves, "SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF")
		}
	}
	s.api.Parameter = func(_, _, value string) {
		closed = value == "1"
		obey()
	}
	s.api.Rebooted = func(id string) {
		s.cut()
		if id == "orders" { // the former server has its name back: nothing but its group holds it back
			serves = "n1"
			s.do("n1", "SET GLOBAL super_read_only = OFF")
			obey()
		}
	}
	s.fill = func() {
		serves, closed = "n1", false
		s.api.Instances.Add(awstest.Instance{ID: "orders", Class: "db.m5.large", Engine: "mysql", Version: "8.4.6", Type: "gp3", GiB: 100, Address: s.address["n1"], Group: "own"})
		s.api.ParameterGroups.Add("own", "read_only", "0", false)
	}
	s.describe("", [3]string{"db", "orders", s.named("orders")}, [3]string{"old", "orders-old1", s.named("orders-old1")})
	s.fill()
	return s
}

// named is an address that leads to the server which has an instance's name at that moment; to nobody while none has it.
func (s *rdsStandIn) named(instance string) string {
	l, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go s.lead(from, instance)
		}
	}()
	return l.Addr().String()
}

// cut ends all connections to names: one that stood would lead on to the server that had the name before.
func (s *rdsStandIn) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.led {
		_ = c.Close()
	}
}

func (s *rdsStandIn) lead(from net.Conn, instance string) {
	s.mu.Lock()
	s.led[from] = true
	s.mu.Unlock()
	defer func() {
		_ = from.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.led, from)
	}()
	is, there := s.api.Instances.Shown(instance)
	if !there {
		return
	}
	to, err := net.Dial("tcp", is.Address)
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}
