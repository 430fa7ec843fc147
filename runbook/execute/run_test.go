package execute

import (
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

const threeSteps = `
runbook: test/three
inputs: {word: {default: hello}}
steps:
  - id: first
    uses: command
    with: {run: "echo ${{ inputs.word }} >> DIR/log; echo one", check: "test -s DIR/log", undo: "rm -f DIR/log", repeatable: true}
  - id: second
    uses: command
    with: {run: "echo ${{ steps.first.output.stdout }} > DIR/second", check: "test -s DIR/second", undo: "rm -f DIR/second", repeatable: true}
  - id: third
    if: inputs.word == "hello"
    uses: command
    with: {run: "touch DIR/third", check: "test -e DIR/third", undo: "rm -f DIR/third", repeatable: true}
`

func TestARunDoesItsStepsInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(threeSteps)})
	st := b.runSession(run, journal.Command{Do: "run"})
	if st.Outcome != journal.RunDone {
		t.Fatalf("outcome %q at %s", st.Outcome, st.Position())
	}
	if b.read("log") != "hello\n" || b.read("second") != "one\n" {
		t.Errorf("log %q, second %q", b.read("log"), b.read("second"))
	}
	// Another run finds everything done and acts no more; the lock was given back.
	again := b.begin(Request{Book: b.parse(threeSteps)})
	if st := b.runSession(again, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Errorf("outcome %q", st.Outcome)
	}
	if acts := b.events(again, journal.Intended); len(acts) != 1 || acts[0].Step != "second" {
		// first's output is not there when it did not act: second's input is empty, its file is there all the same
		if len(acts) != 0 {
			t.Errorf("acted again: %+v", acts)
		}
	}
	if b.read("log") != "hello\n" {
		t.Errorf("log %q", b.read("log"))
	}
}

func TestThePlanChecksForRealAndChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("log", "x\n")
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(threeSteps), Cluster: "lab1", Inputs: map[string]string{"word": "bye"}})
	if err != nil {
		t.Fatal(err)
	}
	steps := p.Header.Plan.Steps
	if steps[0].State != action.Satisfied || len(steps[1].Later) != 1 || !steps[2].Skip {
		t.Errorf("plan %+v", steps)
	}
	if b.read("log") != "x\n" || b.read("second") != "" {
		t.Error("the plan changed something")
	}
	same, err := b.Prepare(t.Context(), Request{Book: b.parse(threeSteps), Cluster: "lab1", Inputs: map[string]string{"word": "bye"}})
	if err != nil || same.Header.Plan.Hash != p.Header.Plan.Hash {
		t.Errorf("the same plan has hash %s and %s, %v", same.Header.Plan.Hash, p.Header.Plan.Hash, err)
	}
	other, err := b.Prepare(t.Context(), Request{Book: b.parse(threeSteps), Cluster: "lab1"})
	if err != nil || other.Header.Plan.Hash == p.Header.Plan.Hash {
		t.Errorf("another plan has the same hash, %v", err)
	}
}

const failing = `
runbook: test/failing
steps:
  - id: before
    uses: command
    with: {run: "echo before >> DIR/log", check: "grep -q before DIR/log 2>/dev/null || exit 1", undo: "sed -i /before/d DIR/log", repeatable: true}
  - id: flaky
    uses: command
    retry: {max: 2, backoff: 10ms}
    with: {run: "echo try >> DIR/log; test -e DIR/mended", check: "test -e DIR/ok || exit 1", undo: "true", repeatable: true}
  - id: after
    uses: command
    with: {run: "touch DIR/ok2", check: "test -e DIR/ok2", undo: "rm -f DIR/ok2", repeatable: true}
`

func TestAFailedStepStopsTheRunAndIsResumed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(failing)})
	st := b.runSession(run, journal.Command{Do: "run"})
	if st.Outcome != journal.RunFailed || st.Item("flaky").Phase != journal.StepFailed || st.Item("after").Phase != journal.StepWaiting {
		t.Fatalf("outcome %q, %+v", st.Outcome, st.Item("flaky"))
	}
	if n := strings.Count(b.read("log"), "try"); n != 3 {
		t.Errorf("%d tries, want 3", n)
	}
	if acts := b.events(run, journal.Intended); acts[1].Token == "" || acts[1].Token != acts[3].Token {
		t.Errorf("tries of one intention have different tokens: %+v", acts)
	}
	// A failed run keeps its cluster.
	var busy *lock.BusyError
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(threeSteps), Cluster: "lab1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Begin(t.Context(), p); !errors.As(err, &busy) || busy.Run != run {
		t.Errorf("a second run on the cluster: %v", err)
	}
	b.put("mended", "")
	b.put("ok", "")
	if st := b.runSession(run, journal.Command{Do: "resume", Reason: "mended"}); st.Outcome != journal.RunDone {
		t.Errorf("after the resume: %q, %s", st.Outcome, st.Position())
	}
	if n := strings.Count(b.read("log"), "before"); n != 1 {
		t.Errorf("the finished step was done %d times", n)
	}
}

func TestCancelTakesBackFromTheLastToTheFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(failing)})
	b.runSession(run, journal.Command{Do: "run"})
	st := b.runSession(run, journal.Command{Do: "cancel", Undo: true, Reason: "enough"})
	if st.Outcome != journal.RunUndone {
		t.Fatalf("outcome %q", st.Outcome)
	}
	if strings.Contains(b.read("log"), "before") {
		t.Errorf("log %q", b.read("log"))
	}
	undone := b.events(run, journal.Undone)
	if len(undone) != 2 || undone[0].Step != "flaky" || undone[1].Step != "before" {
		t.Errorf("undone %+v", undone)
	}
	if lease, err := b.Store.Lease(t.Context(), "cluster lab1"); err != nil || lease.Holder != "" {
		t.Errorf("the lock is held by %q, %v", lease.Holder, err)
	}
}

func TestAStepWithoutAnUndoStopsTheTakingBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(`
runbook: test/once
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", undo: "rm DIR/a", repeatable: true}}
  - {id: b, uses: command, with: {run: "touch DIR/b", check: "test -e DIR/b"}}
  - {id: c, uses: command, with: {run: "false"}}
`)})
	b.runSession(run, journal.Command{Do: "run"})
	st := b.runSession(run, journal.Command{Do: "cancel", Undo: true})
	if want := "step b is done, and the runbook has no undo for it; what stays done: a, b, c"; st.Outcome != journal.RunFailed || !strings.Contains(st.Refused, want) {
		t.Errorf("outcome %q, %q, want %q", st.Outcome, st.Refused, want)
	}
	if lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1")); err != nil || lease.Holder != run {
		t.Errorf("the cluster is held by %q, %v", lease.Holder, err)
	}
	st = b.runSession(run, journal.Command{Do: "cancel", Undo: true, Leave: "we live with it"})
	if st.Outcome != journal.RunCancelled || !st.Item("c").Asks { // it failed, which does not say that it did nothing
		t.Errorf("outcome %q, %+v", st.Outcome, st.Item("c"))
	}
	if undone := b.events(run, journal.Undone); len(undone) != 0 {
		t.Errorf("undone beneath what stays done: %+v", undone)
	}
}

func TestAFailureIsUndoneWhereTheRunbookSaysSoAndAllOfItCanBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		second  string
		outcome journal.Outcome
		left    bool
	}{
		{`undo: "rm DIR/b", `, journal.RunUndone, false},
		{"", journal.RunFailed, true}, // nothing takes b back: a person decides
	} {
		b := newBench(t)
		run := b.begin(Request{Book: b.parse(`
runbook: test/retreat
on_failure: undo
steps:
  - {id: a, uses: command, with: {run: "echo a > DIR/a", check: "test -e DIR/a", undo: "rm DIR/a", repeatable: true}}
  - {id: b, uses: command, with: {run: "touch DIR/b", check: "test -e DIR/b", ` + c.second + `repeatable: true}}
  - {id: c, uses: command, with: {run: "echo no room; false", undo: "true", repeatable: true}}
`)})
		st := b.runSession(run, journal.Command{Do: "run"})
		if st.Outcome != c.outcome || (b.read("a") != "") != c.left {
			t.Errorf("outcome %q because of %q, and a is %q", st.Outcome, st.Why, b.read("a"))
		}
		if why := st.FailureUndone(); (why != "") == c.left || why != "" && !strings.Contains(why, "step c failed") {
			t.Errorf("taken back because of %q", why)
		}
		if lease, err := b.Store.Lease(t.Context(), "cluster lab1"); err != nil || (lease.Holder != "") != c.left {
			t.Errorf("the lock is held by %q, %v", lease.Holder, err)
		}
	}
}

func TestAFailureWhoseUndoFailsKeepsItsClusterAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(`
runbook: test/halfway
on_failure: undo
steps:
  - {id: a, uses: command, with: {run: "echo a > DIR/a", check: "test -e DIR/a", undo: "test -e DIR/mended && rm DIR/a", repeatable: true}}
  - {id: b, uses: command, with: {run: "echo no room; false", undo: "true", repeatable: true}}
`)})
	st := b.runSession(run, journal.Command{Do: "run"})
	if st.Outcome != journal.RunFailed || !strings.Contains(st.Why, "step b failed") || !strings.Contains(st.Why, "step a could not be undone") || b.read("a") == "" {
		t.Errorf("outcome %q: %s", st.Outcome, st.Why)
	}
	if lease, err := b.Store.Lease(t.Context(), "cluster lab1"); err != nil || lease.Holder != run {
		t.Errorf("the lock is held by %q, %v", lease.Holder, err)
	}
	b.put("mended", "yes")
	if st := b.runSession(run, journal.Command{Do: "resume"}); st.Outcome != journal.RunUndone || b.read("a") != "" {
		t.Errorf("it goes on with taking back: outcome %q: %s", st.Outcome, st.Why)
	}
}

func TestRerunAppendsAnAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(`
runbook: test/count
steps:
  - {id: a, uses: command, with: {run: "echo a >> DIR/log", repeatable: true}}
  - {id: b, uses: command, with: {run: "echo b >> DIR/log", repeatable: true}}
`)})
	b.runSession(run, journal.Command{Do: "run"})
	before, err := b.Store.Entries(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if st := b.runSession(run, journal.Command{Do: "rerun", Step: "a", Reason: "again"}); st.Outcome != journal.RunDone || st.Item("a").Attempt != 2 {
		t.Errorf("outcome %q, attempt %d", st.Outcome, st.Item("a").Attempt)
	}
	if b.read("log") != "a\nb\na\n" {
		t.Errorf("log %q", b.read("log"))
	}
	if acts := b.events(run, journal.Intended); acts[0].Step != "a" || acts[2].Step != "a" || acts[0].Token == acts[2].Token {
		t.Errorf("a rerun is a new intention: %+v", acts)
	}
	b.runSession(run, journal.Command{Do: "rerun", Step: "a", Downstream: true})
	if b.read("log") != "a\nb\na\na\nb\n" {
		t.Errorf("log %q", b.read("log"))
	}
	after, err := b.Store.Entries(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range before {
		if before[i].Hash != after[i].Hash {
			t.Fatalf("entry %d was changed", i+1)
		}
	}
}

const asking = `
runbook: test/asking
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a"}}
  - id: go
    approval: {note: "Detach ${{ cluster.name }}?", timeout: 1h, count: 2, not_requester: true}
  - {id: b, uses: command, with: {run: "touch DIR/b", check: "test -e DIR/b"}}
`

func TestApprovalsAreCountedAndBoundToThePlan(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(asking)})
	plan := b.must(run).Header.Plan.Hash
	e := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(st *journal.State) bool { return st.Status() == "asking" })
	for _, w := range []struct{ by, plan string }{{"ann", plan}, {"bob", "0000"}, {"bob", plan}, {"bob", plan}, {"cid", plan}} {
		b.User = w.by
		if err := b.Tell(t.Context(), run, journal.Message{Say: "approve", Plan: w.plan}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Outcome != journal.RunDone {
		t.Fatalf("outcome %q", st.Outcome)
	}
	if a := b.events(run, journal.Approved); len(a) != 2 || a[0].By != "bob" || a[1].By != "cid" {
		t.Errorf("approved %+v", a)
	}
	if said := b.events(run, journal.Said); len(said) != 3 {
		t.Errorf("%d words were refused, want 3: %+v", len(said), said)
	}
	if asked := b.events(run, journal.Asked); asked[0].Note != "Detach lab1?" {
		t.Errorf("asked %q", asked[0].Note)
	}
}

func TestAQuestionIsAskedAgainByTheProcessThatGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(asking)})
	park := func(o journal.Command) journal.Event {
		t.Helper()
		before := len(b.events(run, journal.Asked))
		e, err := b.Execute(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Start(t.Context(), e, run, o); err != nil {
			t.Fatal(err)
		}
		b.until(run, func(*journal.State) bool { return len(b.events(run, journal.Asked)) > before })
		if err := e.Close(t.Context()); err != nil { // Ctrl-C
			t.Fatal(err)
		}
		asked := b.events(run, journal.Asked)
		if len(asked) != before+1 || b.stateOf(run).Status() != "parked" {
			t.Fatalf("asked %+v, %s", asked, b.stateOf(run).Status())
		}
		return asked[before]
	}
	agree := func(who string) {
		t.Helper()
		b.User = who
		if err := b.Tell(t.Context(), run, journal.Message{Say: "approve", Plan: b.must(run).Header.Plan.Hash}); err != nil {
			t.Fatal(err)
		}
	}
	first := park(journal.Command{Do: "run"})
	agree("bob")
	second := park(journal.Command{Do: "rerun", Step: "a", Reason: "once more"})
	if second.Count != first.Count-1 || second.Note != first.Note || !second.Until.Equal(first.Until) || len(b.events(run, journal.Approved)) != 1 {
		t.Errorf("asked first %+v, then %+v", first, second)
	}
	agree("cid")
	if st := b.runSession(run, journal.Command{Do: "resume"}); st.Outcome != journal.RunDone || len(b.events(run, journal.Asked)) != 2 {
		t.Errorf("outcome %q, asked %+v", st.Outcome, b.events(run, journal.Asked))
	}
	evidence, err := b.Evidence(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := journal.VerifyEvidence(textEvidence(t, evidence)); err != nil || len(p.Approvals()) != 2 {
		t.Errorf("evidence of %d approvals: %v", len(p.Approvals()), err)
	}
}

func TestARejectionAndATimeoutEndTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(asking)})
	if err := b.Tell(t.Context(), run, journal.Message{Say: "reject", Step: "a"}); err != nil { // which does not ask
		t.Fatal(err)
	}
	e := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(st *journal.State) bool { return st.Status() == "asking" && st.Heard == 1 })
	b.User = "bob"
	if err := b.Tell(t.Context(), run, journal.Message{Say: "reject", Reason: "not today"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Outcome != journal.RunFailed || st.Item("go").Error != "rejected by bob: not today" {
		t.Errorf("outcome %q, %+v", st.Outcome, st.Item("go"))
	}
	late := b.begin(Request{Book: b.parse(strings.Replace(asking, "timeout: 1h", "timeout: 50ms", 1)), Cluster: "lab2"})
	if err := b.Start(t.Context(), e, late, journal.Command{Do: "run"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Wait(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(late); st.Outcome != journal.RunFailed || st.Item("b").Phase != journal.StepWaiting {
		t.Errorf("outcome %q", st.Outcome)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// until waits until a run stands so.
func (b *bench) until(run string, so func(*journal.State) bool) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(2 * time.Minute)
	for {
		if st, err := b.State(b.t.Context(), run); err == nil && so(st) {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			b.t.Fatal("it never came to that")
		}
	}
}

func (b *bench) must(run string) *journal.State { return b.stateOf(run) }

func TestRollingGoesOverTheNodesOneByOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(`
runbook: test/rolling
steps:
  - id: restart
    rolling: {}
    steps:
      - {id: stop, uses: command, with: {run: "echo stop ${{ target }} >> DIR/log", repeatable: true}}
      - {id: start, uses: command, with: {run: "echo start ${{ target }} >> DIR/log", repeatable: true}}
  - {id: end, uses: command, with: {run: "echo end >> DIR/log", repeatable: true}}
`)})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Fatalf("outcome %q", st.Outcome)
	}
	want := "stop n2\nstart n2\nstop n3\nstart n3\nstop n1\nstart n1\nend\n"
	if got := b.read("log"); got != want {
		t.Errorf("log %q, want %q", got, want)
	}
	if st := b.runSession(run, journal.Command{Do: "rerun", Step: "restart[n3].start"}); st.Outcome != journal.RunDone || b.read("log") != want+"start n3\n" {
		t.Errorf("rerun of one target: %q", b.read("log"))
	}
}

func TestSeveralTargetsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// Each of two waits for the other: one after another they would never end.
	run := b.begin(Request{Book: b.parse(`
runbook: test/pair
steps:
  - id: pair
    rolling: {over: '["x", "y"]', max_unavailable: 2}
    steps:
      - id: meet
        uses: command
        timeout: 2m
        with: {run: "touch DIR/${{ target }}; until test -e DIR/x -a -e DIR/y; do sleep 0.05; done", repeatable: true}
`)})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Errorf("outcome %q: %+v", st.Outcome, st.Items)
	}
}

