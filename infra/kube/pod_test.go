//go:build linux

package kube_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/infratest"
	"plimsoll/infra/kube"
	"plimsoll/infra/kube/kubetest"
	"plimsoll/infra/local"
	"plimsoll/infra/remote"
	"plimsoll/infra/ssh/sshtest"
	"plimsoll/internal/poll"
)

// No Kubernetes can be had here: pods are folders and processes of this machine behind a stand-in, and kubectl is one too, but in
// TestMachineByKubectl, where it is the real one.

func here(t *testing.T) infra.Machine {
	t.Helper()
	m, err := local.New()
	must(t, err)
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pod is a machine in a pod of the stand-in.
func pod(t *testing.T, c *kubetest.Cluster, s kube.Settings) (m *remote.Machine, folder string) {
	t.Helper()
	sshtest.Helper(t)
	folder = t.TempDir()
	c.Pod(t, "db", "orders-0", folder)
	m, err := kube.Machine("pod:db/orders-0", c.Machine(here(t)), kube.Pod{Namespace: "db", Name: "orders-0"}, s)
	must(t, err)
	t.Cleanup(func() { _ = m.Close() })
	return m, folder
}

func TestMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the helper")
	}
	m, folder := pod(t, kubetest.New(), kube.Settings{})
	infratest.Run(t, m, t.TempDir())
	copies, err := filepath.Glob(filepath.Join(folder, "plimsoll-*", "*", "*"))
	must(t, err)
	if len(copies) != 1 {
		t.Errorf("the helper stands in %v, want one file", copies)
	}
}

// The real kubectl carries the channel over the loopback, as it speaks to an API server.
func TestMachineByKubectl(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the helper")
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("kubectl is not here")
	}
	sshtest.Helper(t)
	c := kubetest.New()
	config := c.Config(t)
	c.Pod(t, "db", "orders-0", t.TempDir())
	at := kube.Access{Config: config, Context: "stand-in"}
	m, err := kube.Machine("pod:db/orders-0", here(t), kube.Pod{Access: at, Namespace: "db", Name: "orders-0", Container: "main"}, kube.Settings{})
	must(t, err)
	t.Cleanup(func() { _ = m.Close() })
	infratest.Run(t, m, t.TempDir())
}

// A cut exec: the processes of the pod are told nothing. The command has ended and the lock is free within the limit, and the next
// call goes over a new line.
func TestCutLine(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a limit")
	}
	c, dir := kubetest.New(), t.TempDir()
	m, _ := pod(t, c, kube.Settings{Limit: 3 * time.Second})
	release, err := m.Lock(t.Context(), filepath.Join(dir, "lock"))
	must(t, err)
	ran := running(t, m, filepath.Join(dir, "run"))
	c.Cut()
	var lost *remote.LostError
	if err := <-ran; !errors.As(err, &lost) || lost.Fate != remote.Killed {
		t.Errorf("a command on a cut line: %v, want LostError that says that it was killed", err)
	}
	if err := release(); !errors.As(err, &lost) {
		t.Errorf("release: %v, want LostError", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	release, err = m.Lock(ctx, filepath.Join(dir, "lock"))
	must(t, err)
	await(t, filepath.Join(dir, "run"), 0)
	must(t, release())
}

// In a partition the helper lets go by itself, and nobody here believes in a lock that is free there.
func TestPartition(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a limit")
	}
	c, dir := kubetest.New(), t.TempDir()
	m, _ := pod(t, c, kube.Settings{Limit: 3 * time.Second})
	_, err := m.Lock(t.Context(), filepath.Join(dir, "lock"))
	must(t, err)
	ran := running(t, m, filepath.Join(dir, "run"))
	c.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	release, err := here(t).Lock(ctx, filepath.Join(dir, "lock")) // as another process of that pod
	must(t, err)
	must(t, release())
	c.Heal()
	var lost *remote.LostError
	if err := <-ran; !errors.As(err, &lost) || lost.Fate != remote.Killed {
		t.Errorf("a command in a partition: %v, want LostError that says that it was killed", err)
	}
	await(t, filepath.Join(dir, "run"), 0)
	out, err := m.Run(t.Context(), infra.Command{Path: "echo", Args: []string{"again"}})
	if err != nil || string(out.Stdout) != "again\n" {
		t.Errorf("after the partition: %q, %v", out.Stdout, err)
	}
}

