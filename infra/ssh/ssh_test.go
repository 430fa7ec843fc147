//go:build linux

package ssh_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/infratest"
	"plimsoll/infra/local"
	"plimsoll/infra/remote"
	"plimsoll/infra/ssh"
	"plimsoll/infra/ssh/sshtest"
	"plimsoll/internal/poll"
)

func reach(t *testing.T, h ssh.Host, s ssh.Settings) *remote.Machine {
	t.Helper()
	sshtest.Helper(t)
	m, err := ssh.New("ssh:rig", here(t), h, s)
	must(t, err)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func here(t *testing.T) infra.Machine {
	t.Helper()
	m, err := local.New()
	must(t, err)
	return m
}

func TestMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an sshd")
	}
	rig := sshtest.Start(t)
	infratest.Run(t, reach(t, ssh.Host{Destination: sshtest.Alias, Config: rig.Config}, ssh.Settings{}), t.TempDir())
	copies, err := filepath.Glob(filepath.Join(rig.Runtime, "plimsoll-*", "*", "*"))
	must(t, err)
	if len(copies) != 1 {
		t.Errorf("the helper stands in %v, want one file", copies)
	}
}

// A machine behind a jump host, with a key that only the person's agent has: both are the business of their configuration. A cut before the jump host is
// a cut line.
func TestJumpHostAndAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two sshd and an agent")
	}
	jump, rig, dir := sshtest.Start(t), sshtest.Start(t), t.TempDir()
	text := func(file string) string {
		data, err := os.ReadFile(file)
		must(t, err)
		return string(data)
	}
	socket := filepath.Join(dir, "agent")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	must(t, agent.Start())
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	target, key := "", ""
	for line := range strings.Lines(text(rig.Config)) {
		if file, is := strings.CutPrefix(line, "IdentityFile "); is {
			key = strings.TrimSpace(file)
		} else if !strings.HasPrefix(line, "IdentitiesOnly ") {
			target += line
		}
	}
	add := func() error {
		c := exec.Command("ssh-add", "-q", key)
		c.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
		return c.Run()
	}
	limited, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	must(t, poll.Try(limited, 20*time.Millisecond, add)) // when it listens
	must(t, os.Remove(key))
	config := filepath.Join(dir, "config")
	must(t, os.WriteFile(config, []byte(target+"IdentityAgent "+socket+"\nProxyJump jump\n"+
		strings.Replace(text(jump.Config), "Host "+sshtest.Alias, "Host jump", 1)), 0o600))
	m := reach(t, ssh.Host{Destination: sshtest.Alias, Config: config}, ssh.Settings{})
	out, err := m.Run(t.Context(), infra.Command{Path: "echo", Args: []string{"there"}})
	if err != nil || string(out.Stdout) != "there\n" {
		t.Fatalf("%q, %v", out.Stdout, err)
	}
	ran := make(chan error, 1)
	go func() {
		_, err := m.Run(t.Context(), infra.Command{Path: "sleep", Args: []string{"1000"}, Mark: filepath.Join(dir, "run")})
		ran <- err
	}()
	awaitCount(t, filepath.Join(dir, "run"), 1)
	jump.Relay.Cut()
	var lost *remote.LostError
	if err := <-ran; !errors.As(err, &lost) {
		t.Errorf("a command behind a jump host that was cut off: %v, want LostError", err)
	}
	awaitCount(t, filepath.Join(dir, "run"), 0)
}

