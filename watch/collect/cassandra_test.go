package collect

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/watch"
)

func TestCassandra(t *testing.T) {
	db := labtest.Up(t, "cassandra")
	dial := func(ctx context.Context) (engine.Session, error) { return db.Session(ctx) }
	w := &watched{t: t, db: db, readers: Cassandra(dial, db.Target.Addresses[0], 2), samples: map[string]float64{}}
	w.readers[0].(*cassandra).breaker.slow = time.Minute // a machine that compiles beside this test is slow to answer
	labtest.Ask(t, db, "CREATE TABLE test.t (id int PRIMARY KEY, v int)")
	w.read(watch.TenSeconds)
	// The server works out its rates every five seconds.
	for begun := time.Now(); (w.seen.P99 == nil || w.seen.Throughput == nil || *w.seen.Throughput < 1) && time.Since(begun) < 30*time.Second; w.read(watch.TenSeconds) {
		for round := time.Now(); time.Since(round) < 2*time.Second; {
			labtest.Ask(t, db, "INSERT INTO test.t (id, v) VALUES (1, 2)", "SELECT v FROM test.t WHERE id = 1")
		}
	}
	if w.seen.Version == "" || w.seen.Load == nil || w.seen.Throughput == nil || *w.seen.Throughput < 1 || w.seen.P99 == nil {
		t.Errorf("%+v", w.seen)
	}
	for _, name := range dashboardNames(t, "cassandra.json", "cassandra") {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(w.samples)), func(key string) bool { return key == name || strings.HasPrefix(key, name+" ") }) {
			t.Errorf("the server shows no %s, which a dashboard names", name)
		}
	}
	t.Run("changes", func(t *testing.T) { w.t = t; w.ringChange() })
	w.t = t
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Disk(w.readers, machine).Collect(t.Context(), watch.Minute, time.Now()); err != nil || len(r.Samples) != 2 || r.Samples[1].Value <= 0 {
		t.Errorf("the disk: %+v, %v", r.Samples, err)
	}
	for _, name := range []string{"plimsoll_cores", "cassandra_pending_compactions", "cassandra_active_tasks ReadStage", "cassandra_hinted_endpoints", "cassandra_clients", "cassandra_requests_total test t write"} {
		if _, ok := w.samples[name]; !ok {
			t.Errorf("no %s among %d series; it lacks %v", name, len(w.samples), w.seen.Watching.Lacks)
		}
	}
}

// ringChange has somebody change a table, a keyspace and the process of a node, and nothing else.
func (w *watched) ringChange() {
	w.read(watch.TenMinutes)
	w.read(watch.TenMinutes)
	if len(w.changes) > 0 {
		w.t.Errorf("changes that nobody made: %+v", w.changes)
	}
	labtest.Ask(w.t, w.db, "ALTER TABLE test.t ADD w int", "CREATE TABLE test.u (id int PRIMARY KEY)", "ALTER TABLE test.u WITH gc_grace_seconds = 3600",
		"CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	w.read(watch.TenMinutes)
	w.told("schema keyspace other", "schema test.t", "schema test.u")
	labtest.Ask(w.t, w.db, "ALTER KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}", "ALTER TABLE test.u WITH gc_grace_seconds = 7200")
	w.read(watch.TenMinutes)
	w.told("schema keyspace other", "schema test.u")
	if err := w.db.Cluster.Restart(w.t.Context(), "n1"); err != nil {
		w.t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); len(w.changes) == 0; <-time.After(100 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatal("no word of the restart")
		}
		if r, err := w.readers[0].Collect(w.t.Context(), watch.TenSeconds, time.Now()); err == nil { // until then the connection of before is given up
			w.changes = append(w.changes, r.Changes...)
		}
	}
	if at, err := time.Parse(time.RFC3339, w.changes[0].To); err != nil || time.Since(at) > 3*time.Minute {
		w.t.Errorf("the restart is %+v", w.changes[0])
	}
	w.told("restart server")
}

