package lab_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/engine/mysql/launch"
	"plimsoll/infra"
	"plimsoll/lab"
)

// servers are what the tests run, with a redo log that is soon made; the versions that are not on PATH are fetched.
var servers = []struct{ product, version, redo string }{
	{"mariadb", "10.11", "innodb_log_file_size"},
	{"mariadb", "11.4", "innodb_log_file_size"},
	{"mysql", "9.7", "innodb_redo_log_capacity"},
}

// onEach runs a test with each of the servers.
func onEach(t *testing.T, name string, nodes int, config map[string]string, test func(*testing.T, *lab.Cluster)) {
	t.Parallel()
	for _, s := range servers {
		t.Run(s.product+" "+s.version, func(t *testing.T) {
			all := map[string]string{s.redo: "8M", "innodb_buffer_pool_size": "32M"}
			maps.Copy(all, config)
			test(t, up(t, realDeps(t), lab.Spec{Name: name, Product: s.product, Version: s.version, Nodes: nodes, Config: all}))
		})
	}
}

// realDeps is a lab of real servers, whose cache is the user's.
func realDeps(t *testing.T) lab.Deps {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	t.Parallel() // they wait for disks and timers, and labs do not disturb one another
	d := deps(t, launch.Servers{})
	cache, err := lab.Cache(os.Getenv)
	must(t, err)
	d.Cache = cache
	return d
}

// database is a node to ask and tell.
type database struct {
	*testing.T
	cluster *lab.Cluster
	node    string
}

func (d database) try(ctx context.Context, sql string, patience time.Duration) (string, error) {
	target, err := d.cluster.Target(d.node)
	if err != nil {
		return "", err
	}
	target.Timeout = patience
	db, err := mysql.Engine{}.Open(ctx, target)
	if err != nil {
		return "", err
	}
	s, err := db.Session(ctx)
	if err != nil {
		return "", errors.Join(err, db.Close())
	}
	r := engine.Result{Keep: true}
	err = errors.Join(s.Exec(ctx, sql, &r), s.Close(), db.Close())
	if err != nil || r.Rows == 0 {
		return "", err
	}
	if v := r.At(0, 0); v.Kind == engine.Integer {
		return fmt.Sprint(v.Int), nil
	}
	return string(r.At(0, 0).Data), nil
}

// says runs statements and returns the last one's first value.
func (d database) says(statements ...string) (value string) {
	d.Helper()
	for _, sql := range statements {
		var err error
		if value, err = d.try(d.Context(), sql, time.Minute); err != nil {
			d.Fatalf("%s: %s: %v", d.node, sql, err)
		}
	}
	return value
}

// comes waits until a query has an answer, as a replica's does.
func (d database) comes(sql, want string) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), 2*time.Minute)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		got, err := d.try(ctx, sql, time.Minute)
		if err == nil && got == want {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			d.Fatalf("%s: %s: %q, %v, want %q", d.node, sql, got, err, want)
		}
	}
}

const rows = "SELECT COUNT(*) FROM d.t"

