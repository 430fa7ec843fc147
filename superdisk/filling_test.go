package superdisk

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/infra/local"
)

func TestFilling(t *testing.T) {
	ctx := t.Context()
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	from, to := t.TempDir(), t.TempDir()
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(name, []byte("rows"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	is := func(want Filling) {
		t.Helper()
		if got, err := FillingOf(ctx, m, to); got != want || err != nil {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	is(Empty)
	write(filepath.Join(to, "."+FillingMark+".123")) // what a write that was cut off leaves
	is(Empty)
	if err := MarkFilling(ctx, m, to, Begun); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(from, "t.ibd"))
	if err := CopyFiles(ctx, m, from, to, "/filling"); err != nil {
		t.Errorf("the mark counts as a file: %v", err)
	}
	is(Begun)
	if err := MarkFilling(ctx, m, to, Filled); err != nil {
		t.Fatal(err)
	}
	is(Filled)
	if err := Unmark(ctx, m, to); err != nil {
		t.Fatal(err)
	}
	is(Foreign)
	if err := MarkFilling(ctx, m, from, Filled); err != nil {
		t.Fatal(err)
	}
	if err := CopyFiles(ctx, m, from, to, "/filling"); err == nil {
		t.Error("the mark of another filling was copied")
	}
	if _, err := os.Stat(filepath.Join(to, FillingMark)); err == nil {
		t.Error("the mark of the source is on the copy")
	}
}
