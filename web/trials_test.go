package web

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/report/reporttest"
	"plimsoll/result"
)

// What became of a trial that has not judged is said where its result is listed, and on its page as often as that is looked at: none of the
// result's files changes when the trial's process is killed.
func TestTheFateOfATrialIsSaidOnThePages(t *testing.T) {
	folder := t.TempDir()
	r := reporttest.Timeline()
	r.Verdict = result.Verdict{}
	if err := reporttest.Keep(filepath.Join(folder, "cut", "1"), r); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "cut", "1", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files { // long settled, so that a page could be kept
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	ended := result.Goes
	s := trialHandlers{&Server{Deps: Deps{Trials: Trials{
		Folder: folder,
		Fates: func(_ context.Context, all []result.Listed) {
			for i := range all {
				all[i].Verdict = map[result.How]string{result.Goes: result.Running, result.Died: result.Killed}[ended]
			}
		},
		Fate: func(_ context.Context, r *result.Result) { r.Verdict.Ended = &result.Ended{How: ended} },
	}}}}
	for _, c := range []struct {
		how          result.How
		listed, page string
	}{
		{result.Goes, result.Running, "The trial is still running."},
		{result.Died, result.Killed, "The process of the trial was killed before it judged"},
	} {
		ended = c.how
		all, err := s.listed(t.Context())
		if err != nil || len(all) != 1 || all[0].Verdict != c.listed {
			t.Errorf("%s: %+v, %v", c.how, all, err)
		}
		p, err := s.report(t.Context(), "cut/1")
		if err != nil || !strings.Contains(string(p.Report), c.page) {
			t.Errorf("%s: %v, %.300s", c.how, err, p.Report)
		}
	}
}
