package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Listed is a result in a list.
type Listed struct {
	Dir     string    `json:"dir"`
	Trial   string    `json:"trial"`
	Verdict string    `json:"verdict"`
	Partial bool      `json:"partial,omitempty"` // it ended before its time
	Started time.Time `json:"started"`
}

// List finds the results below a folder, the newest first. A folder that is not there holds none.
func List(dir string) ([]Listed, error) {
	out := []Listed{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != EventsFile {
			return err
		}
		head, err := OpenHead(filepath.Dir(path))
		if err != nil {
			return nil //nolint:nilerr // a folder that is no result is not listed
		}
		out = append(out, head.listed())
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list results: %w", err)
	}
	slices.SortFunc(out, func(a, b Listed) int { return b.Started.Compare(a.Started) })
	return out, nil
}

// Unjudged stands in place of a verdict for a trial whose process died before it judged, or that still runs.
const Unjudged = "died or still running"

// listed is a result as one of a list. One that was killed never said what it is called and when it began: its folder tells.
func (r *Result) listed() Listed {
	one := Listed{Dir: r.Dir, Trial: r.Verdict.Trial, Verdict: string(r.Verdict.Verdict), Started: r.Environment.Started}
	switch {
	case one.Verdict == "":
		one.Verdict = Unjudged
	default:
		one.Partial = r.Verdict.Partial
	}
	if one.Trial == "" {
		one.Trial = filepath.Base(filepath.Dir(r.Dir))
	}
	if info, err := os.Stat(filepath.Join(r.Dir, SpecFile)); err == nil && one.Started.IsZero() {
		one.Started = info.ModTime()
	}
	return one
}
