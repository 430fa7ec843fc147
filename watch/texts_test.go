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

// What could not be written is written the next time, on a line of its own.
func TestTextsAreKeptAfterAFailedWrite(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "watch")
	file := filepath.Join(folder, "statements.jsonl")
	texts, err := OpenTexts(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := texts.Keep([]Statement{{Digest: "a", Text: "SELECT ?"}}); err != nil {
		t.Fatal(err)
	}
	half, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder, nil, 0o600); err != nil { // a file where the folder should be
		t.Fatal(err)
	}
	if err := texts.Keep([]Statement{{Digest: "b", Text: "COMMIT"}}); err == nil {
		t.Fatal("it was written into a file that cannot be")
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(half, `{"digest":"b","te`...), 0o600); err != nil { // as much of it as found room
		t.Fatal(err)
	}
	if err := texts.Keep([]Statement{{Digest: "b", Text: "COMMIT"}}); err != nil {
		t.Fatal(err)
	}
	if last, err := OpenTexts(file); err != nil || last.Of("a") != "SELECT ?" || last.Of("b") != "COMMIT" || len(last.by) != 2 {
		t.Errorf("%+v, %v", last.by, err)
	}
}