// A cut line: the command has ended and the lock is free as soon as the helper notices, and the next call goes over a new line,
// with the helper that is there already.
func TestCutLine(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an sshd")
	}
	rig := sshtest.Start(t)
	dir := t.TempDir()
	m := reach(t, ssh.Host{Destination: sshtest.Alias, Config: rig.Config}, ssh.Settings{})
	release, err := m.Lock(t.Context(), filepath.Join(dir, "lock"))
	must(t, err)
	ran := make(chan error, 1)
	go func() {
		_, err := m.Run(t.Context(), infra.Command{Path: "sleep", Args: []string{"1000"}, Mark: filepath.Join(dir, "run")})
		ran <- err
	}()
	awaitCount(t, filepath.Join(dir, "run"), 1)
	rig.Relay.Cut()
	var lost *remote.LostError
	if err := <-ran; !errors.As(err, &lost) || lost.Fate != remote.Killed {
		t.Errorf("a command on a cut line: %v, want LostError that says that it was killed", err)
	}
	if err := release(); !errors.As(err, &lost) {
		t.Errorf("release: %v, want LostError", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	release, err = m.Lock(ctx, filepath.Join(dir, "lock"))
	must(t, err)
	awaitCount(t, filepath.Join(dir, "run"), 0)
	must(t, release())
}

// In a partition the helper lets go by itself within the limit, while the other side of ssh still stands.
func TestPartition(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an sshd")
	}
	const limit = 3 * time.Second
	rig := sshtest.Start(t)
	dir := t.TempDir()
	m := reach(t, ssh.Host{Destination: sshtest.Alias, Config: rig.Config}, ssh.Settings{Limit: limit})
	_, err := m.Lock(t.Context(), filepath.Join(dir, "lock"))
	must(t, err)
	ran := make(chan error, 1)
	go func() {
		_, err := m.Run(t.Context(), infra.Command{Path: "sleep", Args: []string{"1000"}, Mark: filepath.Join(dir, "run")})
		ran <- err
	}()
	awaitCount(t, filepath.Join(dir, "run"), 1)
	rig.Relay.Freeze()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	release, err := here(t).Lock(ctx, filepath.Join(dir, "lock")) // as another person on that machine
	must(t, err)
	freeAfter := time.Since(began)
	must(t, release())
	rig.Relay.Heal()
	var lost *remote.LostError
	if err := <-ran; !errors.As(err, &lost) || lost.Fate != remote.Killed {
		t.Errorf("a command in a partition: %v, want LostError that says that it was killed", err)
	}
	awaitCount(t, filepath.Join(dir, "run"), 0)
	if freeAfter > limit+3*time.Second || freeAfter < limit/2 {
		t.Errorf("the lock was free after %v, want about %v", freeAfter, limit)
	}
	out, err := m.Run(t.Context(), infra.Command{Path: "echo", Args: []string{"again"}})
	if err != nil || string(out.Stdout) != "again\n" {
		t.Errorf("after the partition: %q, %v", out.Stdout, err)
	}
	t.Logf("limit %v, lock free after %v", limit, freeAfter)
}

// The host key of a machine that was never seen is refused with its fingerprint, and so is one that changed.
func TestHostKey(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an sshd")
	}
	rig := sshtest.Start(t)
	keys, err := os.ReadFile(rig.KnownHosts)
	must(t, err)
	shown, err := exec.Command("ssh-keygen", "-lf", rig.KnownHosts).Output()
	must(t, err)
	fingerprint := strings.Fields(string(shown))[1]
	m := reach(t, ssh.Host{Destination: sshtest.Alias, Config: rig.Config}, ssh.Settings{})

	must(t, os.WriteFile(rig.KnownHosts, nil, 0o600))
	_, err = m.ReadFile(t.Context(), "/etc/hostname")
	var key *ssh.HostKeyError
	if !errors.As(err, &key) || key.Fingerprint != fingerprint || key.Changed {
		t.Errorf("unknown key: %v, want HostKeyError with %s", err, fingerprint)
	}
	advises(t, err, "compare the fingerprint with the machine's real one, then log in once with ssh")

	other := strings.Fields(string(keys))
	other[2] = "AAAAC3NzaC1lZDI1NTE5AAAAIEXVkFTOPaqoMCOYaHM8uJLGe17vhpkMDKn0qxNwBWhU"
	must(t, os.WriteFile(rig.KnownHosts, []byte(strings.Join(other, " ")+"\n"), 0o600))
	_, err = m.ReadFile(t.Context(), "/etc/hostname")
	if !errors.As(err, &key) || !key.Changed {
		t.Errorf("changed key: %v, want HostKeyError that says so", err)
	}
	advises(t, err, "may be intercepting the connection", "ssh-keygen -R '"+key.Host+"'")
	if data, err := os.ReadFile(rig.KnownHosts); err != nil || strings.Contains(string(data), strings.Fields(string(keys))[2]) {
		t.Errorf("the key was added to what is known: %v", err)
	}
}

