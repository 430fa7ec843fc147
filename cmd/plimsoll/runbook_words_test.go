package main

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/runbook/journal"
)

// staged makes a home, an inventory and runbooks for commands of this test.
func staged(t *testing.T, books map[string]string) {
	t.Helper()
	books["plimsoll.yaml"] = `clusters:
  orders: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
`
	stateDirWith(t, books)
}

// says fails unless a command ends with a code and says something.
func says(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	if out, said, got := typed(t, args...); got != code || !strings.Contains(out+said, want) {
		t.Errorf("%v: %d %s%s, want %d and %q", args, got, out, said, code, want)
	}
}

// Who began a run in production cannot approve it: status says at once who can and how, with the run's name.
func TestWhoBeganARunInProductionIsToldWhoApproves(t *testing.T) {
	stateDirWith(t, map[string]string{"asks.yaml": strings.Replace(askingBook, "steps:", "gate: {none: a test}\nsteps:", 1), "plimsoll.yaml": `clusters:
  orders: {engine: mysql, environment: production, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
`})
	ended := make(chan string, 1)
	go func() {
		_, said, _ := typed(t, "runbook", "run", "asks.yaml", "--cluster", "orders", "--yes")
		ended <- said
	}()
	run := runOn(t, "orders", "asking")
	how := "plimsoll runbook approve " + run + " --step go"
	out, _, _ := typed(t, "runbook", "status", run)
	if strings.Contains(out, how+" approves it") || strings.Contains(out, "approve RUN") || !strings.Contains(out, "another person must approve step go:") || !strings.Contains(out, how) {
		t.Errorf("status says %s", out)
	}
	if !strings.Contains(out, ", waiting for approval\n") || !regexp.MustCompile(`(?m)^  go +waiting for approval`).MatchString(out) {
		t.Errorf("status says %s", out)
	}
	says(t, 0, " waiting for approval ", "runbook", "status")
	says(t, 0, `"status": "asking"`, "runbook", "status", "--json")
	says(t, 0, "", "runbook", "cancel", run, "--undo", "--yes")
	said := <-ended
	if i := strings.Index(said, "waits for approval"); i < 0 || !strings.Contains(said[i:], "another person must approve step go:") || strings.Contains(said, "\n         plimsoll runbook approve") {
		t.Errorf("the run says %s", said)
	}
	says(t, 0, "cancelled, nothing was changed", "runbook", "status", run)
	says(t, 0, "not executed", "runbook", "status", run)
	says(t, console.ExitBadInput, "run "+run+" has ended: cancelled", "runbook", "approve", run, "--plan", "123") // whatever its plan was
}

func TestAnswersToARunThatWaits(t *testing.T) {
	for _, c := range []struct {
		answer, told, ends string
		code               int
	}{
		{"reject", "", `failed at step go: rejected by`, console.ExitTrouble},
		{"cancel", "the process that executes the run has received the cancellation", `: cancelled by \S+ \(not today\); the run is not done`, console.ExitTrouble},
	} {
		t.Run(c.answer, func(t *testing.T) {
			staged(t, map[string]string{"asks.yaml": askingBook})
			w := &talker{ended: make(chan int, 1)}
			go func() {
				w.ended <- typedAt(t, console.Streams{In: strings.NewReader(""), Out: w, Err: w}, "runbook", "run", "asks.yaml", "--cluster", "orders", "--yes")
			}()
			run := inPhase(t, "go", journal.StepAsking)
			says(t, console.ExitBadInput, "--yes", "runbook", c.answer, run) // nobody is there to be asked
			says(t, 0, c.told, "runbook", c.answer, run, "--reason", "not today", "--yes")
			if code := <-w.ended; code != c.code || !regexp.MustCompile(c.ends).MatchString(w.said()) {
				t.Errorf("the run ended with %d: %s", code, w.said())
			}
			says(t, 0, "not today", "runbook", "history", run)
			if c.answer == "reject" { // it failed, and keeps its cluster until it is given up
				says(t, console.ExitBadInput, "run "+run+" has failed: no step of it waits for approval", "runbook", "reject", run, "--yes")
				says(t, 0, "run "+run+": cancelled", "runbook", "cancel", run, "--yes")
			}
			says(t, console.ExitBadInput, "run "+run+" has ended: cancelled", "runbook", "cancel", run, "--yes")
			for _, answer := range []string{"approve", "reject"} { // it asks for nothing any more
				says(t, console.ExitBadInput, "run "+run+" has ended: cancelled", "runbook", answer, run, "--yes")
			}
			if out, said, _ := typed(t, "runbook", "status", run); strings.Contains(out+said, "approv") {
				t.Errorf("a cancelled run asks still: %s%s", out, said)
			}
		})
	}
}

