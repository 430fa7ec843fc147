package superdisk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

var stopAction = action.Action{
	Name: "superdisk.stop", Version: 1,
	About: "Unmounts an array's file system and stops the array, so that its volumes can be detached. Stop the programs that use the file system first.",
	New:   func() action.Task { return &stop{array: array{Array: usual}} },
}

type stop struct {
	array

	Mount string `yaml:"mount,required" doc:"Where it is mounted: an undo mounts it there again."`
}

var _ action.Undoer = (*stop)(nil)

func (s *stop) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (s *stop) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := notOperated(on); err != nil {
		return action.CheckResult{}, err
	}
	_, _, a, found, err := s.look(ctx, on)
	r := action.CheckResult{State: action.Needed, Observed: facts(a, found), Intended: action.Facts{"array": "none"}}
	switch {
	case err != nil:
	case !found:
		r.State = action.Satisfied
	case a.Mount != "" && a.Mount != s.Mount:
		r.State, r.Reason = action.Unknown, "it is mounted at "+a.Mount
	case a.Sync != nil:
		r.Reason = "a copy is in progress; it continues when the array is started again"
	}
	return r, err
}

func (s *stop) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	m, _, a, found, err := s.look(ctx, on)
	if err != nil || !found {
		return nil, err
	}
	if err := note(ctx, on, m); err != nil {
		return nil, err
	}
	out := action.Facts{"array": a.UUID}
	for _, l := range a.Legs {
		out[string(l.Role)] = l.Device
	}
	if a.Mount != "" {
		if err := unmount(ctx, m, a.Mount); err != nil {
			return nil, err
		}
	}
	return out, superdisk.Stop(ctx, m, a.Device)
}

// same refuses an array of that name which is another than the one that is meant.
func (a array) same(m infra.Machine, is superdisk.Array, found bool, uuid string) error {
	if !found || is.UUID == uuid || strings.Trim(is.UUID, "0:") == "" { // the kernel knows no UUID of what is half assembled
		return nil
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("array %s of %s is %s, not %s", is.Label(), m.Name(), is.UUID, uuid),
		Advice: "check it with plimsoll superdisk status; stop it if it is not needed (superdisk.stop), or use another name for the array",
	}
}

// Undo starts it from the legs that are there.
func (s *stop) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	uuid, _ := c.Before["array"].(string)
	if uuid == "none" {
		return nil // there was nothing to stop
	}
	m, _, a, found, err := s.look(ctx, on)
	if err != nil {
		return err
	}
	if err := s.same(m, a, found && uuid != "", uuid); err != nil {
		return err
	}
	if found && (!a.Running() || a.Mount == "" && len(working(a)) == 1 && s.remains(a, c) != nil) { // an undo that was cut off, or something else, had assembled a part of it
		if err := superdisk.Stop(ctx, m, a.Device); err != nil {
			return err
		}
		found = false
	}
	if found && a.Mount == "" && a.Degraded > 0 {
		if leg, serves := a.Survivor(); serves {
			if err := notStale(ctx, on, uuid, leg.Key()); err != nil {
				return err
			}
		}
	}
	if !found {
		legs, err := s.both(ctx, m, uuid)
		if err != nil {
			return err
		}
		if a, err = s.startAgain(ctx, on, m, c, uuid, legs); err != nil {
			return err
		}
	}
	if mounted, _ := c.Before["mounted"].(string); mounted != "" && a.Mount != mounted {
		if err := superdisk.Mount(ctx, m, s.path(), s.Mount); err != nil {
			return err
		}
	}
	if err := note(ctx, on, m); err != nil {
		return err
	}
	return s.remains(a, c)
}

// notStale refuses a leg that is recorded as out of step.
func notStale(ctx context.Context, on *cluster.Cluster, uuid, key string) error {
	kept, err := records(on)
	if err != nil {
		return err
	}
	r, err := kept.Of(ctx, uuid, key)
	if err != nil {
		return err
	}
	if why, certain := r.Doubt(key, time.Now()); certain {
		return &hint.PermanentError{Reason: why, Advice: "start from the other leg if it is available: superdisk/emergency-start, which also serves this one with accept_stale=yes, and loses the writes since then"}
	}
	return nil
}

