package books_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/mysql"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/engine"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/engine/mysql/launch"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/lab"
	"plimsoll/runbook/books"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// The environment of a child process that runs a book and is killed: where its store and its lab are, and what it does.
const (
	childStore = "BOOKS_TEST_STORE"
	childHome  = "BOOKS_TEST_HOME"
	childBook  = "BOOKS_TEST_BOOK" // the name and its inputs, separated by blanks; empty: it continues what was cut off
	childKill  = "BOOKS_TEST_KILL" // the step at whose intent it is killed
)

const clusterName = "books"

// TestMain is also the child process that is killed.
func TestMain(m *testing.M) {
	if os.Getenv(childStore) != "" {
		if err := child(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func actions() []action.Action {
	return slices.Concat(action.Generic(), action.Servers(), mysql.Actions())
}

func labIn(home string) (lab.Deps, error) {
	m, err := local.New()
	if err != nil {
		return lab.Deps{}, err
	}
	cache, err := lab.Cache(os.Getenv)
	return lab.Deps{Machine: m, Launchers: []engine.Launcher{launch.Servers{}}, Home: home, Cache: cache}, err
}

func serviceOn(store *durable.Store, open func(context.Context) (*cluster.Cluster, error)) *execute.Service {
	return &execute.Service{
		Store: store, Actions: actions(), User: "test", Holder: "test",
		Open:        func(ctx context.Context, _ string) (*cluster.Cluster, error) { return open(ctx) },
		ClusterLock: func(on *cluster.Cluster) lock.ClusterLock { return mysql.NewClusterLock(on) },
	}
}

// child opens the lab by itself, as every Plimsoll does, and runs a book or continues one.
func child(ctx context.Context) error {
	deps, err := labIn(os.Getenv(childHome))
	if err != nil {
		return err
	}
	store, err := durable.Open(ctx, durable.Options{Folder: os.Getenv(childStore), Version: journal.Interpreter})
	if err != nil {
		return err
	}
	s := serviceOn(store, func(ctx context.Context) (*cluster.Cluster, error) {
		c, err := lab.Open(ctx, clusterName, deps)
		for errors.Is(err, infra.ErrLocked) { // as the executor's
			c, err = lab.Open(ctx, clusterName, deps)
		}
		if err != nil {
			return nil, err
		}
		on := lab.AsCluster(c, enginemysql.Engine{}, deps.Machine)
		on.Release = c.Close
		return on, nil
	})
	s.Observe = func(_ string, e journal.Event, _ time.Time) {
		if e.Kind == journal.Intended && e.Step == os.Getenv(childKill) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	x, err := s.Execute(ctx)
	for errors.Is(err, durable.ErrBusy) { // what a killed process was just starting has the lock until it is loaded
		x, err = s.Execute(ctx)
	}
	if err != nil {
		return err
	}
	runs := x.Continued()
	if words := strings.Fields(os.Getenv(childBook)); len(words) > 0 {
		run, err := begin(ctx, s, words[0], words[1:]...)
		if err != nil {
			return err
		}
		if err := s.Start(ctx, x, run, journal.Command{Do: "run"}); err != nil {
			return err
		}
		runs = []string{run}
	}
	if len(runs) == 0 {
		return errors.New("there is nothing to continue")
	}
	for _, run := range runs {
		if err := x.Wait(ctx, run); err != nil {
			return err
		}
	}
	return errors.Join(x.Close(ctx), store.Close())
}

// begin plans a book with inputs NAME=VALUE and begins a run.
func begin(ctx context.Context, s *execute.Service, name string, inputs ...string) (string, error) {
	book, err := books.Read(name, s.Actions)
	if err != nil {
		return "", err
	}
	said := map[string]string{}
	for _, in := range inputs {
		key, value, _ := strings.Cut(in, "=")
		said[key] = value
	}
	p, err := s.Prepare(ctx, execute.Request{Book: book, Cluster: clusterName, Inputs: said})
	if err != nil {
		return "", err
	}
	if err := p.Header.Plan.Trouble(); err != nil {
		return "", err
	}
	return s.Begin(ctx, p)
}

// threeServers is three real servers, n1 the primary, and a store of runs.
type threeServers struct {
	*testing.T
	deps  lab.Deps
	lab   *lab.Cluster
	on    *cluster.Cluster
	store string
}

func newCluster(t *testing.T, product string) *threeServers {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	deps, err := labIn(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	redo := map[string]string{"mariadb": "innodb_log_file_size", "mysql": "innodb_redo_log_capacity"}[product]
	l, err := lab.Up(t.Context(), lab.Spec{
		Name: clusterName, Product: product, Nodes: 3, Config: map[string]string{
			"innodb_buffer_pool_size": "32M", redo: "8M", "sync_binlog": "0", "innodb_flush_log_at_trx_commit": "2", // no power fails here
		},
	}, deps)
	if err != nil {
		t.Fatal(err)
	}
	c := &threeServers{T: t, deps: deps, store: t.TempDir()}
	c.hold(l)
	t.Cleanup(func() {
		c.letGo()
		if err := lab.Down(context.Background(), clusterName, deps); err != nil {
			t.Error(err)
		}
	})
	return c
}

func (c *threeServers) hold(l *lab.Cluster) {
	c.lab, c.on = l, lab.AsCluster(l, enginemysql.Engine{}, c.deps.Machine)
}

// letGo gives the lab to others, who open it by themselves; take takes it back.
func (c *threeServers) letGo() {
	if c.lab != nil {
		c.must(errors.Join(c.on.Close(), c.lab.Close()))
		c.lab = nil
	}
}

func (c *threeServers) take() {
	c.Helper()
	l, err := lab.Open(c.Context(), clusterName, c.deps)
	c.must(err)
	c.hold(l)
}

func (c *threeServers) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// run runs a book to the end of its first session, and to that of a second if one is ordered.
func (c *threeServers) run(observe func(journal.Event), second *journal.Command, book string, inputs ...string) *journal.State {
	c.Helper()
	ctx := c.Context()
	store, err := durable.Open(ctx, durable.Options{Folder: c.store, Version: journal.Interpreter})
	c.must(err)
	defer func() { c.must(store.Close()) }()
	s := serviceOn(store, func(context.Context) (*cluster.Cluster, error) {
		return lab.AsCluster(c.lab, enginemysql.Engine{}, c.deps.Machine), nil
	})
	s.Observe = func(_ string, e journal.Event, _ time.Time) {
		if observe != nil {
			observe(e)
		}
	}
	x, err := s.Execute(ctx)
	c.must(err)
	run, err := begin(ctx, s, book, inputs...)
	c.must(err)
	c.must(s.Start(ctx, x, run, journal.Command{Do: "run"}))
	c.must(x.Wait(ctx, run))
	if second != nil {
		c.must(s.Start(ctx, x, run, *second))
		c.must(x.Wait(ctx, run))
	}
	c.must(x.Close(ctx))
	st, err := s.State(ctx, run)
	c.must(err)
	return st
}

// done runs a book and expects that it is done.
func (c *threeServers) done(book string, inputs ...string) *journal.State {
	c.Helper()
	st := c.run(nil, nil, book, inputs...)
	if st.Outcome != journal.RunDone {
		c.Fatalf("%s: %s %s: %s", book, st.Status(), st.Position(), errorsOf(st))
	}
	return st
}

func errorsOf(st *journal.State) string {
	var all []string
	for _, i := range st.Items {
		if i.Error != "" {
			all = append(all, i.Key+": "+i.Error)
		}
	}
	return strings.Join(all, "; ")
}

// refused expects that a book is refused with these words before it begins.
func (c *threeServers) refused(want, book string, inputs ...string) {
	c.Helper()
	ctx := c.Context()
	store, err := durable.Open(ctx, durable.Options{Folder: c.store, Version: journal.Interpreter})
	c.must(err)
	defer func() { c.must(store.Close()) }()
	s := serviceOn(store, func(context.Context) (*cluster.Cluster, error) {
		return lab.AsCluster(c.lab, enginemysql.Engine{}, c.deps.Machine), nil
	})
	if run, err := begin(ctx, s, book, inputs...); err == nil || !strings.Contains(err.Error(), want) {
		c.Errorf("%s %v: %s, %v, want %q", book, inputs, run, err, want)
	}
}

// spawn runs the child and tells whether it was killed.
func (c *threeServers) spawn(book, kill string) bool {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childStore+"="+c.store, childHome+"="+c.deps.Home, childBook+"="+book, childKill+"="+kill)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 {
		return true
	}
	if err != nil {
		c.Fatalf("%s, killed at %q: %v: %s", book, kill, err, out)
	}
	return false
}

// last is how the latest run stands, and its events.
func (c *threeServers) last() (*journal.State, []journal.Event) {
	c.Helper()
	ctx := c.Context()
	store, err := durable.Open(ctx, durable.Options{Folder: c.store, Version: journal.Interpreter})
	c.must(err)
	defer func() { c.must(store.Close()) }()
	runs, err := store.Runs(ctx)
	c.must(err)
	entries, err := store.Entries(ctx, runs[0].ID)
	c.must(err)
	var events []journal.Event
	for _, entry := range entries {
		var e journal.Event
		c.must(json.Unmarshal(entry.Data, &e))
		events = append(events, e)
	}
	st, err := journal.Fold(entries, actions())
	c.must(err)
	return st, events
}

// says is the one value of a query.
func (c *threeServers) says(node, query string) string {
	c.Helper()
	v, err := c.on.Value(c.Context(), node, query)
	c.must(err)
	return v
}

func (c *threeServers) tell(node string, statements ...string) {
	c.Helper()
	c.must(c.on.Execute(c.Context(), node, statements, func(int) {}))
}

// standing is the part that a node plays, as it says.
func (c *threeServers) standing(node string) (engine.ReplicationStatus, error) {
	db, err := c.on.Database(c.Context(), node)
	if err != nil {
		return engine.ReplicationStatus{}, err
	}
	return db.(engine.Replicated).ReplicationStatus(c.Context())
}

// patience is how long a busy machine may take.
const patience = 3 * time.Minute

// primaryIs expects that one node takes writes, and that the others follow it.
func (c *threeServers) primaryIs(want string) {
	c.Helper()
	c.on.RolesChanged()
	p, err := c.on.Primary(c.Context())
	c.must(err)
	if p.Name != want {
		c.Errorf("the primary is %s, want %s", p.Name, want)
	}
	for _, n := range c.lab.Nodes() {
		if n.Name == want || n.State != lab.Running {
			continue
		}
		is, err := c.standing(n.Name)
		c.must(err)
		if !is.ReadOnly || is.Follows() != p.Target.Addresses[0] {
			c.Errorf("%s is %+v, want a replica of %s", n.Name, is, want)
		}
	}
}