// What is said of a plan that is another by now is the whole command that runs it, as it was typed.
func TestAPlanThatHasChangedNamesTheCommandThatRunsIt(t *testing.T) {
	staged(t, map[string]string{"word.yaml": `
runbook: own/word
inputs: {word: {default: one}}
steps:
  - {id: a, uses: command, with: {run: "echo ${{ inputs.word }} >> log", repeatable: true}}
`})
	_, said, code := typed(t, "runbook", "run", "word.yaml", "--cluster", "orders", "-i", "word=two", "--break-lock", "its host burnt", "--plan", "notthis")
	found := regexp.MustCompile(`to run it: plimsoll (runbook run word.yaml --cluster orders -i word=two) --break-lock 'its host burnt' (--plan \w+)`).FindStringSubmatch(said)
	if code != console.ExitBadInput || found == nil {
		t.Fatalf("%d %s", code, said)
	}
	says(t, 0, ": done", strings.Fields(found[1]+" "+found[2])...)
	if log, err := os.ReadFile("log"); err != nil || string(log) != "two\n" {
		t.Errorf("the log is %q, %v", log, err)
	}
}

// A command that is advised, typed as it is printed, does nothing: a word that stands for a reason or a node is none.
func TestAWordThatStandsForAnotherIsRefused(t *testing.T) {
	staged(t, map[string]string{"stop.yaml": "runbook: own/stop\ninputs: {node: {type: node}}\nsteps: [{id: a, uses: command, with: {run: \"true ${{ inputs.node }}\"}}]\n"})
	for _, line := range []string{
		"runbook cancel RUN --leave REASON", "runbook cancel RUN --reason REASON", "runbook rerun RUN --step a --reason REASON", "runbook fixed RUN --reason REASON", "runbook approve RUN --reason REASON",
		"runbook resume RUN --changed-actions REASON", "runbook run stop.yaml --cluster orders --override REASON", "runbook run stop.yaml --cluster orders --break-lock FILL_IN", "trial run trial.yaml --break-lock REASON",
	} {
		args := strings.Fields(line)
		var out strings.Builder
		if code := program(t.Context(), args, console.Streams{In: strings.NewReader(""), Out: &out, Err: &out}); code != console.ExitBadInput || !strings.Contains(out.String(), ": give your reason in place of "+args[len(args)-1]) {
			t.Errorf("%s: %d %s", line, code, out.String())
		}
	}
	says(t, console.ExitBadInput, "NODE stands for the value that you give", "runbook", "plan", "stop.yaml", "--cluster", "orders", "-i", "node=NODE")
}

// A reason that is none is refused with what is wrong with it.
func TestAReasonThatIsNoneIsRefusedInWords(t *testing.T) {
	for reason, says := range map[string]string{
		"--yes": "plimsoll: --override: --yes is a flag and no reason: write the reason behind the flag that takes it, in quotes\n",
		" ":     "plimsoll: --override: the reason is empty: it is kept for those who ask later why this was done\n",
	} {
		var said strings.Builder
		code := program(t.Context(), []string{"runbook", "run", "stop.yaml", "--cluster", "orders", "--override", reason}, console.Streams{In: strings.NewReader(""), Out: &said, Err: &said})
		if code != console.ExitBadInput || !strings.HasPrefix(said.String(), says) {
			t.Errorf("%q: %d %s", reason, code, said.String())
		}
	}
}