// both are the two legs of an array on a machine: fewer are refused, and disks of which one is a copy of another. One that has no place in the array any
// more, as it was given up or replaced, is not one of them where there are more than two.
func (a array) both(ctx context.Context, m infra.Machine, uuid string) ([]string, error) {
	legs, err := superdisk.LegsOf(ctx, m, uuid)
	if err != nil {
		return nil, err
	}
	if len(legs) > 2 {
		if legs, err = superdisk.Placed(ctx, m, legs...); err != nil {
			return nil, err
		}
	}
	if len(legs) < 2 {
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("%d of 2 legs of array %s are on %s", len(legs), uuid, m.Name()), Advice: "attach the other, or start from one leg: superdisk/emergency-start -i node=" + a.Node}
	}
	one, other, err := superdisk.SamePlace(ctx, m, legs...)
	if err == nil && one != "" {
		err = &hint.PermanentError{
			Reason: fmt.Sprintf("%s and %s of %s say that they are the same leg of array %s", one, other, m.Name(), uuid),
			Advice: "find out which of them is a copy (a snapshot of a volume keeps what it says of its array), or was replaced by the other, and detach that",
		}
	}
	return legs, err
}

// startAgain starts the array from both legs; from one alone if only that one has served meanwhile, as on another machine: the other lacks what was
// written there. What it returns of the array is how many legs are missing.
func (s *stop) startAgain(ctx context.Context, on *cluster.Cluster, m infra.Machine, c action.Call, uuid string, legs []string) (superdisk.Array, error) {
	ahead, err := superdisk.Ahead(ctx, m, legs...)
	if err != nil {
		return superdisk.Array{}, refuse(err)
	}
	if ahead == "" {
		return superdisk.Array{}, superdisk.Start(ctx, m, s.Array, legs...)
	}
	c.Progress(-1, fmt.Sprintf("%s has served without the other leg: array %s is started from it alone", ahead, s.Array))
	super, err := superdisk.ReadSuperblock(ctx, m, ahead)
	if err != nil {
		return superdisk.Array{}, err
	}
	serial, err := serialOf(ctx, m, ahead)
	if err != nil {
		return superdisk.Array{}, err
	}
	key := cmp.Or(serial, string(super.Role()))
	if err := notStale(ctx, on, uuid, key); err != nil { // something has started it alone, and written to it
		return superdisk.Array{}, err
	}
	return superdisk.Array{Degraded: len(legs) - 1}, s.alone(ctx, on, m, uuid, key, func() error {
		return superdisk.StartAlone(ctx, m, s.Array, ahead, usualChunk)
	})
}

// remains is that an array is without a leg which it had when it was stopped; nil: it has as many.
func (s *stop) remains(a superdisk.Array, c action.Call) error {
	if before, known := missingIn(c.Before); a.Degraded == 0 || known && a.Degraded <= before {
		return nil
	}
	return &action.Remains{
		What: fmt.Sprintf("array %s of node %s", s.Array, s.Node),
		Why: fmt.Sprintf("it has one leg, from which it was started, since that has served without the other: plimsoll superdisk status shows which is missing; superdisk/rebuild -i node=%[1]s brings a local leg into step, superdisk/reattach-network -i node=%[1]s a network leg",
			s.Node),
	}
}

// missingIn is how many legs an array was without by some facts, which may have been through a journal.
func missingIn(f action.Facts) (n int, known bool) {
	switch n := f["missing"].(type) {
	case int:
		return n, true
	case float64:
		return int(n), true
	}
	return 0, false
}

var startAction = action.Action{
	Name: "superdisk.start", Version: 1,
	About: "Starts an array from both of its legs and mounts its file system. Legs that are not in step with each other are refused.",
	New:   func() action.Task { return &start{array: array{Array: usual}} },
}

