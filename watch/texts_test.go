package watch

import (
	"os"
	"path/filepath"
	"testing"
)

// The text of a statement is found by its digest, also in another process and after a crash in the middle of a line.
func TestTextsOfStatementsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "watch", "statements.jsonl")
	texts, err := OpenTexts(file)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // the same again and again
		if err := texts.Keep([]Statement{{Digest: "a", Text: "SELECT ?", AAS: 3}, {Digest: "b", Text: "COMMIT"}, {Text: "no digest"}}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(before, `{"digest":"c","te`...), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := OpenTexts(file)
	if err != nil {
		t.Fatal(err)
	}
	if again.Of("a") != "SELECT ?" || again.Of("b") != "COMMIT" || again.Of("c") != "" || len(again.by) != 2 {
		t.Errorf("%+v", again.by)
	}
	if err := again.Keep([]Statement{{Digest: "d", Text: "BEGIN"}}); err != nil {
		t.Fatal(err)
	}
	if last, err := OpenTexts(file); err != nil || last.Of("d") != "BEGIN" {
		t.Errorf("after half a line nothing is kept: %+v, %v", last.by, err)
	}
}
