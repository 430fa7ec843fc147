package superdisk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/internal/poll"
	"plimsoll/superdisk"
)

var giveUpAction = action.Action{
	Name: "superdisk.give-up", Version: 1,
	About: "Watches an array for a while. A network leg that does not answer for longer than a time-out is detached by force, so that writes continue.",
	New: func() action.Task {
		return &giveUp{array: array{Array: usual}, After: 10 * time.Second, For: time.Minute}
	},
}

// giveUp is the time-out that a leg has not: while it hangs md waits, without an error, for as long as it does.
type giveUp struct {
	array

	After time.Duration `yaml:"after" doc:"How long the leg may not answer. Default 10s."`
	For   time.Duration `yaml:"for" doc:"How long to watch the array. Default 1m."`
}

var (
	_ action.Undoer    = (*giveUp)(nil)
	_ action.Validator = (*giveUp)(nil)
	_ action.Verifier  = (*giveUp)(nil)
)

func (g *giveUp) Validate() error {
	if g.After < time.Second || g.For < g.After {
		return errors.New("after must be 1s or more, and for at least as long as after")
	}
	return nil
}

func (g *giveUp) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true, Interruptible: true}
}

func (g *giveUp) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	m, s, a, found, err := g.look(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	if !found {
		return g.noArray(ctx, m, s), nil
	}
	r := action.CheckResult{State: action.Needed, Observed: facts(a, true), Intended: action.Facts{"network leg": fmt.Sprintf("detached when it has not answered for %s", g.After)}}
	if on.Volumes == nil {
		return r, &hint.PermanentError{Reason: fmt.Sprintf("Plimsoll knows no provider that detaches the volumes of %s", on.Name), Advice: "detach it yourself with the provider's own tool"}
	}
	leg, in := a.Leg(superdisk.Network)
	if !in {
		r.State = action.Satisfied
		return recorded(ctx, on, a, r)
	}
	if leg.Faulty() {
		r.Reason = "md has marked the network leg as failed, and has not released it"
		return r, nil
	}
	if err := spare(a, leg); err != nil {
		return r, err
	}
	v, err := on.Volumes.Describe(ctx, leg.Volume)
	if err != nil {
		return r, fmt.Errorf("find the volume of the network leg %s: %w", leg.Device, err)
	}
	r.Observed["volume"], r.Observed["machine"] = v.ID, v.Machine // for the undo
	return r, nil
}

func (g *giveUp) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	m, a, err := g.there(ctx, on)
	if err != nil {
		return nil, err
	}
	var seen superdisk.Watch
	for until := time.Now().Add(g.For); ; {
		s, err := superdisk.Inspect(ctx, m)
		if err != nil {
			return nil, err
		}
		seen.See(&s)
		if err := s.PingSilent(ctx, m); err != nil {
			return nil, err
		}
		now, _ := s.Find(a.UUID)
		leg, in := now.Leg(superdisk.Network)
		switch {
		case in && leg.Faulty(): // its volume was taken away already, by an act that was cut off or by somebody else
			return action.Facts{"hung": false}, errors.Join(superdisk.RemoveFailed(ctx, m, now.Device), note(ctx, on, m))
		case in && leg.HungFor >= g.After:
			return g.take(ctx, on, m, now, leg)
		case !in || leg.HungFor == 0 && time.Now().After(until):
			return action.Facts{"hung": false}, note(ctx, on, m)
		}
		c.Progress(-1, fmt.Sprintf("the network leg has not answered for %s", leg.HungFor.Round(time.Second)))
		if err := poll.Rest(ctx, g.untilNext(leg.HungFor)); err != nil {
			return nil, err
		}
	}
}

// untilNext is how long nobody looks. Writes wait for a leg that hangs: it is looked at when its time-out is over, and not some time later.
func (g *giveUp) untilNext(hung time.Duration) time.Duration {
	const often, atLeast = 250 * time.Millisecond, 10 * time.Millisecond
	if hung == 0 {
		return often
	}
	return max(atLeast, min(often, g.After-hung))
}

// spare refuses to take away the only leg that has everything: writes that wait are better than none.
func spare(a superdisk.Array, leg superdisk.Leg) error {
	copying := a.Sync != nil && a.Sync.Action != "check" // a comparison takes nothing from a leg that is in step
	for _, other := range a.Legs {
		if other.Device != leg.Device && other.InStep() && !other.Faulty() && !copying {
			return nil
		}
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("the %s leg is the only one of %s that is in step, and is not detached", leg.Role, a.Label()),
		Advice: "wait until its volume answers again, or have the provider repair it; if possible, bring the other leg into step first: superdisk/rebuild",
	}
}

// take has the provider take the leg's volume away, and md let go of it.
func (g *giveUp) take(ctx context.Context, on *cluster.Cluster, m infra.Machine, a superdisk.Array, leg superdisk.Leg) (action.Facts, error) {
	v, err := on.Volumes.Describe(ctx, leg.Volume)
	if err != nil {
		return nil, fmt.Errorf("find the volume of the leg that hangs, %s: %w", leg.Device, err)
	}
	before, err := superdisk.Inspect(ctx, m)
	if err != nil {
		return nil, err
	}
	if is, there := before.Find(a.UUID); there { // the other leg may have been lost since the check
		a = is
	}
	if err := spare(a, leg); err != nil {
		return nil, err
	}
	unrecorded := leaves(ctx, on, m, a, leg) // writes wait for the leg: it goes though there is no room for a record
	if err := on.Volumes.ForceDetach(ctx, v.ID, v.Machine); err != nil && !errors.Is(err, infra.ErrNotAttached) {
		return nil, errors.Join(err, unrecorded, note(ctx, on, m))
	}
	out := action.Facts{"hung": true, "seconds": leg.HungFor.Seconds(), "volume": v.ID}
	now, err := superdisk.Inspect(ctx, m)
	if err != nil {
		return out, errors.Join(err, unrecorded)
	}
	if is, there := now.Find(a.UUID); there {
		if _, in := is.Leg(superdisk.Network); in {
			err = superdisk.RemoveGone(ctx, m, is.Device)
		}
	}
	return out, errors.Join(err, unrecorded, note(ctx, on, m))
}

// Verify has nothing to add: a leg may hang a moment later.
func (g *giveUp) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

// Undo gives the leg back, with what was written since.
func (g *giveUp) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	volume, _ := c.Before["volume"].(string)
	machine, _ := c.Before["machine"].(string)
	if volume == "" {
		return nil
	}
	if err := on.Volumes.Attach(ctx, volume, machine); err != nil {
		return err
	}
	return (&detach{array: g.array, Leg: string(superdisk.Network)}).Undo(ctx, on, c)
}
