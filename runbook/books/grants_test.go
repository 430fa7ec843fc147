package books_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/engine"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/internal/poll"
	"plimsoll/lab"
	"plimsoll/runbook/books"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

func TestOneListOfGrantsOnMariaDB(t *testing.T) { t.Parallel(); oneListOfGrants(t, "mariadb") }
func TestOneListOfGrantsOnMySQL(t *testing.T)   { t.Parallel(); oneListOfGrants(t, "mysql") }

// oneListOfGrants plans and runs books by an account that has nothing, and then what the plan said it lacked, and no more.
func oneListOfGrants(t *testing.T, product string) {
	c := newCluster(t, product)
	c.tell("n1", "CREATE USER changer@'%' IDENTIFIED BY 'x-changer'", "CREATE DATABASE shop",
		"CREATE TABLE shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, note VARCHAR(200))",
		"INSERT INTO shop.orders (note) VALUES (REPEAT('x', 200)), (REPEAT('y', 200)), (REPEAT('z', 200)), (REPEAT('w', 200))",
		"INSERT INTO shop.orders (note) SELECT a.note FROM shop.orders a, shop.orders b, shop.orders c, shop.orders d, shop.orders e, shop.orders f",
		"ANALYZE TABLE shop.orders")
	soon, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	c.must(poll.Until(soon, 100*time.Millisecond, func() (string, error) {
		if c.says("n3", "SELECT COUNT(*) FROM mysql.user WHERE user = 'changer'") != "1" {
			return "the account does not reach n3", nil
		}
		return "", nil
	}))
	store, err := durable.Open(t.Context(), durable.Options{Folder: c.store, Version: journal.Interpreter})
	c.must(err)
	defer func() { c.must(store.Close()) }()
	s := serviceOn(store, func(ctx context.Context) (*cluster.Cluster, error) { return asChanger(ctx, c) })
	for _, change := range [][]string{
		{"mysql/set-variable", "name=max_connections", "value=700"},
		{"mysql/alter-table", "table=shop.orders", "change=ADD COLUMN n INT", "algorithm=COPY",
			"check=SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'orders' AND column_name = 'n'"},
		{"mysql/switchover", "to=n2", "max_behind=1m"},
	} {
		lacks := lacksOf(t, s, change)
		if len(lacks) == 0 {
			t.Fatalf("%s: an account without a privilege lacks none", change[0])
		}
		for _, l := range lacks {
			t.Log(change[0], l.Nodes, l.Grant)
			c.tell(primaryOf(c), l.Grant)
		}
		reached, stop := context.WithTimeout(t.Context(), 20*time.Second)
		c.must(poll.Until(reached, 100*time.Millisecond, func() (string, error) { // they have to reach the replicas
			if again := lacksOf(t, s, change); len(again) > 0 {
				return fmt.Sprintf("%s: after the grants it still lacks %v", change[0], again), nil
			}
			return "", nil
		}))
		stop()
		x, err := s.Execute(t.Context())
		c.must(err)
		run, err := begin(t.Context(), s, change[0], change[1:]...)
		c.must(err)
		c.must(s.Start(t.Context(), x, run, journal.Command{Do: "run"}))
		c.must(x.Wait(t.Context(), run))
		c.must(x.Close(t.Context()))
		if st, err := s.State(t.Context(), run); err != nil || st.Outcome != journal.RunDone {
			t.Fatalf("%s by an account with these grants alone: %v %s", change[0], err, errorsOf(st))
		}
	}
}

// lacksOf plans a change, and returns what its account lacks; the refusal tells each grant.
func lacksOf(t *testing.T, s *execute.Service, change []string) []execute.Lack {
	t.Helper()
	book, err := books.Read(change[0], s.Actions)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, in := range change[1:] {
		key, value, _ := strings.Cut(in, "=")
		said[key] = value
	}
	p, err := s.Prepare(t.Context(), execute.Request{Book: book, Cluster: clusterName, Inputs: said})
	if err != nil {
		lack, is := err.(*execute.LackError) //nolint:errorlint // it is returned as it is
		if !is {
			t.Fatal(err)
		}
		return lack.All
	}
	if change[0] == "mysql/alter-table" && len(p.Lacks) == 0 { // what an account may not see has no size
		if len(p.Room) != 3 || p.Room[0].Needs < 100_000 || p.Room[0].Free < p.Room[0].Needs {
			t.Errorf("the room for a copy of the table: %v", p.Room)
		}
	}
	err = p.Trouble()
	var hinted interface{ Hint() string }
	for _, l := range p.Lacks {
		if h, is := err.(interface{ Hint() string }); is { //nolint:errorlint // it is returned as it is
			hinted = h
		}
		if hinted == nil || !strings.Contains(hinted.Hint(), l.Grant+";") {
			t.Errorf("%q is not advised: %v", l.Grant, err)
		}
	}
	if len(p.Lacks) == 0 && err != nil {
		t.Fatal(err)
	}
	return p.Lacks
}

func primaryOf(c *threeServers) string {
	c.Helper()
	n, err := c.on.Primary(c.Context())
	c.must(err)
	return n.Name
}

// asChanger is the lab as an inventory would show it, reached by an account of our own: its settings are the servers' alone.
func asChanger(ctx context.Context, c *threeServers) (*cluster.Cluster, error) {
	on := lab.AsCluster(c.lab, enginemysql.Engine{}, c.deps.Machine)
	all := on.List
	nodes, err := all(ctx)
	if err != nil {
		return nil, err
	}
	on.Replication = &cluster.Account{User: nodes[0].Target.User, Password: nodes[0].Target.Password}
	on.List = func(ctx context.Context) ([]cluster.Node, error) {
		nodes, err := all(ctx)
		for i := range nodes {
			nodes[i].Target.User, nodes[i].Target.Password, nodes[i].Server = "changer", engine.Secret("x-changer"), nil
		}
		return nodes, err
	}
	return on, nil
}
