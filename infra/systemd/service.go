// Package systemd starts, stops and ends the servers of a machine by their systemd units.
package systemd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Service is a server that is a unit of a machine's systemd.
type Service struct {
	Machine infra.Machine
	Unit    string
	Address string // where the server listens, host:port or a Unix socket; "": nobody knows
}

// unit is what systemctl show tells of it.
type unit struct {
	load, active, sub, result string
	pid                       string
	invocation                string // another at each start
	tasks                     string // how many processes and threads are left in its control group; not a number: none is told
}

// Running reports whether the unit has a process.
func (s Service) Running(ctx context.Context) (bool, error) {
	u, err := s.look(ctx)
	return u.runs(), err
}

// Process is the unit's invocation, another at each start; "" while it does not run.
func (s Service) Process(ctx context.Context) (string, error) {
	u, err := s.look(ctx)
	switch {
	case err != nil || !u.runs():
		return "", err
	case u.invocation != "":
		return u.invocation, nil
	}
	return u.pid, nil
}

// runs tells whether a process of the unit lives, or is about to. One that failed may have left some that did not end.
func (u unit) runs() bool {
	switch u.active {
	case "active", "reloading", "activating", "deactivating":
		if u.pid != "" && u.pid != "0" || u.sub == "auto-restart" {
			return true
		}
	}
	left, err := strconv.ParseInt(u.tasks, 10, 64) // what is not set is 2⁶⁴-1 to older releases
	return err == nil && left > 0
}

// Start starts the unit and waits until systemd has it started.
func (s Service) Start(ctx context.Context) error { return s.order(ctx, "start") }

// Stop stops the unit and waits for its end.
func (s Service) Stop(ctx context.Context) error {
	if s.Address != "" {
		stopping, cancel := context.WithCancel(ctx)
		defer cancel()
		go infra.WakeUntil(stopping, s.Address)
	}
	return s.order(ctx, "stop")
}

// For how long a server that is to end in any case may take to stop cleanly, and then to be gone when its processes were killed.
const (
	stopWithin = 10 * time.Second
	goneWithin = 10 * time.Second
)

// End ends every process of the unit: cleanly if that does not take long, else by SIGKILL. The unit's own patience, 15 minutes for some
// databases, does not count. It returns when no process is left, and an error if some are.
func (s Service) End(ctx context.Context) error {
	stopping, cancel := context.WithTimeoutCause(ctx, stopWithin, fmt.Errorf("it did not stop within %s", stopWithin))
	defer cancel()
	stopped := s.Stop(stopping)
	if u, err := s.look(ctx); err == nil && !u.runs() {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, killed := s.systemctl(ctx, "kill", "--signal=SIGKILL", "--", s.Unit)
	ending, cancel := context.WithTimeout(ctx, goneWithin)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		u, err := s.look(ending)
		if err == nil && !u.runs() {
			return nil
		}
		select {
		case <-tick.C:
		case <-ending.Done():
			return hint.With(errors.Join(fmt.Errorf("processes of %s on %s are still alive %s after SIGKILL: the unit is %s (%s)", s.Unit, s.Machine.Name(), goneWithin, u.active, u.sub), stopped, killed),
				"a process that waits for a disk cannot be killed: disconnect the machine from its clients, or power it off")
		}
	}
}

func (s Service) order(ctx context.Context, verb string) error {
	if _, err := s.look(ctx); err != nil { // of one that is not there, stop says nothing
		return err
	}
	_, err := s.systemctl(ctx, verb, "--", s.Unit)
	var exit *infra.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	u, lookErr := s.look(ctx)
	if lookErr != nil {
		return errors.Join(err, lookErr)
	}
	return hint.With(fmt.Errorf("systemd on %s could not %s %s, which is %s (%s, result %s): %w", s.Machine.Name(), verb, s.Unit, u.active, u.sub, u.result, exit),
		"its log there: journalctl -u "+s.Unit)
}

// look asks for the unit's state.
func (s Service) look(ctx context.Context) (unit, error) {
	out, err := s.systemctl(ctx, "show", "--property=LoadState,ActiveState,SubState,Result,MainPID,InvocationID,TasksCurrent", "--", s.Unit)
	if err != nil {
		return unit{}, fmt.Errorf("ask systemd on %s for %s: %w", s.Machine.Name(), s.Unit, err)
	}
	var u unit
	into := map[string]*string{
		"LoadState": &u.load, "ActiveState": &u.active, "SubState": &u.sub, "Result": &u.result, "MainPID": &u.pid, "InvocationID": &u.invocation, "TasksCurrent": &u.tasks,
	}
	for line := range strings.Lines(string(out.Stdout)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if to := into[key]; to != nil {
			*to = value
		}
	}
	if u.load != "loaded" { // not-found, masked, bad-setting, error
		return u, hint.With(fmt.Errorf("systemd on %s has no usable unit %s: it is %s", s.Machine.Name(), s.Unit, u.load),
			"set service: in the inventory to the unit's name in systemctl list-units")
	}
	return u, nil
}

func (s Service) systemctl(ctx context.Context, args ...string) (infra.Output, error) {
	out, err := s.Machine.Run(ctx, infra.Command{Path: "systemctl", Args: append([]string{"--no-ask-password", "--no-pager"}, args...)})
	if errors.Is(err, infra.ErrNoProgram) {
		return out, hint.With(fmt.Errorf("%s has no systemd: %w", s.Machine.Name(), err), "control servers there in a runbook of your own, with the action command")
	}
	return out, err
}
