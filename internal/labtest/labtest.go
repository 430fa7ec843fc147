// Package labtest gives tests a real database.
package labtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/engine"
	"plimsoll/engine/cql"
	"plimsoll/engine/mysql"
	"plimsoll/lab"
)

// Server is a real server's empty database, named test.
type Server struct {
	engine.Database
	Engine  engine.Engine
	Target  engine.Target
	Cluster *lab.Cluster
}

// Each runs f as a subtest on a server of each product, beside other tests, and returns before they have begun. Short tests skip it.
func Each(t *testing.T, f func(t *testing.T, db Server)) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	t.Parallel()
	for _, product := range products {
		t.Run(product, func(t *testing.T) {
			t.Parallel()
			f(t, Up(t, product))
		})
	}
}

// EachAlone is Each with no other test beside it, for one that counts what its process does.
func EachAlone(t *testing.T, f func(t *testing.T, db Server)) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	for _, product := range products {
		t.Run(product, func(t *testing.T) { f(t, Up(t, product)) })
	}
}

var products = []string{"mariadb", "mysql"}

// Up starts a server, which ends with the test.
func Up(t testing.TB, product string) Server {
	t.Helper()
	return UpNodes(t, product, 1)
}

// UpNodes starts a primary and its replicas, or a ring, which end with the test. The target has the addresses of all, the
// primary's first.
func UpNodes(t testing.TB, product string, nodes int) Server {
	t.Helper()
	return UpSpec(t, lab.Spec{Name: "workload", Product: product, Nodes: nodes, Config: config(product)})
}

// UpSpec is UpNodes of a cluster of one's own making.
func UpSpec(t testing.TB, spec lab.Spec) Server {
	t.Helper()
	cluster := Cluster(t, spec)
	target, err := cluster.Target()
	if err != nil {
		t.Fatal(err)
	}
	e := engineOf(spec.Product)
	admin, err := e.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	target.Namespace = "test"
	if err := admin.(engine.Namespaced).MakeNamespace(t.Context(), target.Namespace); err != nil {
		t.Fatal(err)
	}
	db, err := e.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return Server{db, e, target, cluster}
}

// engineOf is the adapter for a product. The catalog has it too, and imports what is tested with this package.
func engineOf(product string) engine.Engine {
	if product == "cassandra" {
		return cql.Engine{}
	}
	return mysql.Engine{}
}

// config is what makes a server fit for tests: with room in memory, and without waiting for a disk.
func config(product string) map[string]string {
	if product == "cassandra" {
		return nil
	}
	return map[string]string{"innodb_buffer_pool_size": "512M", "innodb_flush_log_at_trx_commit": "2", "sync_binlog": "0"}
}

// shortDir is a temporary folder whose path leaves room for the path of a Unix socket.
func shortDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "wl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Clean(dir)
}

// Query returns the rows of a SELECT as text, values separated by spaces.
func Query(t testing.TB, db engine.Database, text string) []string {
	t.Helper()
	session, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	r := engine.Result{Keep: true}
	if err := session.Exec(t.Context(), text, &r); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	rows := make([]string, r.Rows)
	for i := range rows {
		for j := range r.Columns {
			if j > 0 {
				rows[i] += " "
			}
			rows[i] += Show(r.At(i, j))
		}
	}
	return rows
}

// Show writes a value as text.
func Show(v engine.Value) string {
	switch v.Kind {
	case engine.Null:
		return "NULL"
	case engine.Integer:
		return fmt.Sprint(v.Int)
	case engine.Real:
		return fmt.Sprint(v.Float)
	}
	return string(v.Data)
}
