package execute

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/runbook/journal"
)

// passing is a task that nothing takes back and of which nothing is left, unless something keeps it.
type passing struct{ kept *error }

func (passing) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (passing) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	return action.CheckResult{State: action.Needed, Observed: action.Facts{"process": "1"}, Intended: action.Facts{"process": "another"}}, nil
}

func (passing) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	return action.Facts{"process": "2"}, nil
}

func (passing) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

func (p passing) Passed(_ context.Context, _ *cluster.Cluster, output action.Facts) error {
	if output["process"] != "2" {
		return errors.New("it is not asked about what the act put out")
	}
	return *p.kept
}

const betweenTwo = `
runbook: test/between
steps:
  - {id: first, uses: test.passing}
  - {id: go, approval: {note: "Go on?"}}
  - {id: second, uses: test.passing}
`

// A run that is cancelled between two restarts leaves nothing half done, if the server is as it was: it is ended without a reason. If it is not, the
// cancellation is refused, and says so.
func TestARunThatIsCancelledBetweenTwoRestartsEnds(t *testing.T) {
	t.Parallel()
	for name, executed := range map[string]bool{"by the process that executes it": true, "after its process ended": false} {
		for _, kept := range []error{nil, errors.New("n1 does not replicate")} {
			b := newBench(t)
			b.Actions = append(b.Actions, action.Action{Name: "test.passing", Version: 1, About: "Passes.", New: func() action.Task { return &passing{&kept} }})
			run := b.begin(Request{Book: b.parse(betweenTwo)})
			e := b.started(run, journal.Command{Do: "run"})
			b.until(run, func(*journal.State) bool { return len(b.events(run, journal.Asked)) > 0 })
			var err error
			if executed {
				err = b.Tell(t.Context(), run, journal.Message{Say: "cancel"})
			} else {
				err = errors.Join(e.Close(t.Context()))
				e = b.started(run, journal.Command{Do: "cancel"})
			}
			if err = errors.Join(err, e.Wait(t.Context(), run), e.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
			st := b.stateOf(run)
			if kept == nil && (st.Outcome != journal.RunCancelled || st.Leaves != "" || len(b.events(run, journal.Undone)) > 0 || st.Item("first").Phase != journal.StepDone) {
				t.Errorf("%s: %s, first is %s: %s", name, st.Status(), st.Item("first").Phase, st.Why)
			}
			if kept != nil && (st.Status() != "parked" || !strings.Contains(st.Refused, "step first is done, but n1 does not replicate")) {
				t.Errorf("%s, and it is not as it was: %s: %s", name, st.Status(), st.Refused)
			}
		}
	}
}

// dyingServer is a task whose server dies in its act: its check refuses from then on, and has seen everything.
type dyingServer struct{ after action.Facts }

func (dyingServer) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (r dyingServer) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"member": true}, Intended: action.Facts{"member": false}}
	if r.after == nil {
		return f, nil
	}
	f.Observed = r.after
	return f, action.FactsHold{Err: errors.New("n1 is down, n2 still sees it as a member")}
}

func (dyingServer) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	return nil, errors.New("the connection was lost")
}

// What came of an act is known though its check refuses to act again: as it was before, or half done, and not in doubt.
func TestWhatCameOfAnActIsKnownByACheckThatRefuses(t *testing.T) {
	t.Parallel()
	for _, after := range []action.Facts{{"member": true}, {"member": true, "leaving": true}} {
		b := newBench(t)
		var task dyingServer
		b.Actions = append(b.Actions, action.Action{Name: "test.refusing", Version: 1, About: "Refuses.", New: func() action.Task { return &task }})
		run := b.begin(Request{Book: b.parse("runbook: test/refusing\nsteps:\n  - {id: leave, uses: test.refusing}\n")})
		if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunFailed {
			t.Fatal(st.Outcome)
		}
		task.after = after
		st := b.runSession(run, journal.Command{Do: "cancel"})
		if len(after) == 1 && (st.Outcome != journal.RunCancelled || st.Item("leave").Acts) {
			t.Errorf("as it was: %s: %s", st.Status(), st.Refused)
		}
		if len(after) > 1 && (st.Status() == "cancelled" || !strings.Contains(st.Refused, "step leave is half done: n1 is down, n2 still sees it as a member")) {
			t.Errorf("half done: %s: %s", st.Status(), st.Refused)
		}
	}
}
