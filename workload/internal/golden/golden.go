// Package golden compares what a test made with a file that a person has looked at.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Check compares got with testdata/name.
func Check(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		write(t, path, got)
		return
	}
	if want := read(t, path); got != want {
		t.Errorf("%s differs. Got\n%s\nexpected\n%s", path, got, want)
	}
}

// CheckBlock compares got with what stands between <!-- name --> and <!-- end --> in a file.
func CheckBlock(t *testing.T, path, name, got string) {
	t.Helper()
	begin := "<!-- " + name + " -->\n"
	before, rest, found := strings.Cut(read(t, path), begin)
	want, after, ended := strings.Cut(rest, "<!-- end -->")
	switch {
	case !found || !ended:
		t.Errorf("%s has no block %s", path, name)
	case *update:
		write(t, path, before+begin+got+"<!-- end -->"+after)
	case got != want:
		t.Errorf("%s of %s differs (run the test with -update to write it). Got\n%s\nexpected\n%s", name, path, got, want)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
