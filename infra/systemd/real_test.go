//go:build linux

package systemd_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/infratest"
	"plimsoll/infra/local"
	"plimsoll/infra/systemd"
)

// within says that this program runs below a systemd of the test's own.
const within = "PLIMSOLL_TEST_WITHIN_SYSTEMD"

// boot makes systemd the first process of namespaces of its own. Of the host's units it sees none, and it mounts and stops nothing there:
// its folders of units are empty but for those of the test, and it ends by SIGKILL, from outside.
const boot = `set -e
mount -t tmpfs -o mode=755 none /run
for folder in /etc/systemd/system /usr/lib/systemd/system /usr/lib/systemd/system-generators /etc/systemd/system-generators; do
	[ ! -d $folder ] || mount -t tmpfs -o mode=755 none $folder
done
mount -t cgroup2 none /sys/fs/cgroup
mount --bind /proc/sys /proc/sys
mount -o remount,ro,bind /proc/sys
mkdir -p /run/systemd/system
cp "$1"/units/* /run/systemd/system/
exec env -i container=plimsoll PATH="$PATH" "$2" --system --unit=test.target --log-target=console --log-level=notice --show-status=no
`

// units are those that systemd needs to start others, and the one that runs the test.
var units = map[string]string{
	"sysinit.target":  "[Unit]\nDescription=Nothing\nDefaultDependencies=no\n",
	"basic.target":    "[Unit]\nDescription=Nothing\nDefaultDependencies=no\n",
	"shutdown.target": "[Unit]\nDescription=Nothing\nDefaultDependencies=no\n",
	"test.target":     "[Unit]\nDescription=The test\nDefaultDependencies=no\nWants=test.service\n",
	"test.service": `[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
Environment=%[1]s=yes PATH=%[2]s TMPDIR=%[3]s/tmp HOME=%[3]s
ExecStart=%[4]s -test.run=^%[5]s$$ -test.v
ExecStopPost=/bin/sh -c 'kill -0 $$(cat plain) 2>/dev/null && plain=left || plain=ended; echo "$$EXIT_STATUS: $$(systemctl is-active plimsoll-r2-stays.1), $$plain" >status.new; mv status.new status'
WorkingDirectory=%[3]s
StandardOutput=append:%[3]s/said
StandardError=append:%[3]s/said
`,
	// Servers to be worked.
	"patient.service":  "[Service]\nExecStart=/bin/sleep 1000\n",
	"stubborn.service": "[Service]\nExecStart=/bin/sh -c 'trap \"\" TERM; while :; do sleep 1; done'\nTimeoutStopSec=15min\n",
	"broken.service":   "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'exit 3'\n",
}

// What is started outlives who started it as a unit of a real systemd, and real units are started, stopped and ended. make soak runs it.
func TestSoakOnARealSystemd(t *testing.T) {
	if os.Getenv(within) != "" {
		t.Run("Starter", startsUnits)
		t.Run("Service", worksUnits)
		t.Run("Stays", leavesBehind)
		return
	}
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("boots a systemd: make soak")
	}
	program := "/usr/lib/systemd/systemd"
	if _, err := os.Stat(program); err != nil {
		t.Skip(program + " is not here: install the package systemd")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root: systemd is the first process of namespaces of its own")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, name := range []string{"units", "tmp"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range units {
		if name == "test.service" {
			text = fmt.Sprintf(text, within, os.Getenv("PATH"), folder, self, t.Name())
		}
		if err := os.WriteFile(filepath.Join(folder, "units", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	group := controlGroup(t)
	begin := exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--uts", "--ipc", "--cgroup", "sh", "-c", boot, "sh", folder, program)
	console, err := os.Create(filepath.Join(folder, "console"))
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	begin.Stdout, begin.Stderr = console, console
	runtime.LockOSThread() // whose end would be that of what it began
	defer runtime.UnlockOSThread()
	begin.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd()), Pdeathsig: syscall.SIGKILL}
	if err := begin.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- begin.Wait() }()
	status := waitFor(t, filepath.Join(folder, "status"), ended)
	_ = begin.Process.Kill()          // and with it, by --kill-child, systemd and all that it has started
	if status != "0: active, ended" { // with the test's own unit ended what it had started otherwise, and not the unit of the act
		on, _ := os.ReadFile(console.Name())
		t.Errorf("it ended with %q; systemd said:\n%s", status, on)
	}
	said, err := os.ReadFile(filepath.Join(folder, "said"))
	t.Logf("%s", said)
	if err != nil || !strings.Contains(string(said), "--- PASS: "+t.Name()) {
		t.Errorf("the test below systemd did not pass: %v", err)
	}
}

