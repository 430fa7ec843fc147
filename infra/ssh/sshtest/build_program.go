package sshtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

var build = sync.OnceValues(func() ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(filepath.Dir(self), "plimsoll-machine-linux-"+runtime.GOARCH)
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "plimsoll/cmd/plimsoll-machine")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	return build.CombinedOutput()
})

// Helper builds the helper beside the program of the test, where helper.For finds it.
func Helper(t testing.TB) {
	t.Helper()
	if out, err := build(); err != nil {
		t.Fatalf("build the helper: %v\n%s", err, out)
	}
}
