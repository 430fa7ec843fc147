package cql_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/internal/poll"
)

// deed is something that an account does by a right.
type deed struct {
	need  engine.Need
	texts []string
}

// deeds are what a load and a run do by each right.
var deeds = []deed{
	{engine.Need{Right: engine.SeeNodes}, []string{"SELECT value FROM system_views.settings WHERE name = 'cluster_name'", "SELECT files FROM system_views.pending_hints", "SELECT id FROM system_views.repairs"}},
	{engine.Need{Right: engine.ReadTables, Of: "Shop"}, []string{`SELECT * FROM "Shop".orders`}},
	{engine.Need{Right: engine.WriteTables, Of: "Shop"}, []string{`INSERT INTO "Shop".orders (id, n) VALUES (1, 1)`, `UPDATE "Shop".orders SET n = 2 WHERE id = 1 IF n = 1`, `SELECT n FROM "Shop".orders`, `DELETE FROM "Shop".orders WHERE id = 1`}},
	{engine.Need{Right: engine.AlterTables, Of: "Shop"}, []string{`ALTER TABLE "Shop".orders WITH comment = 'altered'`}},
	{engine.Need{Right: engine.MakeTables, Of: "Shop"}, []string{`CREATE TABLE "Shop".made (id int PRIMARY KEY)`, `INSERT INTO "Shop".made (id) VALUES (1)`, `SELECT id FROM "Shop".made`, `DROP TABLE "Shop".made`}},
	{engine.Need{Right: engine.KeepClaim}, append([]string{ // a ring on which no run ever was
		"CREATE KEYSPACE IF NOT EXISTS plimsoll WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}",
		"CREATE TABLE IF NOT EXISTS plimsoll.claim (id int PRIMARY KEY, run text)",
	}, claiming...)},
	{engine.Need{Right: engine.KeepClaim}, claiming}, // one that has its table
}

var claiming = []string{"UPDATE plimsoll.claim SET run = 'r' WHERE id = 1 IF run = null", "SELECT run FROM plimsoll.claim WHERE id = 1", "DELETE run FROM plimsoll.claim WHERE id = 1 IF run = 'r'"}

// TestTheGrantThatIsAdvisedIsEnough grants to a bare account what Lacks writes, and does by it what it is for; before, the ring refuses.
func TestTheGrantThatIsAdvisedIsEnough(t *testing.T) {
	ring := labtest.Up(t, "cassandra")
	ctx := t.Context()
	must := func(texts ...string) {
		t.Helper()
		if err := try(ctx, ring.Database, texts...); err != nil {
			t.Fatal(err)
		}
	}
	must(`CREATE KEYSPACE "Shop" WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}`, `CREATE TABLE "Shop".orders (id int PRIMARY KEY, n int)`)
	for i, d := range deeds {
		user := "Bare-" + string(rune('a'+i)) // in capitals and with a dash, so that it must be quoted
		must(`CREATE ROLE "` + user + `" WITH LOGIN = true AND PASSWORD = 'x-` + user + `'`)
		target := ring.Target
		target.User, target.Password, target.Namespace = user, engine.Secret("x-"+user), ""
		bare := loginAs(t, ring.Engine, target)
		if err := try(ctx, bare, d.texts...); engine.ClassOf(err) != engine.Denied {
			t.Errorf("%s: without grants: %v", d.need.Right, err)
		}
		lacks := lacksOf(t, bare, d.need)
		if len(lacks) == 0 {
			t.Errorf("%s: nothing lacks", d.need.Right)
		}
		var grants []string
		for _, lack := range lacks {
			grants = append(grants, strings.Split(lack.Grant, "; ")...)
		}
		must(grants...)
		if again := lacksOf(t, bare, d.need); len(again) > 0 {
			t.Errorf("%s: after %q still lacks %q", d.need.Right, grants, again[0].Grant)
		}
		soon, stop := context.WithTimeout(ctx, time.Minute) // members keep permissions for a while
		if err := poll.Until(soon, 100*time.Millisecond, func() (string, error) {
			return poll.Why(try(ctx, bare, d.texts...)), nil
		}); err != nil {
			t.Errorf("%s: after %q: %v", d.need.Right, grants, err)
		}
		stop()
	}

	// What a role was granted holds for whom it was granted to. A superuser lacks nothing.
	must(`CREATE ROLE ops`, `GRANT MODIFY ON ALL KEYSPACES TO ops`, `CREATE ROLE inrole WITH LOGIN = true AND PASSWORD = 'x-inrole'`, `GRANT ops TO inrole`)
	target := ring.Target
	target.User, target.Password, target.Namespace = "inrole", "x-inrole", ""
	lacks := lacksOf(t, loginAs(t, ring.Engine, target), engine.Need{Right: engine.WriteTables, Of: "Shop", For: "the load"}, engine.Need{Right: engine.ReadTables, Of: "Shop", For: "a look"})
	if len(lacks) != 1 || lacks[0].Grant != `GRANT SELECT ON KEYSPACE "Shop" TO "inrole"` || !slices.Equal(lacks[0].For, []string{"the load", "a look"}) {
		t.Errorf("a role in a role lacks %+v", lacks)
	}
	if lacks := lacksOf(t, ring.Database, engine.Need{Right: engine.KeepClaim}, engine.Need{Right: engine.SeeNodes}); len(lacks) > 0 {
		t.Errorf("a superuser lacks %v", lacks)
	}
	rows, err := session(t, ring.Database).(engine.Tabular).Table(ctx, "LIST ROLES OF inrole")
	if err != nil || len(rows) != 2 || rows[0]["role"] != "inrole" || rows[1]["role"] != "ops" || rows[1]["login"] != "0" {
		t.Errorf("as a table: %v %v", rows, err)
	}
	if missing := lacksOf(t, loginAs(t, ring.Engine, target), engine.Need{Right: engine.MakeTables, Of: "later"}); len(missing) != 1 || !strings.HasPrefix(missing[0].Grant, "GRANT CREATE ON ALL KEYSPACES") {
		t.Errorf("to make a keyspace lacks %v", missing)
	}
}

func loginAs(t *testing.T, e engine.Engine, target engine.Target) engine.Database {
	t.Helper()
	db, err := e.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func lacksOf(t *testing.T, db engine.Database, needs ...engine.Need) []engine.Lack {
	t.Helper()
	lacks, err := db.(engine.Authorizing).Lacks(t.Context(), needs)
	if err != nil {
		t.Fatal(err)
	}
	return lacks
}

// try executes statements until one is refused.
func try(ctx context.Context, db engine.Database, texts ...string) error {
	s, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, text := range texts {
		if err := s.Exec(ctx, text, nil); err != nil {
			return err
		}
	}
	return nil
}

func session(t *testing.T, db engine.Database) engine.Session {
	t.Helper()
	s, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
