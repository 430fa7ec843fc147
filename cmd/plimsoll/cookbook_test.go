package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A result that is INVALID answers nothing: each task has one that is valid.
//
// TestTheCookbookHasTwelveTasksWithTheirFilesAndResults reads the page: what each task's file says is TestEveryExampleIsValid's to read.
func TestTheCookbookHasTwelveTasksWithTheirFilesAndResults(t *testing.T) {
	page, err := os.ReadFile("../../docs/cookbook.md")
	if err != nil {
		t.Fatal(err)
	}
	task, answered, found := strings.Cut(string(page), "## Example results")
	if !found {
		t.Fatal("the page has no results")
	}
	row := regexp.MustCompile("(?m)^\\| ([^|]+) \\| `(examples/[^`]+)` \\| [^|]+ \\|$")
	result := regexp.MustCompile(`(?m)^\| ([^|]+) \| \d+:\d\d \| (?:PASS|FAIL|INCONCLUSIVE)[^|]* \| [^|]+ \|$`)
	results := map[string]bool{}
	for _, r := range result.FindAllStringSubmatch(answered, -1) {
		results[r[1]] = true
	}
	rows := row.FindAllStringSubmatch(task, -1)
	if len(rows) != 12 || len(results) != 12 {
		t.Errorf("%d tasks with a file and %d with a result, want twelve of each", len(rows), len(results))
	}
	for _, r := range rows {
		text, err := os.ReadFile(filepath.Join("..", "..", r[2]))
		if err != nil || !strings.Contains(string(text), "\ntrial: ") || !strings.Contains(string(text), "\nexpect:") || !strings.Contains(string(text), "\nquick:") {
			t.Errorf("%s: %s is no trial with expectations and a quick form: %v", r[1], r[2], err)
		}
		if !results[r[1]] {
			t.Errorf("%s has no result", r[1])
		}
	}
}
