package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/analyze"
	"plimsoll/catalog"
	"plimsoll/durable"
	"plimsoll/result"
	"plimsoll/runbook/journal"
	"plimsoll/series"
	"plimsoll/trial/progress"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
	"plimsoll/trial/underway"
)

// Runbooks that stand beside a trial, which run on a real server.
var beside = map[string]string{
	// What the load feels is there, and so is the baseline; without either the run would stop.
	"guarded.yaml": `
runbook: test/guarded
guardrails:
  - {name: felt, when: p99 < 0 or throughput < 0 or errors < 0 or error_share < 0 or baseline.throughput <= 0 or baseline.p99 <= 0, then: stop, no_data: stop}
steps:
  - {id: wait, uses: pause, with: {for: 2s}}
  - {id: set, uses: mysql.set-variable, with: {name: sort_buffer_size, value: 3M}}
`,
	"cautious.yaml": `
runbook: test/cautious
steps:
  - {id: relax, uses: mysql.set-variable, with: {name: innodb_flush_log_at_trx_commit, value: 2}}
`,
	"failing.yaml": `
runbook: test/failing
steps:
  - {id: first, uses: mysql.set-variable, with: {name: sort_buffer_size, value: 3M}}
  - {id: break, uses: command, with: {run: "echo it broke >&2; exit 3", repeatable: true}}
`,
	// The server has this value already; the command beside it is no change.
	"already.yaml": `
runbook: test/already
steps:
  - {id: beside, uses: command, with: {run: "echo beside"}}
  - {id: index, uses: mysql.set-variable, with: {name: autocommit, value: "ON"}}
`,
	"impossible.yaml": `
runbook: test/impossible
steps:
  - {id: set, uses: mysql.set-variable, with: {name: no_such_variable, value: 1}}
`,
	"stuck.yaml": `
runbook: test/stuck
steps:
  - {id: wait, uses: pause, with: {for: 10m}}
`,
}

