//go:build linux

package systemd_test

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/infra/infratest"
	"plimsoll/infra/local"
	"plimsoll/infra/systemd"
)

// TestMain lets this program be a launcher.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "launch" {
		if err := systemd.Launch(local.Machine{}, os.Args[2]); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// fakeRun is in place of systemd-run, which needs a systemd that runs the machine: it starts the unit's command in a session of its own
// and without the caller's environment, as systemd does, and says that it is a fake.
const fakeRun = `#!/bin/sh
echo "this is a fake of systemd-run, for a test" >&2
while [ "$1" != -- ]; do case $1 in --unit=*) echo "${1#--unit=}" >>"$(dirname "$0")/units";; esac; shift; done; shift
env -i setsid "$@" </dev/null >/dev/null 2>&1 &
`

// What is started as a unit is to its users as what is started otherwise.
func TestStarter(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "systemd-run"), []byte(fakeRun), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	folder := t.TempDir()
	infratest.Run(t, systemd.Starter{Machine: here, Launcher: []string{self, "launch"}, Folder: folder}, t.TempDir())
	if units, err := os.ReadFile(filepath.Join(bin, "units")); err != nil || len(units) == 0 {
		t.Errorf("nothing was started as a unit: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestTheUnitOfAnActIsItsToken(t *testing.T) {
	if got := systemd.UnitOf("/runbook/r1-restart.1"); got != "plimsoll-r1-restart.1" {
		t.Errorf("unit %s", got)
	}
	if one, other := systemd.UnitOf("/labs/demo/n1"), systemd.UnitOf("/labs/demo/n2"); one == other || len(one) != len("plimsoll-")+16 {
		t.Errorf("units %s and %s", one, other)
	}
}
