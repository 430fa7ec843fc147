package torturecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/durable"
	"plimsoll/runbook/faulttest"
)

// For how long a child holds a lease that is to run out: the shorter, the more often it writes to the store, and could stop
// itself in the middle of that.
const (
	ShortestLease = 5 * time.Second
	usualLease    = 30 * time.Second
)

// Victim is what a child of the torture runs.
type Victim struct {
	Program          string // this one, where it is installed
	Runbook, Cluster string
	Inputs           []string
	Pause            time.Duration // for which it will sleep at least
	Cancels          string        // the run that it takes back, rather than to run the runbook
}

// RunChild runs the program again. A child that is to sleep stops itself, and is woken from here.
func RunChild(ctx context.Context, v Victim, store string, at durable.Moment, asleep func(context.Context) error) (fate faulttest.Fate, err error) {
	args := []string{"runbook", "run", v.Runbook, "--cluster", v.Cluster, "--yes"}
	for _, in := range v.Inputs {
		args = append(args, "--input", in)
	}
	if v.Cancels != "" {
		args = []string{"runbook", "cancel", v.Cancels, "--undo", "--yes"}
	}
	cmd := exec.CommandContext(ctx, v.Program, args...)
	way := "kill"
	ttl := time.Duration(0)
	if asleep != nil {
		way, ttl = "stop", max(ShortestLease, min(usualLease, v.Pause/4))
	}
	cmd.Env = append(os.Environ(), tortureStore+"="+store, fmt.Sprintf("%s=%s:%d:%v", tortureAt, way, at.Number, at.Before), tortureTTL+"="+ttl.String())
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return fate, fmt.Errorf("start a child: %w", err)
	}
	var sleeping error
	if asleep != nil {
		fate.Cut, sleeping = nap(ctx, cmd.Process.Pid, asleep)
	}
	err = cmd.Wait()
	fate.Said = said.String()
	var exit *exec.ExitError
	switch {
	case sleeping != nil:
		return fate, sleeping
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled():
		fate.Cut = true
		return fate, ctx.Err()
	case errors.As(err, &exit) && (exit.ExitCode() == console.ExitTrouble || exit.ExitCode() == console.ExitRemainders || v.Cancels != ""): // the run failed or was fenced: its journal says so
		return fate, nil
	case err != nil:
		return fate, fmt.Errorf("a child: %w: %s", err, fate.Said)
	}
	return fate, nil
}

// nap waits until a child has stopped itself, does something, and wakes the child. It is false for one that ended instead.
func nap(ctx context.Context, pid int, asleep func(context.Context) error) (bool, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var info unix.Siginfo
		// Only looked at, not waited for: its end belongs to exec.Cmd.
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
		switch {
		case err != nil, info.Signo != 0 && info.Code != cldStopped:
			return false, nil
		case info.Signo != 0:
			err := asleep(ctx)
			return true, errors.Join(err, syscall.Kill(pid, syscall.SIGCONT))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, ctx.Err() // the context's end kills it, asleep or not
		}
	}
}

// cldStopped is CLD_STOPPED of siginfo_t: sigaction(2).
const cldStopped = 5
