package probe

import (
	"context"
	"time"

	"plimsoll/series"
)

// DiskReading is what a lab's disk says of itself. The zero value says nothing.
type DiskReading struct {
	At      time.Time
	Balance float64 // share of its bucket
	Limit   float64 // operations a second that it gives now; 0: no limit
	Reads   int64   // so far
	Writes  int64
}

// Disk reads how a node's disk with limits is.
type Disk struct {
	node  string
	read  func(context.Context) (DiskReading, error)
	rates rates
	last  time.Time
}

var _ Probe = (*Disk)(nil)

// The signals of a Disk.
const (
	diskBalance = "disk.balance_share"
	diskLimit   = "disk.limit_per_second"
	diskReads   = "disk.reads_per_second"
	diskWrites  = "disk.writes_per_second"
	diskAll     = "disk.operations_per_second"
)

// DiskSignals are the names of what a Disk shows.
func DiskSignals() []string { return []string{diskBalance, diskLimit, diskReads, diskWrites, diskAll} }

// NewDisk returns a probe of a node's disk.
func NewDisk(node string, read func(context.Context) (DiskReading, error)) *Disk {
	return &Disk{node: node, read: read}
}

// Read shows a reading once; it is of the time at which the disk wrote it.
func (d *Disk) Read(ctx context.Context, _ time.Time) ([]series.Point, error) {
	r, err := d.read(ctx)
	if err != nil || r.At.IsZero() || !r.At.After(d.last) {
		return nil, err
	}
	d.last = r.At
	passed := d.rates.begin(r.At)
	var points []series.Point
	add := func(signal string, value float64) {
		points = append(points, series.Point{Time: r.At, Signal: signal, Node: d.node, Value: value})
	}
	add(diskBalance, r.Balance)
	if r.Limit > 0 {
		add(diskLimit, r.Limit)
	}
	reads, ok := d.rates.rate("reads", float64(r.Reads), passed)
	writes, also := d.rates.rate("writes", float64(r.Writes), passed)
	if ok && also {
		add(diskReads, reads)
		add(diskWrites, writes)
		add(diskAll, reads+writes)
	}
	return points, nil
}
