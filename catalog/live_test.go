package catalog

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/internal/document"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// A guardrail that names a watched series holds a run on a real server while it is breached, and a proof is made of one.
const watchedBook = `
runbook: mine/watched
guardrails:
  - {name: load, when: 'watch["sum(plimsoll_aas)"] > 2.5'}
  - {name: asked, when: 'watch["rate(mysql_global_status_questions[30s])"] < 0', no_data: stop}
steps:
  - id: make
    uses: sql.execute
    with: {statements: ["CREATE TABLE IF NOT EXISTS test.held (id INT PRIMARY KEY)"]}
    verify: {that: 'watch["mysql_global_status_uptime"] >= baseline.watch["mysql_global_status_uptime"]', within: 20s}
`

func TestAGuardrailOnAWatchedSeriesPausesARun(t *testing.T) {
	t.Parallel()
	db := labtest.Up(t, "mariadb")
	s := watchedService(t, db)
	book := ownBook(t, watchedBook)
	busy, release := context.WithCancel(t.Context())
	defer release()
	for range 4 {
		session, err := db.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		go func() {
			for busy.Err() == nil {
				_ = session.Exec(busy, "SELECT SLEEP(2)", nil) // it is cut off when the load ends
			}
		}()
	}
	executor, err := s.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = executor.Close(context.WithoutCancel(t.Context())) }()
	run := begun(t, s, executor, book, db.Cluster.Name())
	held := until(t, s, run, func(st *journal.State) bool { return st.Held != "" })
	if !strings.HasPrefix(held.Held, "load: ") || held.Blind || held.Item("make").Begun != 0 && held.Item("make").Phase == journal.StepActing {
		t.Errorf("held by %q, blind %v, %+v", held.Held, held.Blind, held.Item("make"))
	}
	release()
	done := until(t, s, run, func(st *journal.State) bool { return st.Outcome != "" })
	if done.Outcome != journal.RunDone {
		t.Errorf("it ended as %s: %s, %+v", done.Outcome, done.Why, done.Item("make"))
	}
}

func TestAWatchedSeriesThatNoServerShowsIsToldBeforeTheRun(t *testing.T) {
	t.Parallel()
	for wrong, want := range map[string]string{
		"sum(plimsol_aas)":          `unknown series "plimsol_aas": plimsoll watch does not record it (did you mean "plimsoll_aas"?)`,
		"sum(":                      "watch[\"sum(\"]: ",
		"plimsoll_aas[1m]":          "expected an instant vector or a number",
		"1 + 1":                     "names no series",
		"cassandra_pending_compact": `did you mean "cassandra_pending_compactions"?`,
	} {
		_, err := readOwn(t, strings.Replace(watchedBook, "sum(plimsoll_aas)", wrong, 1))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "mine.yaml:4:") {
			t.Errorf("%s: %v, want %s", wrong, err, want)
		}
	}
	if _, err := readOwn(t, strings.Replace(watchedBook, `watch["sum(plimsoll_aas)"]`, "watch[p99]", 1)); err == nil || !strings.Contains(err.Error(), "in quotes") {
		t.Errorf("without quotes: %v", err)
	}
	db := labtest.Up(t, "mariadb")
	s := watchedService(t, db)
	p, err := s.Prepare(t.Context(), execute.Request{Book: ownBook(t, strings.Replace(watchedBook, "mysql_global_status_questions", "mysql_global_status_question", 1)), Cluster: db.Cluster.Name()})
	if err != nil {
		t.Fatal(err)
	}
	if p.Guardrails[0].Trouble != "" || len(p.Guardrails[0].Metrics) != 1 {
		t.Errorf("the first guardrail sees %+v", p.Guardrails[0])
	}
	if want := "no server has the series mysql_global_status_question (did you mean mysql_global_status_questions?)"; p.Guardrails[1].Trouble != want {
		t.Errorf("the plan says %q, want %q", p.Guardrails[1].Trouble, want)
	}
}

