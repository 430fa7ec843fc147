package helper

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// Without make build the helper is the file beside the program, else the program itself where that can run.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	self := filepath.Join(dir, "plimsoll")
	for path, content := range map[string]string{self: "itself", filepath.Join(dir, "plimsoll-machine-linux-arm64"): "for arm64"} {
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p, err := beside(self, "plimsoll-machine-linux-arm64", "arm64")
	if err != nil || string(p.Content) != "for arm64" || p.Name != "plimsoll-machine" || len(p.Args) > 0 {
		t.Errorf("beside the program: %+v, %v", p, err)
	}
	if _, err := beside(self, "plimsoll-machine-linux-s390x", "s390x"); err == nil {
		t.Error("found a helper for an architecture that there is none for")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH == "arm64" {
		return
	}
	p, err = beside(self, "plimsoll-machine-linux-"+runtime.GOARCH, runtime.GOARCH)
	if err != nil || string(p.Content) != "itself" || !slices.Equal(p.Args, []string{"machine", "serve"}) {
		t.Errorf("the program itself: %+v, %v", p, err)
	}
}
