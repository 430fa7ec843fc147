package runbookcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/durable"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/runbooktest"
)

// A run whose cluster another had meanwhile never goes on: the hint offers what works, and nothing that is refused again. One that waits
// for another is told how it goes on.
func TestARunThatLostItsClusterIsNotToldToGoOn(t *testing.T) {
	lost := sessionError{run: "switchover-a1b2c3", err: fmt.Errorf("park: %w", &action.ClaimedError{Cluster: "orders"})}
	if got := lost.Hint(); !strings.Contains(got, "plimsoll runbook cancel switchover-a1b2c3 --leave REASON") || strings.Contains(got, "resume") {
		t.Errorf("a run that lost its cluster: %q", got)
	}
	waits := sessionError{run: "switchover-a1b2c3", err: &action.ClaimedError{Cluster: "orders", Run: "failover-d4e5f6", Holder: "eve@laptop"}}
	if got := waits.Hint(); !strings.Contains(got, "plimsoll runbook resume switchover-a1b2c3") {
		t.Errorf("a run that waits: %q", got)
	}
	waits.past = true // its cluster was another's before
	if got := waits.Hint(); !strings.Contains(got, "plimsoll runbook cancel switchover-a1b2c3 --leave REASON") || strings.Contains(got, "resume switchover-a1b2c3") {
		t.Errorf("a run that waits and has lost its cluster before: %q", got)
	}
}

// A run whose cluster has not stored its claim is shown so until it ends.
func TestAStatusSaysThatARunIsNotClaimed(t *testing.T) {
	st := &journal.State{Book: &runbook.Runbook{}, Unclaimed: map[string]string{"orders": "no answer in time"}}
	if s := statusOf("r", st, journal.Summary{}); s.Unclaimed["orders"] == "" {
		t.Errorf("%+v", s)
	}
	st.Outcome = journal.RunDone
	if s := statusOf("r", st, journal.Summary{}); s.Unclaimed != nil {
		t.Errorf("it has ended: %+v", s)
	}
}

// A step that was cut off in its middle says how far it came.
func TestAStatusSaysHowFarAStepCame(t *testing.T) {
	for want, s := range map[string]stepStatus{
		"2 of 3":                {Reached: "2 of 3"},
		"drops a table; 2 of 3": {Reached: "2 of 3", Note: "drops a table"},
		"interrupted (2 of 3)":  {Reached: "2 of 3", Error: "interrupted (2 of 3)"},
		"waits for somebody":    {Note: "waits for somebody"},
	} {
		if got := s.words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// overtaken is an act whose undo leaves what somebody set since.
type overtaken struct{}

func (*overtaken) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (*overtaken) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	return action.CheckResult{State: action.Needed}, nil
}

func (*overtaken) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	return nil, nil
}

func (*overtaken) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

func (*overtaken) Undo(context.Context, *cluster.Cluster, action.Call) error {
	return action.ChangedSince("max_connections of node n1", "90", "83", "151")
}

