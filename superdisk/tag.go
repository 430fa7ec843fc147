package superdisk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"plimsoll/infra"
)

// LegTag is the tag of a volume that says what was last seen of it as a leg: so it is known wherever Plimsoll runs next.
const LegTag = "plimsoll-leg"

// legTag is its value.
type legTag struct {
	Array string `json:"array"`
	LegRecord
}

const (
	longestTag = 256         // characters of a value on EC2
	retag      = time.Minute // how old a tag gets that says the same
)

// tag writes what is recorded of the legs onto those that are volumes of the provider. A volume that cannot be tagged hides no other.
func (s Records) tag(ctx context.Context, r Record, here map[string]bool) error {
	if s.Volumes == nil {
		return nil
	}
	var failed []error
	for _, key := range slices.Sorted(maps.Keys(r.Legs)) {
		failed = append(failed, s.tagLeg(ctx, r.Array, key, r.Legs[key], func(v infra.Volume) bool { return !here[key] && ofAnother(v, r.Array) }))
	}
	return errors.Join(failed...)
}

// tagLeg writes what is recorded of one leg, if it is a volume of the provider and is not kept as it is: one that is not in the array any more,
// and is another's by now, keeps what is recorded of it there.
func (s Records) tagLeg(ctx context.Context, array, key string, leg LegRecord, kept func(infra.Volume) bool) error {
	v, err := s.Volumes.Describe(ctx, key)
	if errors.Is(err, infra.ErrNoVolume) {
		return nil // a machine's own disk
	}
	if err != nil {
		return fmt.Errorf("record array %s on %s: %w", array, key, err)
	}
	if kept(v) {
		return nil
	}
	if old, known := tagged(v, array); known && old.says(leg) && leg.Seen.Sub(old.Seen) < retag && old.Seen.Sub(leg.Seen) <= clocksDiffer {
		return nil
	}
	leg.Leaving = time.Time{} // for the seconds that it lasts, who takes it out is on this host
	data, err := json.Marshal(legTag{array, leg})
	if err == nil && len(data) > longestTag {
		leg.Machine = ""
		data, err = json.Marshal(legTag{array, leg})
	}
	if err == nil {
		err = s.Volumes.Tag(ctx, v.ID, map[string]string{LegTag: string(data)})
	}
	if err != nil {
		return fmt.Errorf("record array %s on %s: %w", array, key, err)
	}
	return nil
}

// says tells whether two records of a leg say the same of it, though not at the same time.
func (l LegRecord) says(other LegRecord) bool {
	return l.InStep == other.InStep && l.Whole == other.Whole
}

// tagged is what a volume's tag says of it as a leg of an array.
func tagged(v infra.Volume, uuid string) (LegRecord, bool) {
	var t legTag
	if json.Unmarshal([]byte(v.Tags[LegTag]), &t) != nil || t.Array != uuid {
		return LegRecord{}, false
	}
	return t.LegRecord, true
}

// ofAnother tells whether a volume is recorded as a leg of another array.
func ofAnother(v infra.Volume, uuid string) bool {
	var t legTag
	return json.Unmarshal([]byte(v.Tags[LegTag]), &t) == nil && t.Array != "" && t.Array != uuid
}

// Of returns what is recorded of an array and of these legs, here or on the volume of the leg: whichever was seen last. An error of a volume leaves what
// is recorded here.
func (s Records) Of(ctx context.Context, uuid string, keys ...string) (Record, error) {
	r, err := s.Read(ctx, uuid)
	if err != nil || s.Volumes == nil {
		return r, err
	}
	var failed []error
	for _, key := range keys {
		v, err := s.Volumes.Describe(ctx, key)
		if errors.Is(err, infra.ErrNoVolume) {
			continue // a machine's own disk
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("read what is recorded on %s: %w", key, err))
			continue
		}
		if there, known := tagged(v, uuid); known && there.Seen.After(r.Legs[key].Seen) {
			if r.Legs == nil {
				r.Legs = map[string]LegRecord{}
			}
			r.Legs[key] = there
		}
	}
	return r, errors.Join(failed...)
}
