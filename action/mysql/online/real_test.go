package online

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/hint"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

// password has signs that configuration files, shells and tools could misread.
const password = `p"a\s's#w=o,r;d $x`

const hasNote = "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'orders' AND column_name = 'note'"

// stage is a real cluster with a table, reached by an account of its own, and a tool.
type stage struct {
	*testing.T
	on    *cluster.Cluster
	admin *cluster.Cluster // by an administrator's account
	tool  string
}

func newStage(t *testing.T, product, tool string, rows int) *stage {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	c := labtest.Cluster(t, lab.Spec{
		Name: "online-" + product, Product: product, Nodes: 2, Config: map[string]string{"innodb_buffer_pool_size": "64M", "binlog_format": "ROW"},
	})
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	admin := lab.AsCluster(c, enginemysql.Engine{}, m)
	s := &stage{T: t, on: lab.AsCluster(c, enginemysql.Engine{}, m), admin: admin, tool: tool}
	t.Cleanup(func() { _, _ = admin.Close(), s.on.Close() }) // before the servers end
	quotedPassword := "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(password) + "'"
	s.must(admin.Execute(t.Context(), "", []string{
		"CREATE USER changer@'%' IDENTIFIED BY " + quotedPassword, "GRANT ALL ON *.* TO changer@'%'",
		"CREATE DATABASE shop", "CREATE TABLE shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(200))",
		"INSERT INTO shop.orders (text) VALUES (REPEAT('x', 150)), (REPEAT('y', 150)), (REPEAT('z', 150)), (REPEAT('w', 150)), (REPEAT('v', 150))",
	}, func(int) {}))
	for n := 5; n < rows; n *= 2 {
		s.must(admin.Execute(t.Context(), "", []string{"INSERT INTO shop.orders (text) SELECT text FROM shop.orders"}, func(int) {}))
	}
	s.must(admin.Execute(t.Context(), "", []string{"ANALYZE TABLE shop.orders"}, func(int) {})) // by which gh-ost knows how many rows there are
	list := s.on.List
	s.on.List = func(ctx context.Context) ([]cluster.Node, error) {
		nodes, err := list(ctx)
		for i := range nodes {
			nodes[i].Target.User, nodes[i].Target.Password = "changer", password
		}
		return nodes, err
	}
	s.until("the replica has the account", func() bool {
		v, err := admin.Value(t.Context(), "n2", "SELECT COUNT(*) FROM shop.orders")
		return err == nil && v == s.says("SELECT COUNT(*) FROM shop.orders")
	})
	return s
}

var cache = func() string {
	c, err := lab.Cache(os.Getenv)
	if err != nil {
		panic(err)
	}
	return c
}()

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) says(query string) string {
	s.Helper()
	v, err := s.on.Value(s.Context(), "n1", query)
	s.must(err)
	return v
}

func (s *stage) tell(node string, texts ...string) {
	s.Helper()
	s.must(s.on.Execute(context.WithoutCancel(s.Context()), node, texts, func(int) {}))
}

func (s *stage) until(what string, so func() bool) {
	s.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); !so(); {
		select {
		case <-tick.C:
		case <-deadline:
			s.Fatalf("after a minute it is not so: %s", what)
		}
	}
}

func (s *stage) with(more string) string {
	if more == "" {
		more = "busy: 1000"
	}
	return fmt.Sprintf("{table: shop.orders, change: ADD COLUMN note INT, check: %q, tool: %s, %s}", hasNote, s.tool, more)
}

func (s *stage) task(more string) *alter {
	s.Helper()
	return actiontest.Bind(s, alterOnline, s.with(more)).(*alter)
}

// again takes the column away, as a person would, and makes sure that nothing else is there.
func (s *stage) again() {
	s.Helper()
	if s.says(hasNote) == "1" {
		s.tell("n1", "ALTER TABLE shop.orders DROP COLUMN note")
	}
	if is := s.snapshot(); is != "orders: id,text" {
		s.Fatalf("there is %s", is)
	}
}

