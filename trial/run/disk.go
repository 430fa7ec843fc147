package run

import (
	"context"
	"errors"

	"plimsoll/lab"
	"plimsoll/probe"
	"plimsoll/trial/spec"
)

// giveDisk gives the servers the disk of a cell: with a full bucket while they start and warm up, and as the trial says from then on.
func giveDisk(ctx context.Context, r *runner, c *spec.Cell, s *servers, full bool) error {
	if s.existing != nil || !r.trial.Limited() {
		return nil
	}
	d := c.Disk
	if d == nil {
		d = lab.Unlimited()
	}
	begin := *d
	if all := 1.0; full || begin.Balance == nil {
		begin.Balance = &all
	}
	return s.cluster.SetDisk(ctx, &begin)
}

// diskOf reads how a node's disk is, for a probe.
func (s *servers) diskOf(node string) func(context.Context) (probe.DiskReading, error) {
	return func(ctx context.Context) (probe.DiskReading, error) {
		state, err := s.cluster.Server(node).DiskState(ctx)
		if errors.Is(err, lab.ErrNoDisk) {
			return probe.DiskReading{}, nil
		}
		return probe.DiskReading{At: state.At, Balance: state.Balance, Limit: state.IOPS, Reads: state.Reads, Writes: state.Writes}, err
	}
}

// newDiskProbe reads a node's disk once a second.
func (s *servers) newDiskProbe(node string) probe.Probe { return probe.NewDisk(node, s.diskOf(node)) }
