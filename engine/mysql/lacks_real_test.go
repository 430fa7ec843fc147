package mysql_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/internal/poll"
)

// deed is something that an account does by a right, on one of the products or on both.
type deed struct {
	need  engine.Need
	maria []string
	mysql []string

	only   map[string]string // all that is granted for it, by product
	beside string            // what is granted before
}

// deeds are what actions do by each right, with statements that leave a server without replication as it is.
var deeds = []deed{
	{need: engine.Need{Right: engine.SeeReplication}, maria: []string{"SHOW REPLICA STATUS", "SHOW MASTER STATUS"}, mysql: []string{"SHOW REPLICA STATUS", "SHOW BINARY LOG STATUS"}},
	{need: engine.Need{Right: engine.ManageReplication}, maria: []string{"STOP SLAVE", "SET GLOBAL gtid_slave_pos = ''"}, mysql: []string{"STOP REPLICA"}},
	{need: engine.Need{Right: engine.ResetReplication}, maria: []string{"RESET SLAVE ALL"}, mysql: []string{"RESET REPLICA ALL"}},
	{need: engine.Need{Right: engine.SwitchReadOnly}, maria: []string{"SET GLOBAL read_only = 0"}, mysql: []string{"SET GLOBAL super_read_only = 0", "SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0"}},
	{need: engine.Need{Right: engine.SetVariable, Of: "max_connections"}, maria: []string{"SET GLOBAL max_connections = 900"}, mysql: []string{"SET GLOBAL max_connections = 900"}},
	{need: engine.Need{Right: engine.SetVariable, Of: "sync_binlog"}, maria: []string{"SET GLOBAL sync_binlog = 1"}, mysql: []string{"SET GLOBAL sync_binlog = 1"}},
	{need: engine.Need{Right: engine.SetVariable, Of: "read-only"}, maria: []string{"SET GLOBAL read_only = 0"}, mysql: []string{"SET GLOBAL read_only = 0"}},
	{need: engine.Need{Right: engine.SetVariable, Of: "slave_parallel_threads"}, maria: []string{"SET GLOBAL slave_parallel_threads = 0"}},
	{need: engine.Need{Right: engine.SetVariable, Of: "gtid_domain_id"}, maria: []string{"SET GLOBAL gtid_domain_id = 0"}},
	{need: engine.Need{Right: engine.SetVariable, Of: "long_query_time"}, maria: []string{"SET GLOBAL long_query_time = 10"}, mysql: []string{"SET GLOBAL long_query_time = 10"}},
	{need: engine.Need{Right: engine.KeepVariable}, mysql: []string{"SET PERSIST_ONLY innodb_log_buffer_size = 67108864", "SELECT COUNT(*) FROM performance_schema.persisted_variables", "RESET PERSIST IF EXISTS innodb_log_buffer_size"}},
	{need: engine.Need{Right: engine.HideSecrets}, maria: []string{"SET SESSION sql_log_off = 1"}, mysql: []string{"SET SESSION sql_log_off = 1"}},
	{need: engine.Need{Right: engine.SeeSessions}, maria: []string{"SELECT COUNT(*) FROM information_schema.innodb_trx"}, mysql: []string{"SELECT COUNT(*) FROM information_schema.innodb_trx"}},
	{need: engine.Need{Right: engine.SeeMemory}, maria: []string{"SELECT COUNT(*) FROM information_schema.innodb_buffer_page"}, mysql: []string{"SELECT COUNT(*) FROM information_schema.innodb_buffer_page"}},
	{need: engine.Need{Right: engine.MakeTables, Of: "shop"}, maria: shopping, mysql: shopping},
	{need: engine.Need{Right: engine.AlterTables, Of: "shop"}, maria: altering, mysql: altering, only: map[string]string{"MariaDB": "ALTER, SELECT", "MySQL": "ALTER, CREATE, INSERT"}},
	{need: engine.Need{Right: engine.MakeIndexes, Of: "shop"}, maria: indexing, mysql: indexing, only: map[string]string{"MariaDB": "INDEX", "MySQL": "INDEX"}},
	{need: engine.Need{Right: engine.ListReplicas}, maria: listing, mysql: listing},
	{need: engine.Need{Right: engine.LogTriggers}, mysql: triggering, beside: "GRANT TRIGGER, SELECT ON shop.* TO"},
	{need: engine.Need{Right: engine.KeepClaim}, maria: claiming, mysql: claiming},
}

