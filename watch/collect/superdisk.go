package collect

import (
	"context"
	"errors"
	"io"
	"time"

	"plimsoll/infra"
	"plimsoll/superdisk"
	"plimsoll/watch"
)

// SuperDisk reads every ten seconds what the Super Disks of an instance's machine are like: whether a leg hangs or is missing, whether the
// kernel is fit, and how old what is recorded of the legs on this host is. It looks as plimsoll superdisk status --watch does, and records
// nothing. A machine that has none, or that cannot be looked at, is looked at once a minute.
func SuperDisk(on infra.Machine, records superdisk.Records) watch.Collector {
	return &superDisk{on: on, records: records}
}

type superDisk struct {
	on      infra.Machine
	records superdisk.Records
	legs    superdisk.Watch
	has     bool // the machine had a Super Disk when it was last looked at
	unseen  bool // it could not be looked at
}

var _ watch.Collector = (*superDisk)(nil)

// Close implements watch.Collector. A machine that was reached for it is let go.
func (s *superDisk) Close() error {
	if c, ok := s.on.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Collect implements watch.Collector.
func (s *superDisk) Collect(ctx context.Context, level watch.Level, now time.Time) (watch.Reading, error) {
	var r watch.Reading
	if level < watch.TenSeconds {
		return r, nil
	}
	var err error
	if level >= watch.Minute || s.has && !s.unseen {
		err = s.look(ctx, now, &r)
	}
	if s.has {
		unread := 0.0
		if s.unseen || err != nil {
			unread = 1
		}
		r.Add(now, "plimsoll_superdisk_unread", unread)
	}
	return r, err
}

func (s *superDisk) look(ctx context.Context, now time.Time, r *watch.Reading) error {
	seen, err := superdisk.Inspect(ctx, s.on)
	if s.unseen = err != nil; s.unseen {
		return err
	}
	s.legs.See(&seen)
	failed := seen.PingSilent(ctx, s.on)
	s.has = false
	for _, a := range seen.Arrays {
		record, err := s.records.Read(ctx, a.UUID)
		failed = errors.Join(failed, err)
		if a.Running() && (a.Degraded > 0 || record.Has(a, superdisk.Network)) { // another mirror, such as of the machine's root, is none of ours while it is whole
			s.has = true
			addArray(r, now, a, record)
			fit := 0.0
			if seen.Kernel.Fit {
				fit = 1
			}
			r.Add(now, "plimsoll_superdisk_kernel_fit", fit, "array", a.Label(), "release", seen.Kernel.Release)
		}
	}
	return failed
}

// addArray adds what an array is like. Both legs have their series, whether they are there or not: so an alert about one ends with its cause.
func addArray(r *watch.Reading, now time.Time, a superdisk.Array, record superdisk.Record) {
	for _, role := range []superdisk.Role{superdisk.Local, superdisk.Network} {
		missing, hung := 0.0, 0.0
		leg, there := a.Working(role)
		if a.Degraded > 0 && !(there && leg.InStep()) {
			missing = 1
		}
		if there {
			hung = leg.HungFor.Seconds()
		}
		r.Add(now, "plimsoll_superdisk_leg_missing", missing, "array", a.Label(), "leg", string(role))
		r.Add(now, "plimsoll_superdisk_leg_hung_seconds", hung, "array", a.Label(), "leg", string(role))
	}
	copying := 0.0
	if a.Degraded > 0 && (a.Sync != nil || a.Seed != nil && !a.Seed.Interrupted()) {
		copying = 1
	}
	r.Add(now, "plimsoll_superdisk_copying", copying, "array", a.Label())
	if age, known := record.Age(a, now); known {
		r.Add(now, "plimsoll_superdisk_record_age_seconds", age.Seconds(), "array", a.Label())
	}
}
