package superdisk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Method is how a leg is brought into step.
type Method string

// The methods.
const (
	Nothing Method = "nothing" // the leg is in step
	Rejoin  Method = "re-add"  // it left the array a while ago: md copies what was written since
	Seeding Method = "seed"    // what the file system uses is copied, then md what was written meanwhile
	Whole   Method = "add"     // md copies the whole device
)

// Rebuild brings a leg of an array into step.
type Rebuild struct {
	Machine infra.Machine
	Array   string // name, device or UUID
	Target  string // device of the leg
	Role    Role
	// Program is the command that runs package seed's Main on the machine; nil: there is none, and nothing is seeded.
	Program func(ctx context.Context, m infra.Machine) (infra.Command, error)
	// Governor and its meter, or a fixed Rate in bytes per second.
	Governor *Governor
	Meter    func(ctx context.Context) (time.Duration, error) // the service's p99 of the last while
	Rate     int64
	Mark     string // of the processes that it starts
	// Begins is called before anything is changed, if something is to be; nil: it is not.
	Begins func(ctx context.Context) error
}

// Choice is the method that is chosen, and why.
type Choice struct {
	Method Method `json:"method"`
	Why    string `json:"why"`
	Bytes  int64  `json:"bytes"` // that will be copied, as far as can be told

	array  Array
	source Leg
	super  Superblock
	target Disk
	theirs *Superblock // of a target that is a leg
}

// Choose decides how the leg is brought into step and says why. It changes nothing.
func (r Rebuild) Choose(ctx context.Context) (Choice, error) {
	var c Choice
	s, err := Inspect(ctx, r.Machine)
	if err != nil {
		return c, err
	}
	a, there := s.Find(r.Array)
	if !there {
		return c, hint.With(fmt.Errorf("%s has no array %s", r.Machine.Name(), r.Array), "plimsoll superdisk status shows those it has")
	}
	c.array = a
	if leg, in := a.On(r.Target); in && !leg.Faulty() {
		c.Method, c.Why = Nothing, "it is already a leg of the array"
		return c, nil
	}
	if !s.Kernel.Fit {
		return c, hint.With(errors.New(s.Kernel.Why), "boot a kernel that has both fixes first")
	}
	if a.Degraded == 0 {
		return c, fmt.Errorf("array %s has all its legs", a.Label())
	}
	source, alive := a.Survivor()
	if !alive {
		return c, fmt.Errorf("array %s has no leg that is in step", a.Label())
	}
	c.source = source
	if c.super, err = ReadSuperblock(ctx, r.Machine, source.Device); err != nil {
		return c, err
	}
	return r.chooseFor(ctx, c)
}

// Survivor is the leg that serves.
func (a Array) Survivor() (Leg, bool) {
	for _, l := range a.Legs {
		if l.InStep() {
			return l, true
		}
	}
	return Leg{}, false
}

// Fits refuses a disk that cannot become a leg beside the one with this superblock, which may be on another machine.
func (r Rebuild) Fits(ctx context.Context, beside Superblock) error {
	name := beside.Name()
	_, err := r.admit(ctx, Choice{array: Array{UUID: beside.UUID(), Name: name[strings.LastIndexByte(name, ':')+1:]}, super: beside})
	return err
}