// controlGroup is one of the unified hierarchy for the systemd of a test, which is removed at the end.
func controlGroup(t *testing.T) *os.File {
	t.Helper()
	root := ""
	for _, at := range []string{"/sys/fs/cgroup/unified", "/sys/fs/cgroup"} {
		if _, err := os.Stat(filepath.Join(at, "cgroup.controllers")); root == "" && err == nil {
			root = at
		}
	}
	if root == "" {
		t.Skip("needs control groups of version 2")
	}
	made, err := os.MkdirTemp(root, "plimsoll-test-")
	if err != nil {
		t.Skipf("needs control groups that root may make: %v", err)
	}
	group, err := os.Open(made)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = group.Close()
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for deadline := time.Now().Add(20 * time.Second); ; <-again.C {
			if err := removeGroups(made); err == nil {
				return
			} else if time.Now().After(deadline) {
				t.Error(err)
				return
			}
		}
	})
	return group
}

// removeGroups removes control groups, those below first.
func removeGroups(at string) error {
	below, err := os.ReadDir(at)
	if err != nil {
		return err
	}
	for _, one := range below {
		if one.IsDir() {
			if err := removeGroups(filepath.Join(at, one.Name())); err != nil {
				return err
			}
		}
	}
	return syscall.Rmdir(at)
}

// waitFor waits for a file, for a few minutes, and returns its line.
func waitFor(t *testing.T, file string, ended <-chan error) string {
	t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		if text, err := os.ReadFile(file); err == nil {
			return strings.TrimSpace(string(text))
		}
		select {
		case err := <-ended:
			return fmt.Sprintf("systemd itself, %v", err)
		case <-again.C:
		}
	}
	return "nothing within five minutes"
}

