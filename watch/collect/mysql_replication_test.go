package collect

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/engine/mysql/admin"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/watch"
)

// sources are two servers and one that follows both, each over a channel of its own.
type sources struct {
	*testing.T
	lab     *lab.Cluster
	on      *cluster.Cluster
	dialect admin.Dialect
}

func (s sources) do(node string, statements ...string) {
	s.Helper()
	if err := s.on.Execute(s.Context(), node, statements, func(int) {}); err != nil {
		s.Fatalf("%s: %v", node, err)
	}
}

func (s sources) session(node string) engine.Session {
	s.Helper()
	target, err := s.lab.Target(node)
	if err != nil {
		s.Fatal(err)
	}
	session, err := mysql.Engine{}.Dial(s.Context(), target)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = session.Close() }) // the server ends with the test
	return session
}

// watching reads a node as the Watcher does.
func (s sources) watching(node string) *watched {
	s.Helper()
	target, err := s.lab.Target(node)
	if err != nil {
		s.Fatal(err)
	}
	dial := func(ctx context.Context) (engine.Session, error) { return mysql.Engine{}.Dial(ctx, target) }
	w := &watched{t: s.T, db: labtest.Server{Target: target}, readers: MySQL(dial, 0), samples: map[string]float64{}}
	w.readers[0].(*quick).breaker.slow = time.Minute // a machine that compiles beside this test is slow to answer
	s.Cleanup(func() {
		for _, c := range w.readers {
			_ = c.Close() // the server ends with the test
		}
	})
	return w
}

// follow makes a channel of n3 follow a source from the end of its binary log.
func (s sources) follow(channel, source string) {
	s.Helper()
	at, err := s.session(source).(engine.Tabular).Table(s.Context(), s.dialect.BinlogEnd())
	if err != nil || len(at) != 1 {
		s.Fatalf("%s: %v, %v", source, at, err)
	}
	host, port, err := net.SplitHostPort(s.address(source))
	if err != nil {
		s.Fatal(err)
	}
	from := admin.Source{Host: host, Port: port, User: "repl", Password: "r", Place: admin.Place{File: at[0]["File"], At: at[0]["Position"]}}
	s.do("n3", append([]string{s.dialect.Follow(channel, from)}, s.dialect.Start(channel)...)...)
}

func (s sources) address(node string) string {
	s.Helper()
	target, err := s.lab.Target(node)
	if err != nil {
		s.Fatal(err)
	}
	return target.Addresses[0]
}

// until reads again and again until something is so.
func (w *watched) until(what string, level watch.Level, so func() bool) {
	w.t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !so(); <-tick.C {
		if time.Now().After(end) {
			w.t.Fatalf("%s is not seen: %+v", what, w.seen)
		}
		w.read(level)
	}
}

// channel is one as it was seen last.
func (w *watched) channel(name string) watch.Channel {
	at := slices.IndexFunc(w.seen.Channels, func(c watch.Channel) bool { return c.Name == name })
	if at < 0 {
		return watch.Channel{}
	}
	return w.seen.Channels[at]
}

// A server that follows two sources is seen as two channels: each with its own source, lag and state; that it follows them, stops and forgets
// them are changes of the topology. Where replicas acknowledge, the wait for them is a part of the source's commits.
func TestReplicationOfMariaDB(t *testing.T) {
	replicates(t, "mariadb", []string{"SET GLOBAL rpl_semi_sync_master_enabled = ON"}, []string{"SET GLOBAL rpl_semi_sync_slave_enabled = ON"})
}

func TestReplicationOfMySQL(t *testing.T) {
	replicates(t, "mysql", []string{"INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'", "SET GLOBAL rpl_semi_sync_source_enabled = ON"},
		[]string{"INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'", "SET GLOBAL rpl_semi_sync_replica_enabled = ON"})
}

