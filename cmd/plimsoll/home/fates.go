package home

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/hint"
	"plimsoll/lab"
	"plimsoll/result"
	"plimsoll/trial/underway"
)

// fates are what became of trials that have not judged, by the folders of their results, as far as this machine knows.
type fates struct {
	trials map[string]underway.Trial
	labs   []string // that there are
}

func readFates(ctx context.Context) (f fates) {
	deps, err := LabDeps()
	if err != nil {
		return f
	}
	all, err := underway.List(ctx, deps.Machine, deps.Home)
	if err != nil {
		return f
	}
	f.trials = map[string]underway.Trial{}
	for _, t := range all {
		f.trials[t.Dir] = t
	}
	if !slices.ContainsFunc(all, func(t underway.Trial) bool { return t.Died }) {
		return f
	}
	labs, err := lab.List(ctx, deps)
	if err != nil {
		return f
	}
	for _, l := range labs {
		f.labs = append(f.labs, l.Name)
	}
	return f
}

// of is what became of the trial of a result; false: this machine does not know.
func (f fates) of(dir string) (underway.Trial, bool) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return underway.Trial{}, false
	}
	t, known := f.trials[whole]
	return t, known
}

// left says what a trial whose process died has left running, and what removes it; "" if it has left nothing.
func (f fates) left(t underway.Trial) string {
	var left []string
	for _, name := range t.Labs {
		if slices.Contains(f.labs, name) {
			left = append(left, hint.Quoted(name))
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "its clusters still exist; remove them: plimsoll lab down " + strings.Join(left, " ")
}

// TellFates says of the trials among some results that have not judged whether they run or were killed, in place of their verdicts, and
// returns what those that were killed have left.
func TellFates(ctx context.Context, all []result.Listed) (left []string) {
	if !slices.ContainsFunc(all, func(r result.Listed) bool { return r.Verdict == result.Unjudged }) {
		return nil
	}
	f := readFates(ctx)
	for i, r := range all {
		t, known := f.of(r.Dir)
		switch {
		case r.Verdict != result.Unjudged || !known:
		case t.Died:
			all[i].Verdict = result.Killed
			if text := f.left(t); text != "" {
				left = append(left, fmt.Sprintf("Trial %s was killed (%s); %s", t.Name, r.Dir, text))
			}
		default:
			all[i].Verdict = result.Running
		}
	}
	return left
}

// TellFate says of one result whose trial has not judged whether it runs or was killed, and what that left.
func TellFate(ctx context.Context, r *result.Result) {
	if r.Verdict.Verdict != "" {
		return
	}
	f := readFates(ctx)
	switch t, known := f.of(r.Dir); {
	case !known:
	case t.Died:
		r.Verdict.Ended = &result.Ended{How: result.Died}
		if text := f.left(t); text != "" {
			r.Verdict.Advice = append(r.Verdict.Advice, text)
		}
	default:
		r.Verdict.Ended = &result.Ended{How: result.Goes}
	}
}