// A series of a watch is no metric by its bare name: the refusal says how it is named.
func TestABareNameOfAWatchedSeriesIsToldHowToBeNamed(t *testing.T) {
	t.Parallel()
	for bare, want := range map[string]string{
		"mysql_global_status_threads_running":              `there is no metric mysql_global_status_threads_running, but a watch writes a series of that name: watch["mysql_global_status_threads_running"]`,
		"plimsoll_aas / 2 > baseline.plimsoll_aas ? 3 : 2": `watch["plimsoll_aas"]`,
	} {
		if _, err := readOwn(t, strings.Replace(watchedBook, `watch["sum(plimsoll_aas)"]`, bare, 1)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "mine.yaml:4:") {
			t.Errorf("%s: %v, want %s", bare, err, want)
		}
	}
}

// A server that hangs shows nothing: what it showed before is no data of now.
func TestWhatAHungServerShowedIsNotRead(t *testing.T) {
	t.Parallel()
	db := labtest.Up(t, "mariadb")
	machine, err := Machine()
	if err != nil {
		t.Fatal(err)
	}
	on := lab.AsCluster(db.Cluster, db.Engine, machine)
	defer func() { _ = on.Close() }() // it was only read
	reader, err := Live(t.Context(), on, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }() // it was only read
	const running = "mysql_global_status_threads_running"
	shows := func(want bool) bool {
		for begun := time.Now(); time.Since(begun) < 30*time.Second; time.Sleep(100 * time.Millisecond) {
			if all, err := reader.Read(t.Context(), running); err == nil && (len(all) == 1 && all[0].Node == "n1") == want {
				return true
			}
		}
		return false
	}
	if !shows(true) {
		t.Fatal("it shows nothing")
	}
	if err := db.Cluster.Server("n1").Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if !shows(false) {
		t.Error("what it showed before it hung is read on")
	}
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("that was so for %s", took)
	}
	if err := db.Cluster.Server("n1").Thaw(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !shows(true) {
		t.Error("it shows nothing when it answers again")
	}
}

func watchedService(t *testing.T, db labtest.Server) *execute.Service {
	t.Helper()
	machine, err := Machine()
	if err != nil {
		t.Fatal(err)
	}
	store, err := durable.Open(t.Context(), durable.Options{Folder: t.TempDir(), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &execute.Service{
		Store: store, Actions: Actions(), User: "test", Holder: "test", ClusterLock: ClusterLock,
		Open: func(context.Context, string) (*cluster.Cluster, error) {
			return lab.AsCluster(db.Cluster, db.Engine, machine), nil
		},
		Meter: func(on *cluster.Cluster) execute.Meter { return execute.NewNodeMeter(on) },
		Watch: func(ctx context.Context, on *cluster.Cluster) (execute.Watched, error) { return Live(ctx, on, nil) },
	}
}

func readOwn(t *testing.T, text string) (*runbook.Runbook, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Runbook(&document.Node{Kind: document.Scalar, Text: file})
}

func ownBook(t *testing.T, text string) *runbook.Runbook {
	t.Helper()
	book, err := readOwn(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return book
}

func begun(t *testing.T, s *execute.Service, executor *durable.Executor, book *runbook.Runbook, name string) (run string) {
	t.Helper()
	p, err := s.Prepare(t.Context(), execute.Request{Book: book, Cluster: name})
	if err != nil {
		t.Fatal(err)
	}
	if run, err = s.Begin(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context(), executor, run, journal.Command{Do: "run"}); err != nil {
		t.Fatal(err)
	}
	return run
}

func until(t *testing.T, s *execute.Service, run string, is func(*journal.State) bool) *journal.State {
	t.Helper()
	limited, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		st, err := s.State(limited, run)
		if err != nil {
			t.Fatal(err)
		}
		if is(st) {
			return st
		}
		select {
		case <-tick.C:
		case <-limited.Done():
			t.Fatalf("after a minute the run is %s, %+v", st.Status(), st.Items)
		}
	}
}