func replicates(t *testing.T, product string, acknowledged, acknowledges []string) {
	t.Parallel()
	c := labtest.Cluster(t, lab.Spec{Name: "follow-" + product, Product: product, Nodes: 3, Separate: true, Config: map[string]string{"innodb_buffer_pool_size": "48M"}})
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	s := sources{T: t, lab: c, on: lab.AsCluster(c, mysql.Engine{}, m)}
	t.Cleanup(func() { _ = s.on.Close() })
	version, err := s.on.Value(t.Context(), "n3", "SELECT VERSION()")
	if err != nil {
		t.Fatal(err)
	}
	if s.dialect = admin.DialectOf(engine.Facts{Product: "MySQL", Version: version}); strings.Contains(version, "MariaDB") {
		s.dialect = admin.MariaDB{}
	}
	w := s.watching("n3")
	w.read(watch.TenMinutes)
	if len(w.seen.Channels) != 0 || w.seen.Role != "primary" {
		t.Fatalf("before: %+v, %s", w.seen.Channels, w.seen.Role)
	}
	for n, source := range []string{"n1", "n2"} {
		s.do(source, "CREATE USER repl IDENTIFIED BY 'r'", "GRANT REPLICATION SLAVE ON *.* TO repl")
		s.follow([]string{"first", "second"}[n], source)
	}
	s.do("n1", "CREATE DATABASE a1", "CREATE TABLE a1.t (id INT PRIMARY KEY, v INT)", "INSERT INTO a1.t VALUES (1, 0)")
	s.do("n2", "CREATE DATABASE a2", "CREATE TABLE a2.t (id INT PRIMARY KEY, v INT)")
	for _, table := range []string{"a1.t", "a2.t"} {
		w.until(table, watch.TenSeconds, func() bool {
			v, err := s.on.Value(t.Context(), "n3", "SELECT COUNT(*) FROM "+table)
			return err == nil && (table == "a2.t" || v == "1")
		})
	}

	w.until("two channels that are up to date", watch.TenSeconds, func() bool {
		one, two := w.channel("first"), w.channel("second")
		return len(w.seen.Channels) == 2 && one.Lag != nil && two.Lag != nil && *one.Lag < 1 && *two.Lag < 1
	})
	for name, source := range map[string]string{"first": "n1", "second": "n2"} {
		if c := w.channel(name); c.Source != s.address(source) || c.Stopped || c.Error != "" {
			t.Errorf("%s is %+v, want that it follows %s", name, c, s.address(source))
		}
		for _, series := range []string{"plimsoll_replica_lag_seconds", "plimsoll_replica_stopped"} {
			if v, is := w.samples[fmt.Sprintf("%s %s %s", series, name, s.address(source))]; !is || v > 1 {
				t.Errorf("%s of %s is %v, %v", series, name, v, is)
			}
		}
		if !slices.ContainsFunc(w.changes, func(c watch.Change) bool {
			return c.Kind == "topology" && c.What == "source "+name && c.From == "" && c.To == s.address(source)
		}) {
			t.Errorf("nobody is told that %s follows %s: %+v", name, source, w.changes)
		}
	}
	if w.seen.Role != "replica" {
		t.Errorf("its role is %s", w.seen.Role)
	}

	both := w.asTheExporter()["mysql_slave_status_slave_io_running"]
	if want := map[string]int{"mariadb": 2}[product]; len(both.GetMetric()) != want { // it asks MySQL 9 by SHOW SLAVE STATUS, which that does not know
		t.Errorf("mysqld_exporter shows the channels %v", both)
	}
	if names, _ := labelsOf(w.shown()["mysql_slave_status_slave_io_running"]); !slices.Equal(names, []string{"channel_name", "connection_name", "master_host", "master_uuid"}) {
		t.Errorf("a channel has the labels %q", names)
	}

	// A session on n3 holds the row that the first channel wants to change: it alone falls behind.
	holder := s.session("n3")
	for _, text := range []string{"BEGIN", "SELECT * FROM a1.t FOR UPDATE"} {
		if err := holder.Exec(t.Context(), text, nil); err != nil {
			t.Fatal(err)
		}
	}
	s.do("n1", "UPDATE a1.t SET v = v + 1")
	w.until("a lag of one channel", watch.Second, func() bool { lag := w.channel("first").Lag; return lag != nil && *lag >= 2 })
	if lag := w.channel("second").Lag; lag == nil || *lag >= 2 {
		t.Errorf("the other lags by %v", lag)
	}
	if err := holder.Exec(t.Context(), "ROLLBACK", nil); err != nil {
		t.Fatal(err)
	}
	w.until("that it has caught up", watch.Second, func() bool { lag := w.channel("first").Lag; return lag != nil && *lag < 1 })

	// The source refuses the account of one channel: that tries to connect and is not connected, which is neither a lag of 0 nor a stop.
	s.do("n1", "SET SESSION sql_log_bin = 0", "ALTER USER repl IDENTIFIED BY 'other'")
	s.do("n3", append(s.dialect.Stop("first"), s.dialect.Start("first")...)...)
	w.until("a channel that is not connected", watch.Second, func() bool { return w.channel("first").Connecting && w.channel("first").Error != "" })
	if c := w.channel("first"); c.Stopped || c.Lag != nil || w.channel("second").Connecting || w.samples["plimsoll_replica_connecting first "+s.address("n1")] != 1 || w.samples["plimsoll_replica_connecting second "+s.address("n2")] != 0 {
		t.Errorf("not connected: %+v", w.seen.Channels)
	}
	received := w.shown()["mysql_slave_status_slave_io_running"] // as mysqld_exporter has it
	for name, running := range map[string]float64{"first": 0, "second": 1} {
		at := slices.IndexFunc(received.GetMetric(), func(m *dto.Metric) bool {
			return slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetValue() == name })
		})
		if at < 0 || received.GetMetric()[at].GetUntyped().GetValue() != running {
			t.Errorf("whether %s receives is in %v, want %v", name, received, running)
		}
	}
	s.do("n1", "SET SESSION sql_log_bin = 0", "ALTER USER repl IDENTIFIED BY 'r'")
	s.do("n3", append(s.dialect.Stop("first"), s.dialect.Start("first")...)...)
	w.until("that it is connected again", watch.Second, func() bool {
		lag := w.channel("first").Lag
		return lag != nil && *lag < 1 && !w.channel("first").Connecting
	})

	// One channel is stopped, and forgotten.
	s.do("n3", s.dialect.Stop("second")...)
	w.until("a channel that was stopped", watch.Second, func() bool { return w.channel("second").Stopped })
	if w.channel("first").Stopped || w.samples["plimsoll_replica_stopped second "+s.address("n2")] != 1 || w.samples["plimsoll_replica_stopped first "+s.address("n1")] != 0 {
		t.Errorf("stopped: %+v", w.seen.Channels)
	}
	s.do("n3", s.dialect.Forget("second")...)
	w.until("one channel", watch.Second, func() bool { return len(w.seen.Channels) == 1 })
	if !slices.ContainsFunc(w.changes, func(c watch.Change) bool {
		return c.Kind == "topology" && c.What == "source second" && c.From == s.address("n2") && c.To == ""
	}) {
		t.Errorf("nobody is told that second is gone: %+v", w.changes)
	}

	// With one channel alone: a MySQL keeps for all channels of a replica together whether their sources want an acknowledgement.
	s.semiSync(acknowledged, acknowledges, product == "mysql")

	// A restart is a change too; what was running is seen again afterwards.
	w.changes = nil
	if err := c.Restart(t.Context(), "n3"); err != nil {
		t.Fatal(err)
	}
	restarted := func(c watch.Change) bool { return c.Kind == "restart" && c.What == "server" }
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !slices.ContainsFunc(w.changes, restarted); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("nobody is told of a restart: %+v", w.changes)
		}
		for _, reader := range w.readers[:1] {
			if r, err := reader.Collect(t.Context(), watch.Second, time.Now()); err == nil { // it has to connect again
				w.changes = append(w.changes, r.Changes...)
			}
		}
	}
}

