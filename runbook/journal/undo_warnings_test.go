package journal

import (
	"slices"
	"testing"

	"plimsoll/action"
	"plimsoll/runbook"
)

// Before a run is undone its person is told that a server which it has started is stopped by that.
func TestAnUndoSaysThatItStopsAServer(t *testing.T) {
	b, err := runbook.Parse("t.yaml", []byte("runbook: test/start\nsteps:\n  - {id: a, uses: server.start, with: {node: n1}}\n  - {id: b, uses: server.stop, with: {node: n2}}\n"), append(action.Generic(), action.Servers()...))
	if err != nil {
		t.Fatal(err)
	}
	did := func(n int, acts bool, phase Phase) *Step {
		return &Step{Key: b.Steps[n].ID, Step: &b.Steps[n], Acts: acts, Phase: phase, Did: map[string]any{"node": "n" + string(rune('1'+n))}}
	}
	for name, c := range map[string]struct {
		acts  bool
		phase Phase
		want  []string
	}{
		"started":    {true, StepDone, []string{"stops the server of node n1"}},
		"ran before": {false, StepDone, nil},
		"undone":     {true, StepUndone, nil},
	} {
		s := &State{Book: b, Items: []*Step{did(0, c.acts, c.phase), did(1, true, StepDone)}}
		if got := UndoWarnings(s); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
