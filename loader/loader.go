// Package loader issues one load from several processes, on this machine or on others: Plimsoll's own program, started over a
// machine's own channel. What they issue together is the load, operation by operation, and what they measured is added up
// exactly.
//
// The process that started them (the Team) gives each its part of the job on stdin, secrets too, and reads its seconds and
// histograms from stdout. Every moment a loader names is on its own monotonic clock; the team has compared the clocks before
// the load begins, and again after it, so that the machines' calendars need not agree.
package loader

import (
	"context"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/load"
	"plimsoll/workload"
)

// Loader is a process that is to be started.
type Loader struct {
	Machine infra.Machine
	Program string // Plimsoll's own, on that machine
	// Place puts Plimsoll on the machine, where it is not installed, and returns where; nil: it is at Program.
	Place func(ctx context.Context) (string, error)
	Close func() error // when the load is over; may be nil
}

// Job is what all loaders issue together.
type Job struct {
	Target     engine.Target
	Workload   string // its name, or the path of a file
	File       []byte // what stands in the file, which the loader's machine need not have
	Parameters string // of the workload, in YAML
	Seed       uint64
}

// Source is what a loader makes of its part of a job.
type Source struct {
	Operations []string
	Connect    load.Connect
	Close      func() error
}

// Open makes the source of a part of a job.
type Open func(ctx context.Context, job Job, part workload.Part) (Source, error)
