package superdisk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Record is what was seen of an array from outside it. A network leg that left while the local one went on writing does not know
// it: alone on a new machine it says that all is well. Only a record that is not on either leg can tell that it is old.
type Record struct {
	Array string               `json:"array"`
	Name  string               `json:"name"`
	Legs  map[string]LegRecord `json:"legs"` // by the volume's serial number, or by the role where a disk tells none
	Mount string               `json:"mount,omitempty"`
	// Compared is how the legs compared last. It is history once a leg has left or come back: what differed may be there still, or not.
	Compared *Compared `json:"compared,omitempty"`
}

// LegRecord is what was seen of one leg.
type LegRecord struct {
	Role    Role      `json:"role"`
	Machine string    `json:"machine"`
	InStep  bool      `json:"in_step"`
	Since   time.Time `json:"since"` // it is so, as far as was seen
	Seen    time.Time `json:"seen"`  // last looked at
	// Whole says that a leg which is out of step receives everything when it comes back: the array was started without it, with a new bitmap.
	Whole bool `json:"whole,omitempty"`
	// Leaving is until when a look that shows the leg in step may be from before it is taken out; zero: nobody takes it out.
	Leaving time.Time `json:"leaving,omitzero"`
}

// Key is how a leg is called in a Record.
func (l Leg) Key() string {
	if l.Volume != "" {
		return l.Volume
	}
	return string(l.Role)
}

// Key is how a leg of an array is called in this record. A disk that was taken away tells no serial number any more, and md still holds it as
// faulty: it is the volume of its role that was seen last.
func (r Record) Key(a Array, l Leg) string {
	if l.Volume != "" || !l.Faulty() {
		return l.Key()
	}
	found, last := l.Key(), time.Time{}
	for key, leg := range r.Legs {
		if leg.Role == l.Role && key != string(l.Role) && leg.Seen.After(last) && !slices.ContainsFunc(a.Legs, func(o Leg) bool { return o.Key() == key }) {
			found, last = key, leg.Seen
		}
	}
	return found
}

// Complete fills in what the machine cannot tell of an array: the volume of a leg that was taken away, and how much a leg that is missing
// receives, if the array was started without it.
func (r Record) Complete(a *Array) {
	for i := range a.Legs {
		if l := &a.Legs[i]; l.Volume == "" && l.Faulty() {
			if key := r.Key(*a, *l); key != string(l.Role) {
				l.Volume = key
			}
		}
	}
	if _, there := a.Working(Network); a.Degraded > 0 && !there && r.Legs[r.missing(*a, Network)].Whole {
		a.Behind = &a.Size
	}
}

// keys are those of the legs that an array has now.
func (r Record) keys(a Array) map[string]bool {
	here := map[string]bool{}
	for _, l := range a.Legs {
		here[r.Key(a, l)] = true
	}
	return here
}

// Has says whether an array has a leg of this role, or had one as it is recorded.
func (r Record) Has(a Array, role Role) bool {
	for _, leg := range r.Legs {
		if leg.Role == role {
			return true
		}
	}
	_, there := a.Leg(role)
	return there
}

// Age is how long ago the legs that an array has now were last looked at, as it is recorded; of the one of which it is longest. Nothing may be recorded of
// them.
func (r Record) Age(a Array, now time.Time) (age time.Duration, known bool) {
	for key := range r.keys(a) {
		if leg, is := r.Legs[key]; is {
			age, known = max(age, now.Sub(leg.Seen)), true
		}
	}
	return age, known
}

// Note takes in what an array is like now, and says whether a leg's state is another than before. Of a leg that was seen later already, or is about to be
// taken out, only that it is out of step is taken in: what a look shows may be recorded after what another has done since.
func (r *Record) Note(a Array, machine string, now time.Time) (changed bool) {
	if r.Legs == nil {
		r.Legs = map[string]LegRecord{}
	}
	r.Array, r.Name = a.UUID, a.Name
	if a.Mount != "" {
		r.Mount = a.Mount
	}
	here, known := r.keys(a), a.StepsKnown()
	for _, l := range a.Legs {
		if key := r.Key(a, l); !l.InStep() || known && r.takes(key, now) {
			changed = r.note(key, l.Role, machine, l.InStep(), now) || changed
		}
	}
	if _, serves := a.Survivor(); serves && known && a.Running() { // else nothing is written: nobody falls behind
		changed = r.leave(here, now) || changed
	}
	if changed {
		r.legsChanged(now)
	}
	return changed
}

// StepsKnown says whether the kernel knows which legs of an array are in step. Of one that something assembled from one leg, as when the machine started, it
// does not know: a leg that left is in step there, by itself. What is mounted serves, and is what the data is from then on.
func (a Array) StepsKnown() bool { return a.Degraded == 0 || a.Mount != "" }

// leave notes that the legs which an array has not are out of step, and says whether one was in step before.
func (r *Record) leave(here map[string]bool, now time.Time) (changed bool) {
	for key, old := range r.Legs {
		if !here[key] && old.InStep {
			changed = r.note(key, old.Role, old.Machine, false, now) || changed
		}
	}
	return changed
}

