package execute

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// TestMain is also the child process that is killed.
func TestMain(m *testing.M) {
	if state := os.Getenv("RUNBOOK_CHILD"); state != "" {
		if err := child(state); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if state := os.Getenv("RUNBOOK_FULL"); state != "" {
		if err := fullDisk(state); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// crashBook has a step of every nature. Each act leaves a line, so that acts can be counted.
const crashBook = `
runbook: test/crash
steps:
  - id: reversible
    uses: command
    with: {run: "echo x >> DIR/reversible; touch DIR/r", check: "test -e DIR/r", undo: "rm -f DIR/r", repeatable: true}
  - id: checked
    uses: command
    with: {run: "echo x >> DIR/checked", check: "test -e DIR/checked"}
  - id: group
    rolling: {over: '["x", "y"]', max_unavailable: 2}
    steps:
      - {id: each, uses: command, with: {run: "echo x >> DIR/each-${{ target }}", check: "test -e DIR/each-${{ target }}"}}
  - id: blind
    uses: command
    with: {run: "echo x >> DIR/blind"}
`

func child(state string) error {
	began := time.Now()
	ctx := context.Background()
	kill, _ := strconv.Atoi(os.Getenv("RUNBOOK_KILL"))
	before := os.Getenv("RUNBOOK_BEFORE") != ""
	first := true
	store, err := durable.Open(ctx, durable.Options{Folder: state, Postgres: os.Getenv("RUNBOOK_POSTGRES"), Version: journal.Interpreter, Written: func(m durable.Moment) {
		if first && !m.Before {
			first = false
			_ = os.WriteFile(filepath.Join(state, "took"), []byte(strconv.FormatInt(time.Since(began).Milliseconds(), 10)), 0o600)
		}
		if m.Number == kill && m.Before == before {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	if err != nil {
		return err
	}
	s := newService(store)
	e, err := s.Execute(ctx)
	for errors.Is(err, durable.ErrBusy) { // a shell that a killed process was just starting has the lock until it is loaded
		e, err = s.Execute(ctx)
	}
	if err != nil {
		return err
	}
	runs := e.Continued()
	if len(runs) == 0 {
		text := crashBook
		if other := os.Getenv("RUNBOOK_BOOK"); other != "" {
			text = other
		}
		book, err := runbook.Parse("crash.yaml", []byte(strings.ReplaceAll(text, "DIR", os.Getenv("RUNBOOK_FOLDER"))), s.Actions)
		if err != nil {
			return err
		}
		p, err := s.Prepare(ctx, Request{Book: book, Cluster: "lab1"})
		if err != nil {
			return err
		}
		run, err := s.Begin(ctx, p)
		if err != nil {
			return err
		}
		if err := s.Start(ctx, e, run, journal.Command{Do: "run"}); err != nil {
			return err
		}
		runs = []string{run}
	}
	for _, run := range runs {
		if err := e.Wait(ctx, run); err != nil {
			return err
		}
	}
	return errors.Join(e.Close(ctx), store.Close())
}

// spawn runs the child and tells whether it was killed.
func spawn(t *testing.T, state, folder string, kill int, before bool) (killed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "RUNBOOK_CHILD="+state, "RUNBOOK_FOLDER="+folder, "RUNBOOK_KILL="+strconv.Itoa(kill))
	if before {
		cmd.Env = append(cmd.Env, "RUNBOOK_BEFORE=1")
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 {
		return true
	}
	if err != nil {
		t.Fatalf("killed at %d (before %v): the child ended with %v: %s", kill, before, err, out)
	}
	return false
}

// TestKilledAroundEveryWrite kills the executing process before and after every entry: before it, an act has happened and
// its result is not known; after it, an intent is known and nothing has happened.
func TestKilledAroundEveryWrite(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	b := newBench(t)
	var took []float64 // ms from the start of a process until it has decided what to do first
	for kill := 1; ; kill++ {
		killed := false
		for _, before := range []bool{true, false} {
			state, folder := t.TempDir(), t.TempDir()
			if !spawn(t, state, folder, kill, before) {
				continue
			}
			killed = true
			spawn(t, state, folder, 0, false)
			text, err := os.ReadFile(filepath.Join(state, "took"))
			if err != nil {
				t.Fatal(err)
			}
			ms, err := strconv.ParseFloat(string(text), 64)
			if err != nil {
				t.Fatal(err)
			}
			took = append(took, ms)
			examine(t, b, state, folder, fmt.Sprintf("killed at entry %d (before %v)", kill, before))
		}
		if !killed {
			if kill < 20 {
				t.Errorf("only %d entries", kill)
			}
			break
		}
	}
	// A figure, not a bound: the machine may be busy. docs/torture.md has it for real servers.
	t.Logf("%d resumes; the median wrote its first entry %.0f ms after its process was started", len(took), median(took))
}

// TestARunThatWasKilledAndIsGivenUpDoesNothingMore kills it after its first step, and cancels it.
func TestARunThatWasKilledAndIsGivenUpDoesNothingMore(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a process")
	}
	state, folder := t.TempDir(), t.TempDir()
	const kill = 7 // began, opened, and of the first step: valued, checked, intended, acted, verified
	if !spawn(t, state, folder, kill, false) {
		t.Fatal("it was not killed")
	}
	b := newBenchOn(t, state)
	runs, err := b.Store.Runs(t.Context())
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	run := runs[0].ID
	e, err := b.Execute(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Start(t.Context(), e, run, journal.Command{Do: "cancel", Undo: true, Reason: "enough"}), e.Wait(t.Context(), run), e.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Outcome != journal.RunUndone || len(b.events(run, journal.Intended)) != 1 || len(b.events(run, journal.Undone)) != 1 {
		t.Errorf("outcome %q, acts %+v", st.Outcome, b.events(run, journal.Intended))
	}
}

// A run whose process was killed after its end has a session without an end, and does not go on.
func TestARunThatHadEndedDoesNotGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process")
	}
	t.Setenv("RUNBOOK_BOOK", `{runbook: test/short, steps: [{id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a"}}]}`)
	for kill, goesOn := range map[int]int{5: 1, 8: 0} { // intended, ended
		state, folder := t.TempDir(), t.TempDir()
		if !spawn(t, state, folder, kill, false) {
			t.Fatal("it was not killed")
		}
		b := newBenchOn(t, state)
		since := time.Now()
		e, err := b.Execute(t.Context())
		if err != nil || len(e.Continued()) != 1 {
			t.Fatalf("%v goes on, %v", e.Continued(), err)
		}
		if got := Resumed(t.Context(), b.Service, e, since); len(got) != goesOn {
			t.Errorf("killed at entry %d: %v goes on, want %d", kill, got, goesOn)
		}
		if err := errors.Join(e.Wait(t.Context(), e.Continued()[0]), e.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
}

// TestARunThatWasKilledDoesNotGoOnByItselfWithActionsThatChanged kills it after its first step, and has another release start.
func TestARunThatWasKilledDoesNotGoOnByItselfWithActionsThatChanged(t *testing.T) {
	t.Parallel()
	state, folder := t.TempDir(), t.TempDir()
	if !spawn(t, state, folder, 7, false) {
		t.Fatal("it was not killed")
	}
	b := newBenchOn(t, state)
	b.upgrade("command", 9)
	e, err := b.Execute(t.Context())
	if err != nil || len(e.Continued()) != 1 {
		t.Fatalf("%v goes on, %v", e.Continued(), err)
	}
	run := e.Continued()[0]
	var changed *journal.ChangedError
	if err := e.Wait(t.Context(), run); !errors.As(err, &changed) {
		t.Errorf("it went on: %v", err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Status() != "parked" || len(b.events(run, journal.Intended)) != 1 {
		t.Errorf("status %q, acts %+v", st.Status(), b.events(run, journal.Intended))
	}
	if st := b.runSession(run, journal.Command{Do: "resume", Changed: "it is safe"}); len(b.events(run, journal.Intended)) < 2 || st.Versions["command"] != 9 {
		t.Errorf("it did not go on: %q %q", st.Status(), st.Why)
	}
}

// TestARunThatWasKilledInItsUndoIsUndoneFurtherByAPlainCancel kills it when it has begun to undo its second step, and between its undos.
// The cluster was given back half undone, and nothing said so.
func TestARunThatWasKilledInItsUndoIsUndoneFurtherByAPlainCancel(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const half = `
runbook: test/half
on_failure: undo
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", undo: "rm -f DIR/a", repeatable: true}}
  - {id: b, uses: command, with: {run: "touch DIR/b", check: "test -e DIR/b", undo: "rm -f DIR/b", repeatable: true}}
  - {id: c, uses: command, with: {run: "false", undo: "true", repeatable: true}}
`
	t.Setenv("RUNBOOK_BOOK", half)
	seen := map[journal.Kind]bool{}
	for kill := 12; ; kill++ {
		state, folder := t.TempDir(), t.TempDir()
		if !spawn(t, state, folder, kill, false) {
			break // it came to its end
		}
		b := newBenchOn(t, state)
		runs, err := b.Store.Runs(t.Context())
		if err != nil || len(runs) != 1 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		run := runs[0].ID
		entries, err := b.Store.Entries(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		var last journal.Event
		if err := json.Unmarshal(entries[len(entries)-1].Data, &last); err != nil {
			t.Fatal(err)
		}
		if last.Kind != journal.Undoing && last.Kind != journal.Undone {
			continue
		}
		seen[last.Kind] = true
		e, err := b.Execute(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.Start(t.Context(), e, run, journal.Command{Do: "cancel"}), e.Wait(t.Context(), run), e.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		left, err := filepath.Glob(filepath.Join(folder, "[ab]"))
		if err != nil {
			t.Fatal(err)
		}
		if st := b.stateOf(run); st.Outcome != journal.RunUndone || len(left) > 0 {
			t.Errorf("killed at %s %s and cancelled: outcome %q (%s), still there %q", last.Kind, last.Step, st.Outcome, st.Why, left)
		}
	}
	if !seen[journal.Undoing] || !seen[journal.Undone] {
		t.Errorf("it was killed at %v", seen)
	}
}

// TestAnUndoThatOutlivedItsPlimsollIsWaitedFor has an undo that kills the process which began it, and goes on: by the action
// itself, and by another that the step names.
func TestAnUndoThatOutlivedItsPlimsollIsWaitedFor(t *testing.T) {
	const undo = `"echo begin >> DIR/log; mkdir DIR/once 2>/dev/null && kill -9 $PPID; sleep 0.7; echo end >> DIR/log; rm -f DIR/a"`
	for name, step := range map[string]string{
		"by the action": `{id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", repeatable: true, undo: UNDO}}`,
		"by another": `{id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", repeatable: true, effect: irreversible},
     undo: {uses: command, with: {run: UNDO, check: "! test -e DIR/a", repeatable: true}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			state, folder := t.TempDir(), t.TempDir()
			t.Setenv("RUNBOOK_BOOK", "runbook: test/outlives\non_failure: undo\nsteps:\n  - "+strings.ReplaceAll(step, "UNDO", undo)+"\n  - {id: b, uses: command, with: {run: \"false\", undo: \"true\"}}\n")
			if !spawn(t, state, folder, 0, false) {
				t.Fatal("it was not killed")
			}
			if spawn(t, state, folder, 0, false) {
				t.Fatal("it was killed again")
			}
			log, err := os.ReadFile(filepath.Join(folder, "log"))
			text := strings.Join(strings.Fields(string(log)), " ")
			if err != nil || text != "begin end" && text != "begin end begin end" {
				t.Errorf("two undos at once: %q, %v", text, err)
			}
		})
	}
}

// TestWhatAStepWithoutAnEffectLeftUnderWayIsWaitedForByACancellation has a step that changes nothing, as a comparison, go on after its
// Plimsoll was killed. Undone or not, the run does not give its cluster back before that ends.
func TestWhatAStepWithoutAnEffectLeftUnderWayIsWaitedForByACancellation(t *testing.T) {
	for name, cancel := range map[string]journal.Command{"undone": {Do: "cancel", Undo: true, Reason: "enough"}, "cancelled": {Do: "cancel", Reason: "enough"}} {
		t.Run(name, func(t *testing.T) {
			state, folder := t.TempDir(), t.TempDir()
			t.Setenv("RUNBOOK_BOOK", `runbook: test/looks
steps:
  - {id: look, uses: command, with: {effect: none, run: "kill -9 $PPID; sleep 0.7; echo end >> DIR/log"}}
`)
			if !spawn(t, state, folder, 0, false) {
				t.Fatal("it was not killed")
			}
			b := newBenchOn(t, state)
			runs, err := b.Store.Runs(t.Context())
			if err != nil || len(runs) != 1 {
				t.Fatalf("%d runs, %v", len(runs), err)
			}
			run := runs[0].ID
			e, err := b.Execute(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(b.Start(t.Context(), e, run, cancel), e.Wait(t.Context(), run), e.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
			if log, err := os.ReadFile(filepath.Join(folder, "log")); err != nil || string(log) != "end\n" {
				t.Errorf("it is still under way: %q, %v", log, err)
			}
			if st := b.stateOf(run); st.Outcome != journal.RunUndone && st.Outcome != journal.RunCancelled || len(b.events(run, journal.Intended)) != 1 {
				t.Errorf("outcome %q", st.Outcome)
			}
		})
	}
}

// TestAStepWithoutAnEffectThatCameToItsEndIsNotLookedAtBeforeTheUndo has a step that changes nothing fail: what is undone does not wait for it.
func TestAStepWithoutAnEffectThatCameToItsEndIsNotLookedAtBeforeTheUndo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(`
runbook: test/looks
on_failure: undo
steps:
  - {id: change, uses: command, with: {run: "true", undo: "echo undone >> DIR/log"}}
  - {id: look, uses: command, with: {effect: none, check: "echo checked >> DIR/log; exit 1", run: "echo end >> DIR/log; exit 2"}}
`)})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunUndone {
		t.Errorf("outcome %q", st.Outcome)
	}
	if log := b.read("log"); !strings.HasSuffix(strings.TrimSpace(log), "end\nundone") {
		t.Errorf("it did %q", log)
	}
}

// examine looks at what one crash left.
func examine(t *testing.T, b *bench, state, folder, when string) {
	t.Helper()
	store, err := durable.Open(t.Context(), durable.Options{Folder: state, Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	runs, err := store.Runs(t.Context())
	if err != nil || len(runs) == 0 {
		t.Fatalf("%s: %d runs, %v", when, len(runs), err)
	}
	entries, err := store.Entries(t.Context(), runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := durable.VerifyChain(entries); err != nil {
		t.Errorf("%s: %v", when, err)
	}
	st, err := journal.Fold(entries, b.Actions)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for st.Outcome == journal.RunFailed { // as a person would who has looked how things stand
		for _, i := range st.Items {
			if i.Asks && i.Key != "reversible" {
				asked[i.Key] = true
			} else if i.Phase == journal.StepFailed {
				t.Fatalf("%s: %s failed: %s", when, i.Key, i.Error)
			}
		}
		s := &bench{Service: newService(store), t: t}
		st = s.runSession(runs[0].ID, journal.Command{Do: "resume"})
	}
	if st.Outcome != journal.RunDone {
		t.Errorf("%s: outcome %q at %s", when, st.Outcome, st.Position())
	}
	if entries, err = store.Entries(t.Context(), runs[0].ID); err != nil {
		t.Fatal(err)
	}
	finished := map[string]bool{}
	for _, entry := range entries {
		var e journal.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == journal.Intended && finished[e.Step] {
			t.Errorf("%s: the finished step %s began again", when, e.Step)
		}
		if e.Kind == journal.Verified {
			finished[e.Step] = true
		}
	}
	most := map[string]int{"reversible": 2, "checked": 1, "each-x": 1, "each-y": 1, "blind": 1}
	if asked["blind"] { // which nothing but a person could know
		most["blind"] = 2
	}
	for name, most := range most {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if n := strings.Count(string(data), "x"); n > most || n == 0 {
			t.Errorf("%s: %s acted %d times, want 1 to %d, %v", when, name, n, most, err)
		}
	}
}