func TestRerunOfAStepAloneAndWithThoseAfterIt(t *testing.T) {
	staged(t, map[string]string{"count.yaml": `
runbook: own/count
steps:
  - {id: a, uses: command, with: {run: "echo a >> log", repeatable: true}}
  - {id: b, uses: command, with: {run: "echo b >> log", repeatable: true}}
`})
	says(t, 0, ": done", "runbook", "run", "count.yaml", "--cluster", "orders", "--yes")
	run := runOn(t, "orders", "done")
	for _, c := range []struct{ flag, log string }{{"--downstream=false", "a b a"}, {"--downstream", "a b a a b"}} {
		says(t, 0, ": done", "runbook", "rerun", run, "--step", "a", "--reason", "again", c.flag)
		log, err := os.ReadFile("log")
		if got := strings.Join(strings.Fields(string(log)), " "); err != nil || got != c.log {
			t.Errorf("with %s: %q, want %q, %v", c.flag, got, c.log, err)
		}
	}
}

// TestWhatCouldNotBeTakenBackIsSaid has an undo that fails in the middle of three steps, beside one that only waits.
func TestWhatCouldNotBeTakenBackIsSaid(t *testing.T) {
	staged(t, map[string]string{"half.yaml": `
runbook: own/half
steps:
  - {id: a, uses: command, with: {run: "touch a", check: "test -e a", undo: "rm a"}}
  - {id: look, uses: wait, with: {run: "echo yes", want: "yes"}}
  - {id: b, uses: command, with: {run: "touch b", check: "test -e b", undo: "echo no way >&2; exit 3"}}
  - {id: c, uses: command, with: {run: "touch c", check: "test -e c", undo: "rm c"}}
  - {id: d, uses: command, with: {run: "false", undo: "true"}}
`})
	says(t, console.ExitTrouble, "failed at step d", "runbook", "run", "half.yaml", "--cluster", "orders", "--yes")
	run := runOn(t, "orders", "failed")
	_, said, code := typed(t, "runbook", "cancel", run, "--undo", "--yes")
	lines := strings.Split(strings.TrimSpace(said), "\n")
	last := strings.Join(lines[max(0, len(lines)-2):], "\n")
	if code != console.ExitTrouble || !strings.Contains(last, "run "+run+" was cancelled, but step b could not be undone: ") || !strings.Contains(last, "; what stays done: a, b\n") {
		t.Errorf("cancel: %d %s", code, said)
	}
	says(t, 0, "step b could not be undone, so the steps before it were not undone either: ", "runbook", "status", run)
	says(t, 0, "b     undo failed", "runbook", "status", run)
	says(t, 0, "plimsoll runbook rerun "+run+" --step b --downstream --reason REASON goes forward instead", "runbook", "status", run)
	for _, command := range []string{" --undo tries again", " --leave REASON releases the cluster as it is"} { // for who comes later, too
		says(t, 0, "plimsoll runbook cancel "+run+command, "runbook", "status", run)
	}
}

// TestAnInterruptionSaysWhereTheRunStands has a group that waits for a cluster of which no node answers.
func TestAnInterruptionSaysWhereTheRunStands(t *testing.T) {
	staged(t, map[string]string{"rolls.yaml": `
runbook: own/rolls
steps:
  - id: each
    rolling: {over: '["a", "b"]'}
    steps:
      - {id: touch, uses: command, with: {run: "touch ${{ target }}", check: "test -e ${{ target }}"}}
`})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	w := &talker{ended: make(chan int, 1)}
	go func() {
		w.ended <- typedUntil(ctx, console.Streams{In: strings.NewReader(""), Out: w, Err: w}, "runbook", "run", "rolls.yaml", "--cluster", "orders", "--yes")
	}()
	run := runOn(t, "orders", "running")
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(time.Minute)
	for out := ""; !strings.Contains(out, "before each[a]: waiting for the cluster"); {
		select {
		case <-tick.C:
			out, _, _ = typed(t, "runbook", "status", run)
		case <-limit:
			t.Fatalf("it shows no progress: %s", out)
		}
	}
	interrupt()
	if code := <-w.ended; code != console.ExitInterrupted || !strings.Contains(w.said(), "run "+run+" is interrupted before each[a].touch; the cluster stays locked") {
		t.Errorf("it ended with %d: %s", code, w.said())
	}
}

