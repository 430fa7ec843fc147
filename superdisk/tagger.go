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
	told map[string]lastTold // by the array and the leg
}

// lastTold is when the provider was last told of a leg, and what.
type lastTold struct {
	at     time.Time
	leg    LegRecord
	failed bool
}

const (
	tagRest     = 10 * time.Second // at least between two tags of a volume, also of one that could not be tagged
	tagPatience = 5 * time.Second  // for the provider: the next look is not to wait for it
)

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
	ctx, cancel := context.WithTimeoutCause(ctx, tagPatience, fmt.Errorf("the provider of the volumes has not answered for %s", tagPatience))
	defer cancel()
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
			if !t.due(a.UUID+" "+key, leg, here[key], seen.At) {
				continue
			}
			err := s.tagLeg(ctx, a.UUID, key, leg, func(v infra.Volume) bool { return !here[key] && ofAnother(v, a.UUID) || seenLater(v, a.UUID, leg) })
			if err != nil && ctx.Err() != nil {
				err = errors.Join(err, context.Cause(ctx))
			}
			t.told[a.UUID+" "+key] = lastTold{seen.At, leg, err != nil}
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// seenLater tells whether a volume's tag is of a later look than this, such as one of a run on another host. One that is far ahead is of a wrong clock.
func seenLater(v infra.Volume, array string, leg LegRecord) bool {
	there, known := tagged(v, array)
	ahead := there.Seen.Sub(leg.Seen)
	return known && ahead > 0 && ahead <= clocksDiffer
}