// readBeside reads a trial with the runbooks beside it.
func readBeside(t *testing.T, steps, expect string) *spec.Trial {
	t.Helper()
	dir := t.TempDir()
	for name, text := range beside {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := "trial: change\n" + smallServer + `load: {workload: oltp_point_select, table_size: 1000, connections: 2}
phases: {warmup: 1s, restore: never, rounds: 1}
timeline:
  - baseline: 2s
` + steps + expect
	got, err := spec.Parse(filepath.Join(dir, "trial.yaml"), []byte(text), spec.Options{}, catalog.Parts())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// withState gives a trial a state folder, where rehearsals are kept.
func withState(t *testing.T, s *run.Options) *durable.Store {
	t.Helper()
	store, err := durable.Open(t.Context(), durable.Options{Folder: t.TempDir(), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s.State = store
	return store
}

func rehearsals(t *testing.T, store *durable.Store, name string) int {
	t.Helper()
	all, err := store.Records(t.Context(), "rehearsal", name)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestARunFeelsTheLoadAndMayNotAskAPerson(t *testing.T) {
	s := options(t, nil)
	store := withState(t, &s)
	result, err := run.Run(t.Context(), readBeside(t, "  - run: ./guarded.yaml\n  - run: ./cautious.yaml\n", "expect:\n  - errors == 0\n"), catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	v := result.Verdict
	if v.Verdict != analyze.CouldNotRun || v.Ended == nil || v.Ended.Do != "approve: true lets the trial answer" || !v.Partial || !strings.Contains(strings.Join(v.Reasons, "\n"), "step relax of test/cautious waits for a person") {
		t.Errorf("%s, partial %v: %q", v.Verdict, v.Partial, v.Reasons)
	}
	var names []string
	for _, p := range v.Phases {
		names = append(names, p.Name)
	}
	for _, want := range []string{"test/guarded", "test/guarded/wait", "test/guarded/set"} {
		if !slices.Contains(names, want) {
			t.Errorf("no phase %s in %v: %q", want, names, v.Reasons)
		}
	}
	at := slices.IndexFunc(result.Events, func(e series.Event) bool { return e.Kind == "change.end" && e.Name == "test/guarded" })
	if at < 0 || result.Events[at].Detail["error"] != nil {
		t.Errorf("the guarded run did not come to its end: %v", result.Events)
	}
	evidence, err := filepath.Glob(filepath.Join(result.Dir, "runs", "guarded-*.json"))
	if err != nil || len(evidence) != 1 {
		t.Fatalf("evidence of the run: %v, %v", evidence, err)
	}
	data, err := os.ReadFile(evidence[0])
	if err != nil {
		t.Fatal(err)
	}
	if proof, err := journal.VerifyEvidence(data); err != nil || proof.Outcome != journal.RunDone {
		t.Errorf("evidence: %+v, %v", proof.Outcome, err)
	}
	for _, name := range []string{"test/guarded", "test/cautious"} {
		if n := rehearsals(t, store, name); n != 1 {
			t.Errorf("%d rehearsals of %s kept, want 1 that did not pass", n, name)
		}
	}
}

// A change that found nothing to do passed, and counted as a rehearsal, because a command ran beside it.
func TestATrialOfAChangeThatHadNothingToDoIsInvalid(t *testing.T) {
	noted := &underwayNoted{t: t}
	s := options(t, noted)
	store := withState(t, &s)
	noted.options = s
	result, err := run.Run(t.Context(), readBeside(t, "  - {run: ./already.yaml}\n", "expect:\n  - errors == 0\n"), catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	// While it runs, it is written down with its cluster and its run, for who finds that its process was killed; afterwards it is not.
	if n := noted.last; n.Died || n.Process != os.Getpid() || n.Dir != s.Dir || len(n.Labs) != 1 || len(n.Runs) != 1 {
		t.Errorf("noted while it ran: %+v", n)
	}
	if left, err := underway.List(t.Context(), s.Lab.Machine, s.Lab.Home); err != nil || len(left) != 0 {
		t.Errorf("noted afterwards: %+v, %v", left, err)
	}
	v := result.Verdict
	if v.Verdict != analyze.Invalid || !v.Unchanged || len(v.Reasons) == 0 || !strings.Contains(v.Reasons[0], "index: already done before the run of test/already, so not executed") {
		t.Errorf("%s: %q", v.Verdict, v.Reasons)
	}
	records, err := store.Records(t.Context(), "rehearsal", "test/already")
	if err != nil || len(records) != 1 {
		t.Fatalf("%d rehearsals, %v", len(records), err)
	}
	var kept journal.Rehearsal
	if err := json.Unmarshal(records[0].Data, &kept); err != nil || kept.Passed || kept.Nothing != "its trial was INVALID" || !slices.Equal(kept.Untouched, []string{"index"}) {
		t.Errorf("kept %+v, %v", kept, err)
	}
}

// underwayNoted reads what is written down of a trial that runs.
type underwayNoted struct {
	t       *testing.T
	options run.Options
	last    underway.Trial // with its cluster and its run
}

func (n *underwayNoted) Observe(u progress.Update) {
	if _, stage := u.(progress.Stage); !stage || n.options.Dir == "" || len(n.last.Runs) > 0 {
		return
	}
	all, err := underway.List(n.t.Context(), n.options.Lab.Machine, n.options.Lab.Home)
	if err != nil {
		n.t.Error(err)
	}
	for _, one := range all {
		n.last = one
	}
}

// failed tells whether a verdict is one of these, or would be, had other tests not taken this machine from its load.
func failed(v result.Verdict, as ...analyze.Answer) bool {
	return slices.Contains(as, v.Verdict) || v.Verdict == analyze.Invalid && slices.ContainsFunc(v.Reasons, func(r string) bool { return strings.Contains(r, "short of CPU") })
}

func TestARunThatFailsOrTakesTooLongFailsTheTrial(t *testing.T) {
	for name, c := range map[string]struct{ step, reason string }{
		"fails":    {"  - run: ./failing.yaml\n", "step break: "},
		"too long": {"  - {run: ./stuck.yaml, limit: 15s}\n", "had not ended after 15s, it was at wait"}, // where it is sooner, if its disk is not slow
	} {
		t.Run(name, func(t *testing.T) {
			s := quietOptions(t)
			result, err := run.Run(t.Context(), readBeside(t, c.step+"  - recovery: 1m\n", "expect:\n  - errors == 0\n"), catalog.Parts(), s)
			if err != nil {
				t.Fatal(err)
			}
			v := result.Verdict
			if !failed(v, analyze.Fail, analyze.CouldNotRun) || !v.Partial || !strings.Contains(strings.Join(v.Reasons, "\n"), c.reason) {
				t.Errorf("%s, partial %v: %q, want a reason with %q", v.Verdict, v.Partial, v.Reasons, c.reason)
			}
		})
	}
}

func TestWhatIsPreparedIsThereBeforeTheLoad(t *testing.T) {
	prepare := "prepare:\n  - run: {sql: CREATE TABLE plimsoll.made (a INT)}\n"
	result, err := run.Run(t.Context(), readBeside(t, "  - run: {sql: INSERT INTO plimsoll.made VALUES (1)}\n", prepare+"expect:\n  - errors == 0\n"), catalog.Parts(), options(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if result.Verdict.Partial {
		t.Errorf("%s: %q", result.Verdict.Verdict, result.Verdict.Reasons)
	}
}

func TestARunThatIsToBeRefused(t *testing.T) {
	s := options(t, nil)
	store := withState(t, &s)
	steps := "  - {run: ./impossible.yaml, refused: set}\n  - {run: {sql: CREATE TABLE plimsoll.made (a INT)}, refused: sql_execute}\n"
	result, err := run.Run(t.Context(), readBeside(t, steps, "expect:\n  - errors == 0\n"), catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, e := range result.Events {
		if e.Kind == "run.refused" {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d runs refused as they were to be, want the first alone: %v", refused, result.Events)
	}
	if v := result.Verdict; !failed(v, analyze.Fail) || !strings.Contains(strings.Join(v.Reasons, "\n"), "should have been refused by its step sql_execute, but it succeeded") {
		t.Errorf("%s: %q", v.Verdict, v.Reasons)
	}
	if n := rehearsals(t, store, "test/impossible"); n != 0 {
		t.Errorf("%d rehearsals of a run that was refused, want none", n)
	}
}
