package cluster

import (
	"context"
	"fmt"
	"time"

	"plimsoll/hint"
	"plimsoll/infra/disk/pace"
)

// What only a lab offers, beside FaultProneServer, FaultProneHost and FaultProne: its servers, their disks and their data are Plimsoll's own.

// Forgotten is what a server had not synced when its power failed.
type Forgotten struct {
	Files int   // that lost content
	Bytes int64 // of it
	Names int   // of files that were created, renamed or removed in vain
}

// Powered is a server whose power can fail: it is killed, and what it had not synced is lost.
type Powered interface {
	PowerFail(ctx context.Context) (Forgotten, error)
}

// Reconfigurable is a server whose settings can be replaced.
type Reconfigurable interface {
	// Settings are those that it is started with.
	Settings(ctx context.Context) (map[string]string, error)
	// Reconfigure puts these in their place and restarts it.
	Reconfigure(ctx context.Context, settings map[string]string) error
}

// DiskLimited is a server on a disk with the limits of a cloud's volume, which can be given others while it serves.
type DiskLimited interface {
	// Disk is the disk as it is now, with what is left in its bucket; nil: it has no such limits.
	Disk(ctx context.Context) (*pace.Disk, error)
	// Requests are those that were made of the disk until now; zero: it has no such limits.
	Requests(ctx context.Context) (DiskRequests, error)
	SetDisk(ctx context.Context, d *pace.Disk) error
}

// DiskRequests are how often a disk was read and written until a moment.
type DiskRequests struct {
	At            time.Time
	Reads, Writes int64
}

// Restorer brings a cluster back to a copy of its data, and to the nodes that it had then.
type Restorer interface {
	Restore(ctx context.Context) error
}

// OnlyInALab is the refusal of what a server, or a cluster, does not offer.
func OnlyInALab(what, name string) error {
	return &hint.PermanentError{Reason: fmt.Sprintf("%s of %s is not possible: Plimsoll does that to clusters of its own only", what, name),
		Advice: "use a lab: plimsoll lab up PRODUCT, or cluster: {engine: …} in a trial"}
}

func (readOnlyServer) Reconfigure(context.Context, map[string]string) error {
	return fmt.Errorf("give it another configuration: %w", ErrReadOnly)
}

// readOnlyRestorer restores nothing.
type readOnlyRestorer struct{}

func (readOnlyRestorer) Restore(context.Context) error {
	return fmt.Errorf("restore the data: %w", ErrReadOnly)
}