// snapshot is all that stands in the table's database, with the triggers.
func (s *stage) snapshot() string {
	s.Helper()
	tables, err := s.on.Column(context.WithoutCancel(s.Context()), "n1",
		"SELECT CONCAT(table_name, ': ', GROUP_CONCAT(column_name ORDER BY ordinal_position)) FROM information_schema.columns WHERE table_schema = 'shop' GROUP BY table_name ORDER BY 1")
	s.must(err)
	triggers, err := s.on.Column(context.WithoutCancel(s.Context()), "n1", "SELECT CONCAT('trigger ', trigger_name) FROM information_schema.triggers WHERE trigger_schema = 'shop' ORDER BY 1")
	s.must(err)
	return strings.Join(append(tables, triggers...), "; ")
}

// TestMain has the tools write their logs into a folder of the test's own; what is fetched stays where it was.
func TestMain(m *testing.M) {
	logs, err := os.MkdirTemp("", "plimsoll-online-")
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{"PLIMSOLL_CACHE": cache, "XDG_CACHE_HOME": logs, "PATH": ghostFolder + string(filepath.ListSeparator) + os.Getenv("PATH")} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	status := m.Run()
	_ = os.RemoveAll(logs)
	os.Exit(status)
}

func TestPerconaOnMariaDB(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath(percona); err != nil {
		t.Skip("percona-toolkit is not installed; .ci/run installs it")
	}
	s := newStage(t, "mariadb", percona, 300_000)
	s.all()
	t.Run("waits while the server is busy", func(t *testing.T) { s.pauses(t, "busy: 6", "Threads_running") })
	t.Run("refuses where its triggers would be refused", func(t *testing.T) { s.refusesTriggers(t) })
}

func TestGhostOnMySQL(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	t.Parallel()
	buildGhost(t)
	s := newStage(t, "mysql", ghost, 80_000)
	s.all()
	t.Run("refuses the other tool", func(t *testing.T) {
		if _, err := exec.LookPath(percona); err != nil {
			t.Skip("percona-toolkit is not installed; .ci/run installs it")
		}
		other := s.task("")
		other.Tool = percona
		f, err := other.Check(t.Context(), s.on.ReadOnly())
		refusal := (*hint.PermanentError)(nil)
		if version, _ := (&tableChange{alter: other, on: s.on}).installed(t.Context(), percona); !atLeast(version.Version, 3, 7) &&
			(!errors.As(err, &refusal) || !strings.Contains(refusal.Reason, "MySQL removed in 8.4") || !strings.Contains(refusal.Advice, "install gh-ost")) {
			t.Errorf("%+v, %v", f, err)
		}
	})
}

const ghostVersion = "v1.1.8"

var (
	ghostFolder = filepath.Join(cache, "gh-ost-"+ghostVersion)
	userCache   = os.Getenv("XDG_CACHE_HOME") // before TestMain: Go keeps there what it has compiled
)

// buildGhost builds gh-ost from its published source, once, and keeps it where fetched servers are kept. With the Makefile's flags, so that
// the standard library is not compiled a second time.
func buildGhost(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(ghostFolder, ghost)); err == nil {
		return
	}
	work := t.TempDir()
	for _, args := range [][]string{
		{"mod", "init", "build"}, {"get", "github.com/github/gh-ost@" + ghostVersion},
		{"build", "-o", filepath.Join(ghostFolder, ghost), "github.com/github/gh-ost/go/cmd/gh-ost"},
	} {
		c := exec.CommandContext(t.Context(), "go", args...)
		c.Dir, c.Env = work, append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "XDG_CACHE_HOME="+userCache)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
}

// all is what every tool has to pass.
func (s *stage) all() {
	s.Run("conforms", func(t *testing.T) {
		actiontest.Run(t, actiontest.Subject{
			Action: alterOnline, With: s.with(""), Cluster: s.on, Snapshot: func(*testing.T) string { return s.snapshot() },
			Again: func(*testing.T) { s.again() }, Cuts: []time.Duration{0, 50 * time.Millisecond, time.Second, 3 * time.Second},
		})
	})
	s.Run("loses no write and tells how far it is", func(t *testing.T) { s.losesNothing(t) })
	s.Run("outlives Plimsoll and is waited for", func(t *testing.T) { s.outlives(t) })
	s.Run("was killed and is cleaned up", func(t *testing.T) { s.killed(t) })
	s.Run("waits for a replica that is behind", func(t *testing.T) {
		stop, start := "STOP SLAVE SQL_THREAD", "START SLAVE SQL_THREAD"
		if s.tool == ghost {
			stop, start = "STOP REPLICA SQL_THREAD", "START REPLICA SQL_THREAD"
		}
		s.tell("n2", stop)
		s.pauses(t, "", "", func() { s.tell("n2", start) })
	})
	s.Run("refuses where somebody else changes the table", func(t *testing.T) { s.foreign(t) })
	s.Run("refuses to undo a change that is made", func(t *testing.T) { s.refusesToUndo(t) })
}

