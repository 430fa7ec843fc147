// Package infratest is what every adapter of infra must pass.
package infratest

import (
	"context"
	"errors"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
)

// Run holds a machine to its contract. The machine has a POSIX shell; dir is an empty folder on it.
func Run(t *testing.T, m infra.Machine, dir string) {
	for name, test := range map[string]func(*testing.T, suite){
		"Run":      suiteRun,
		"Talk":     suiteTalk,
		"Start":    suiteStart,
		"Find":     suiteFind,
		"Signal":   suiteSignal,
		"Stop":     suiteStop,
		"Files":    suiteFiles,
		"Snapshot": suiteSnapshot,
		"CopyTree": suiteCopyTree,
		"Lock":     suiteLock,
		"Space":    suiteSpace,
	} {
		t.Run(name, func(t *testing.T) {
			s := suite{m, path.Join(dir, name)}
			must(t, m.MakeDir(t.Context(), s.dir))
			test(t, s)
		})
	}
}

// suite is a machine and a folder for one test.
type suite struct {
	infra.Machine
	dir string
}

func (s suite) at(name string) string { return path.Join(s.dir, name) }

// shell runs a line of shell and returns what it printed.
func (s suite) shell(t *testing.T, line string) string {
	t.Helper()
	out, err := s.Run(t.Context(), infra.Command{Path: "sh", Args: []string{"-c", line}, Dir: s.dir})
	must(t, err)
	return strings.TrimSpace(string(out.Stdout))
}

// start starts a line of shell under a mark, and ends it with the test.
func (s suite) start(t *testing.T, mark, line string) infra.Process {
	t.Helper()
	p, err := s.Start(t.Context(), infra.Command{
		Path: "sh", Args: []string{"-c", line}, Dir: s.dir, Log: s.at("log"), Mark: mark,
	})
	must(t, err)
	t.Cleanup(func() { end(t, p) })
	return p
}

// end kills a process and waits for its end.
func end(t *testing.T, p infra.Process) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.Signal(ctx, "KILL"); err != nil && !errors.Is(err, infra.ErrGone) {
		t.Errorf("kill: %v", err)
	}
	if err := p.Wait(ctx); err != nil {
		t.Errorf("wait after kill: %v", err)
	}
}

// eventually tries until it is so, for what a process does in its own time.
func eventually(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !isSo() {
		select {
		case <-again.C:
		case <-limit.C:
			t.Fatalf("still not after a minute: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func atoi(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	must(t, err)
	return n
}
