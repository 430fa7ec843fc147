package probe

import (
	"context"
	"errors"
	"time"

	"plimsoll/infra"
	"plimsoll/series"
	"plimsoll/superdisk"
)

// SuperDisk reads how the legs of a node's Super Disk are. A node whose machine has none has no points.
type SuperDisk struct {
	node    string
	machine func(context.Context) (infra.Machine, error)
	rates   rates
	boot    string
	watch   superdisk.Watch
}

var _ Probe = (*SuperDisk)(nil)

// What a SuperDisk shows of each leg: how much of it has what was written, 1 when it is in step, 0 when it is away, between them while md
// brings it into step; since when it answers nothing; and what it did.
const (
	legInStep = "_in_step_share"
	legHung   = "_hung_seconds"
	legReads  = "_reads_per_second"
	legWrites = "_writes_per_second"
)

// SuperDiskSignals are the names of what a SuperDisk shows.
func SuperDiskSignals() []string {
	var all []string
	for _, role := range []superdisk.Role{superdisk.Local, superdisk.Network} {
		for _, what := range []string{legInStep, legHung, legReads, legWrites} {
			all = append(all, legSignal(role, what))
		}
	}
	return all
}

func legSignal(role superdisk.Role, what string) string { return "superdisk." + string(role) + what }

// longestLook is how long a machine may take to show its arrays, which it is first reached for.
const longestLook = time.Minute

// NewSuperDisk returns a probe of a node's Super Disk. machine is asked at each reading: a node may come back on another.
func NewSuperDisk(node string, machine func(context.Context) (infra.Machine, error)) *SuperDisk {
	return &SuperDisk{node: node, machine: machine}
}

// Read asks no disk, so that one that hangs holds nothing up. Of several arrays the first is shown. It waits longer than until the next
// reading: a machine that is busy shows its legs late, which is better than not at all.
func (d *SuperDisk) Read(ctx context.Context, now time.Time) ([]series.Point, error) {
	began := time.Now()
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestLook)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) { // not that it took longer than until the next reading
			cancel()
		}
	})()
	m, err := d.machine(looking)
	if err != nil {
		return nil, err
	}
	s, err := superdisk.Inspect(looking, m)
	now = now.Add(time.Since(began))
	if err != nil || len(s.Arrays) == 0 || !s.Arrays[0].Running() {
		return nil, err
	}
	d.watch.See(&s)
	if s.Boot != d.boot { // its counters begin anew
		d.boot, d.rates = s.Boot, rates{}
	}
	passed := d.rates.begin(now)
	var points []series.Point
	for _, role := range []superdisk.Role{superdisk.Local, superdisk.Network} {
		points = append(points, d.leg(s.Arrays[0], role, now, passed)...)
	}
	return points, nil
}

func (d *SuperDisk) leg(a superdisk.Array, role superdisk.Role, now time.Time, passed time.Duration) (points []series.Point) {
	add := func(what string, value float64) {
		points = append(points, series.Point{Time: now, Signal: legSignal(role, what), Node: d.node, Value: value})
	}
	leg, there := a.Leg(role)
	add(legInStep, inStep(a, leg, there))
	if !there {
		return points
	}
	add(legHung, leg.HungFor.Seconds())
	if reads, ok := d.rates.rate(leg.Device+" reads", float64(leg.IO.Reads), passed); ok {
		add(legReads, reads)
	}
	if writes, ok := d.rates.rate(leg.Device+" writes", float64(leg.IO.Writes), passed); ok {
		add(legWrites, writes)
	}
	return points
}

// begun is what a leg has at least that is in its array and not in step.
const begun = 0.01

func inStep(a superdisk.Array, leg superdisk.Leg, there bool) float64 {
	switch {
	case !there || leg.Faulty():
		return 0
	case leg.InStep():
		return 1
	case a.Sync == nil || a.Sync.Total == 0:
		return begun
	}
	return min(max(float64(a.Sync.Done)/float64(a.Sync.Total), begun), 1-begun)
}