func here(t *testing.T) infra.Machine {
	t.Helper()
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// startsUnits holds what is started as a unit to the contract of a machine, and tries what only systemd gives: it is in no group of who started it, and is not
// started twice.
func startsUnits(t *testing.T) {
	if !systemd.Runs() {
		t.Fatal("systemd does not run this machine")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	s := systemd.Starter{Machine: here(t), Launcher: []string{self, "launch"}, Folder: folder}
	infratest.Run(t, s, t.TempDir())

	log := filepath.Join(t.TempDir(), "log")
	act := infra.Command{Path: "sleep", Args: []string{"1000"}, Log: log, Mark: "/runbook/r1-restart.1", Env: []string{"SECRET=of-the-act"}}
	p, err := s.Start(t.Context(), act)
	if err != nil {
		t.Fatal(err)
	}
	const unit = "plimsoll-r1-restart.1.service"
	show := func(properties string) string {
		t.Helper()
		out, err := s.Run(t.Context(), infra.Command{Path: "systemctl", Args: []string{"show", "--property=" + properties, unit}})
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out.Stdout))
	}
	if got := show("ActiveState") + " " + show("MainPID"); got != fmt.Sprintf("ActiveState=active MainPID=%d", p.ID()) {
		t.Errorf("its unit is %q, and it is %d", got, p.ID())
	}
	if all := show("Environment,ExecStart,Description"); strings.Contains(all, "of-the-act") {
		t.Errorf("everybody may read its secret: %s", all)
	}
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", p.ID()))
	if err != nil || !strings.Contains(string(groups), "/system.slice/"+unit) {
		t.Errorf("it is in the group %q, %v", groups, err)
	}
	var exit *infra.ExitError
	if _, err := s.Start(t.Context(), act); !errors.As(err, &exit) || !strings.Contains(exit.Stderr, unit) {
		t.Errorf("it was started twice: %v", err)
	}
	if found, err := s.Find(t.Context(), act.Mark); err != nil || len(found) != 1 || found[0].ID() != p.ID() {
		t.Errorf("found: %v, %v", found, err)
	}
	if err := p.Signal(t.Context(), "KILL"); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := s.Start(t.Context(), act) // --collect has forgotten that it failed
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Signal(t.Context(), "KILL"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// leavesBehind starts two processes and ends: one is a unit of its own, the other only has a session of its own.
func leavesBehind(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	act := infra.Command{Path: "sleep", Args: []string{"1000"}, Log: filepath.Join(t.TempDir(), "log"), Mark: "/runbook/r2-stays.1"}
	if _, err := (systemd.Starter{Machine: here(t), Launcher: []string{self, "launch"}, Folder: t.TempDir()}).Start(t.Context(), act); err != nil {
		t.Fatal(err)
	}
	act.Mark = "/runbook/r2-plain.1"
	plain, err := here(t).Start(t.Context(), act)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), "plain"), fmt.Append(nil, plain.ID()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// worksUnits starts, stops and ends real units.
func worksUnits(t *testing.T) {
	m := here(t)
	patient := systemd.Service{Machine: m, Unit: "patient"}
	runs := func(s systemd.Service, want bool) (process string) {
		t.Helper()
		is, err := s.Running(t.Context())
		if err == nil {
			process, err = s.Process(t.Context())
		}
		if err != nil || is != want || (process != "") != want {
			t.Fatalf("%s runs: %v, process %q, %v", s.Unit, is, process, err)
		}
		return process
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	runs(patient, false)
	must(patient.Start(t.Context()))
	first := runs(patient, true)
	must(patient.Start(t.Context()))
	if same := runs(patient, true); same != first {
		t.Errorf("a start of what runs made %s of %s", same, first)
	}
	must(patient.Stop(t.Context()))
	runs(patient, false)
	must(patient.Start(t.Context()))
	if second := runs(patient, true); second == first {
		t.Errorf("started again, it is still %s", first)
	}
	must(patient.End(t.Context()))
	runs(patient, false)

	// One that ignores SIGTERM has a quarter of an hour by its unit, and is ended all the same.
	stubborn := systemd.Service{Machine: m, Unit: "stubborn"}
	must(stubborn.Start(t.Context()))
	runs(stubborn, true)
	began := time.Now()
	must(stubborn.End(t.Context()))
	if took := time.Since(began); took < 9*time.Second || took > 25*time.Second {
		t.Errorf("ended in %s", took)
	}
	runs(stubborn, false)

	broken := systemd.Service{Machine: m, Unit: "broken"}
	var advice interface{ Hint() string }
	if err := broken.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "failed (failed, result exit-code)") || !errors.As(err, &advice) || !strings.Contains(advice.Hint(), "journalctl -u broken") {
		t.Errorf("a unit that fails: %v", err)
	}
	for unit, is := range map[string]string{"nowhere": "not-found", "masked": "masked"} {
		if unit == "masked" {
			must(os.Symlink("/dev/null", "/run/systemd/system/masked.service"))
			_, err := m.Run(t.Context(), infra.Command{Path: "systemctl", Args: []string{"daemon-reload"}})
			must(err)
		}
		s := systemd.Service{Machine: m, Unit: unit}
		for _, order := range []func(context.Context) error{s.Start, s.Stop} {
			if err := order(t.Context()); err == nil || !strings.Contains(err.Error(), "no usable unit "+unit+": it is "+is) {
				t.Errorf("%s: %v", unit, err)
			}
		}
	}
}
