package books_test

import (
	"context"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/durable"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/lab"
	"plimsoll/runbook/books"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

func TestTooLittleDiskIsRefusedOnMariaDB(t *testing.T) { t.Parallel(); tooLittleDisk(t, "mariadb") }
func TestTooLittleDiskIsRefusedOnMySQL(t *testing.T)   { t.Parallel(); tooLittleDisk(t, "mysql") }

// full is a machine whose disks have a little left.
type full struct {
	infra.Machine
	left int64
}

func (m full) Space(ctx context.Context, folder string) (infra.Space, error) {
	space, err := m.Machine.Space(ctx, folder)
	space.DiskFree = m.left
	return space, err
}

// tooLittleDisk plans to copy a table on three servers of which one has less room left than the table takes. The plan is refused with the
// step, the node and what to do; an algorithm that copies nothing is not, and neither is the copy where there is room.
func tooLittleDisk(t *testing.T, product string) {
	c := newCluster(t, product)
	c.tell("n1", "CREATE DATABASE shop", "CREATE TABLE shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, note VARCHAR(200))",
		"INSERT INTO shop.orders (note) VALUES (REPEAT('x', 200)), (REPEAT('y', 200)), (REPEAT('z', 200)), (REPEAT('w', 200))",
		"INSERT INTO shop.orders (note) SELECT a.note FROM shop.orders a, shop.orders b, shop.orders c, shop.orders d, shop.orders e, shop.orders f",
		"ANALYZE TABLE shop.orders")
	c.caughtUp("n3")
	c.tell("n3", "ANALYZE TABLE shop.orders")
	store, err := durable.Open(t.Context(), durable.Options{Folder: c.store, Version: journal.Interpreter})
	c.must(err)
	defer func() { c.must(store.Close()) }()
	left := int64(1 << 10)
	s := serviceOn(store, func(ctx context.Context) (*cluster.Cluster, error) {
		on := lab.AsCluster(c.lab, enginemysql.Engine{}, c.deps.Machine)
		all := on.List
		on.List = func(ctx context.Context) ([]cluster.Node, error) {
			nodes, err := all(ctx)
			for i := range nodes {
				if nodes[i].Name == "n3" {
					nodes[i].Machine = full{nodes[i].Machine, left}
				}
			}
			return nodes, err
		}
		return on, nil
	})
	book, err := books.Read("mysql/alter-table", s.Actions)
	c.must(err)
	plan := func(algorithm string) error {
		p, err := s.Prepare(t.Context(), execute.Request{Book: book, Cluster: clusterName, Inputs: map[string]string{
			"table": "shop.orders", "change": "ADD COLUMN n INT", "algorithm": algorithm,
			"check": "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'orders' AND column_name = 'n'",
		}})
		c.must(err)
		return p.Trouble()
	}
	err = plan("COPY")
	if err == nil || !strings.Contains(err.Error(), "too little disk: step alter takes about 2 MiB on n3 for a copy of table shop.orders; less than 1 MiB is free") ||
		!strings.Contains(hint.Of(err), "choose an algorithm that copies nothing: INSTANT") || strings.Contains(err.Error(), "on n1") {
		t.Errorf("COPY: %v; %s", err, hint.Of(err))
	}
	if err := plan("INSTANT"); err != nil {
		t.Errorf("INSTANT copies nothing: %v", err)
	}
	left = 1 << 40
	if err := plan("COPY"); err != nil {
		t.Errorf("COPY, where there is room: %v", err)
	}
}
