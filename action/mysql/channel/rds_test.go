package channel

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine/mysql/launch"
)

// No RDS was there to be asked. These are real MySQL servers of the lab dressed as one (rds-mysql): an administrator without the rights to
// replicate, and the procedures of RDS, as its documentation has them, by which he may.

// dressed is a world in which some nodes are RDS, reached as its administrator reaches it; the others are nobody's but the lab's.
func (w fixture) dressed(nodes ...string) fixture {
	w.Helper()
	inner := w.on.List
	list := func(ctx context.Context) ([]cluster.Node, error) {
		all, err := inner(ctx)
		for i, n := range all {
			if slices.Contains(nodes, n.Name) {
				all[i].Target.User = launch.RDSAdministrator
				all[i].Machine, all[i].Server = nil, nil
			}
		}
		return all, err
	}
	on := &cluster.Cluster{Name: w.on.Name, Environment: w.on.Environment, Engine: w.on.Engine, Local: w.on.Local, Made: w.on.Made, List: list}
	on.AskRoles()
	w.Cleanup(func() { _ = on.Close() })
	return fixture{w.T, on}
}

func TestRDSFollowsByItsProcedures(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	w := newFixture(t, "rds-mysql", 3)
	w.do("n1", "DROP PROCEDURE mysql.rds_start_replication") // it is a server of one's own
	w.fill("n1", "app1")
	w.do("n1", "CREATE USER owner IDENTIFIED BY 'o'", "GRANT SELECT ON app1.* TO owner", "ALTER DEFINER = owner VIEW app1.seen AS SELECT id, v FROM app1.many WHERE k < 10")
	w.act(restoreSnapshot, attachN2) // as RDS restores a snapshot
	r := w.dressed("n2", "n3")
	if text := r.value("n2", "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'x'"); !strings.Contains(text, "denied") {
		t.Fatalf("its administrator may do what RDS's may not: %s", text)
	}
	ws := w.write("app1", "n1")
	r.sub("keep-binlogs", func(r fixture) {
		hours := r.snapshot("n2: SELECT value FROM mysql.rds_configuration")
		r.conform(keepBinlogs, `{node: n2, for: 30h}`, hours)
		r.act(keepBinlogs, `{node: n2, for: 90m}`)
		if text := hours(r.T); !strings.Contains(text, "= 2\n") {
			r.Errorf("an hour and a half are %s", text)
		}
		r.conform(releaseBinlogs, `{node: n2, seconds: 0}`, hours)
	})
	r.sub("external replica", func(r fixture) {
		r.conform(attach, attachN2, r.channels("n2"), 0, 20*time.Millisecond, 100*time.Millisecond)
		r.act(attach, attachN2)
		r.act(compareRows, `{source: n1, node: n2, chunk: 600, hold: 5m}`)
		if text := r.channels("n2")(r.T); !strings.Contains(text, "runs true") || !strings.Contains(text, "gtid true") {
			r.Errorf("by GTID: %s", text)
		}
		r.undo(attach, attachN2)
		if text := r.channels("n2")(r.T); strings.Contains(text, "from") {
			r.Errorf("it still follows: %s", text)
		}
	})
	r.sub("multi-source", func(r fixture) {
		r.looks(checkSources, `{sources: ["n1:app1"], node: n3}`, r.snapshot("n3: SELECT COUNT(*) FROM information_schema.tables"))
		r.act(seed, `{source: n1, node: n3, databases: [app1]}`)
		const with = `{source: n1, node: n3, name: first, databases: [app1]}`
		w.do("n1", "CREATE DATABASE elsewhere")
		if _, err := r.task(addChannel, with).Act(r.Context(), r.on, call(action.CheckResult{})); err == nil || !strings.Contains(err.Error(), "also has a database elsewhere") {
			r.Errorf("what no parameter filters would come through: %v", err)
		}
		w.do("n1", "DROP DATABASE elsewhere")
		r.act(seed, `{source: n1, node: n3, databases: [app1]}`)
		r.conform(addChannel, with, r.channels("n3"), 0, 20*time.Millisecond, 100*time.Millisecond)
		r.act(addChannel, with)
		r.act(compareRows, `{source: n1, node: n3, chunk: 5000, hold: 5m}`)
	})
	w.do("n3", "SET GLOBAL general_log = ON")
	r.undo(addChannel, `{source: n1, node: n3, name: first, databases: [app1]}`)
	if _, err := r.task(addChannel, `{source: n1, node: n3, name: first, databases: [app1]}`).Act(r.Context(), r.on, call(action.CheckResult{})); err == nil || !strings.Contains(err.Error(), "general log") {
		r.Errorf("a password in a log: %v", err)
	}
	ws.end()
}
