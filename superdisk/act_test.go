package superdisk

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"plimsoll/infra"
	"plimsoll/superdisk/superdisktest"
)

// acted is a machine that shows a whole array, whose md lets go of a leg when it is asked for the third time, and that notes what is done.
type acted struct {
	infra.Machine
	t    *testing.T
	done []string
	held int // times

	fails     error // of a removal
	unbounded bool  // a command about md's own copies was run without a limit
}

func (*acted) Name() string { return "one" }

func (a *acted) Snapshot(context.Context, ...string) (infra.Snapshot, error) {
	return superdisktest.Snapshot(string(blob(a.t, "whole.txt"))), nil
}

func (a *acted) Run(ctx context.Context, c infra.Command) (infra.Output, error) {
	line := strings.Join(append([]string{c.Path}, c.Args...), " ")
	a.done = append(a.done, line)
	if strings.Contains(line, "--remove") && a.held > 0 {
		a.held--
		return infra.Output{}, errBusy
	}
	if _, bounded := ctx.Deadline(); strings.Contains(line, "sync") && !bounded {
		a.unbounded = true
	}
	if strings.Contains(line, "--remove") {
		return infra.Output{}, a.fails
	}
	return infra.Output{}, nil
}

var errBusy = &infra.ExitError{Command: "mdadm", Status: 1, Stderr: "mdadm: hot remove failed for /dev/ubdb: Device or resource busy"}

// md holds a leg that it has given up while a copy to it ends.
func TestALegIsRemovedOnceMdLetsGoOfIt(t *testing.T) {
	m := &acted{t: t, held: 2}
	if err := Remove(t.Context(), m, "/dev/md/sd", "/dev/ubdb"); err != nil || len(m.done) != 3 {
		t.Errorf("%v after %q", err, m.done)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := Remove(ctx, &acted{t: t, held: 1}, "/dev/md/sd", "/dev/ubdb"); !errors.Is(err, errBusy) {
		t.Errorf("got %v, want what md said", err)
	}
	m = &acted{t: t, fails: infra.ErrNoProgram}
	if err := Remove(t.Context(), m, "/dev/md/sd", "/dev/ubdb"); !errors.Is(err, infra.ErrNoProgram) || len(m.done) != 1 {
		t.Errorf("without mdadm: %v after %q", err, m.done)
	}
}

// What a comparison set md's rate to would be the least rate of all later ones, too.
func TestAComparisonLeavesMdTheRateOfTheSystem(t *testing.T) {
	resets := func(line string) bool {
		return strings.Contains(line, "echo system >sync_speed_min") && strings.Contains(line, "echo system >sync_speed_max")
	}
	m := &acted{t: t}
	if _, err := Compare(t.Context(), m, "sd", 1<<20, nil); err != nil || !slices.ContainsFunc(m.done, resets) {
		t.Errorf("compared to its end: %v, did %q", err, m.done)
	}
	m = &acted{t: t}
	if err := StopComparing(t.Context(), m, "/dev/md127"); err != nil || !slices.ContainsFunc(m.done, resets) || m.unbounded {
		t.Errorf("stopped: %v, did %q, without a limit: %v", err, m.done, m.unbounded)
	}
}
