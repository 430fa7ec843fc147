package result_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