// legsChanged makes history of how the legs compared before.
func (r *Record) legsChanged(now time.Time) {
	if c := r.Compared; c != nil && !c.Outdated() {
		then := *c
		then.LegsChanged = now
		r.Compared = &then
	}
}

// takes tells whether a look of this time that shows a leg in step is taken in. A late one brings no leg into step, however late it is. If a clock was set
// back everything is late: then the leg counts as seen by the new clock, and the next look brings it into step.
func (r *Record) takes(key string, at time.Time) bool {
	old, known := r.Legs[key]
	switch late, leaving := old.Seen.Sub(at), old.Leaving.Sub(at); {
	case !known:
		return true
	case late > clocksDiffer:
		if !old.InStep {
			old.Seen = at
			r.Legs[key] = old
		}
		return old.InStep
	case late > 0:
		return false
	default:
		return old.InStep || leaving <= 0 || leaving > takingOut
	}
}

// note takes in what a leg is like. One that a late look takes out of step was seen as late as it was.
func (r *Record) note(key string, role Role, machine string, inStep bool, now time.Time) bool {
	old, known := r.Legs[key]
	same := known && old.InStep == inStep
	since, seen := now, now
	if same {
		since = old.Since
	}
	if late := old.Seen.Sub(now); known && !inStep && late > 0 && late <= clocksDiffer {
		seen = old.Seen
	}
	r.Legs[key] = LegRecord{Role: role, Machine: machine, InStep: inStep, Since: since, Seen: seen, Whole: same && old.Whole}
	return !same
}

// Doubt says why a leg may not have all that was acknowledged, "" if the record has nothing against it. Certain says that it
// surely has not.
func (r Record) Doubt(key string, now time.Time) (why string, certain bool) {
	leg, known := r.Legs[key]
	switch {
	case !known:
		return "no record says whether this leg was in step", false
	case !leg.InStep:
		return fmt.Sprintf("this leg has been out of step since %s, %s ago: writes since then are only on the other leg",
			leg.Since.Format(time.RFC3339), max(0, now.Sub(leg.Since)).Round(time.Second)), true
	case leg.Seen.Sub(now) > clocksDiffer:
		return fmt.Sprintf("the record says that this leg was last seen in step at %s, which is %s ahead of the clock of this host: the clock of the host that wrote the record, or of this one, is wrong",
			leg.Seen.Format(time.RFC3339), leg.Seen.Sub(now).Round(time.Second)), false
	case now.Sub(leg.Seen) > fresh:
		return fmt.Sprintf("this leg was last seen in step %s ago, at %s; it has not been checked since", now.Sub(leg.Seen).Round(time.Second), leg.Seen.Format(time.RFC3339)), false
	}
	return "", false
}

const (
	fresh        = 5 * time.Minute // how old a look may be that is believed without a word
	clocksDiffer = time.Minute     // from which on a record of another host's Plimsoll is not believed
)

// Records are kept in a folder, one file an array, and on the volumes themselves.
type Records struct {
	Machine infra.Machine
	Folder  string
	Volumes infra.Volumes // nil: there is no provider
}

// Folder is where records are kept: superdisk below Plimsoll's state folder, $PLIMSOLL_HOME or by the XDG base directory
// specification ~/.local/state/plimsoll.
func Folder(getenv func(string) string) (string, error) {
	if home := getenv("PLIMSOLL_HOME"); home != "" {
		at, err := filepath.Abs(home)
		return filepath.Join(at, "superdisk"), err
	}
	if state := getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "plimsoll", "superdisk"), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", hint.With(errors.New("there is no home folder for the records"), "set PLIMSOLL_HOME")
	}
	return filepath.Join(home, ".local", "state", "plimsoll", "superdisk"), nil
}

func (s Records) file(uuid string) string {
	return path.Join(s.Folder, strings.ReplaceAll(uuid, ":", "-")+".json")
}

// Read returns what is recorded of an array; nothing, if nothing is.
func (s Records) Read(ctx context.Context, uuid string) (Record, error) {
	r := Record{Array: uuid}
	data, err := s.Machine.ReadFile(ctx, s.file(uuid))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("read the record of array %s: %w", uuid, err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{Array: uuid}, hint.With(fmt.Errorf("read the record of array %s: %w", uuid, err), "it is "+s.file(uuid)+": move it away if it is damaged. What it says of the legs is then not known, and a person is asked before a leg is started alone")
	}
	return r, nil
}

// Note records what the arrays of a machine are like now. One that cannot be recorded hides no other.
func (s Records) Note(ctx context.Context, seen Status) error {
	return s.noteAll(ctx, seen, func(*Record) {})
}

