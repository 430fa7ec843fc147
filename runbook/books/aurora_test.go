package books_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action/mysql"
	"plimsoll/action/mysql/replication"
	"plimsoll/action/rds"
	"plimsoll/cluster"
	"plimsoll/durable"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/runbook/books"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// aurora is a cluster of Aurora whose API is a stand-in, awstest, as no account of AWS was there to be asked. Its servers are real: n1 the
// writer, and n2 which comes up, cold, when the reader is created.
type aurora struct {
	*testing.T
	api     *awstest.Server
	servers *lab.Cluster
	on      *cluster.Cluster // the servers themselves
	service *execute.Service
	session func(run string, order journal.Command) *journal.State
	observe func(journal.Event)
}

func newAurora(t *testing.T) *aurora {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	a := &aurora{T: t, api: awstest.New(t), observe: func(journal.Event) {}}
	a.servers = labtest.Cluster(t, lab.Spec{Name: "aurora", Product: "mysql", Nodes: 2, Config: map[string]string{
		"innodb_buffer_pool_size": "48M", "innodb_redo_log_capacity": "16M", "sync_binlog": "0", "innodb_flush_log_at_trx_commit": "2", "innodb_buffer_pool_load_at_startup": "OFF",
	}})
	here, err := local.New()
	a.must(err)
	a.on = lab.AsCluster(a.servers, enginemysql.Engine{}, here)
	t.Cleanup(func() { _ = a.on.Close() })
	digits := "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"
	a.must(a.on.Execute(t.Context(), "n1", []string{
		"CREATE DATABASE shop", "CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, note CHAR(200) CHARACTER SET latin1, KEY customer (customer))",
		fmt.Sprintf("INSERT INTO shop.orders SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d n, a.d, REPEAT('x', 200) FROM %s a, %s b, %s c, %s e ORDER BY n", digits, digits, digits, digits),
		"ANALYZE TABLE shop.orders",
	}, func(int) {}))
	nodes, err := a.on.List(t.Context())
	a.must(err)
	a.must(a.caughtUp())
	a.must(a.servers.Stop(t.Context(), "n2"))

	a.api.Takes = 20 * time.Millisecond
	a.api.Joined = func(string, string) string {
		if err := a.servers.Start(context.Background(), "n2"); err != nil {
			t.Error(err)
		}
		return nodes[1].Target.Addresses[0]
	}
	a.api.Instances.Add(awstest.Instance{ID: "orders", Class: "db.r6g.large", Engine: "aurora-mysql", Address: nodes[0].Target.Addresses[0], Tier: 1})
	a.api.Clusters.Add("shop", "aurora-mysql", "orders")
	nodes[0].Name, nodes[0].Instance = "db1", "orders"
	nodes[1].Name, nodes[1].Instance = "db2", "reader"
	store, err := durable.Open(t.Context(), durable.Options{Folder: t.TempDir(), Version: journal.Interpreter})
	a.must(err)
	a.service = serviceOn(store, func(context.Context) (*cluster.Cluster, error) {
		return &cluster.Cluster{
			Name: clusterName, Environment: "lab", Engine: enginemysql.Engine{}, Local: here, AWS: &cluster.AWS{Region: "eu-west-1", Aurora: "shop"},
			List: func(context.Context) ([]cluster.Node, error) { return slices.Clone(nodes), nil },
		}, nil
	})
	a.service.ClusterLock = nil
	a.service.Actions = slices.Concat(a.service.Actions, rds.Actions(func(ctx context.Context, at cluster.AWS) (*aws.RDS, error) {
		return aws.OpenRDS(ctx, aws.Options{Region: at.Region, Endpoint: a.api.URL})
	}, 2*time.Millisecond, replication.MayTakeWrites, mysql.Claims{}))
	a.service.Observe = func(_ string, e journal.Event, _ time.Time) { a.observe(e) }
	x, err := a.service.Execute(t.Context())
	a.must(err)
	t.Cleanup(func() {
		if err := x.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	a.session = func(run string, order journal.Command) *journal.State {
		t.Helper()
		a.must(a.service.Start(t.Context(), x, run, order))
		a.must(x.Wait(t.Context(), run))
		st, err := a.service.State(t.Context(), run)
		a.must(err)
		return st
	}
	return a
}

func (a *aurora) must(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

// caughtUp waits until n2 has what n1 has.
func (a *aurora) caughtUp() error {
	has, err := a.on.Value(a.Context(), "n1", "SELECT @@GLOBAL.gtid_executed")
	if err == nil {
		_, err = a.on.Value(a.Context(), "n2", "SELECT WAIT_FOR_EXECUTED_GTID_SET('"+has+"', 60)")
	}
	return err
}

// plan is what the first step of a book would do.
func (a *aurora) plan(name string, inputs ...string) journal.PlanStep {
	a.Helper()
	book, err := books.Read(name, a.service.Actions)
	a.must(err)
	said := map[string]string{}
	for _, in := range inputs {
		key, value, _ := strings.Cut(in, "=")
		said[key] = value
	}
	p, err := a.service.Prepare(a.Context(), execute.Request{Book: book, Cluster: clusterName, Inputs: said})
	a.must(err)
	a.must(p.Header.Plan.Trouble())
	return p.Header.Plan.Steps[0]
}

// output is a number that a step told; -1: it told none.
func output(st *journal.State, step, name string) float64 {
	for _, i := range st.Items {
		if i.Key != step {
			continue
		}
		switch v := i.Output[name].(type) {
		case float64:
			return v
		case int64:
			return float64(v)
		}
	}
	return -1
}

func TestAReaderOfAuroraIsWarmBeforeItServes(t *testing.T) {
	a := newAurora(t)
	inputs := []string{"node=db2", "class=db.r6g.large", "tables=shop.orders", "endpoints=reports", "tier=2", "rate=0"}
	if s := a.plan("aurora/add-reader", inputs...); !strings.Contains(s.Caution, "no custom endpoint") {
		t.Errorf("nobody can be kept from a cold reader, and the plan says %+v", s)
	}
	a.api.Endpoints.Add("shop", "every")
	a.api.Endpoints.Add("shop", "reports", "orders")
	a.api.Endpoints.Add("shop", "writes", "orders")
	if s := a.plan("aurora/add-reader", inputs...); s.Caution != "" || !strings.Contains(s.Reason, "the reader endpoint leads to it") {
		t.Errorf("with custom endpoints the plan says %+v", s)
	}
	before := 0
	a.observe = func(e journal.Event) {
		if e.Step == "serve" && e.Kind == journal.Intended {
			before++
			is, _ := a.api.Instances.Shown("reader")
			if a.api.Endpoints.Reached("every", "reader") || a.api.Endpoints.Reached("reports", "reader") || is.Tier != aws.LastTier {
				t.Errorf("before it is warm: endpoints have led to it, or it is of tier %d", is.Tier)
			}
		}
	}
	run, err := begin(t.Context(), a.service, "aurora/add-reader", inputs...)
	a.must(err)
	st := a.session(run, journal.Command{Do: "run"})
	if st.Outcome != journal.RunDone || before != 1 {
		t.Fatalf("%s %s: %s", st.Status(), st.Position(), errorsOf(st))
	}
	if cold, warm := output(st, "warm", "in_memory"), output(st, "prove", "in_memory"); cold < 0 || cold > 0.5 || warm < 0.9 {
		t.Errorf("%v of it were in memory at first, %v in the end", cold, warm)
	}
	shown := func() string {
		is, there := a.api.Instances.Shown("reader")
		return fmt.Sprint(there, is.Tier, a.api.Endpoints.Members("every"), a.api.Endpoints.Members("reports"), a.api.Endpoints.Members("writes"))
	}
	if got := shown(); got != "true 2 [orders reader] [orders reader] [orders]" {
		t.Errorf("in the end: %s", got)
	}
	if st := a.session(run, journal.Command{Do: "cancel", Undo: true, Reason: "it is not needed"}); st.Outcome != journal.RunUndone || shown() != "false 0 [orders] [orders] [orders]" {
		t.Errorf("taken back: %s, %s: %s", st.Status(), shown(), errorsOf(st))
	}
}