// told compares what changed since the last call with what is expected, as kind and what.
func (w *watched) told(want ...string) {
	w.t.Helper()
	var got []string
	for _, c := range w.changes {
		if got = append(got, c.Kind+" "+c.What); c.From == c.To && (c.Kind != "setting" || c.From != "") { // of a secret no value is kept
			w.t.Errorf("it changed from and to the same: %+v", c)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.t.Errorf("changes %q, want %q", got, want)
	}
	w.changes = nil
}

// answering is a node that answers as its tables hold: a text of a question has rows, and any other is refused.
type answering struct {
	engine.Session
	rows  map[string][][]string
	fails map[string]*engine.Error // instead
}

func (a answering) Exec(_ context.Context, text string, r *engine.Result) error {
	if err := a.fails[text]; err != nil {
		return err
	}
	rows, has := a.rows[text]
	if !has {
		return &engine.Error{Kind: engine.Missing, Text: "there is no such table"}
	}
	r.Reset()
	for _, row := range rows {
		r.Rows, r.Columns = r.Rows+1, len(row)
		for _, v := range row {
			r.Values = append(r.Values, engine.Chars([]byte(v)))
		}
	}
	return nil
}

func (answering) Close() error { return nil }

// A node of Cassandra and one of ScyllaDB, whose tables have other names: a new version, a restart, a setting, and a peer that joins, moves
// and leaves are changes. Of settings that may hold secrets, by their name or in a map of parameters, no value is kept.
func TestWhatChangesOfARing(t *testing.T) {
	const local = "SELECT JSON release_version, gossip_generation FROM system.local"
	for name, c := range map[string]struct {
		settings, peers, peer string
		pools                 bool
		version               []string
	}{
		"cassandra": {"SELECT name, value FROM system_views.settings", "SELECT JSON peer, peer_port, data_center, rack FROM system.peers_v2", `{"peer": "10.0.0.2", "peer_port": 7000, "data_center": "dc1", "rack": "%s"}`, true, []string{"version version"}},
		"scylla":    {"SELECT name, value FROM system.config", "SELECT JSON peer, data_center, rack FROM system.peers", `{"peer": "10.0.0.2", "data_center": "dc1", "rack": "%s"}`, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			node := answering{rows: map[string][][]string{
				answers:    {{"local"}},
				local:      {{`{"release_version": "5.0.5", "gossip_generation": 1790000000}`}},
				c.settings: {{"read_request_timeout", "5000ms"}, {"keystore_password", "hunter1"}, {"ldap_bind_passwd", "hunter1"}, {"sasl_Credentials", "hunter1"}, {"system_info_encryption", `{"key_provider": "Kmip", "KeyStore_Password": "hunter1"}`}},
				c.peers:    {},
			}}
			if c.pools {
				node.rows["SELECT name, active_tasks, pending_tasks, blocked_tasks, completed_tasks FROM "+virtualTables] = nil
			}
			w := &watched{t: t, readers: Cassandra(func(context.Context) (engine.Session, error) { return node, nil }, "127.0.0.1:1", 0), samples: map[string]float64{}}
			w.readers = slices.Delete(w.readers, 1, 2) // that of metrics
			w.read(watch.TenMinutes)
			w.told()
			node.rows[local] = [][]string{{`{"release_version": "5.0.6", "gossip_generation": 1790000100}`}}
			node.rows[c.settings] = [][]string{{"read_request_timeout", "9000ms"}, {"keystore_password", "hunter2"}, {"ldap_bind_passwd", "hunter2"}, {"sasl_Credentials", "hunter2"}, {"system_info_encryption", ""}}
			node.rows[c.peers] = [][]string{{strings.Replace(c.peer, "%s", "rack1", 1)}}
			w.read(watch.TenMinutes)
			peer := "topology peer 10.0.0.2"
			if c.pools {
				peer += ":7000"
			}
			if all, err := json.Marshal(w.changes); err != nil || !strings.Contains(string(all), `"2026-09-21T14:15:00Z"`) || !strings.Contains(string(all), `"9000ms"`) || strings.Contains(string(all), "hunter") {
				t.Errorf("the changes are %s, %v", all, err)
			}
			w.told(append([]string{"restart server", "setting keystore_password", "setting ldap_bind_passwd", "setting read_request_timeout", "setting sasl_Credentials", "setting system_info_encryption", peer}, c.version...)...)
			node.rows[c.peers] = [][]string{{strings.Replace(c.peer, "%s", "rack2", 1)}}
			w.read(watch.TenMinutes)
			w.told(peer)
			node.rows[c.peers] = nil
			w.read(watch.TenMinutes)
			w.told(peer)
		})
	}
}

// A question on which a node fails is asked again; one that it refuses as wrong is not. A change of the schema is one of all nodes, and nothing that
// was read is held in memory between the readings.
func TestAFailureOfANodeIsNoLack(t *testing.T) {
	const keyspaces, local = "SELECT JSON keyspace_name, replication FROM system_schema.keyspaces", "SELECT JSON release_version FROM system.local"
	node := answering{
		rows:  map[string][][]string{answers: {{"local"}}, keyspaces: {{`{"keyspace_name": "shop", "replication": {"dc1": "2"}}`}}, local: {{`{"release_version": "3.0.8"}`}}},
		fails: map[string]*engine.Error{keyspaces: {Kind: engine.Other, Code: "0x0000", Text: "java.lang.NullPointerException"}},
	}
	all := Cassandra(func(context.Context) (engine.Session, error) { return node, nil }, "127.0.0.1:1", 0)
	c := all[2].(*ringChanges)
	if _, err := c.Collect(t.Context(), watch.TenMinutes, time.Now()); engine.CodeOf(err) != "0x0000" || c.lacking("system_schema.keyspaces") {
		t.Errorf("a failure inside the node: %v; it lacks them: %v", err, c.lacking("system_schema.keyspaces"))
	}
	delete(node.fails, keyspaces)
	if r, err := c.Collect(t.Context(), watch.TenMinutes, time.Now()); err != nil || len(r.Changes) > 0 {
		t.Errorf("afterwards: %+v, %v", r.Changes, err)
	}
	node.rows[keyspaces] = [][]string{{`{"keyspace_name": "shop", "replication": {"dc1": "3"}}`}}
	if r, err := c.Collect(t.Context(), watch.TenMinutes, time.Now()); err != nil || len(r.Changes) != 1 || r.Changes[0].What != "keyspace shop" || !r.Changes[0].OfCluster {
		t.Errorf("a change: %+v, %v", r.Changes, err)
	}
	if held := c.link.result; held.Values != nil || held.Rows != 0 {
		t.Errorf("%d rows are held", held.Rows)
	}
	node.fails[ofNode[0].text] = &engine.Error{Kind: engine.Other, Code: "0x2200", Text: "Unrecognized name gossip_generation"}
	if _, err := all[0].Collect(t.Context(), watch.TenSeconds, time.Now()); err != nil {
		t.Error(err)
	}
	if first := all[0].(*cassandra); first.version != "3.0.8" || !first.lacking("system.local.gossip_generation") || first.lacking("system.local") {
		t.Errorf("of a node without one of the columns: version %q, it lacks %v", first.version, first.lacks)
	}
}