// refusesTriggers looks at an account without SUPER where there is a binary log: the tool would fail when it creates its triggers.
func (s *stage) refusesTriggers(t *testing.T) {
	s.again()
	s.must(s.admin.Execute(t.Context(), "", []string{"REVOKE SUPER ON *.* FROM changer@'%'"}, func(int) {}))
	_, err := s.task("").Check(t.Context(), s.on.ReadOnly())
	if err == nil || !strings.Contains(err.Error(), "log_bin_trust_function_creators is OFF") || !strings.Contains(hint.Of(err), trustTriggers) {
		t.Errorf("the check answers %v (%s)", err, hint.Of(err))
	}
	s.must(s.admin.Execute(t.Context(), "", []string{trustTriggers}, func(int) {}))
	if found, err := s.task("").Check(t.Context(), s.on.ReadOnly()); err != nil || found.State != action.Needed {
		t.Errorf("with log_bin_trust_function_creators the check answers %+v, %v", found, err)
	}
}

// losesNothing writes all the while, looks at the processes, and compares.
func (s *stage) losesNothing(t *testing.T) {
	task := s.task("")
	before := s.says("SELECT COUNT(*) FROM shop.orders")
	ids, err := s.on.Column(t.Context(), "n1", "SELECT id FROM shop.orders ORDER BY RAND() LIMIT 20000")
	s.must(err)
	writing, stop := context.WithCancel(t.Context())
	wrote := make(chan int, 1)
	go func() {
		n := 0
		for writing.Err() == nil && n < len(ids) {
			err := errors.Join(s.write("INSERT INTO shop.orders (text) VALUES ('written meanwhile')"),
				s.write("UPDATE shop.orders SET text = 'changed meanwhile' WHERE id = "+ids[n]))
			if err != nil {
				t.Errorf("a write: %v", err)
				break
			}
			n++
		}
		wrote <- n
	}()
	var shares []float64
	var texts []string
	seen, shown := 0, false
	c := action.Call{Token: "t", Progress: func(share float64, text string) {
		n, exposed := processesWith(t, s.tool)
		seen, shown = seen+n, shown || exposed
		shares, texts = append(shares, share), append(texts, text)
	}}
	out, err := task.Act(t.Context(), s.on, c)
	stop()
	n := <-wrote
	if err != nil {
		t.Fatal(err)
	}
	if out["tool"] != s.tool || out["version"] == "" || !strings.HasPrefix(fmt.Sprint(out["program"]), "/") {
		t.Errorf("it puts out %v", out)
	}
	after := s.says("SELECT COUNT(*) FROM shop.orders")
	changed := s.says("SELECT COUNT(*) FROM shop.orders WHERE text = 'changed meanwhile'")
	if total := fmt.Sprint(atoi(t, before) + n); after != total || changed != fmt.Sprint(n) || n == 0 {
		t.Errorf("%s rows before, %d written and changed meanwhile: %s there, %s of them changed", before, n, after, changed)
	}
	if seen == 0 || shown {
		t.Errorf("%d looks found the tool's process; the password stood there: %v", seen, shown)
	}
	told := false
	for i := range shares {
		share := shares[i] > 0 && shares[i] <= 1
		told = told || share && (strings.Contains(texts[i], " left") || strings.Contains(texts[i], "the copy is complete")) // it may be fast
	}
	if !told {
		t.Errorf("it tells %v %v", shares, texts)
	}
	s.again()
	s.tell("n1", "DELETE FROM shop.orders WHERE text = 'written meanwhile'", "UPDATE shop.orders SET text = '' WHERE text = 'changed meanwhile'")
}