// admit looks at the disk itself: its size, what it holds, and which leg it was.
func (r Rebuild) admit(ctx context.Context, c Choice) (Choice, error) {
	var err error
	if c.target, err = Examine(ctx, r.Machine, r.Target); err != nil {
		return c, err
	}
	needs := c.super.DataOffset() + c.super.Size()
	if c.target.Size < needs {
		return c, hint.With(fmt.Errorf("%s has %d MiB, and a leg of %s needs %d MiB", r.Target, c.target.Size>>20, c.array.Label(), needs>>20), "name a larger disk")
	}
	if c.target.Array != c.super.UUID() {
		if c.target.Holds != "" && !r.ours(ctx, c) {
			return c, hint.With(fmt.Errorf("%s cannot become a leg of %s: %s", r.Target, c.array.Label(), c.target.Holds), c.target.Advice())
		}
		return c, nil
	}
	theirs, err := ReadSuperblock(ctx, r.Machine, r.Target)
	if err != nil {
		return c, err
	}
	c.theirs = &theirs
	// A leg that lost its flag is the network leg beside the local one.
	if is := theirs.Role(); is != r.Role && (is == Network || c.super.Role() == Network) {
		return c, hint.With(fmt.Errorf("%s is the %s leg of %s, not its %s leg", r.Target, is, c.array.Label(), r.Role), fmt.Sprintf("name the disk of the %s leg", r.Role))
	}
	if theirs.Slot() >= 0 && theirs.Slot() == c.super.Slot() { // md would take it, with nothing but what the bitmap knows
		return c, hint.With(fmt.Errorf("%s claims the place in array %s of the leg in use: it is a copy of that leg, such as a snapshot of its volume, or that leg has replaced it", r.Target, c.array.Label()),
			fmt.Sprintf("name the disk of the %s leg, or a blank one", r.Role))
	}
	if theirs.ServedAlone() { // md itself would take it back and mix what the two have: it looks at the events alone
		return c, hint.With(fmt.Errorf("%s has served without the other leg: each has writes that the other lacks", r.Target),
			"decide which one is right: to serve from this one instead, stop the array and start it with superdisk/emergency-start; to go on with the array as it runs, give it a blank disk, and keep this one until nothing of it is needed")
	}
	return c, nil
}

func (r Rebuild) chooseFor(ctx context.Context, c Choice) (Choice, error) {
	c, err := r.admit(ctx, c)
	if err != nil {
		return c, err
	}
	bitmap, err := ReadBitmap(ctx, r.Machine, c.source.Device, c.super)
	if err != nil && !errors.Is(err, ErrNoBitmap) {
		return c, err
	}
	hasBitmap := err == nil
	if theirs := c.theirs; theirs != nil && hasBitmap && theirs.Events() >= bitmap.EventsCleared && theirs.Slot() >= 0 {
		c.Method, c.Bytes = Rejoin, bitmap.Behind()
		c.Why = fmt.Sprintf("it was in step when it left, and the bitmap records what was written since: %d MiB", c.Bytes>>20)
		return c, nil
	}
	if c.theirs != nil && hasBitmap && c.theirs.Slot() >= 0 {
		c.Why = "the bitmap was made after it left, and does not know what it lacks: the array was started without it; "
	}
	return r.chooseCopy(ctx, c, hasBitmap)
}

// ours says that a seeding of our own was under way to the target: what it holds is a part of the array's own data.
func (r Rebuild) ours(ctx context.Context, c Choice) bool {
	progress, err := r.progress(ctx, c)
	return err == nil && progress.Target == r.Target && !c.target.Used && !c.target.Leg
}

func (r Rebuild) chooseCopy(ctx context.Context, c Choice, hasBitmap bool) (Choice, error) {
	used := int64(0)
	if c.array.Mount != "" {
		var err error
		if used, err = Used(ctx, r.Machine, c.array.Mount); err != nil {
			return c, err
		}
	}
	without := ""
	switch {
	case r.Program == nil:
		without = "the helper cannot run there"
	case !hasBitmap:
		without = "the array has no write-intent bitmap"
	case r.Role != Local:
		without = "only a local leg is seeded"
	case c.array.Mount == "":
		without = "the file system is not mounted, so its used blocks are unknown"
	case c.array.Files != "xfs" && c.array.Files != "ext4":
		without = c.array.Files + " does not report its used blocks"
	case c.source.BadBlocks > 0:
		without = fmt.Sprintf("%s has bad blocks, which md must pass on", c.source.Device)
	}
	if without != "" {
		c.Method, c.Bytes, c.Why = Whole, c.super.Size(), fmt.Sprintf("%s%s: md copies the whole device, %d MiB", c.Why, without, c.super.Size()>>20)
		return c, nil
	}
	c.Method, c.Bytes = Seeding, used
	c.Why += fmt.Sprintf("%s uses %d MiB of %d MiB; md then copies what was written meanwhile", c.array.Mount, used>>20, c.super.Size()>>20)
	return c, nil
}

// Rebuilt is what a rebuild did.
type Rebuilt struct {
	Choice
	Seeded   int64 // bytes that we copied
	Tail     int64 // bytes written to the leg from then until it was in step: md's copy and the service's own
	Used     int64 // bytes that the file system used when it began
	Took     time.Duration
	Governed *Governed
}

