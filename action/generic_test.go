package action_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra/local"
)

// here is a cluster without an engine, on this machine.
func here(t *testing.T) *cluster.Cluster {
	t.Helper()
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	return &cluster.Cluster{Name: "here", Environment: "lab", Local: m, List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "n1", Machine: m}}, nil
	}}
}

// files describes the files in a folder.
func files(dir string) func(t *testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		var all []string
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e.Name()+": "+string(data))
		}
		sort.Strings(all)
		return strings.Join(all, "\n")
	}
}

func TestCommandConforms(t *testing.T) {
	dir := t.TempDir()
	actiontest.Run(t, actiontest.Subject{
		Action: actiontest.Find(t, action.Generic(), "command"), Cluster: here(t), Snapshot: files(dir),
		With: strings.ReplaceAll(`{run: "sleep 0.02; echo done > DIR/f", check: "test -s DIR/f", undo: "rm -f DIR/f", repeatable: true}`, "DIR", dir),
	})
}

func TestPauseConforms(t *testing.T) {
	actiontest.Run(t, actiontest.Subject{
		Action: actiontest.Find(t, action.Generic(), "pause"), Cluster: here(t), With: `{for: 30ms}`, Always: true,
		Snapshot: func(*testing.T) string { return "" },
	})
}

func TestWaitConforms(t *testing.T) {
	if task, err := actiontest.Find(t, action.Generic(), "wait").Bind(nil); err == nil {
		t.Errorf("a wait for nothing was accepted: %+v", task)
	}
	asked := filepath.Join(t.TempDir(), "asked")
	forget := func(t *testing.T) {
		if err := os.Remove(asked); err != nil {
			t.Fatal(err)
		}
	}
	// It is so when it was asked for the sixth time.
	with := strings.ReplaceAll(`{run: "echo >> FILE; test $(wc -l < FILE) -ge 6 && echo yes || echo not yet", want: "yes", every: 10ms}`, "FILE", asked)
	s := here(t)
	actiontest.Run(t, actiontest.Subject{
		Action: actiontest.Find(t, action.Generic(), "wait"), Cluster: s, With: with, Again: forget, Snapshot: func(*testing.T) string { return "" },
	})
	out, err := bind(t, "wait", with).Act(t.Context(), s, action.Call{Progress: func(float64, string) {}})
	if err != nil || out["value"] != "yes" {
		t.Errorf("%v, %v", out, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	never := bind(t, "wait", `{run: "echo not yet", want: "yes", every: 10ms}`)
	if _, err := never.Act(ctx, s, action.Call{Progress: func(float64, string) { cancel() }}); err == nil || !strings.Contains(err.Error(), "the last answer was not yet") {
		t.Errorf("what never came: %v", err)
	}
}

func bind(t *testing.T, name, with string) action.Task {
	t.Helper()
	return actiontest.Task(t, action.Generic(), name, with)
}

func TestACommandThatOutlivedItsPlimsollIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	s := here(t)
	c := bind(t, "command", strings.ReplaceAll(`{run: "(while test -d DIR -a ! -e DIR/go; do sleep 0.02; done; sleep 0.2; echo x > DIR/f) >/dev/null 2>&1 &", check: "test -s DIR/f"}`, "DIR", dir))
	call := action.Call{Token: "left-behind", Progress: func(float64, string) {}}
	if _, err := c.Act(t.Context(), s, call); err != nil {
		t.Fatal(err)
	}
	if f, err := c.Check(t.Context(), s); err != nil || f.State != action.Needed {
		t.Fatalf("%+v, %v", f, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.(action.InFlightWaiter).AwaitInFlight(t.Context(), s, call); err != nil {
		t.Fatal(err)
	}
	if f, err := c.Check(t.Context(), s); err != nil || f.State != action.Satisfied {
		t.Errorf("after it settled: %+v, %v", f, err)
	}
}

// writes is a database that would be glad to change.
type writes struct {
	engine.Database
	texts []string
}

func (w *writes) Session(context.Context) (engine.Session, error) { return &writing{db: w}, nil }
func (w *writes) Close() error                                    { return nil }
func (w *writes) Facts(context.Context) (engine.Facts, error)     { return engine.Facts{}, nil }

type writing struct {
	engine.Session
	db *writes
}

func (s *writing) Exec(_ context.Context, text string, _ *engine.Result) error {
	s.db.texts = append(s.db.texts, text)
	return nil
}
func (s *writing) Close() error { return nil }
func (s *writing) Interrupt()   {}

type oneDatabase struct {
	engine.Engine
	db engine.Database
}

func (e oneDatabase) Open(context.Context, engine.Target) (engine.Database, error) { return e.db, nil }

func TestAReadOnlySiteRefusesEveryChange(t *testing.T) {
	s := here(t)
	db := &writes{}
	s.Engine = oneDatabase{db: db}
	s.List = func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "n1", Target: engine.Target{Addresses: []string{"x"}}}}, nil
	}
	reading := s.ReadOnly()
	for text, allowed := range map[string]bool{
		"SELECT 1": true, " select\n1": true, "SHOW VARIABLES": true, "EXPLAIN SELECT 1": true, "/* why */ SELECT 1 -- and so\n + 2 # sum": true,
		"SELECT 'INTO OUTFILE; FOR UPDATE', `into`, \"it's for share\", 'it''s \\' lock in'": true, "SELECT IS_USED_LOCK('x'), SLEEP(0)": true,
		"SHOW REPLICA STATUS FOR CHANNEL 'c'": true, "SELECT SUBSTRING(a FROM 1 FOR 2) FROM t FOR SYSTEM_TIME ALL": true, "SELECT get_lock FROM t": true,
		"SELECT 4--1": true, "SELECT/* a */(1)": true,
		"": false, "DELETE FROM t": false, "SELECT 1; DELETE FROM t": false, "SET GLOBAL x = 1": false, "SELECTED": false,
		"WITH x AS (SELECT 1) DELETE FROM t": false, "CALL p()": false, "ANALYZE SELECT 1": false, "EXPLAIN ANALYZE SELECT f()": false,
		"DESCRIBE ANALYZE SELECT f()": false, "EXPLAIN/**/ANALYZE SELECT 1": false,
		"SELECT 1 INTO OUTFILE '/x'": false, "SELECT 1 INTO  OUTFILE '/x'": false, "SELECT 1 into\noutfile '/x'": false, "SELECT 1 INTO/**/OUTFILE '/x'": false,
		"SELECT 1 INTO -- \n DUMPFILE '/x'": false, "SELECT 1 INTO DUMPFILE '/x'": false, "SELECT 1 INTO @a": false,
		"SELECT * FROM t FOR UPDATE": false, "SELECT * FROM t FOR\tUPDATE SKIP LOCKED": false, "SELECT * FROM t FOR/*x*/UPDATE OF t NOWAIT": false,
		"SELECT * FROM t FOR SHARE": false, "SELECT * FROM t FOR  SHARE": false, "SELECT * FROM t lock in share mode": false, "SELECT * FROM t LOCK\nIN SHARE MODE": false,
		"SELECT 1 /*! INTO OUTFILE '/x' */": false, "SELECT 1 /*!50000 FOR UPDATE */ FROM t": false, "SELECT 1 /*M! FOR UPDATE */": false,
		"SELECT GET_LOCK('x', 0)": false, "SELECT get_lock ('x', 0)": false, "SELECT `GET_LOCK`('x', 0)": false, "SELECT RELEASE_ALL_LOCKS()": false,
		"SELECT release_lock/**/('x')": false, "SELECT NEXTVAL(s)": false, "SELECT NEXT VALUE FOR s": false, "SELECT SETVAL(s, 9)": false,
		"SELECT group_replication_set_as_primary('u')": false, "SELECT service_get_write_locks('a', 'b', 1)": false,
		"SELECT 'a": false, "SELECT 1 /* no end": false, "SELECT '\\'; DELETE FROM t": false,
	} {
		err := reading.Execute(t.Context(), "", []string{text}, func(int) {})
		if (err == nil) != allowed || err != nil && !errors.Is(err, cluster.ErrReadOnly) {
			t.Errorf("%q: %v", text, err)
		}
	}
	m, err := reading.Machine(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		m.WriteFile(t.Context(), filepath.Join(t.TempDir(), "f"), nil, 0o600), m.Remove(t.Context(), t.TempDir()), m.MakeDir(t.Context(), t.TempDir()),
	} {
		if !errors.Is(err, cluster.ErrReadOnly) {
			t.Errorf("a file was changed: %v", err)
		}
	}
}
