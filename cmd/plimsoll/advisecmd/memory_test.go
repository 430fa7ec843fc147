package advisecmd

import (
	"context"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/advise/price"
	"plimsoll/engine"
	"plimsoll/lab"
)

// set is a server of which only its settings are asked.
type set struct {
	engine.Database
	engine.Configurable
	values map[string]string
}

func (s set) Setting(_ context.Context, name string) (string, error) { return s.values[name], nil }
func (s set) SameValue(_, wrote, shown string) bool                  { return wrote == shown }

// What advise memory predicted for a size is there to be checked when the server has that size, also where the model alone has a word for it.
func TestPredictionsOfMemoryAreCheckedAfterwards(t *testing.T) {
	deps := lab.Deps{Home: t.TempDir()}
	at := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	now := advise.Point{Bytes: 64 << 20, Times: 1, Reads: 250, Low: 240, High: 260, Source: advise.FromHistory}
	m := &advise.Memory{Cluster: "shop", Node: "n1", At: at, Bytes: now.Bytes, Requests: 9000, Reads: 250, Curve: advise.Curve{Now: now, Points: []advise.Point{
		now,
		{Bytes: 96 << 20, Times: 1.5, Reads: 96.6, Low: 82, High: 112, Source: advise.FromHistory},
		{Bytes: 128 << 20, Times: 2, Reads: 6.3, High: 24.6, Source: advise.FromModel, Doubt: "no page was seen to return from that distance"},
	}}}
	if err := keepMemory(deps, m, findings.Own, price.Of{}); err != nil {
		t.Fatal(err)
	}
	made, err := readLines[advise.Report](predictionsFile(deps, "shop"))
	if err != nil || len(made) != 1 || made[0].Memory != nil {
		t.Fatalf("%d predictions are kept: %v", len(made), err)
	}
	for size, want := range map[string]float64{"67108864": 0, "100663296": 96.6, "134217728": 6.3} {
		open, err := carriedOut(t.Context(), set{values: map[string]string{"innodb_buffer_pool_size": size}}, running{}, made, nil, "n1")
		if err != nil {
			t.Fatal(err)
		}
		if want == 0 && len(open) > 0 || want > 0 && (len(open) != 1 || open[0].effect.Then != want || open[0].effect.Load != 9000 || !open[0].made.Equal(at)) {
			t.Errorf("a server with a pool of %s bytes has carried out %+v", size, open)
		}
	}
	if len(m.Notes) > 0 {
		t.Errorf("nothing was scored, and %q", m.Notes)
	}
	if err := appendLine(scoresFile(deps, "shop"), advise.Score{Predicted: advise.Figure{Mean: 100}, Came: advise.Figure{Mean: 110}}); err != nil {
		t.Fatal(err)
	}
	if err := keepMemory(deps, m, findings.Own, price.Of{}); err != nil || len(m.Notes) != 1 || m.Notes[0] != "One prediction was checked afterwards: it was off by 10 %." {
		t.Errorf("the scoreboard is told as %q: %v", m.Notes, err)
	}
}

// A prediction under the name that the time of a commit had before is checked under today's.
func TestTheOldNameOfTheTimeOfACommitIsKnown(t *testing.T) {
	made := []advise.Report{{Node: "n1", Findings: []advise.Finding{{Options: []advise.Option{{Name: "sync_binlog=100", When: map[string]string{"sync_binlog": "100"}, Effects: []advise.Effect{{What: "time of a commit", Then: 0.001}}}}}}}}
	server := set{values: map[string]string{"sync_binlog": "100"}}
	open, err := carriedOut(t.Context(), server, running{}, made, nil, "n1")
	if err != nil || len(open) != 1 || open[0].effect.What != advise.CommitTime {
		t.Fatalf("%+v, %v", open, err)
	}
	if open, err = carriedOut(t.Context(), server, running{}, made, []advise.Score{{Option: "sync_binlog=100", What: "time of a commit"}}, "n1"); err != nil || len(open) != 0 {
		t.Errorf("it was checked before, and is again: %+v, %v", open, err)
	}
}