func (s Records) noteAll(ctx context.Context, seen Status, before func(*Record)) error {
	var failed []error
	for _, a := range seen.Arrays {
		if a.UUID == "" || !a.Running() {
			continue
		}
		_, r, err := s.change(ctx, a.UUID, func(r *Record) bool {
			before(r)
			r.Note(a, seen.Machine, seen.At)
			return len(r.Legs) > 0
		})
		if !a.StepsKnown() { // what else is recorded here may be older than what a volume says
			maps.DeleteFunc(r.Legs, func(_ string, l LegRecord) bool { return !l.Seen.Equal(seen.At) })
		}
		if err == nil {
			err = s.tag(ctx, r, r.keys(a))
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// StartsAlone records that an array is about to be started from one leg, with a new bitmap: the others are out of step, and receive everything when
// they come back. Should whoever starts it be killed, none of them counts as one that has everything, and the leg itself counts as what it was before.
// The record as it was is returned, for a start that does not come about.
func (s Records) StartsAlone(ctx context.Context, uuid, key string, at time.Time) (before Record, err error) {
	here := map[string]bool{key: true}
	before, r, err := s.change(ctx, uuid, func(r *Record) bool {
		if r.leave(here, at) {
			r.legsChanged(at)
		}
		for other, leg := range r.Legs {
			if !here[other] {
				leg.Whole = true
				r.Legs[other] = leg
			}
		}
		return len(r.Legs) > 0
	})
	if err == nil {
		err = s.tag(ctx, r, here)
	}
	return before, err
}

// change reads a record, and writes what f makes of it unless f says that nothing is to be written. Meanwhile no other Plimsoll of this host does the
// same: a watch that records what it has seen would undo what a run has recorded since it read.
func (s Records) change(ctx context.Context, uuid string, f func(*Record) bool) (before, after Record, err error) {
	if err := s.Machine.MakeDir(ctx, s.Folder); err != nil {
		return before, after, err
	}
	locking, cancel := context.WithTimeoutCause(ctx, lockPatience, fmt.Errorf("the record of array %s was locked for %s", uuid, lockPatience))
	release, err := s.Machine.Lock(locking, s.file(uuid)+".lock")
	if err != nil && locking.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(locking), err)
	}
	cancel()
	if err != nil {
		return before, after, fmt.Errorf("record array %s: %w", uuid, err)
	}
	defer func() { err = errors.Join(err, release()) }()
	if before, err = s.Read(ctx, uuid); err != nil {
		return before, after, err
	}
	after = before
	after.Legs = maps.Clone(before.Legs)
	if f(&after) {
		err = s.Write(ctx, after)
	}
	return before, after, err
}

// lockPatience is how long a record may be locked by another process, which only reads and writes a small file.
const lockPatience = 10 * time.Second

// Restore writes a record as it was, here and on the volumes.
func (s Records) Restore(ctx context.Context, before Record) error {
	if len(before.Legs) == 0 {
		return nil // nothing was written over it
	}
	_, r, err := s.change(ctx, before.Array, func(r *Record) bool {
		*r = before
		return true
	})
	if err == nil {
		err = s.tag(ctx, r, nil)
	}
	return err
}

// HaveCompared records how the legs of an array compared.
func (s Records) HaveCompared(ctx context.Context, seen Status, a Array, c Compared) error {
	_, _, err := s.change(ctx, a.UUID, func(r *Record) bool {
		r.Note(a, seen.Machine, seen.At)
		r.Compared = &c
		if a.Degraded > 0 { // a leg has left since it was compared
			r.legsChanged(seen.At)
		}
		return true
	})
	return err
}

// Tells says whether what is recorded of a running array, here and on its volumes, is what the kernel says of it now. It is not after a Plimsoll
// was killed between a change and the look that follows it.
func (s Records) Tells(ctx context.Context, a Array) (bool, error) {
	if a.UUID == "" || !a.Running() {
		return true, nil // nothing is recorded of it
	}
	r, err := s.Read(ctx, a.UUID)
	if err != nil {
		return false, err
	}
	_, serves := a.Survivor()
	here, kernelKnows := r.keys(a), a.StepsKnown()
	for _, l := range a.Legs {
		if l.InStep() && !kernelKnows {
			continue
		}
		if is, known := r.Legs[r.Key(a, l)]; !known || is.InStep != l.InStep() {
			return false, nil
		}
	}
	if !kernelKnows {
		return true, nil // of the others nothing is recorded now
	}
	for key, is := range r.Legs {
		if is.InStep && !here[key] && serves {
			return false, nil
		}
		if s.Volumes == nil {
			continue
		}
		v, err := s.Volumes.Describe(ctx, key)
		if errors.Is(err, infra.ErrNoVolume) {
			continue // a machine's own disk
		}
		if err != nil {
			return false, fmt.Errorf("read what is recorded on %s: %w", key, err)
		}
		if !here[key] && ofAnother(v, a.UUID) {
			continue
		}
		if tag, known := tagged(v, a.UUID); !known || tag.InStep != is.InStep {
			return false, nil
		}
	}
	return true, nil
}

// Write keeps a record.
func (s Records) Write(ctx context.Context, r Record) error {
	if err := s.Machine.MakeDir(ctx, s.Folder); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := s.Machine.WriteFile(ctx, s.file(r.Array), data, 0o600); err != nil {
		return fmt.Errorf("record array %s: %w", r.Array, err)
	}
	return nil
}