// write writes, and does it again where the server chose it as the victim of a deadlock: pt-online-schema-change's copying locks rows.
func (s *stage) write(text string) error {
	for {
		err := s.on.Execute(s.Context(), "n1", []string{text}, func(int) {})
		if engine.ClassOf(err) != engine.Deadlock {
			return err
		}
	}
}

// processesWith counts the processes of a tool, and tells whether the password stands on a command line.
func processesWith(t *testing.T, tool string) (n int, exposed bool) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		if bytes.Contains(line, []byte(tool)) {
			n++
		}
		exposed = exposed || bytes.Contains(line, []byte(password))
	}
	return n, exposed
}

func atoi(t *testing.T, text string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// begin starts the tool as an act does whose Plimsoll dies then, and waits until it copies.
func (s *stage) begin() *alter {
	s.Helper()
	task := s.task("")
	w, err := task.look(s.Context(), s.on)
	s.must(err)
	tool, err := w.tool(s.Context())
	s.must(err)
	s.must(w.start(s.Context(), tool))
	s.until("the tool has made its copy", func() bool {
		l, err := w.leftovers(s.Context())
		s.must(err)
		return len(l.tables) > 0
	})
	return task
}

func (s *stage) outlives(t *testing.T) {
	task := s.begin()
	f, err := task.Check(t.Context(), s.on.ReadOnly())
	if err != nil || f.State != action.Unknown || !strings.Contains(f.Reason, "still working on the table: process") {
		t.Errorf("while it runs the check finds %+v, %v", f, err)
	}
	told := ""
	c := action.Call{Token: "t", Progress: func(_ float64, text string) { told = text }}
	if err := task.AwaitInFlight(t.Context(), s.on.ReadOnly(), c); err != nil || !strings.Contains(told, "of an earlier attempt") {
		t.Fatalf("%v; it tells %q", err, told)
	}
	// All that Plimsoll would have done itself is left: nothing but the list of replicas and the account.
	if f, err := task.Check(t.Context(), s.on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Errorf("then the check finds %+v, %v", f, err)
	}
	if err := task.Undo(t.Context(), s.on, c); hint.Of(err) == "" {
		t.Errorf("an undo of what is done: %v", err)
	}
	s.again()
}

func (s *stage) killed(t *testing.T) {
	for _, then := range []string{"undone", "resumed"} {
		task := s.begin()
		w, err := task.look(t.Context(), s.on)
		s.must(err)
		running, err := w.running(t.Context())
		s.must(err)
		if len(running) == 0 {
			t.Fatal("no tool runs")
		}
		for _, p := range running {
			s.must(p.Signal(t.Context(), "KILL"))
		}
		c := action.Call{Token: "t", Progress: func(float64, string) {}}
		s.must(task.AwaitInFlight(t.Context(), s.on.ReadOnly(), c))
		f, err := task.Check(t.Context(), s.on.ReadOnly())
		if err != nil || f.State != action.Needed || !strings.Contains(fmt.Sprint(f.Observed["left_behind"]), "_plimsoll_") || !strings.Contains(f.Reason, "removed first") {
			t.Errorf("after the kill the check finds %+v, %v", f, err)
		}
		if then == "undone" {
			s.must(task.Undo(t.Context(), s.on, c))
			if is := s.snapshot(); is != "orders: id,text" {
				t.Errorf("after the undo there is %s", is)
			}
			continue
		}
		if _, err := task.Act(t.Context(), s.on, c); err != nil {
			t.Error(err)
		}
		if is := s.snapshot(); is != "orders: id,text,note" {
			t.Errorf("after it was resumed there is %s", is)
		}
	}
	s.again()
}

// pauses expects that the tool pauses for a reason, and goes on when it is over.
func (s *stage) pauses(t *testing.T, more, want string, over ...func()) {
	t.Helper()
	task := s.task(more)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	paused, told := make(chan struct{}), ""
	c := action.Call{Token: "t", Progress: func(_ float64, text string) {
		if told != "" {
			return
		}
		if strings.Contains(text, "throttled") || strings.Contains(text, "Pausing") || strings.Contains(text, "Waiting") {
			told = text
			close(paused)
		}
	}}
	busy, rested := context.WithCancel(ctx)
	defer rested()
	for range 8 {
		go func() { _, _ = s.on.Value(busy, "n1", "SELECT SLEEP(20)") }()
	}
	done := make(chan error, 1)
	go func() {
		_, err := task.Act(ctx, s.on, c)
		done <- err
	}()
	select {
	case <-paused:
	case err := <-done:
		t.Fatalf("it did not pause: %v", err)
	}
	if !strings.Contains(told, want) || s.says(hasNote) != "0" {
		t.Errorf("it tells %q", told)
	}
	for _, f := range over {
		f()
	}
	rested()
	if err := <-done; err != nil {
		t.Error(err)
	}
	t.Log(told)
	s.again()
}

func (s *stage) foreign(t *testing.T) {
	for name, made := range map[string]string{
		"_orders_ghc":               "CREATE TABLE shop._orders_ghc (a INT)",
		"pt_osc_shop_orders_del":    "CREATE TRIGGER shop.pt_osc_shop_orders_del AFTER DELETE ON shop.orders FOR EACH ROW SET @a = 1",
		"_plimsoll_0000_orders_new": "CREATE TABLE shop._plimsoll_0000_orders_new (a INT)",
	} {
		s.tell("n1", made)
		before := s.snapshot()
		f, err := s.task("").Check(t.Context(), s.on.ReadOnly())
		if err != nil || f.State != action.Unknown || !strings.Contains(f.Reason, name) {
			t.Errorf("beside %s the check finds %+v, %v", name, f, err)
		}
		_, err = s.task("").Act(t.Context(), s.on, action.Call{Progress: func(float64, string) {}})
		if nothing := (action.NothingDone{}); !errors.As(err, &nothing) || s.snapshot() != before {
			t.Errorf("beside %s it acts: %v, %s", name, err, s.snapshot())
		}
		s.executes(hint.Of(err))
		if f, err := s.task("").Check(t.Context(), s.on.ReadOnly()); err != nil || f.State != action.Needed || s.snapshot() != "orders: id,text" {
			t.Errorf("when what is advised was done the check finds %+v, %v, and there is %s", f, err, s.snapshot())
		}
	}
}

// executes executes what an advice says is to be executed, word for word, where it says.
func (s *stage) executes(advice string) {
	s.Helper()
	found := regexp.MustCompile(`execute (.+?) on (n[12])`).FindStringSubmatch(advice)
	if found == nil {
		s.Fatalf("it advises nothing to be executed: %s", advice)
	}
	s.tell(found[2], strings.Split(found[1], "; ")...)
}

// refusesToUndo makes the change, which is undone by nobody but a person: then nothing is left to be undone.
func (s *stage) refusesToUndo(t *testing.T) {
	task, c := s.task(""), action.Call{Token: "t", Progress: func(float64, string) {}}
	if _, err := task.Act(t.Context(), s.on, c); err != nil {
		t.Fatal(err)
	}
	err := task.Undo(t.Context(), s.on, c)
	if refusal := (*hint.PermanentError)(nil); !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, "table shop.orders is changed") ||
		!strings.Contains(refusal.Advice, "execute the ALTER TABLE that is the reverse of this one, then plimsoll runbook cancel RUN --undo") {
		t.Fatalf("undone: %v; %s", err, hint.Of(err))
	}
	s.tell("n1", "ALTER TABLE shop.orders DROP COLUMN note")
	if err := task.Undo(t.Context(), s.on, c); err != nil || s.snapshot() != "orders: id,text" {
		t.Errorf("when a person has reversed it: %v, and there is %s", err, s.snapshot())
	}
}

// TestRefusesWithoutATool has a PATH of its own, so it runs before the others.
func TestRefusesWithoutATool(t *testing.T) {
	s := newStage(t, "mariadb", percona, 5)
	t.Setenv("PATH", t.TempDir()+":/bin")
	none := s.task("")
	none.Path = "no-such-program"
	_, err := none.Check(t.Context(), s.on.ReadOnly())
	if !strings.Contains(fmt.Sprint(err), "is not installed on the machine where Plimsoll runs") || !strings.Contains(hint.Of(err), "install") {
		t.Errorf("%v; %s", err, hint.Of(err))
	}
}
