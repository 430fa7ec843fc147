package trial

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
	for phase, want := range map[string]struct{ invalid, note string }{
		"baseline":   {invalid: "round 2, baseline: the node at 10.0.0.2:9042 took requests and answered none for a while, though nothing was done to it"},
		"measure":    {note: "round 2, measure: the node at 10.0.0.2:9042 took requests and answered none for a while; the load went to the others"},
		"lab/freeze": {},
	} {
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		dir := t.TempDir()
		f, err := newFolder(dir, []byte("trial: t\n"), start)
		if err != nil {
			t.Fatal(err)
		}
		reads, writes := &avoiding{}, &avoiding{}
		d := &drive{
			runner: &runner{folder: f}, cell: &cell{}, round: 2, now: &stretch{phase: phase},
			sources: []engine.Database{reads, writes, nil},
		}
		hangs := []string{"10.0.0.2:9042"}
		for second, from := range [][2][]string{{}, {hangs}, {hangs, hangs}, {nil, hangs}, {}, {}} {
			reads.from, writes.from = from[0], from[1]
			d.avoided(load.Second{Start: start.Add(time.Duration(second) * time.Second)})
		}
		d.judgeHung()
		if err := f.close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(d.invalid, "|"); got != want.invalid {
			t.Errorf("%s: INVALID because of %q, want %q", phase, got, want.invalid)
		}
		if got := strings.Join(d.notes, "|"); got != want.note {
			t.Errorf("%s: noted %q, want %q", phase, got, want.note)
		}
		file, err := os.Open(filepath.Join(dir, eventsFile))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var told []string
		for e, err := range series.ReadEvents(file) {
			if err != nil {
				t.Fatal(err)
			}
			told = append(told, e.Time.Sub(start).String()+" "+e.Kind+" "+e.Detail["address"].(string))
		}
		if want := []string{"1s load.avoids 10.0.0.2:9042", "4s load.returns 10.0.0.2:9042"}; !slices.Equal(told, want) {
			t.Errorf("%s: %q, want %q", phase, told, want)
		}
	}
}