// Run brings the leg into step. It may be cut off at any moment and run again.
func (r Rebuild) Run(ctx context.Context, tell func(share float64, text string)) (Rebuilt, error) {
	begun := time.Now()
	c, err := r.Choose(ctx)
	done := Rebuilt{Choice: c}
	if err != nil {
		return done, err
	}
	if c.Method != Nothing && r.Begins != nil {
		if err := r.Begins(ctx); err != nil {
			return done, err
		}
	}
	if slices.ContainsFunc(c.array.Legs, Leg.Faulty) { // the target, or a disk that was taken away: it comes back under another name
		if err := RemoveFailed(ctx, r.Machine, c.array.Device); err != nil {
			return done, err
		}
	}
	if c.Method != Seeding { // a seeding that was cut off goes on no more
		if err := r.forget(ctx, c.array.UUID); err != nil {
			return done, err
		}
	}
	done.Tail = r.written(ctx)
	switch c.Method {
	case Rejoin:
		err = ReAdd(ctx, r.Machine, c.array.Device, r.Target, r.Role)
	case Seeding:
		err = r.seed(ctx, c, &done, tell)
	case Whole:
		if c.theirs != nil {
			if err := Wipe(ctx, r.Machine, r.Target); err != nil {
				return done, err
			}
		}
		err = Add(ctx, r.Machine, c.array.Device, r.Target, r.Role)
	}
	if err != nil {
		return done, err
	}
	err = r.follow(ctx, c, &done, tell)
	if err == nil {
		err = ResetPace(ctx, r.Machine, c.array.Device)
	}
	done.Took = time.Since(begun)
	if r.Governor != nil {
		sum := r.Governor.Summary()
		done.Governed = &sum
	}
	return done, err
}

// follow waits for md's own copy, held to the same pace.
func (r Rebuild) follow(ctx context.Context, c Choice, done *Rebuilt, tell func(float64, string)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := r.govern(ctx, nil, func(rate int64) error { return SetPace(ctx, r.Machine, c.array.Device, rate) })
	err := AwaitWhole(ctx, r.Machine, c.array.UUID, func(a Array) {
		if a.Sync != nil && tell != nil {
			tell(float64(a.Sync.Done)/float64(max(1, a.Sync.Total)), fmt.Sprintf("md copies: %d of %d MiB passed, %s left", a.Sync.Done>>20, a.Sync.Total>>20, a.Sync.Left))
		}
	})
	cancel(nil)
	stop()
	if err != nil {
		return err
	}
	s, err := Inspect(context.WithoutCancel(ctx), r.Machine)
	if err != nil {
		return err
	}
	if a, there := s.Find(c.array.UUID); there {
		if leg, in := a.On(r.Target); in {
			done.Tail = leg.IO.Written - done.Tail
			if leg.Role != r.Role {
				return fmt.Errorf("%s came back as the %s leg, not the %s one", r.Target, leg.Role, r.Role)
			}
		}
	}
	return nil
}

// govern adapts the pace once a second until the context ends; the function it returns waits for that. Copied is how many bytes were copied
// so far; nil: nobody counts.
func (r Rebuild) govern(ctx context.Context, copied func() int64, set func(rate int64) error) (wait func()) {
	ended := make(chan struct{})
	if r.Governor == nil || r.Meter == nil {
		if r.Rate > 0 {
			_ = set(r.Rate)
		}
		close(ended)
		return func() {}
	}
	go func() {
		defer close(ended)
		_ = set(r.Governor.Rate())
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		last, at := int64(0), time.Now()
		r.Governor.Moving(0)
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			// While the meter is slow ticks are dropped, and one comes late: the next is too soon after it to tell anything.
			if passed := time.Since(at); copied != nil && passed >= time.Second/2 {
				now := copied()
				r.Governor.Moving(int64(float64(now-last) / passed.Seconds()))
				last, at = now, time.Now()
			}
			before := r.Governor.Rate()
			p99, err := r.Meter(ctx)
			var rate int64
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				rate = r.Governor.Blind()
			default:
				rate = r.Governor.See(p99)
			}
			if rate != before {
				_ = set(rate) // the copy has ended, or the next look sets it
			}
		}
	}()
	return func() { <-ended }
}