// A run that was undone but for what its undo left says so, and ends with the code of remainders, not with that of what is whole.
func TestARunThatIsUndoneButForSomethingSaysSo(t *testing.T) {
	store, err := durable.Open(t.Context(), durable.Options{Folder: t.TempDir(), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	actions := append(action.Generic(), action.Action{Name: "test.overtaken", Version: 1, About: "Is overtaken.", New: func() action.Task { return &overtaken{} }})
	d := &runs.Service{Service: &execute.Service{
		Store: store, Actions: actions, User: "ann", Holder: "test",
		Open: func(_ context.Context, name string) (*cluster.Cluster, error) {
			return runbooktest.NewCluster(name, "lab", "n1")
		},
	}}
	for _, failing := range []string{"", "on_failure: undo\n"} {
		text := "runbook: test/overtaken\n" + failing + "steps:\n  - {id: a, uses: test.overtaken}\n  - {id: b, uses: command, with: {run: \"exit 1\", effect: none}}\n"
		book, err := runbook.Parse("test.yaml", []byte(text), actions)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Prepare(t.Context(), execute.Request{Book: book, Cluster: "lab1"})
		if err != nil {
			t.Fatal(err)
		}
		run, err := d.Begin(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		order, code := journal.Command{Do: "run"}, console.ExitTrouble // it failed, and was undone
		orders := []journal.Command{order}
		if failing == "" {
			order, code = journal.Command{Do: "cancel", Undo: true}, console.ExitRemainders
			orders = append(orders, order)
		}
		for _, o := range orders {
			e, err := d.Execute(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(d.Start(t.Context(), e, run, o), e.Wait(t.Context(), run), e.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		var out, said bytes.Buffer
		c := console.Streams{In: strings.NewReader(""), Out: &out, Err: &said}
		got := console.Tell(c, conclude(t.Context(), c, d, run, false, &order, nil))
		if got != code || !strings.Contains(said.String(), "the undo of step a left max_connections of node n1: it is 90 now") || code == console.ExitRemainders && !strings.Contains(said.String(), "undone, with remainders") {
			t.Errorf("%q: %d %s", failing, got, &said)
		}
		said.Reset()
		if err := statusOfAll(t.Context(), c, d, false); err != nil || !strings.Contains(out.String(), "plimsoll runbook fixed "+run) {
			t.Errorf("%v: %s", err, &out)
		}
	}
}

// What a step leaves to a person is said once the run is done, and not of one that was taken back.
func TestWhatComesNextIsSaidOfARunThatIsDone(t *testing.T) {
	for outcome, want := range map[journal.Outcome]string{journal.RunDone: "Next: when n1 is back\n", journal.RunUndone: ""} {
		var errs bytes.Buffer
		tellNext(console.Streams{Err: &errs}, &journal.State{Outcome: outcome, Items: []*journal.Step{{Output: action.Facts{"node": "n2"}}, {Output: action.Facts{action.Next: "when n1 is back"}}}})
		if errs.String() != want {
			t.Errorf("%s: %q, want %q", outcome, errs.String(), want)
		}
	}
}

// Who cancels a run is told how far it had come, and then what was undone, what remains, and that the cluster is free.
func TestACancellationSaysWhatItFoundAndWhatRemains(t *testing.T) {
	const reason = "left as it is: late; what stays done: set, slow"
	step := func(key string, phase journal.Phase, acts bool) *journal.Step {
		return &journal.Step{Key: key, Phase: phase, Acts: acts, Step: &runbook.Step{ID: key}}
	}
	for name, c := range map[string]struct {
		before, after []*journal.Step
		outcome       journal.Outcome
		found, said   string
		stays         []string // the clusters in which its claim is still
	}{
		"undone": {
			[]*journal.Step{step("set", journal.StepDone, true), step("slow", journal.StepActing, true), step("last", journal.StepWaiting, false)},
			[]*journal.Step{step("set", journal.StepUndone, true), step("slow", journal.StepUndone, true), step("last", journal.StepWaiting, false)},
			journal.RunUndone, "done: set; started and not finished: slow", "undone: slow, set\nno change of the run remains\ncluster shop is released\n", nil,
		},
		"left": {
			[]*journal.Step{step("set", journal.StepDone, true)}, []*journal.Step{step("set", journal.StepDone, true), step("slow", journal.StepActing, true)},
			journal.RunCancelled, "done: set", reason + "; once that is fixed, record it: plimsoll runbook fixed slow-1 --reason REASON\ncluster shop is released\n", nil,
		},
		"nothing is said of what stays": {
			[]*journal.Step{step("set", journal.StepDone, true)}, []*journal.Step{step("set", journal.StepDone, true)}, journal.RunCancelled, "done: set", "cluster shop is released\n", nil,
		},
		"nothing": {nil, nil, journal.RunCancelled, "no step had changed anything", "cluster shop is released\n", nil},
		"its claim stays": {
			nil, nil, journal.RunCancelled, "no step had changed anything",
			"cluster shop is not released yet: plimsoll runbook resume slow-1 releases it when it answers, and so does the next run from this machine\n", []string{"shop"},
		},
	} {
		if got := foundOf(&journal.State{Items: c.before}); got != c.found {
			t.Errorf("%s: it found %q, want %q", name, got, c.found)
		}
		var errs bytes.Buffer
		why := reason
		if !strings.Contains(c.said, reason) {
			why = "" // such as of a rolling restart whose servers all run as before
		}
		tellCancelled(console.Streams{Err: &errs}, "slow-1", &journal.State{
			Header: journal.Header{Cluster: "shop"}, Book: &runbook.Runbook{Lock: runbook.LockCluster}, Outcome: c.outcome, Why: why, Items: c.after, ClaimStays: c.stays,
		})
		if errs.String() != c.said {
			t.Errorf("%s: %q, want %q", name, errs.String(), c.said)
		}
	}
}

// Each cluster of a run is released, or is not, and no more than one of these is said of it: one that never confirmed the claim has none of it.
func TestACancellationSaysOfEachClusterWhetherItIsReleased(t *testing.T) {
	var errs bytes.Buffer
	tellCancelled(console.Streams{Err: &errs}, "move-1", &journal.State{
		Header: journal.Header{Cluster: "shop", Clusters: []string{"old", "shop", "silent"}}, Book: &runbook.Runbook{Lock: runbook.LockCluster}, Outcome: journal.RunCancelled,
		ClaimStays: []string{"old", "silent"}, Unclaimed: map[string]string{"silent": "it does not answer"},
	})
	const want = "cluster old is not released yet: plimsoll runbook resume move-1 releases it when it answers, and so does the next run from this machine\n" +
		"cluster shop is released\ncluster silent is released\n"
	if errs.String() != want {
		t.Errorf("said %q, want %q", errs.String(), want)
	}
}

// That nothing was changed, or that a step was not begun, is said by its run alone, and only where it is so: a step that was begun and is refused
// when it is tried again has changed something.
func TestAFailureSaysWhetherItsStepWasBegun(t *testing.T) {
	step := func(key string, phase journal.Phase, begun int) *journal.Step {
		return &journal.Step{Key: key, Phase: phase, Begun: begun, Step: &runbook.Step{ID: key}}
	}
	for want, items := range map[string][]*journal.Step{
		"nothing was changed, and the cluster stays locked:":                                          {step("whole", journal.StepFailed, 0), step("join", journal.StepWaiting, 0)},
		"step join was not begun, and what was done before stays done, and the cluster stays locked:": {step("create", journal.StepDone, 3), step("join", journal.StepFailed, 0)},
		"what was done stays done, and the cluster stays locked:":                                     {step("create", journal.StepDone, 3), step("join", journal.StepFailed, 9)},
	} {
		said := runError{"add-1", &journal.State{Book: &runbook.Runbook{Lock: runbook.LockCluster}, Outcome: journal.RunFailed, Items: items}}.Hint()
		if !strings.HasPrefix(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
	}
}

// Of a server that a step left out is said there what is to be done about it: not a second time as what comes next.
func TestWhatComesNextIsNotSaidTwice(t *testing.T) {
	picked := &journal.Step{Key: "pick", Phase: journal.StepDone, Output: action.Facts{action.Next: "when n1 is back", action.NextFor: "n1"}}
	for left, want := range map[string]string{"n1": "", "n3": "Next: when n1 is back\n"} {
		fenced := &journal.Step{Key: "fence", Phase: journal.StepDone, Output: action.Facts{action.LeftOut: map[string]any{left: "it may accept writes"}}}
		var errs bytes.Buffer
		tellNext(console.Streams{Err: &errs}, &journal.State{Outcome: journal.RunDone, Items: []*journal.Step{picked, fenced}})
		if errs.String() != want {
			t.Errorf("%s was left out: %q, want %q", left, errs.String(), want)
		}
	}
}

// A step that was cut off, and is not safe to repeat, has one advice, with the command that resumes the run once.
func TestAnInterruptedStepHasOneAdvice(t *testing.T) {
	st := &journal.State{Book: &runbook.Runbook{Lock: runbook.LockCluster}, Outcome: journal.RunFailed, Items: []*journal.Step{{
		Key: "slow", Phase: journal.StepFailed, Asks: true, Error: "it was interrupted while it acted and is not safe to repeat",
		Advice: "check the cluster, then plimsoll runbook resume RUN repeats it", Step: &runbook.Step{ID: "slow"},
	}}}
	const want = "check the cluster, then plimsoll runbook resume slow-lfak3w repeats it; or undo it: plimsoll runbook cancel slow-lfak3w --undo. " +
		"What was done stays done, and the cluster stays locked"
	if got := (runError{"slow-lfak3w", st}).Hint(); got != want {
		t.Errorf("the hint is %q, expected %q", got, want)
	}
}