// A pod that was created anew under its name is another machine: nothing goes on there as if it were the first.
func TestAReplacedPodIsAnotherMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the helper")
	}
	c := kubetest.New()
	m, folder := pod(t, c, kube.Settings{})
	_, err := m.List(t.Context(), "/")
	must(t, err)
	must(t, m.Close())
	_, err = m.List(t.Context(), "/") // the same pod, over a new line
	must(t, err)
	must(t, m.Close())
	c.Pod(t, "db", "orders-0", folder)
	var replaced *kube.ReplacedError
	if _, err := m.List(t.Context(), "/"); !errors.As(err, &replaced) || replaced.Was == replaced.Is {
		t.Errorf("after it was created anew: %v, want ReplacedError", err)
	}
	again, err := kube.Machine("pod:db/orders-0", c.Machine(here(t)), kube.Pod{Namespace: "db", Name: "orders-0"}, kube.Settings{})
	must(t, err)
	t.Cleanup(func() { _ = again.Close() })
	if _, err := again.List(t.Context(), "/"); err != nil {
		t.Errorf("who meets the new one first: %v", err)
	}
}

func TestPodsThatCannotBeUsed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the helper")
	}
	sshtest.Helper(t)
	c := kubetest.New()
	c.Pod(t, "db", "orders-0", t.TempDir())
	c.Pod(t, "db", "pending-0", t.TempDir())
	c.Set(kube.Pods("db"), "pending-0", "status.phase", "Pending")
	for p, want := range map[kube.Pod]string{
		{Namespace: "db", Name: "gone-0"}:                               "not found",
		{Namespace: "db", Name: "pending-0"}:                            "is Pending, not Running",
		{Namespace: "db", Name: "orders-0", Container: "other"}:         "container other is not valid",
		{Namespace: "db", Name: "--all"}:                                "expected NAMESPACE/POD",
		{Namespace: "", Name: "orders-0"}:                               "expected NAMESPACE/POD",
		{Namespace: "db", Name: "orders-0", Container: "-x"}:            "expected the name of a container",
		{Access: kube.Access{Context: "-x"}, Namespace: "a", Name: "b"}: "that kubectl accepts",
	} {
		m, err := kube.Machine("pod", c.Machine(here(t)), p, kube.Settings{})
		if err == nil {
			_, err = m.List(t.Context(), "/")
			_ = m.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", p, err, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	m, err := kube.Machine("pod", here(t), kube.Pod{Namespace: "db", Name: "orders-0"}, kube.Settings{})
	must(t, err)
	var hinted interface{ Hint() string }
	if _, err := m.List(t.Context(), "/"); !errors.Is(err, infra.ErrNoProgram) || !errors.As(err, &hinted) || !strings.Contains(hinted.Hint(), "kubectl") {
		t.Errorf("without kubectl: %v, want a hint at it", err)
	}
}

// running has a command run for long, under a mark.
func running(t *testing.T, m infra.Machine, mark string) chan error {
	t.Helper()
	ran := make(chan error, 1)
	go func() {
		_, err := m.Run(t.Context(), infra.Command{Path: "sleep", Args: []string{"1000"}, Mark: mark})
		ran <- err
	}()
	await(t, mark, 1)
	return ran
}

// await waits until so many processes carry a mark on the machine, which is this one.
func await(t *testing.T, mark string, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	must(t, poll.Until(ctx, 10*time.Millisecond, func() (string, error) {
		found, err := here(t).Find(ctx, mark)
		if err != nil || len(found) == want {
			return "", err
		}
		return "other processes carry the mark", nil
	}))
}
