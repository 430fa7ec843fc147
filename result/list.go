package result

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/document"
)

// Listed is a result in a list.
type Listed struct {
	Dir     string    `json:"dir"`
	Trial   string    `json:"trial"`
	Verdict string    `json:"verdict"`
	Partial bool      `json:"partial,omitempty"` // it ended before its time
	Started time.Time `json:"started"`
	// Interrupted says that a person ended it before anything was measured: its verdict says nothing.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Says is its verdict in a list of them, with what became of a trial that ended before its time.
func (l Listed) Says() string {
	switch {
	case l.Interrupted:
		return "INTERRUPTED (nothing was measured)"
	case l.Partial:
		return l.Verdict + " (partial)"
	}
	return l.Verdict
}

// List finds the results below a folder, the newest first. A folder that is not there holds none.
func List(dir string) ([]Listed, error) { return new(Lister).List(dir) }

// Lister lists the same folder again and again: a result whose files are as they were is not read again.
type Lister struct {
	mu    sync.Mutex
	known map[string]known // by folder
}

// known is a result as it was read when its files had a stamp.
type known struct {
	stamp string
	Listed
}

// List is the function List.
func (l *Lister) List(dir string) ([]Listed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, out := map[string]known{}, []Listed{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != EventsFile {
			return err
		}
		folder := filepath.Dir(path)
		stamp := Stamp(folder, SpecFile, EnvironmentFile, VerdictFile)
		one, again := l.known[folder]
		if !again || stamp == "" || one.stamp != stamp {
			head, err := OpenHead(folder)
			if err != nil {
				return nil //nolint:nilerr // a folder that is no result is not listed
			}
			one = known{stamp, head.listed()}
		}
		found[folder] = one
		out = append(out, one.Listed)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list results: %w", err)
	}
	l.known = found
	slices.SortFunc(out, func(a, b Listed) int { return b.Started.Compare(a.Started) })
	return out, nil
}

// settled is for how long a file must not have been written: of one that was written twice in one tick of the clock the time does not tell.
const settled = 2 * time.Second

// Stamp is the same as long as the files of these names in a folder are, or all of its files where none are named. It is empty while that cannot be told,
// because one of them was written just now or the folder cannot be read.
func Stamp(dir string, names ...string) string {
	if len(names) == 0 {
		all, err := os.ReadDir(dir)
		if err != nil {
			return ""
		}
		for _, one := range all {
			names = append(names, one.Name())
		}
	}
	var b strings.Builder
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fmt.Fprintf(&b, "%s does not exist\n", name)
		case err != nil || time.Since(info.ModTime()) < settled:
			return ""
		default:
			fmt.Fprintf(&b, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// What stands in place of a verdict for a trial that has not judged, and for what is none.
const (
	Unjudged = "interrupted or still running" // it is not known which
	Recorded = "RECORDED"                     // by a watch: nothing was judged
	Running  = "running"
	Killed   = "killed" // its process is gone
)

// named is the trial's name as its file has it; "" if that cannot be read.
func (r *Result) named() string {
	n, err := document.Parse(SpecFile, []byte(r.Source))
	if err != nil {
		return ""
	}
	if name := n.Get("trial"); name != nil {
		return name.Text
	}
	return ""
}

// listed is a result as one of a list. One that was killed never said what it is called and when it began: its file and folder tell.
func (r *Result) listed() Listed {
	one := Listed{Dir: r.Dir, Trial: r.Verdict.Trial, Verdict: string(r.Verdict.Verdict), Started: r.Environment.Started}
	switch {
	case r.Verdict.Watched != nil:
		one.Verdict = Recorded
	case one.Verdict == "":
		one.Verdict = Unjudged
	default:
		one.Partial = r.Verdict.Partial
		e := r.Verdict.Ended
		one.Interrupted = e != nil && e.How == Interrupted && e.Unmeasured
	}
	if one.Trial == "" {
		one.Trial = cmp.Or(r.named(), filepath.Base(filepath.Dir(r.Dir)))
	}
	if info, err := os.Stat(filepath.Join(r.Dir, SpecFile)); err == nil && one.Started.IsZero() {
		one.Started = info.ModTime()
	}
	return one
}
