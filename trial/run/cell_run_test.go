package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/result"
	"plimsoll/trial/judge"
	"plimsoll/trial/spec"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/series"
)

// avoiding is a database whose load keeps away from these addresses.
type avoiding struct {
	engine.Database
	from []string
}

func (a *avoiding) Avoids() []string { return a.from }

// A coordinator that hangs is dated, and so is its return. In a baseline nobody asked for it: that trial is INVALID. Done to the
// ring by the timeline it is the answer; in a phase that only measures it is a note.
func TestACoordinatorThatHangs(t *testing.T) {
	none, hangs := [2][]string{}, []string{"10.0.0.2:9042"}
	long := [][2][]string{none, {hangs}, {hangs, hangs}, {nil, hangs}, none, none}
	short := [][2][]string{none, {hangs}, {nil, hangs}, none}
	for _, c := range []struct {
		phase, invalid, note string
		seconds              [][2][]string
		returned             string
	}{
		{"baseline", "round 2, baseline: the node at 10.0.0.2:9042 accepted requests but answered none for 3s, although nothing was done to it", "", long, "4s"},
		{"baseline", "round 2, baseline: the node at 10.0.0.2:9042 accepted requests but answered none for 2s, although nothing was done to it", "", short, "3s"},
		{"measure", "", "round 2, measure: the node at 10.0.0.2:9042 accepted requests but answered none for 3s; the load went to the other nodes", long, "4s"},
		{"lab/freeze", "", "", long, "4s"},
	} {
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		dir := t.TempDir()
		f, err := result.Create(dir, []byte("trial: t\n"), start)
		if err != nil {
			t.Fatal(err)
		}
		reads, writes := &avoiding{}, &avoiding{}
		d := &cellRun{
			records: &records{folder: f}, cell: &spec.Cell{}, round: 2, now: &judge.PhaseRecord{Phase: c.phase},
			sources: []engine.Database{reads, writes, nil},
		}
		for second, from := range c.seconds {
			reads.from, writes.from = from[0], from[1]
			d.avoided(load.Second{Start: start.Add(time.Duration(second) * time.Second)})
		}
		d.judgeHung()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(d.invalid, "|"); got != c.invalid {
			t.Errorf("%s: INVALID because of %q, want %q", c.phase, got, c.invalid)
		}
		if got := strings.Join(d.notes, "|"); got != c.note {
			t.Errorf("%s: noted %q, want %q", c.phase, got, c.note)
		}
		file, err := os.Open(filepath.Join(dir, result.EventsFile))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var told []string
		for e, err := range series.ReadEvents(file) {
			if err != nil {
				t.Fatal(err)
			}
			told = append(told, e.Time.Sub(start).String()+" "+string(e.Kind)+" "+e.Detail["address"].(string))
		}
		if want := []string{"1s load.avoids 10.0.0.2:9042", c.returned + " load.returns 10.0.0.2:9042"}; !slices.Equal(told, want) {
			t.Errorf("%s: %q, want %q", c.phase, told, want)
		}
	}
}
