package result_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/report/reporttest"
	"plimsoll/result"
)

// Who lists a folder again and again reads a result once, and again when one of its files is another.
func TestAResultIsListedFromWhatWasRead(t *testing.T) {
	below := t.TempDir()
	dir := filepath.Join(below, "demo", "1")
	if err := reporttest.Keep(dir, reporttest.Timeline()); err != nil {
		t.Fatal(err)
	}
	verdict, earlier := filepath.Join(dir, result.VerdictFile), time.Now().Add(-time.Hour)
	date := func(at time.Time) {
		t.Helper()
		for _, name := range []string{result.SpecFile, result.EnvironmentFile, result.VerdictFile} {
			if err := os.Chtimes(filepath.Join(dir, name), time.Time{}, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	listed := func(l *result.Lister) string {
		t.Helper()
		all, err := l.List(below)
		if err != nil {
			t.Fatal(err)
		}
		var verdicts []string
		for _, one := range all {
			verdicts = append(verdicts, one.Verdict)
		}
		return strings.Join(verdicts, " ")
	}
	text, err := os.ReadFile(verdict)
	if err != nil {
		t.Fatal(err)
	}
	var l result.Lister
	if listed(&l) != "INCONCLUSIVE" {
		t.Fatalf("the list is %q", listed(&l))
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(verdict, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := strings.Replace(string(text), `"INCONCLUSIVE"`, `"inconclusive"`, 1)
	if write(other); listed(&l) != "inconclusive" {
		t.Errorf("what was written just now is not read again: %q", listed(&l))
	}
	if date(earlier); listed(&l) != "inconclusive" {
		t.Fatalf("the list is %q", listed(&l))
	}
	write(string(text))
	if date(earlier); listed(&l) != "inconclusive" || listed(new(result.Lister)) != "INCONCLUSIVE" {
		t.Errorf("files that are as they were are read again: %q", listed(&l))
	}
	if date(earlier.Add(time.Second)); listed(&l) != "INCONCLUSIVE" {
		t.Errorf("files that are others are not read again: %q", listed(&l))
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if listed(&l) != "" {
		t.Errorf("a result that is gone is listed: %q", listed(&l))
	}
}

// A trial that a person ended before anything was measured is listed so, and one that ended later by its verdict.
func TestATrialThatMeasuredNothingIsListedAsInterrupted(t *testing.T) {
	for want, ended := range map[string]*result.Ended{
		"INTERRUPTED (nothing was measured)": {How: result.Interrupted, Unmeasured: true},
		"INCONCLUSIVE (partial)":             {How: result.Interrupted},
		"COULD NOT RUN (partial)":            {How: result.CouldNotRun, Unmeasured: true},
	} {
		r := reporttest.Timeline()
		if r.Verdict.Ended, r.Verdict.Partial, r.Verdict.Verdict = ended, true, analyze.Inconclusive; ended.How == result.CouldNotRun {
			r.Verdict.Verdict = analyze.CouldNotRun
		}
		below := t.TempDir()
		if err := reporttest.Keep(filepath.Join(below, "demo", "1"), r); err != nil {
			t.Fatal(err)
		}
		all, err := result.List(below)
		if err != nil || len(all) != 1 || all[0].Says() != want {
			t.Errorf("%v, %v, want %s", all, err, want)
		}
	}
}