func TestRealSingleNode(t *testing.T) {
	config := map[string]string{"max_connections": "77", "sync-binlog": "0"}
	onEach(t, "single", 1, config, func(t *testing.T, c *lab.Cluster) {
		ctx := t.Context()
		n1 := database{t, c, "n1"}
		equal(t, "max_connections", n1.says("SELECT @@max_connections"), "77")
		if version := n1.says("SELECT VERSION()"); !strings.HasPrefix(version, c.Distribution().Exact) {
			t.Errorf("the server says %s, the distribution %s", version, c.Distribution().Exact)
		}
		equal(t, "accounts without a password that can log in over TCP", n1.says(
			"SELECT COUNT(*) FROM mysql.user WHERE authentication_string = '' AND host != 'localhost'"), "0")
		commandLine := read(t, "/proc", fmt.Sprint(c.Nodes()[0].PID), "cmdline")
		if secret := string(c.Nodes()[0].Password); secret == "" || strings.Contains(commandLine, secret) {
			t.Errorf("the password is in the process list: %q", commandLine)
		}

		// A crash loses nothing that was committed, and is no death when it was asked for. That the number of the server's process,
		// which it leaves in the lock of its socket, has become another's is no trouble.
		n1.says("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)")
		must(t, c.Server("n1").Kill(ctx))
		must(t, os.WriteFile(filepath.Join(c.Nodes()[0].Dir, "run", "mysql.sock.lock"), fmt.Appendln(nil, os.Getppid()), 0o600))
		must(t, c.Start(ctx))
		equal(t, "rows after a crash", n1.says(rows), "2")

		must(t, c.Server("n1").Freeze(ctx))
		if _, err := n1.try(ctx, "SELECT 1", time.Second); engine.ClassOf(err) != engine.Unavailable {
			t.Errorf("a frozen server answers: %v", err)
		}
		must(t, c.Server("n1").Thaw(ctx))
		equal(t, "rows after a freeze", n1.says(rows), "2")

		must(t, c.Save(ctx))
		n1.says("INSERT INTO d.t VALUES (3)")
		must(t, c.Stop(ctx))
		must(t, c.Reconfigure(ctx, map[string]string{"innodb_buffer_pool_size": "64M", "log_bin": "off"}))
		must(t, c.Restore(ctx))
		must(t, c.Start(ctx))
		equal(t, "rows after Restore", n1.says(rows), "2")
		equal(t, "buffer pool", n1.says("SELECT @@innodb_buffer_pool_size"), fmt.Sprint(64<<20))
		equal(t, "binary log", n1.says("SELECT @@log_bin"), "0")

		// Somebody else ends it.
		n1.says("SHUTDOWN")
		select {
		case death := <-c.Died():
			if death.Node != "n1" || death.Cause == nil || !strings.Contains(death.Cause.Error(), "shut down by plimsoll") {
				t.Errorf("death: %+v", death)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("no word of a death")
		}

		must(t, c.Reconfigure(ctx, map[string]string{"innodb_bufer_pool_size": "64M"}))
		refused(t, c.Start(ctx), "no variable innodb_bufer_pool_size", "did you mean innodb_buffer_pool_size?")
		must(t, c.Reconfigure(ctx, map[string]string{"binlog_format": "sometimes"}))
		if err := c.Start(ctx); err == nil || !strings.Contains(err.Error(), "sometimes") {
			t.Errorf("a wrong value: %v", err)
		}
	})
}

func TestRealReplicas(t *testing.T) {
	onEach(t, "replicas", 3, nil, func(t *testing.T, c *lab.Cluster) {
		ctx := t.Context()
		n1, n2, n3 := database{t, c, "n1"}, database{t, c, "n2"}, database{t, c, "n3"}
		n1.says("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)")
		n2.comes(rows, "2")
		n3.comes(rows, "2")
		equal(t, "read only", n1.says("SELECT @@read_only")+n2.says("SELECT @@read_only"), "01")

		// A replica comes back and gets what it missed; so do replicas whose primary crashed.
		must(t, c.Server("n2").Kill(ctx))
		n1.says("INSERT INTO d.t VALUES (3)")
		must(t, c.Start(ctx, "n2"))
		equal(t, "rows of n2 once it has joined again", n2.says(rows), "3")
		must(t, c.Server("n1").Kill(ctx))
		must(t, c.Start(ctx, "n1"))
		n1.says("INSERT INTO d.t VALUES (4)")
		n3.comes(rows, "4")

		// A replica that comes later has what was written before it came, and follows.
		must(t, c.Growth().Remove(ctx, "n2"))
		added, err := c.Growth().Add(ctx)
		must(t, err)
		n4 := database{t, c, added}
		equal(t, "rows of a replica that was added", n4.says(rows), "4")
		n1.says("INSERT INTO d.t VALUES (5)")
		n4.comes(rows, "5")
		n3.comes(rows, "5")

		err = c.Reconfigure(ctx, map[string]string{"log_bin": "off"}, "n1")
		refused(t, err, "replicas read the primary's binary log", "leave log_bin out")
	})
}

// A cluster that began as one node without a binary log gets a replica.
func TestRealFirstReplica(t *testing.T) {
	onEach(t, "grown", 1, map[string]string{"log_bin": "off"}, func(t *testing.T, c *lab.Cluster) {
		ctx := t.Context()
		n1 := database{t, c, "n1"}
		n1.says("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)")
		must(t, c.Save(ctx))
		for range 2 { // as the cells of a comparison do, one round after another
			must(t, c.Stop(ctx))
			must(t, c.Restore(ctx))
			must(t, c.Reconfigure(ctx, map[string]string{"log_bin": "on"}))
			added, err := c.Growth().Add(ctx)
			must(t, err)
			must(t, c.Start(ctx))
			n2 := database{t, c, added}
			equal(t, "rows at first", n2.says(rows), "1")
			n1.says("INSERT INTO d.t VALUES (2)")
			n2.comes(rows, "2")
		}
	})
}

func TestRealRefusals(t *testing.T) {
	d := realDeps(t)
	everywhere, err := net.Listen("tcp", ":0")
	must(t, err)
	defer func() { must(t, everywhere.Close()) }()
	port := everywhere.Addr().(*net.TCPAddr).Port
	type config = map[string]string
	for name, c := range map[string]struct {
		spec        lab.Spec
		says, hints string
	}{
		"port taken":         {lab.Spec{Port: port}, fmt.Sprintf("port %d is taken", port), "ss -ltnp"},
		"unknown variable":   {lab.Spec{Config: config{"innodb_flush_log_at_trx_comit": "2"}}, "this server has no variable innodb_flush_log_at_trx_comit", "did you mean innodb_flush_log_at_trx_commit?"},
		"too little memory":  {lab.Spec{Nodes: 2, Config: config{"innodb_buffer_pool_size": "4T"}}, "too little memory: 2 nodes would need 8192 GiB", "lower innodb_buffer_pool_size"},
		"too little disk":    {lab.Spec{Config: config{"innodb_log_file_size": "100T"}}, "too little disk", "PLIMSOLL_HOME"},
		"not a number":       {lab.Spec{Config: config{"innodb_flush_log_at_trx_commit": "true"}}, "innodb_flush_log_at_trx_commit cannot be true: valid is a number, and the server would make it 0", ""},
		"out of bounds":      {lab.Spec{Config: config{"sort_buffer_size": "1"}}, "sort_buffer_size cannot be 1: the server would make it 1024", ""},
		"what the lab makes": {lab.Spec{Config: config{"datadir": "/var/lib/mysql"}}, "setting datadir cannot be changed", ""},
		"a version":          {lab.Spec{Version: "5.5"}, "mariadb 5.5 is not installed", "11.4 or 10.11"},
	} {
		t.Run(name, func(t *testing.T) {
			c.spec.Name, c.spec.Product = "refused", "mariadb"
			_, err := lab.Up(t.Context(), c.spec, d)
			refused(t, err, c.says, c.hints)
			nothingLeft(t.Context(), t, d, "refused")
		})
	}
}

// A port that somebody takes between the check and the start is what the server's log says it is.
func TestRealPortTakenMeanwhile(t *testing.T) {
	t.Parallel()
	for _, s := range servers {
		t.Run(s.product+" "+s.version, func(t *testing.T) {
			d := realDeps(t)
			d.Say = func(text string) {
				if _, address, starts := strings.Cut(text, "n1: start at "); starts {
					taken, err := net.Listen("tcp", address)
					must(t, err)
					t.Cleanup(func() { must(t, taken.Close()) })
				}
			}
			_, err := lab.Up(t.Context(), lab.Spec{Name: "taken", Product: s.product, Version: s.version}, d)
			refused(t, err, "n1 ended: its port is in use", "ss -ltnp")
			nothingLeft(t.Context(), t, d, "taken")
		})
	}
}

// fetched never looks on PATH.
type fetched struct{ launch.Servers }

func (f fetched) Find(ctx context.Context, m infra.Machine, r engine.Release, cache string) (engine.Distribution, error) {
	return f.Fetch(ctx, m, r, cache, func(string) {}) // at once when it is there
}

// Debian's packages of MariaDB run with the loader that came with them, replicas too.
func TestRealMariaDBFromDebian(t *testing.T) {
	d := realDeps(t)
	d.Launchers = []engine.Launcher{fetched{}}
	must(t, d.Machine.MakeDir(t.Context(), d.Cache))
	c := up(t, d, lab.Spec{Name: "debian", Product: "mariadb", Version: "10.11", Nodes: 2})
	n1, n2 := database{t, c, "n1"}, database{t, c, "n2"}
	if origin := c.Distribution().Origin; !strings.Contains(origin, "Debian bookworm") {
		t.Errorf("origin %s", origin)
	}
	n1.says("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)")
	n2.comes(rows, "1")
}