var (
	shopping = []string{"CREATE TABLE shop.t (id INT PRIMARY KEY, n INT, INDEX (n))", "INSERT INTO shop.t VALUES (1, 1)", "UPDATE shop.t SET n = 2", "SELECT n FROM shop.t FOR UPDATE", "DELETE FROM shop.t", "DROP TABLE shop.t"}
	altering = []string{"ALTER TABLE shop.altered ADD COLUMN c INT, ALGORITHM=COPY", "ALTER TABLE shop.altered ADD INDEX c (c)", "ALTER TABLE shop.altered DROP INDEX c"}
	indexing = []string{"CREATE INDEX c ON shop.altered (c)", "DROP INDEX c ON shop.altered"}
	listing  = []string{"CREATE DATABASE IF NOT EXISTS plimsoll", "CREATE TABLE IF NOT EXISTS plimsoll.online_replicas (id INT)", "DELETE FROM plimsoll.online_replicas",
		"INSERT INTO plimsoll.online_replicas VALUES (1)", "SELECT id FROM plimsoll.online_replicas", "DROP TABLE plimsoll.online_replicas"}
	triggering = []string{"CREATE TRIGGER shop.counted AFTER DELETE ON shop.altered FOR EACH ROW SET @n = 1", "DROP TRIGGER shop.counted"}
	claiming   = []string{"CREATE DATABASE IF NOT EXISTS plimsoll", "CREATE TABLE IF NOT EXISTS plimsoll.claim (id INT PRIMARY KEY, run INT)", "INSERT IGNORE INTO plimsoll.claim VALUES (1, 1)", "UPDATE plimsoll.claim SET run = 2", "SELECT run FROM plimsoll.claim"}
)

// TestTheGrantThatIsAdvisedIsEnough grants to a bare account what Lacks writes, and does by it what it is for; before, the server refuses.
func TestTheGrantThatIsAdvisedIsEnough(t *testing.T) {
	labtest.Each(t, func(t *testing.T, server labtest.Server) {
		facts, err := server.Database.Facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		do(t, server.Database, "CREATE DATABASE shop", "CREATE TABLE shop.altered (id INT PRIMARY KEY)")
		for i, d := range deeds {
			texts := d.mysql
			if facts.Product == "MariaDB" {
				texts = d.maria
			}
			if len(texts) == 0 {
				continue
			}
			user := "bare" + string(rune('a'+i))
			do(t, server.Database, "CREATE USER "+user+"@'%' IDENTIFIED BY 'x-"+user+"'")
			target := server.Target
			target.User, target.Password, target.Namespace = user, engine.Secret("x-"+user), ""
			if d.beside != "" {
				do(t, server.Database, d.beside+" "+user+"@'%'")
			}
			refused := loginAs(t, server.Engine, target)
			if err := try(t.Context(), refused, texts...); engine.ClassOf(err) != engine.Denied {
				t.Errorf("%s: without grants: %v", d.need.Right, err)
			}
			lacks := lacksOf(t, refused, d.need)
			if len(lacks) == 0 {
				t.Errorf("%s %s: nothing lacks", d.need.Right, d.need.Of)
				continue
			}
			for _, lack := range lacks {
				if !strings.Contains(lack.Grant, "'"+user+"'@'%'") {
					t.Errorf("%s: %s names no account", d.need.Right, lack.Grant)
				}
				do(t, server.Database, lack.Grant)
			}
			if only, is := d.only[facts.Product]; is && strings.Join(lacks[0].Privileges, ", ") != only {
				t.Errorf("%s: %q is granted, and %s is enough", d.need.Right, lacks[0].Privileges, only)
			}
			may := loginAs(t, server.Engine, target)
			if again := lacksOf(t, may, d.need); len(again) > 0 {
				t.Errorf("%s: after %q still lacks %q", d.need.Right, lacks[0].Grant, again[0].Grant)
			}
			if err := try(t.Context(), may, texts...); err != nil {
				t.Errorf("%s %s: after %q: %v", d.need.Right, d.need.Of, lacks[0].Grant, err)
			}
		}
	})
}

