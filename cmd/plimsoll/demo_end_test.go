package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pretendedPlimsoll stands for plimsoll: it notes what it is asked for, and by which state folder; a page and a load last until they are ended.
const pretendedPlimsoll = `#!/bin/sh
echo "$PLIMSOLL_HOME $*" >>"$CALLS"
case $1 in
serve) echo http://127.0.0.1:1/ ; exec sleep 120 ;;
load) [ "$2" = prepare ] || exec sleep 120 ;;
esac
`

// stagedDemo is the demonstration of a watch with a pretended plimsoll.
type stagedDemo struct {
	*testing.T
	folder, calls string
}

func newStagedDemo(t *testing.T) stagedDemo {
	d := stagedDemo{t, t.TempDir(), filepath.Join(t.TempDir(), "calls")}
	if err := os.WriteFile(d.program(), []byte(pretendedPlimsoll), 0o700); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d stagedDemo) program() string { return filepath.Join(filepath.Dir(d.calls), "plimsoll") }

// begin has a shell begin the demonstration, and returns the shell, whose group is its own, once the load runs.
func (d stagedDemo) begin() *exec.Cmd {
	d.Helper()
	script, err := filepath.Abs("../../examples/watch/demo.sh")
	if err != nil {
		d.Fatal(err)
	}
	shell := exec.CommandContext(d.Context(), "sh", "-c", `"$0" "$1" 127.0.0.1:0; exit $?`, script, d.program())
	shell.Env = append(os.Environ(), "TMPDIR="+d.folder, "CALLS="+d.calls)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	before := d.count("load run")
	if err := shell.Start(); err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() {
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) // it may have ended
		_ = shell.Wait()                                      // killed
	})
	d.until("the load runs", func() bool { return d.count("load run") > before && len(d.left()) > 0 })
	return shell
}

func (d stagedDemo) count(call string) int {
	text, err := os.ReadFile(d.calls)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.Fatal(err)
	}
	return strings.Count(string(text), call)
}

// left are the processes and the files of a demonstration.
func (d stagedDemo) left() []string {
	d.Helper()
	files, err := os.ReadDir(d.folder)
	if err != nil {
		d.Fatal(err)
	}
	all := processesOf(d.T, d.folder)
	for _, f := range files {
		all = append(all, f.Name())
	}
	return all
}

func (d stagedDemo) until(what string, is func() bool) {
	d.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			text, _ := os.ReadFile(d.calls) // for the message alone
			d.Fatalf("not so: %s; left are %q, and plimsoll was asked:\n%s", what, d.left(), text)
		}
	}
}

// The demonstration ends with the process that began it, as a test that is killed, and nobody who could read what it says.
func TestTheDemoEndsWithWhoeverBeganIt(t *testing.T) {
	d := newStagedDemo(t)
	shell := d.begin()
	if err := shell.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = shell.Wait() // killed
	d.until("nothing is left, and the servers were taken down", func() bool { return len(d.left()) == 0 && d.count("lab down --all") == 1 })
}

// A terminal that is closed hangs up on all that was begun in it, the demonstration and its guard among them.
func TestTheDemoEndsWithItsTerminal(t *testing.T) {
	d := newStagedDemo(t)
	shell := d.begin()
	if err := syscall.Kill(-shell.Process.Pid, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	_ = shell.Wait() // it was hung up on
	d.until("nothing is left, and the servers were taken down", func() bool { return len(d.left()) == 0 && d.count("lab down --all") == 1 })
}

// Of a demonstration that is killed itself, its guard takes the servers down.
func TestAKilledDemoIsClearedUp(t *testing.T) {
	d := newStagedDemo(t)
	d.begin()
	for _, one := range processesOf(t, d.folder) {
		number, command, _ := strings.Cut(one, " ")
		if id, err := os.ReadFile(filepath.Join(d.folder, filepath.Base(d.home()), "demo.pid")); err == nil && strings.TrimSpace(string(id)) == number && strings.Contains(command, "demo.sh") {
			if err := exec.CommandContext(t.Context(), "kill", "-KILL", number).Run(); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.until("nothing is left, and the servers were taken down", func() bool { return len(d.left()) == 0 && d.count("lab down --all") == 1 })
}

// What a demonstration left that was killed with its guard, the next one takes away.
func TestTheNextDemoClearsUp(t *testing.T) {
	d := newStagedDemo(t)
	shell := d.begin()
	home := d.home()
	if err := syscall.Kill(-shell.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = shell.Wait() // killed
	d.until("no process is left", func() bool { return len(processesOf(t, d.folder)) == 0 })
	if left := d.left(); len(left) != 1 || d.count("lab down --all") != 0 {
		t.Fatalf("left are %q: there is nothing to be cleared up", left)
	}
	d.begin()
	if d.count(home+" lab down --all") != 1 {
		t.Error("the servers of the one before were not taken down")
	}
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its files are there: %v", err)
	}
}

// home is the state folder of the demonstration that runs.
func (d stagedDemo) home() string {
	d.Helper()
	all, err := filepath.Glob(filepath.Join(d.folder, "plimsoll-demo-watch.*"))
	if err != nil || len(all) != 1 {
		d.Fatalf("the state folders are %q, %v", all, err)
	}
	return all[0]
}
