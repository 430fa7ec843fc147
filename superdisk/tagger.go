package superdisk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/infra"
)

// Tagger has who looks again and again record what is seen on the volumes, too, so that Plimsoll on other hosts knows it. A volume is asked for and
// tagged when what is to be said of it has changed, and once a minute; never more often than every few seconds. The zero value has told nothing yet.
type Tagger struct {
	told   map[string]lastTold // by the array and the leg
	silent time.Time           // when the provider last did not answer in time
}

// lastTold is when the provider was last told of a leg, and what.
type lastTold struct {
	at     time.Time
	leg    LegRecord
	failed bool
}

const (
	tagRest     = 10 * time.Second // at least between two tags of a volume, also of one that could not be tagged
	tagPatience = 5 * time.Second  // for the provider, in a round: the next look is not to wait for it
)

// errSilent is why a round ends early.
var errSilent = fmt.Errorf("the provider of the volumes has not answered for %s", tagPatience)

// Round is the context of the Notes of one round, of all machines that are looked at: together they wait for the provider for some seconds.
func (t *Tagger) Round(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, tagPatience, errSilent)
}

// due tells whether the provider is told of a leg now. Of one that has left, it is told once.
func (t *Tagger) due(key string, leg LegRecord, here bool, now time.Time) bool {
	last, known := t.told[key]
	switch since := now.Sub(last.at); {
	case !known || since < 0: // the clock was set back
		return true
	case last.failed || !last.leg.says(leg):
		return since >= tagRest
	default:
		return here && since >= retag
	}
}

// Note records on the volumes what is recorded here of the arrays that were seen to run.
func (t *Tagger) Note(ctx context.Context, s Records, seen Status) error {
	if s.Volumes == nil {
		return nil
	}
	if t.told == nil {
		t.told = map[string]lastTold{}
	}
	var failed []error
	for _, a := range seen.Arrays {
		if a.UUID == "" || !a.Running() {
			continue
		}
		r, err := s.Read(ctx, a.UUID)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		here := r.keys(a)
		for key, leg := range r.Legs {
			if rests := seen.At.Sub(t.silent); ctx.Err() != nil || rests >= 0 && rests < tagRest {
				break // the provider is not asked again for what could not be said
			}
			if t.due(a.UUID+" "+key, leg, here[key], seen.At) {
				failed = append(failed, t.tell(ctx, s, seen, a, key, here[key]))
			}
		}
	}
	return errors.Join(failed...)
}

// tell tags a volume, and again if what is recorded here has changed meanwhile: a run may have tagged it before us.
func (t *Tagger) tell(ctx context.Context, s Records, seen Status, a Array, key string, here bool) error {
	for try := 1; ; try++ {
		r, err := s.Read(ctx, a.UUID)
		if err != nil {
			return err
		}
		leg, known := r.Legs[key]
		if !known {
			return nil
		}
		if last := t.told[a.UUID+" "+key]; try > 1 && (try > 3 || last.failed || last.leg.says(leg)) {
			return nil
		}
		said, otherwise := leg, false
		if !here && !leg.InStep && a.StepsKnown() {
			said.Seen = seen.At // it is not in the array, which serves
		}
		err = s.tagLeg(ctx, a.UUID, key, said, func(v infra.Volume) bool {
			if !here && ofAnother(v, a.UUID) {
				return true
			}
			there, later := seenLater(v, a.UUID, leg, seen.At)
			if there.InStep && said.Seen.Sub(there.Seen) > clocksDiffer {
				later = false // nobody has renewed it
			}
			otherwise = later && there.InStep != leg.InStep
			return later
		})
		if err != nil && ctx.Err() != nil {
			err = errors.Join(err, context.Cause(ctx))
			if errors.Is(err, errSilent) {
				t.silent = seen.At
			}
		}
		t.told[a.UUID+" "+key] = lastTold{seen.At, leg, err != nil || otherwise}
		if err != nil {
			return err
		}
	}
}

// seenLater is what a volume's tag says of it, and whether it is of a later look than what is recorded here, such as one of a run on another host. One
// that is far ahead of now is of a wrong clock.
func seenLater(v infra.Volume, array string, leg LegRecord, now time.Time) (there LegRecord, later bool) {
	there, known := tagged(v, array)
	return there, known && there.Seen.After(leg.Seen) && there.Seen.Sub(now) <= clocksDiffer
}
