package mysql_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/internal/labtest"
)

// The load of an application finds the server that takes writes, wherever it is, and leaves one that takes none any more.
func TestSessionsFollowThePrimary(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	for _, product := range []string{"mariadb", "mysql"} {
		t.Run(product, func(t *testing.T) { followThePrimary(t, labtest.UpNodes(t, product, 2)) })
	}
}

func followThePrimary(t *testing.T, cluster labtest.Server) {
	const password = "of the application"
	if err := cluster.Database.(engine.Namespaced).MakeAccount(t.Context(), "application", password, cluster.Target.Namespace); err != nil {
		t.Fatal(err)
	}
	var nodes []engine.Database
	for _, address := range cluster.Target.Addresses {
		one := cluster.Target
		one.Addresses = []string{address}
		waitFor(t, address+" has the database", func() bool { // which comes to the replica as everything does
			db, err := mysql.Engine{}.Open(t.Context(), one)
			if err != nil {
				return false
			}
			t.Cleanup(func() { db.Close() })
			nodes = append(nodes, db)
			return true
		})
	}
	labtest.Ask(t, nodes[0], "CREATE TABLE follow (id INT PRIMARY KEY)")
	waitFor(t, "the replica has the table and the user", func() bool {
		session, err := nodes[1].Session(t.Context())
		if err != nil {
			return false
		}
		defer session.Close()
		r := engine.Result{Keep: true}
		err = session.Exec(t.Context(), "SELECT COUNT(*) FROM mysql.user WHERE user = 'application'", &r)
		return err == nil && session.Exec(t.Context(), "SELECT * FROM follow", nil) == nil && r.At(0, 0).Int == 1
	})
	target := cluster.Target
	target.User, target.Password = "application", password
	target.Addresses = []string{target.Addresses[1], target.Addresses[0]} // the replica first: it must be passed over
	load := openTarget(t, target)

	session, err := load.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write := func(id string) error { return session.Exec(t.Context(), "INSERT INTO follow VALUES ("+id+")", nil) }
	if err := write("1"); err != nil {
		t.Fatal(err)
	}
	labtest.Ask(t, nodes[0], "SET GLOBAL read_only = 1")
	var refused *engine.Error
	if err := write("2"); !errors.As(err, &refused) || refused.Kind != engine.ReadOnly || !refused.Lost {
		t.Errorf("a write where the primary became read-only: %v, want the connection to be lost", err)
	}
	if _, err := load.Session(t.Context()); err == nil || !strings.Contains(err.Error(), "none of 2 servers accepts writes") {
		t.Errorf("no primary anywhere: %v", err)
	}
	labtest.Ask(t, nodes[1], "SET GLOBAL read_only = 0")
	waitFor(t, "the new primary is found", func() bool {
		session, err = load.Session(t.Context())
		return err == nil
	})
	if err := write("3"); err != nil {
		t.Fatal(err)
	}
	if got := labtest.Query(t, nodes[1], "SELECT id FROM follow WHERE id = 3"); len(got) != 1 {
		t.Errorf("the write is not on the new primary: %q", got)
	}
}

func openTarget(t *testing.T, target engine.Target) engine.Database {
	t.Helper()
	db, err := mysql.Engine{}.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// waitFor waits until something is so, for a minute.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