// advises wants the hint of an error to say all that.
func advises(t *testing.T, err error, all ...string) {
	t.Helper()
	var advised interface{ Hint() string }
	if !errors.As(err, &advised) {
		t.Errorf("%v has no hint", err)
		return
	}
	for _, want := range all {
		if !strings.Contains(advised.Hint(), want) {
			t.Errorf("the hint of %v is %q, want %q", err, advised.Hint(), want)
		}
	}
}

func TestWhatSSHSays(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an sshd")
	}
	rig := sshtest.Start(t)
	var unreached *ssh.TransportError
	m := reach(t, ssh.Host{Destination: "no-such-host.invalid", Config: rig.Config}, ssh.Settings{})
	if _, err := m.ReadFile(t.Context(), "/etc/hostname"); !errors.As(err, &unreached) || unreached.Said == "" {
		t.Errorf("a host that is not there: %v, want TransportError", err)
	}
	m = reach(t, ssh.Host{Destination: "nobody-here@" + sshtest.Alias, Config: rig.Config}, ssh.Settings{})
	if _, err := m.ReadFile(t.Context(), "/etc/hostname"); !errors.As(err, &unreached) {
		t.Errorf("a user who is not let in: %v, want TransportError", err)
	}
	m = reach(t, ssh.Host{Destination: sshtest.Alias, Config: rig.Config, Become: "no-such-user"}, ssh.Settings{})
	var hint interface{ Hint() string }
	if _, err := m.ReadFile(t.Context(), "/etc/hostname"); !errors.As(err, &hint) || !strings.Contains(hint.Hint(), "sudo") {
		t.Errorf("sudo that refuses: %v, want a hint at sudo", err)
	}
	without := sshtest.Start(t, "SetEnv PATH="+t.TempDir())
	m = reach(t, ssh.Host{Destination: sshtest.Alias, Config: without.Config, Become: "root"}, ssh.Settings{})
	if _, err := m.ReadFile(t.Context(), "/etc/hostname"); !errors.As(err, &hint) || !strings.Contains(hint.Hint(), "Install the package sudo") || !strings.Contains(err.Error(), "has no sudo") {
		t.Errorf("no sudo: %v, want that said, and a hint", err)
	}
	for _, bad := range []ssh.Host{{}, {Destination: "-oProxyCommand=x"}, {Destination: "a b"}, {Destination: "a", Become: "x;y"}} {
		if err := bad.Check(); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// The helper runs as another user where it is told to, and ends with the line.
func TestBecome(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an sshd")
	}
	if _, err := exec.LookPath("sudo"); err != nil {
		t.Fatal("sudo is not here: install the package sudo")
	}
	if err := exec.Command("sudo", "-n", "-u", "nobody", "true").Run(); err != nil {
		t.Skipf("this user may not become nobody: %v", err)
	}
	rig := sshtest.Start(t)
	m := reach(t, ssh.Host{Destination: sshtest.Alias, Config: rig.Config, Become: "nobody"}, ssh.Settings{})
	out, err := m.Run(t.Context(), infra.Command{Path: "id", Args: []string{"-un"}})
	if err != nil || string(out.Stdout) != "nobody\n" {
		t.Errorf("runs as %q, %v, want nobody", out.Stdout, err)
	}
}

// Where programs may not be run from the first folder, the helper goes to another.
func TestNoExecFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an sshd")
	}
	rig := sshtest.Start(t)
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "noexec", "none", rig.Runtime).Run(); err != nil {
		t.Skipf("this user may not mount: %v", err)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", rig.Runtime).Run() })
	m := reach(t, ssh.Host{Destination: sshtest.Alias, Config: rig.Config}, ssh.Settings{})
	out, err := m.Run(t.Context(), infra.Command{Path: "sh", Args: []string{"-c", "readlink /proc/$PPID/exe"}})
	must(t, err)
	if at := string(out.Stdout); strings.HasPrefix(at, rig.Runtime) || !strings.Contains(at, "/plimsoll-") {
		t.Errorf("the helper runs from %s", at)
	}
}

// awaitCount waits until so many processes carry a mark on the machine, which is this one.
func awaitCount(t *testing.T, mark string, want int) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(30 * time.Second); ; <-again.C {
		found, err := here(t).Find(t.Context(), mark)
		must(t, err)
		if len(found) == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d processes carry the mark after 30 seconds, want %d", len(found), want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
