package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"plimsoll/catalog"
	"plimsoll/durable"
	"plimsoll/inventory"
	"plimsoll/runbook"
	"plimsoll/runbook/action"
)

func newRunbookTorture(c console) *cobra.Command {
	var q request
	var asJSON, yes bool
	var pause time.Duration
	cmd := &cobra.Command{
		Use: "torture RUNBOOK", Short: "Try a runbook on a lab as fate would", Args: exactly("RUNBOOK"),
		Long: `Try a runbook on a lab cluster: every act twice; every step failed after it acted, and taken back; Plimsoll killed before
and after every write of the journal; its owner paused while another takes the cluster. What was not repeatable, not undone
or not fenced is reported. The cluster is worked hard and left as the last try leaves it.`,
		Example: "  plimsoll runbook torture mysql/rolling-restart --cluster demo",
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.cluster == "" {
				return usageError{text: "which lab cluster?", hint: "--cluster NAME"}
			}
			if err := confirm(c, yes, "Work cluster "+q.cluster+" hard?"); err != nil {
				return err
			}
			o, err := torture(cmd.Context(), c, &q, args[0], pause)
			if err != nil {
				return err
			}
			return showOrdeal(c, o, asJSON)
		},
	}
	q.flags(cmd)
	cmd.Flags().DurationVar(&pause, "pause", 2*time.Minute, "how long the owner is paused")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func torture(ctx context.Context, c console, q *request, name string, pause time.Duration) (_ runbook.Ordeal, err error) {
	deps, err := labDeps()
	if err != nil {
		return runbook.Ordeal{}, err
	}
	book, err := readRunbook(name)
	if err != nil {
		return runbook.Ordeal{}, err
	}
	said, err := q.said()
	if err != nil {
		return runbook.Ordeal{}, err
	}
	folder, err := os.MkdirTemp("", "plimsoll-torture-")
	if err != nil {
		return runbook.Ordeal{}, fmt.Errorf("make a folder for the tries: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	t := runbook.Torture{
		Request: runbook.Request{Book: book, Cluster: q.cluster, Inputs: said}, Folder: folder, Actions: catalog.Actions(), Pause: pause,
		// Without an inventory: only labs are tortured.
		Open: func(ctx context.Context, name string) (*action.Site, error) {
			return openSite(ctx, name, &inventory.Inventory{}, deps)
		},
		Marker: catalog.Marker,
		Say:    func(text string) { fmt.Fprintln(c.err, text) },
		Child: func(ctx context.Context, store string, at durable.Moment, pause time.Duration) (bool, error) {
			return tortureChild(ctx, name, q, store, at, pause)
		},
	}
	return t.Run(ctx)
}

func showOrdeal(c console, o runbook.Ordeal, asJSON bool) error {
	if asJSON {
		if err := jsonTo(c, o); err != nil {
			return err
		}
	} else {
		for _, t := range o.Troubles {
			fmt.Fprintf(c.out, "%s: %s %s\n", t.Test, t.Step, t.Text)
		}
		for _, id := range o.Stays {
			fmt.Fprintf(c.out, "step %s says that it is irreversible, and stops an undo\n", id)
		}
		for _, id := range o.Asks {
			fmt.Fprintf(c.out, "step %s stops for a person when it is cut off\n", id)
		}
		fmt.Fprintf(c.out, "%d tries, %d troubles\n", o.Tries, len(o.Troubles))
	}
	if len(o.Troubles) > 0 {
		return withCode{exitFail}
	}
	return nil
}

// The environment of a child of the torture: where its store is, and around which entry it dies or sleeps.
const (
	tortureStore = "PLIMSOLL_TORTURE_STORE"
	tortureAt    = "PLIMSOLL_TORTURE_AT"
)

// tortureChild runs this program again. A child that is to sleep stops itself, and is woken from here.
func tortureChild(ctx context.Context, name string, q *request, store string, at durable.Moment, pause time.Duration) (bool, error) {
	self, err := os.Executable()
	if err != nil {
		return false, fmt.Errorf("find this program: %w", err)
	}
	args := []string{"runbook", "run", name, "--cluster", q.cluster, "--yes"}
	for _, in := range q.inputs {
		args = append(args, "--input", in)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	way := "kill"
	if pause > 0 {
		way = "stop"
	}
	cmd.Env = append(os.Environ(), tortureStore+"="+store, fmt.Sprintf("%s=%s:%d:%v", tortureAt, way, at.Number, at.Before))
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("start a child: %w", err)
	}
	slept := false
	if pause > 0 {
		slept = wake(ctx, cmd.Process.Pid, pause)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled():
		return true, ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() == exitTrouble:
		return slept, nil // the run failed or was fenced: its journal says so
	case err != nil:
		return false, fmt.Errorf("a child: %w: %s", err, said.String())
	}
	return slept, nil
}

// wake waits until a child has stopped itself, lets it sleep, and wakes it. It is false for one that ended instead.
func wake(ctx context.Context, pid int, pause time.Duration) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var stopped time.Time
	for stopped.IsZero() || time.Since(stopped) < pause {
		var info unix.Siginfo
		// Only looked at, not waited for: its end belongs to exec.Cmd.
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
		switch {
		case err != nil, info.Signo != 0 && info.Code != cldStopped:
			return false
		case info.Signo != 0 && stopped.IsZero():
			stopped = time.Now()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false // the context's end kills it, asleep or not
		}
	}
	return syscall.Kill(pid, syscall.SIGCONT) == nil
}

// cldStopped is CLD_STOPPED of siginfo_t: sigaction(2).
const cldStopped = 5

// tortured changes the options of a child's store: where it is and what happens around its writes.
func tortured(o *durable.Options) bool {
	store := os.Getenv(tortureStore)
	if store == "" {
		return false
	}
	o.Folder, o.Postgres = store, ""
	parts := strings.Split(os.Getenv(tortureAt), ":")
	if len(parts) != 3 {
		return true
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil || number == 0 {
		return true
	}
	signal := syscall.SIGKILL
	if parts[0] == "stop" {
		signal = syscall.SIGSTOP
	}
	o.Written = func(m durable.Moment) {
		if m.Number == number && strconv.FormatBool(m.Before) == parts[2] {
			_ = syscall.Kill(os.Getpid(), signal)
		}
	}
	return true
}
