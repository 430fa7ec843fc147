//go:build linux

package remote_test

import (
	"context"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"plimsoll/infra"
	"plimsoll/infra/infratest"
	"plimsoll/infra/remote"
)

// The helper for arm64 keeps to the contract of a machine: its program is built as make helpers does, and run by QEMU's emulation of that
// processor. What it starts are this machine's own programs.
func TestSoakTheHelperForARM64(t *testing.T) {
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("builds everything for another processor and emulates it: make soak")
	}
	emulator := emulatorOf(t, "qemu-aarch64-static", "qemu-aarch64")
	program := filepath.Join(t.TempDir(), "plimsoll-machine")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "plimsoll/cmd/plimsoll-machine")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the helper: %v\n%s", err, out)
	}
	built, err := elf.Open(program)
	must(t, err)
	if built.Machine != elf.EM_AARCH64 {
		t.Fatalf("the helper was built for %s", built.Machine)
	}
	must(t, built.Close())
	m := remote.New("arm64", func(ctx context.Context) (io.ReadWriteCloser, error) {
		return here(t).(infra.Conversing).Talk(context.WithoutCancel(ctx), infra.Command{Path: emulator, Args: []string{program}})
	}, remote.Settings{})
	t.Cleanup(func() { _ = m.Close() })
	infratest.Run(t, m, t.TempDir())
}

// emulatorOf finds a program by one of its names.
func emulatorOf(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	t.Skipf("none of %v is here: install the package qemu-user-static", names)
	return ""
}