// semiSync has the first channel acknowledge, and looks at where commits on its source wait.
func (s sources) semiSync(acknowledged, acknowledges []string, whole bool) {
	s.Helper()
	s.do("n1", acknowledged...)
	s.do("n3", acknowledges...)
	s.do("n3", append(s.dialect.Stop("first"), s.dialect.Start("first")...)...)
	w := s.watching("n1")
	session := s.session("n1")
	commits := func() {
		for range 20 {
			for _, text := range []string{"BEGIN", "UPDATE a1.t SET v = v + 1", "COMMIT"} {
				if err := session.Exec(s.Context(), text, nil); err != nil {
					s.Fatal(err)
				}
			}
		}
	}
	w.read(watch.TenSeconds)
	w.until("a wait for the replica", watch.TenSeconds, func() bool {
		commits()
		return w.seen.Commit != nil && w.seen.Commit.SemiSync != nil && *w.seen.Commit.SemiSync > 0
	})
	c := w.seen.Commit
	if v, is := w.samples["plimsoll_commit_seconds semi-sync"]; !is || v != *c.SemiSync {
		s.Errorf("the series is %v, %v, shown is %v", v, is, *c.SemiSync)
	}
	if !whole { // MariaDB without its performance schema counts neither the whole nor the files
		return
	}
	if c.Total == nil || c.Redo == nil || c.Binlog == nil || c.Queue == nil {
		s.Fatalf("the commit is %+v", c)
	}
	if sum := *c.Redo + *c.Binlog + *c.SemiSync + *c.Queue; sum > 1.1**c.Total || sum < 0.9**c.Total || *c.SemiSync > *c.Total {
		s.Errorf("redo %v, binary log %v, semi-sync %v and queue %v of %v s", *c.Redo, *c.Binlog, *c.SemiSync, *c.Queue, *c.Total)
	}
}
