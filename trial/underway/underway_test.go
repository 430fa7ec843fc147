package underway

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra/local"
	"plimsoll/runbook/lock"
)

// TestMain is a process that executes a trial, too, and is killed in its middle.
func TestMain(m *testing.M) {
	if home := os.Getenv("UNDERWAY_HOME"); home != "" {
		r, err := Begin(context.Background(), local.Machine{}, home, Trial{Name: "shop", Dir: os.Getenv("UNDERWAY_DIR"), Began: time.Now()})
		if err == nil {
			err = r.Makes(context.Background(), "trial-1")
		}
		if err == nil {
			err = r.Runs(context.Background(), "change-abc123")
		}
		if err != nil {
			panic(err)
		}
		println("begun")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
		runtime.KeepAlive(r)
	}
	os.Exit(m.Run())
}

// claimed is the lock of a cluster that a run has.
type claimed struct{ lock.ClusterLock }

func (claimed) Claim(context.Context, action.Claim) error {
	return &action.ClaimedError{Cluster: "orders", Run: "change-abc123", Holder: action.TrialHolder("shop")}
}
func (c claimed) Look(ctx context.Context, _ string) error { return c.Claim(ctx, action.Claim{}) }

// While its process runs a trial is under way; once that is killed, it has died, at once, and so it is said of its lock.
func TestATrialWhoseProcessIsKilledHasDied(t *testing.T) {
	t.Parallel()
	home, result := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(result, "trial.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.CommandContext(t.Context(), self)
	other.Env = append(os.Environ(), "UNDERWAY_HOME="+home, "UNDERWAY_DIR="+result)
	said, err := other.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if text := make([]byte, 5); true {
		if _, err := said.Read(text); err != nil || string(text) != "begun" {
			t.Fatalf("%q, %v", text, err)
		}
	}
	only := func() Trial {
		t.Helper()
		all, err := List(t.Context(), local.Machine{}, home)
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		return all[0]
	}
	clusterLock := Telling(func(*cluster.Cluster) lock.ClusterLock { return claimed{} }, local.Machine{}, home)(nil)
	if one := only(); one.Died || one.Process != other.Process.Pid || one.Labs[0] != "trial-1" {
		t.Errorf("while it runs: %+v", one)
	}
	if err := clusterLock.Claim(t.Context(), action.Claim{}); strings.Contains(err.Error(), "died") {
		t.Errorf("while it runs: %v", err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // it was killed
	if one := only(); !one.Died {
		t.Errorf("once it is killed: %+v", one)
	}
	for way, err := range map[string]error{"claim": clusterLock.Claim(t.Context(), action.Claim{}), "look": clusterLock.(lock.Looker).Look(t.Context(), "orders")} {
		if !strings.Contains(err.Error(), "died on this machine") {
			t.Errorf("%s, once it is killed: %v", way, err)
		}
	}
	if err := os.RemoveAll(result); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if all, err := List(t.Context(), local.Machine{}, home); err != nil || len(all) != 0 {
			t.Errorf("once its result is removed: %+v, %v", all, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(home, "trials")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestATrialThatEndedIsNotListed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	r, err := Begin(t.Context(), local.Machine{}, home, Trial{Name: "shop", Dir: t.TempDir(), Began: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := List(t.Context(), local.Machine{}, home); err != nil || len(all) != 1 || all[0].Died {
		t.Errorf("%+v, %v", all, err)
	}
	if err := r.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all, err := List(t.Context(), local.Machine{}, home); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// endsMeanwhile is a folder in which a trial ends just after its record was read for the first time.
type endsMeanwhile struct {
	local.Machine
	once *sync.Once
	end  func()
}

func (e endsMeanwhile) ReadFile(ctx context.Context, path string) ([]byte, error) {
	data, err := e.Machine.ReadFile(ctx, path)
	e.once.Do(e.end)
	return data, err
}

// A trial that ends while it is looked at did not die: its lock is free, and its record is gone.
func TestATrialThatEndsWhileItIsListedHasNotDied(t *testing.T) {
	t.Parallel()
	home, result := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(result, "trial.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Begin(t.Context(), local.Machine{}, home, Trial{Name: "shop", Dir: result, Began: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	files := endsMeanwhile{once: &sync.Once{}, end: func() {
		if err := r.End(t.Context()); err != nil {
			t.Error(err)
		}
	}}
	if all, err := List(t.Context(), files, home); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if left, err := os.ReadDir(filepath.Join(home, "trials")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
