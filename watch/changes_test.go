package watch

import (
	"path/filepath"
	"testing"
	"time"
)

// A mark that is set for a time before stands at its time, whenever it was written.
func TestChangesStandByTime(t *testing.T) {
	log := OpenChanges(filepath.Join(t.TempDir(), "changes.jsonl"))
	now := time.Unix(1_000_000, 0)
	for _, back := range []time.Duration{3, 1, 2} {
		if err := log.Add(Change{At: now.Add(-back * time.Minute), Kind: Mark, What: back.String()}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := log.Between("", now.Add(-time.Hour), now)
	if err != nil || len(all) != 3 || all[0].What != "3ns" || all[1].What != "2ns" || all[2].What != "1ns" {
		t.Errorf("%+v, %v", all, err)
	}
}