func TestNoMoreTargetsAreAtWorkThanMayBeUnavailable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// The first two wait for one another.
	run := b.begin(Request{Book: b.parse(`
runbook: test/most
steps:
  - id: each
    rolling: {over: '["v", "w", "x", "y", "z"]', max_unavailable: 2}
    steps:
      - {id: one, uses: command, timeout: 2m, with: {run: "touch DIR/${{ target }}; until test -e DIR/v -a -e DIR/w; do sleep 0.02; done", repeatable: true}}
      - {id: two, uses: command, with: {run: "true", repeatable: true}}
`)})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Fatalf("outcome %q", st.Outcome)
	}
	entries, err := b.Store.Entries(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for n := range entries {
		st, err := journal.Fold(entries[:n+1], b.Actions)
		if err != nil {
			t.Fatal(err)
		}
		atWork := map[string]bool{}
		for _, target := range st.Targets["each"] { // since the cluster was found healthy for it
			if st.Healthy["each["+target+"]"] && !st.Item(journal.Key("each", target, "two")).Over() {
				atWork[target] = true
			}
		}
		if most = max(most, len(atWork)); len(atWork) > 2 {
			t.Fatalf("at entry %d %d are at work: %v", n+1, len(atWork), atWork)
		}
	}
	if most != 2 {
		t.Errorf("at most %d were at work", most)
	}
}