type start struct {
	array

	UUID  string `yaml:"uuid,required" doc:"The array's UUID. Its legs are found by UUID, never by device name."`
	Mount string `yaml:"mount,required" doc:"Where it is mounted."`
}

var _ action.Undoer = (*start)(nil)

func (s *start) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (s *start) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	m, _, a, found, err := s.look(ctx, on)
	r := action.CheckResult{State: action.Needed, Observed: facts(a, found), Intended: action.Facts{"mounted": s.Mount, "missing": 0}}
	if err == nil {
		err = s.same(m, a, found, s.UUID)
	}
	if err != nil || found && a.Running() {
		if err == nil && a.Mount == s.Mount {
			r.State = action.Satisfied
			return recorded(ctx, on, a, r)
		}
		if err == nil {
			err = s.startedAlone(m, a)
		}
		return r, err
	}
	_, err = s.legs(ctx, m)
	return r, err
}

// startedAlone refuses an array that runs from one leg and is not mounted, as after something assembled it when the machine started: the leg may be out
// of step, which the kernel does not know.
func (s *start) startedAlone(m infra.Machine, a superdisk.Array) error {
	there := working(a)
	if a.Mount != "" || len(there) != 1 {
		return nil
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("array %s runs on %s from its %s leg %s alone, and is not mounted: something else has started it, and the leg may be out of step", a.Label(), m.Name(), there[0].Role, named(there[0])),
		Advice: fmt.Sprintf("superdisk/emergency-start -i node=%s -i network=%s serves from that leg, unless it is recorded as out of step; to start both, stop the array (superdisk.stop), attach the other leg and repeat this", s.Node, cmp.Or(there[0].Volume, there[0].Device)),
	}
}

// working are the legs of an array that md has not given up.
func working(a superdisk.Array) []superdisk.Leg {
	return slices.DeleteFunc(slices.Clone(a.Legs), superdisk.Leg.Faulty)
}

func (s *start) legs(ctx context.Context, m infra.Machine) ([]string, error) {
	legs, err := s.both(ctx, m, s.UUID)
	if err == nil {
		err = refuse(superdisk.Together(ctx, m, legs...))
	}
	return legs, err
}

func (s *start) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	m, _, a, found, err := s.look(ctx, on)
	if err != nil {
		return nil, err
	}
	if err := s.same(m, a, found, s.UUID); err != nil {
		return nil, err
	}
	if !found || !a.Running() {
		if found {
			if err := superdisk.Stop(ctx, m, a.Device); err != nil {
				return nil, err
			}
		}
		legs, err := s.legs(ctx, m)
		if err != nil {
			return nil, err
		}
		if err := superdisk.Start(ctx, m, s.Array, legs...); err != nil {
			return nil, err
		}
	}
	if a.Mount == "" {
		if err := mountWhole(ctx, m, s.path(), s.Mount); err != nil {
			return nil, err
		}
	}
	return nil, note(ctx, on, m)
}

// Undo stops it again, if it is the array that was started.
func (s *start) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	if wasMounted(c, s.Mount) {
		return nil
	}
	m, _, a, found, err := s.look(ctx, on)
	if err == nil {
		err = s.same(m, a, found, s.UUID)
	}
	if err != nil {
		return err
	}
	return s.takeBack(ctx, on, c, s.Mount)
}

// takeBack undoes a start: the array is unmounted, and stopped unless it ran before the step.
func (a array) takeBack(ctx context.Context, on *cluster.Cluster, c action.Call, mount string) error {
	if !ran(c) {
		_, err := (&stop{array: a, Mount: mount}).Act(ctx, on, c)
		return err
	}
	m, _, is, found, err := a.look(ctx, on)
	if err != nil || !found || is.Mount != mount {
		return err
	}
	return unmount(ctx, m, is.Mount)
}

// unmount says what is to be stopped if the file system is in use.
func unmount(ctx context.Context, m infra.Machine, at string) error {
	if err := superdisk.Unmount(ctx, m, at); err != nil {
		return hint.With(err, "something still uses "+at+": stop the server first (fuser -vm "+at+")")
	}
	return nil
}
