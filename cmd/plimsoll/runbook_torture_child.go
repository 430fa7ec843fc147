package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/durable"
	"plimsoll/runbook/faulttest"
)

// The environment of a child of the torture: where its store is, around which entry it dies or sleeps, and for how long it holds
// a lease, if not as long as usual.
const (
	tortureStore = "PLIMSOLL_TORTURE_STORE"
	tortureAt    = "PLIMSOLL_TORTURE_AT"
	tortureTTL   = "PLIMSOLL_TORTURE_TTL"
)

// For how long a child holds a lease that is to run out: the shorter, the more often it writes to the store, and could stop
// itself in the middle of that.
const (
	shortestLease = 5 * time.Second
	usualLease    = 30 * time.Second
)

// victim is what a child of the torture runs.
type victim struct {
	program          string // this one, where it is installed
	runbook, cluster string
	inputs           []string
	pause            time.Duration // for which it will sleep at least
	cancels          string        // the run that it takes back, rather than to run the runbook
}

// tortureChild runs the program again. A child that is to sleep stops itself, and is woken from here.
func tortureChild(ctx context.Context, v victim, store string, at durable.Moment, asleep func(context.Context) error) (fate faulttest.Fate, err error) {
	args := []string{"runbook", "run", v.runbook, "--cluster", v.cluster, "--yes"}
	for _, in := range v.inputs {
		args = append(args, "--input", in)
	}
	if v.cancels != "" {
		args = []string{"runbook", "cancel", v.cancels, "--undo", "--yes"}
	}
	cmd := exec.CommandContext(ctx, v.program, args...)
	way := "kill"
	ttl := time.Duration(0)
	if asleep != nil {
		way, ttl = "stop", max(shortestLease, min(usualLease, v.pause/4))
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
	case errors.As(err, &exit) && (exit.ExitCode() == exitTrouble || exit.ExitCode() == exitRemainders || v.cancels != ""): // the run failed or was fenced: its journal says so
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

// tortured changes the options of a child's store: where it is and what happens around its writes, WAY:ENTRY:BEFORE. A fourth part is
// for how long after that it is cut: such a child, of a mixed attack (internal/torture), is otherwise as any other, and approves nothing.
func tortured(o *durable.Options) (child, approves bool) {
	store := os.Getenv(tortureStore)
	if store == "" {
		return false, false
	}
	o.Folder, o.Postgres = store, ""
	parts := strings.Split(os.Getenv(tortureAt), ":")
	approves = len(parts) != 4
	if len(parts) < 3 {
		return true, approves
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil || number == 0 {
		return true, approves
	}
	delay := time.Duration(0)
	if !approves {
		delay, _ = time.ParseDuration(parts[3]) // what is no duration is none
	}
	o.Written = func(m durable.Moment) {
		if m.Number != number || strconv.FormatBool(m.Before) != parts[2] {
			return
		}
		if delay > 0 { // meanwhile it goes on
			way := map[string]syscall.Signal{"kill": syscall.SIGKILL, "stop": syscall.SIGSTOP}[parts[0]]
			time.AfterFunc(delay, func() { _ = syscall.Kill(os.Getpid(), way) })
			return
		}
		// A signal takes a moment to reach all threads of a process: meanwhile nothing more may be written.
		if parts[0] == "stop" {
			woken := make(chan os.Signal, 1)
			signal.Notify(woken, syscall.SIGCONT)
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-woken
			return
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return true, approves
}

// tortureLease is for how long a child of the torture holds a lease; 0: as long as usual.
func tortureLease() time.Duration {
	ttl, err := time.ParseDuration(os.Getenv(tortureTTL))
	if err != nil || os.Getenv(tortureStore) == "" {
		return 0
	}
	return ttl
}