// An input that no cluster could have a step take is bad input, as one that the runbook itself refuses.
func TestAnInputThatAnActionRefusesIsBadInput(t *testing.T) {
	staged(t, map[string]string{"waits.yaml": `
runbook: own/waits
inputs: {every: {default: 1s}}
steps:
  - {id: a, uses: wait, with: {run: "echo 1", want: "1", every: "${{ inputs.every }}"}}
`})
	for _, verb := range []string{"plan", "run"} {
		says(t, console.ExitBadInput, "every must be at least 10ms", "runbook", verb, "waits.yaml", "--cluster", "orders", "-i", "every=1ms")
	}
}

// What a command takes is said in our words, with the code of bad input.
func TestWrongArgumentsAreBadInput(t *testing.T) {
	seen := 0
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			look(sub)
		}
		if cmd.Args == nil || cmd.Hidden || cmd.Annotations[console.OnlyNoun] != "" {
			return
		}
		for _, args := range [][]string{nil, {"a", "b", "c", "d", "e", "f"}} {
			if err := cmd.Args(cmd, args); err != nil {
				seen++
				if !errors.As(err, &console.UsageError{}) {
					t.Errorf("%s with %d arguments: %v", cmd.CommandPath(), len(args), err)
				}
			}
		}
	}
	look(newRoot(console.Streams{}))
	if seen < 50 {
		t.Errorf("only %d refusals", seen)
	}
}

// A refusal names the action once, whoever hands it on.
func TestARefusalNamesItsActionOnce(t *testing.T) {
	staged(t, map[string]string{
		"dead.yaml": "runbook: own/dead\nsteps: [{id: a, uses: mysql.confirm-dead, with: {node: n1, checks: 2}}]\n",
		"trial.yaml": "trial: dead\nquestion: Is it dead?\ncluster: {engine: mariadb, nodes: 2}\nload: {workload: oltp_read_write, rate: 20}\n" +
			"timeline:\n  - baseline: 3s\n  - run: mysql.confirm-dead\n    with: {node: n1, checks: 2}\n  - recovery: 3s\nexpect: [errors.recovery == 0]\n",
	})
	for _, command := range [][]string{{"runbook", "validate", "dead.yaml"}, {"runbook", "plan", "dead.yaml", "--cluster", "orders"}, {"trial", "validate", "trial.yaml"}} {
		out, said, code := typed(t, command...)
		if said, _, _ = strings.Cut(out+said, "\nhint:"); code == 0 || strings.Count(said, "mysql.confirm-dead: ") != 1 || !strings.Contains(said, "mysql.confirm-dead: 2 checks every 2s, expected at least three") {
			t.Errorf("%v: %d %s", command, code, said)
		}
	}
}

// What an action refuses in a runbook that a trial runs is refused before the trial, also where its step takes what only the cluster tells.
func TestATrialIsRefusedForTheInputsOfItsRunbooks(t *testing.T) {
	trial := "trial: dead\ncluster: {engine: mariadb, nodes: 2}\nload: {workload: oltp_read_write, rate: 20}\n" +
		"timeline:\n  - baseline: 3s\n  - run: mysql/failover\n    with: {checks: CHECKS}\n  - recovery: 3s\nexpect: [errors.recovery == 0]\n"
	staged(t, map[string]string{"two.yaml": strings.Replace(trial, "CHECKS", "2", 1), "three.yaml": strings.Replace(trial, "CHECKS", "3", 1)})
	says(t, console.ExitBadInput, "two.yaml:6:10: mysql/failover: step dead: 2 checks every 2s, expected at least three", "trial", "validate", "two.yaml")
	if out, said, code := typed(t, "trial", "validate", "three.yaml"); code != 0 {
		t.Errorf("%d %s%s", code, out, said)
	}
}
