// Package systemd works the servers of a machine by their systemd units.
package systemd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Service is a server that is a unit of a machine's systemd.
type Service struct {
	Machine infra.Machine
	Unit    string
}

// unit is what systemctl show tells of it.
type unit struct {
	load, active, sub, result string
	pid                       string
	invocation                string // another at each start
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

func (u unit) runs() bool {
	switch u.active {
	case "active", "reloading", "activating", "deactivating":
		return u.pid != "" && u.pid != "0"
	}
	return false
}

// Start starts the unit and waits until systemd has it started.
func (s Service) Start(ctx context.Context) error { return s.order(ctx, "start") }

// Stop stops the unit and waits for its end.
func (s Service) Stop(ctx context.Context) error { return s.order(ctx, "stop") }

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
	out, err := s.systemctl(ctx, "show", "--property=LoadState,ActiveState,SubState,Result,MainPID,InvocationID", "--", s.Unit)
	if err != nil {
		return unit{}, fmt.Errorf("ask systemd on %s for %s: %w", s.Machine.Name(), s.Unit, err)
	}
	var u unit
	into := map[string]*string{
		"LoadState": &u.load, "ActiveState": &u.active, "SubState": &u.sub, "Result": &u.result, "MainPID": &u.pid, "InvocationID": &u.invocation,
	}
	for line := range strings.Lines(string(out.Stdout)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if to := into[key]; to != nil {
			*to = value
		}
	}
	if u.load != "loaded" { // not-found, masked, bad-setting, error
		return u, hint.With(fmt.Errorf("systemd on %s has no unit %s to work: it is %s", s.Machine.Name(), s.Unit, u.load),
			"service: in the inventory is the unit as systemctl list-units names it")
	}
	return u, nil
}

func (s Service) systemctl(ctx context.Context, args ...string) (infra.Output, error) {
	out, err := s.Machine.Run(ctx, infra.Command{Path: "systemctl", Args: append([]string{"--no-ask-password", "--no-pager"}, args...)})
	if errors.Is(err, infra.ErrNoProgram) {
		return out, hint.With(fmt.Errorf("%s has no systemd: %w", s.Machine.Name(), err), "say in a runbook of your own how servers are worked there, by command")
	}
	return out, err
}
