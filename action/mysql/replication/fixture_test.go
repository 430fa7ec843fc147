package replication

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/engine/mysql/launch"
	"plimsoll/infra/local"
	"plimsoll/lab"
)

// fixture is a cluster of real servers, n1 the primary.
type fixture struct {
	*testing.T
	on      *cluster.Cluster
	cluster *lab.Cluster
}

func newFixture(t *testing.T, product string, nodes int) fixture {
	t.Helper()
	return newFixtureWith(t, product, nodes, nil)
}

// newFixtureWith has settings beside the usual ones.
func newFixtureWith(t *testing.T, product string, nodes int, settings map[string]string) fixture {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	redo := map[string]string{"mariadb": "innodb_log_file_size", "mysql": "innodb_redo_log_capacity"}[product]
	deps := lab.Deps{Machine: m, Launchers: []engine.Launcher{launch.Servers{}}, Home: t.TempDir(), Cache: cache}
	config := map[string]string{"innodb_buffer_pool_size": "32M", redo: "8M", "sync_binlog": "0", "innodb_flush_log_at_trx_commit": "2"} // no power fails here
	maps.Copy(config, settings)
	c, err := lab.Up(t.Context(), lab.Spec{Name: "repl-" + product, Product: product, Nodes: nodes, Config: config}, deps)
	if err != nil {
		t.Fatal(err)
	}
	w := fixture{t, lab.AsCluster(c, enginemysql.Engine{}, m), c}
	t.Cleanup(func() {
		_ = w.on.Close()
		if err := c.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	w.must(w.server("n1").do(t.Context(), "", "CREATE DATABASE shop", "CREATE TABLE shop.t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE=InnoDB"))
	return w
}

// of is the same world in a subtest.
func (w fixture) of(t *testing.T) fixture { return fixture{t, w.on, w.cluster} }

func (w fixture) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w fixture) server(name string) *server {
	w.Helper()
	s, err := serverOf(w.Context(), w.on, name)
	w.must(err)
	return s
}

// task binds inputs.
func (w fixture) task(a action.Action, with string) action.Task {
	w.Helper()
	return actiontest.Bind(w, a, with)
}

// refuses expects that a check ends with an error that says something.
func (w fixture) refuses(a action.Action, with, want string) {
	w.Helper()
	if f, err := w.task(a, with).Check(w.Context(), w.on.ReadOnly()); err == nil || !strings.Contains(err.Error(), want) {
		w.Errorf("%s %s: %+v, %v, want %q", a.Name, with, f, err, want)
	}
}

// refusesAct expects the same of an act.
func (w fixture) refusesAct(a action.Action, with, want string) {
	w.Helper()
	if _, err := w.act(a, with); err == nil || !strings.Contains(err.Error(), want) {
		w.Errorf("%s %s: %v, want %q", a.Name, with, err, want)
	}
}

func (w fixture) act(a action.Action, with string) (action.Facts, error) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 5*time.Minute)
	defer cancel()
	return w.task(a, with).Act(ctx, w.on, action.Call{Token: "t", Progress: func(float64, string) {}})
}

// does acts and expects that it succeeds.
func (w fixture) does(a action.Action, with string) action.Facts {
	w.Helper()
	out, err := w.act(a, with)
	w.must(err)
	return out
}

// parts describes who follows whom and who takes writes, now and after a restart.
func (w fixture) parts(t *testing.T) string {
	t.Helper()
	all, err := ask(t.Context(), w.on)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, p := range all {
		if !p.answers() {
			text = append(text, p.name+" is silent")
			continue
		}
		s, err := serverOf(t.Context(), w.on, p.name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := modeOf(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, fmt.Sprint(p.name, " follows ", p.is.Follows(), " ", m))
	}
	return strings.Join(text, "\n")
}

// conform puts an action through the suite.
func (w fixture) conform(a action.Action, with string, change func(*actiontest.Subject)) {
	w.Helper()
	w.Run(a.Name, func(t *testing.T) {
		s := actiontest.Subject{Action: a, Cluster: w.on, With: with, Snapshot: w.parts, Cuts: []time.Duration{0, 20 * time.Millisecond}}
		if change != nil {
			change(&s)
		}
		actiontest.Run(t, s)
	})
}

func always(s *actiontest.Subject) { s.Always = true }

// follow makes a node follow another, whatever it did.
func (w fixture) follow(t *testing.T, node, source string) {
	t.Helper()
	w = w.of(t)
	s := w.server(node)
	w.must(setMode(t.Context(), s, s.refusing()))
	w.must(s.follow(t.Context(), w.server(source).asSource()))
}

// stand makes a node follow nobody, and take writes or not.
func (w fixture) stand(t *testing.T, node string, how func(*server) mode) {
	t.Helper()
	w = w.of(t)
	s := w.server(node)
	w.must(s.unfollow(t.Context()))
	w.must(setMode(t.Context(), s, how(s)))
}

// writes inserts rows on n1 until it is told to stop.
func (w fixture) writes() (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_ = w.on.Execute(ctx, "n1", []string{"INSERT INTO shop.t (v) VALUES (1)"}, func(int) {})
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// behind waits until a replica is.
func (w fixture) behind(node string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		f, err := w.task(caughtUpAction, "{node: "+node+"}").Check(ctx, w.on)
		w.must(err)
		if f.State == action.Needed {
			return
		}
		<-tick.C
	}
}

// dead waits until a node that hangs counts as dead: on a busy machine its last words arrive late.
func (w fixture) dead(with string) {
	w.Helper()
	var err error
	for range 20 {
		if _, err = w.act(confirmDeadAction, with); err == nil {
			return
		}
	}
	w.Fatal(err)
}
