package execute

import (
	"context"
	"testing"

	"plimsoll/cluster"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/runbooktest"
)

// Who approved a plan has read which nodes it goes over. One that came since is asked about, once.
func TestANodeThatCameAfterThePlanIsAskedAbout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(`
runbook: test/rolling
steps:
  - id: each
    rolling: {}
    steps:
      - {id: look, uses: command, with: {run: "true", effect: none}}
      - {id: stop, uses: command, with: {run: "echo stop ${{ target }} >> DIR/log", repeatable: true}}
      - {id: start, uses: command, with: {run: "echo start ${{ target }} >> DIR/log", repeatable: true}}
`)})
	b.Open = func(_ context.Context, cluster string) (*cluster.Cluster, error) {
		return runbooktest.NewCluster(cluster, "lab", "n1", "n2", "n3", "n4")
	}
	e := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(*journal.State) bool { return len(b.events(run, journal.Asked)) > 0 })
	planned := "stop n2\nstart n2\nstop n3\nstart n3\n"
	if asked := b.events(run, journal.Asked); len(asked) != 1 || asked[0].Step != "each[n4].stop" || asked[0].Caution != "n4 is not in the plan: it was added since" || b.read("log") != planned {
		t.Errorf("asked %+v after %q", asked, b.read("log"))
	}
	if err := b.Tell(t.Context(), run, journal.Message{Say: "approve", Plan: b.stateOf(run).Header.Plan.Hash}); err != nil {
		t.Fatal(err)
	}
	if err := e.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := b.read("log"), planned+"stop n4\nstart n4\nstop n1\nstart n1\n"; got != want || len(b.events(run, journal.Asked)) != 1 {
		t.Errorf("log %q, want %q; asked %+v", got, want, b.events(run, journal.Asked))
	}
}

// Targets that an earlier step finds are known to nobody when the plan is made; who approves it approves that.
func TestTargetsThatAreKnownOnlyLaterAreNotAskedAbout(t *testing.T) {
	t.Parallel()
	p := journal.Plan{Steps: []journal.PlanStep{{Key: "later", Later: []string{"find"}}, {Key: "each[n1].stop", Uses: "command"}}}
	for key, want := range map[string]bool{"later[n9].stop": false, "each[n1].stop": false, "each[n9].stop": true} {
		i := &journal.Step{Key: key, Group: key[:len(key)-len("[n9].stop")], Target: "n9"}
		if got := p.Misses(i); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}