func TestARoleGivesWhatItIsGranted(t *testing.T) {
	labtest.Each(t, func(t *testing.T, server labtest.Server) {
		do(t, server.Database, "CREATE ROLE ops", "GRANT PROCESS ON *.* TO ops", "CREATE USER inrole@'%' IDENTIFIED BY 'x-inrole'", "GRANT ops TO inrole@'%'")
		facts, err := server.Database.Facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defaultRole := "SET DEFAULT ROLE ops TO inrole@'%'"
		if facts.Product == "MariaDB" {
			defaultRole = "SET DEFAULT ROLE ops FOR inrole@'%'"
		}
		do(t, server.Database, defaultRole)
		do(t, server.Database, "SET GLOBAL time_zone = '+09:00'") // of later sessions; the server's machine has another
		target := server.Target
		target.User, target.Password, target.Namespace = "inrole", "x-inrole", ""
		if lacks := lacksOf(t, loginAs(t, server.Engine, target), engine.Need{Right: engine.SeeSessions}); len(lacks) > 0 {
			t.Errorf("its role has PROCESS, and yet: %v", lacks)
		}
		openTransactionsAreListed(t, server.Database, loginAs(t, server.Engine, target))
	})
}

// The syntax of a change is checked also while the table is held, and nothing is changed.
func syntaxIsChecked(t *testing.T, db engine.Database, product string) {
	t.Helper()
	checks := db.(engine.SyntaxChecking)
	misspelled := "1064"
	if product == "MariaDB" {
		misspelled = "4161"
	}
	for statement, code := range map[string]string{
		"ALTER TABLE held.t ADD COLUM note INT": misspelled, "ALTER TABLE held.t ADD COLUMN": "1064", "ALTER TABLE held.t ADD COLUMN note INT, ALGORITHM=INSTANT": "", "ALTER TABLE held.none ADD COLUMN note INT": "",
		"SET SESSION lock_wait_timeout = 5": "", "SELEKT": "",
	} {
		if err := checks.CheckSyntax(t.Context(), statement); engine.CodeOf(err) != code {
			t.Errorf("%s: %v, want %q", statement, err, code)
		}
	}
}

// A transaction that only read a table keeps its definition from being changed: it is listed with its session.
func openTransactionsAreListed(t *testing.T, by, looking engine.Database) {
	t.Helper()
	list := func() string {
		all, err := looking.(engine.TransactionListing).OpenTransactions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, ", ")
	}
	do(t, by, "CREATE DATABASE held", "CREATE TABLE held.t (id INT PRIMARY KEY)")
	if got := list(); got != "" {
		t.Errorf("of none: %q", got)
	}
	s, err := by.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, text := range []string{"BEGIN", "SELECT * FROM held.t"} {
		if err := s.Exec(t.Context(), text, nil); err != nil {
			t.Fatal(err)
		}
	}
	facts, err := by.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	syntaxIsChecked(t, looking, facts.Product)
	limited, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	one := regexp.MustCompile(`^connection \d+ of \w+@[\w.:]+ for \d+s$`)
	err = poll.Until(limited, 100*time.Millisecond, func() (string, error) { // what InnoDB showed before it shows for a moment
		if got := list(); !one.MatchString(got) {
			return fmt.Sprintf("of one that has read: %q", got), nil
		}
		return "", nil
	})
	if err != nil {
		t.Error(err)
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

func do(t *testing.T, db engine.Database, texts ...string) {
	t.Helper()
	if err := try(t.Context(), db, texts...); err != nil {
		t.Fatal(err)
	}
}
