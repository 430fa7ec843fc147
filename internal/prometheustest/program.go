// Package prometheustest gets Prometheus' own programs for tests.
package prometheustest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Program is the path of prometheus or promtool: from PATH, or from the machine's packages, unpacked into Plimsoll's cache and not installed.
// Short tests skip.
func Program(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs Prometheus' own programs")
	}
	if program, err := exec.LookPath(name); err == nil {
		return program
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(cache, "plimsoll", "prometheus")
	program := filepath.Join(kept, "usr", "bin", name)
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(kept), "prometheus-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh) //nolint:errcheck // renamed, or thrown away
	const script = "apt-get download prometheus && dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb"
	command := exec.CommandContext(t.Context(), "sh", "-c", script)
	command.Dir = fresh
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("get Prometheus (%s): %v: %s", script, err, out)
	}
	if err := os.Rename(fresh, kept); err != nil { // another test's process was faster
		if _, missing := os.Stat(program); missing != nil {
			t.Fatal(err)
		}
	}
	return program
}
