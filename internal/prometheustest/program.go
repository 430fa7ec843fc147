// Package prometheustest gets Prometheus' own programs for tests.
package prometheustest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// packages are where programs come from whose package has another name.
var packages = map[string]string{"promtool": "prometheus"}

// Program is the path of prometheus, promtool, prometheus-alertmanager or prometheus-mysqld-exporter: from PATH, or from the machine's packages,
// unpacked into Plimsoll's cache and not installed. Short tests skip.
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
	from := cmp.Or(packages[name], name)
	kept := filepath.Join(cache, "plimsoll", from)
	program := filepath.Join(kept, "usr", "bin", name)
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(kept), from+"-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh) //nolint:errcheck // renamed, or thrown away
	script := fmt.Sprintf("apt-get download %[1]s && dpkg-deb -x %[1]s_*.deb . && rm %[1]s_*.deb", from)
	command := exec.CommandContext(t.Context(), "sh", "-c", script)
	command.Dir = fresh
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("get %s (%s): %v: %s", name, script, err, out)
	}
	if err := os.Rename(fresh, kept); err != nil { // another test's process was faster
		if _, missing := os.Stat(program); missing != nil {
			t.Fatal(err)
		}
	}
	return program
}
