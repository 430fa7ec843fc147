package advise

import (
	"fmt"
	"time"
)

// Seen is what a server did while it was observed: its disk I/O, and what its commits waited for. A figure that could not be had is nil,
// never a 0.
type Seen struct {
	Began   time.Time     `json:"began"`
	For     time.Duration `json:"for_ns"`
	Seconds int           `json:"seconds"` // that its readings are of

	Product string `json:"product,omitempty"`
	Version string `json:"version,omitempty"`
	Changed string `json:"changed,omitempty"` // a sentence that says since when the load was another; empty: it was not

	Disk   *DiskUse   `json:"disk,omitempty"`
	Commit *CommitUse `json:"commit,omitempty"`
	Load   *CPUUse    `json:"load,omitempty"`
	// WarmUp is set while the server's reads still fill its cache after a start: its disk I/O is not that of the load.
	WarmUp *WarmUp `json:"warm_up,omitempty"`
}

// Warming tells whether much of what the disk does fills the cache of a server that was just started.
func (s *Seen) Warming() bool {
	const much = 0.1 // of the operations
	return s != nil && s.WarmUp != nil && s.Disk != nil && s.WarmUp.Reads > much*s.Disk.IOPS.Mean
}

// WarmUp is what a server that was started a short while ago has read into its cache.
type WarmUp struct {
	Uptime time.Duration `json:"uptime_ns"`
	Held   int64         `json:"held_bytes"` // by pages with data
	Room   int64         `json:"room_bytes"`
	Reads  float64       `json:"reads"` // pages a second
	// Same says that it holds no more than before, although it reads.
	Same bool `json:"same,omitempty"`
}

// Told is a sentence without its end.
func (w WarmUp) Told() string {
	is := "its reads still fill its buffer pool"
	if w.Same {
		is = "it has not yet read twice the size of its buffer pool"
	}
	return fmt.Sprintf("the server started %s ago, and %s, which holds %.0f of %.0f MiB", w.Uptime, is, float64(w.Held)/(1<<20), float64(w.Room)/(1<<20))
}

// WarmUpEnds is until when a server counts as just started.
const WarmUpEnds = "when the server has read twice the size of its buffer pool or hardly reads from disk, at the latest a day after its start"

// DiskUse is what a server asks of its disk, a second.
type DiskUse struct {
	IOPS   Figure  `json:"iops"`
	Writes float64 `json:"writes"`
	Peak   float64 `json:"peak"`  // of any ten seconds
	Bytes  float64 `json:"bytes"` // a second, reads and writes; 0: not known
	// PeakBytes is the largest mean of any ten seconds; 0: not known.
	PeakBytes float64 `json:"peak_bytes,omitempty"`
	// Counted says that the disk itself has counted: writes of logs, which some servers do not count, are among them.
	Counted bool `json:"counted_by_disk,omitempty"`
	// Scaled is by how much what was observed is multiplied; 0: it is as it was observed.
	Scaled float64 `json:"scaled,omitempty"`
}

// More is with so many writes a second more, which the disk has counted and the server has not.
func (d DiskUse) More(writes float64) DiskUse {
	writes = max(writes, 0)
	d.IOPS = Figure{Mean: d.IOPS.Mean + writes, Low: d.IOPS.Low + writes, High: d.IOPS.High + writes}
	d.Writes, d.Peak, d.Counted = d.Writes+writes, d.Peak+writes, true
	return d
}

// Times is what so many servers like this one would ask for.
func (d DiskUse) Times(n float64) DiskUse {
	d.IOPS = Figure{Mean: n * d.IOPS.Mean, Low: n * d.IOPS.Low, High: n * d.IOPS.High}
	d.Scaled = n
	d.Writes, d.Peak, d.Bytes, d.PeakBytes = n*d.Writes, n*d.Peak, n*d.Bytes, n*d.PeakBytes
	return d
}

// CommitUse is what commits wait for, in seconds for each commit.
type CommitUse struct {
	Rate     Figure            `json:"commits_per_second"`
	Total    *Figure           `json:"total,omitempty"`
	Redo     *Figure           `json:"redo,omitempty"`
	Binlog   *Figure           `json:"binlog,omitempty"`
	SemiSync *Figure           `json:"semi_sync,omitempty"`
	Queue    *Figure           `json:"queue,omitempty"`
	Group    *Figure           `json:"group,omitempty"` // commits that share a sync of the binary log
	Sessions Figure            `json:"sessions"`        // that do something at once
	Waiting  Figure            `json:"waiting"`         // of these, those that commit: Total times Rate
	Source   string            `json:"source"`          // counters, or samples of the sessions once a second
	Settings map[string]string `json:"settings"`
	Doubt    string            `json:"doubt,omitempty"` // why the times of commits are left out although they were counted
}

// Settle holds the figures to Little's law: as many sessions commit as commits a second take time. What contradicts it is left out.
func (c *CommitUse) Settle() {
	if c.Total == nil || c.Rate.Mean <= 0 {
		return
	}
	counted := c.Waiting
	if counted.Mean > 1.2*c.Sessions.Mean+0.2 { // the counters are not read at the same moment
		c.Doubt = fmt.Sprintf("commits a second times the time of a commit would be %.2g sessions that commit, but only %.2g (%.2g to %.2g) were active", counted.Mean, c.Sessions.Mean, c.Sessions.Low, c.Sessions.High)
		c.Total, c.Redo, c.Binlog, c.SemiSync, c.Queue, c.Waiting = nil, nil, nil, nil, nil, Figure{}
		return
	}
	// Of commits that are not all timed, those that are speak for the others.
	by := 1.0
	if counted.Mean > 0 {
		by = c.Total.Mean * c.Rate.Mean / counted.Mean
	}
	c.Waiting = Figure{Mean: by * counted.Mean, Low: by * counted.Low, High: by * counted.High}
	c.Sessions.Mean, c.Sessions.High = max(c.Sessions.Mean, c.Waiting.Mean), max(c.Sessions.High, c.Waiting.Mean)
	if c.Redo != nil {
		rest := *c.Total
		for _, part := range []*Figure{c.Redo, c.Binlog, c.SemiSync} {
			if part != nil {
				rest = Figure{Mean: rest.Mean - part.Mean, Low: rest.Low - part.High, High: rest.High - part.Low}
			}
		}
		c.Queue = &Figure{Mean: max(rest.Mean, 0), Low: max(rest.Low, 0), High: max(rest.High, 0)}
	}
}

// CPUUse is what a server's sessions take of its processors.
type CPUUse struct {
	Running     Figure  `json:"running"` // sessions on a processor, or waiting for one
	Peak        float64 `json:"peak"`    // of any ten seconds
	Connections float64 `json:"connections"`
	Most        float64 `json:"max_connections"`
}

// Figure is a mean with the interval in which it lies, of 90 %.
type Figure struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}
