package channel

import (
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// returnRows has the old server replicate what the new one has and it lacks, before anything else.
func (c *cutover) returnRows(ctx context.Context, call action.Call, s *serverPair) error {
	newer, err := s.hasNewer(ctx)
	if err != nil || !newer {
		return err
	}
	call.Progress(0.05, "replicating what "+s.to.name+" has accepted")
	if !s.backward.Runs() {
		err = s.from.run(ctx, s.backward.Name)
	}
	if err == nil {
		err = awaitLevel(ctx, s.from, s.to, *s.backward)
	}
	if err != nil {
		return hint.With(fmt.Errorf("%s has accepted writes that %s has not received; %s accepts writes now: %w", s.to.name, s.from.name, s.writes(), err),
			fmt.Sprintf("fix the replication from %[1]s to %[2]s, then try again. To give up the writes that only %[1]s has: execute SET GLOBAL read_only = OFF on %[2]s, and plimsoll runbook cancel RUN --leave REASON", s.to.name, s.from.name))
	}
	return nil
}

// whileNobodyWrites bounds what is done before anybody may write.
func (c *cutover) whileNobodyWrites(ctx context.Context, s *serverPair) (context.Context, context.CancelFunc) {
	if s.fromStill && s.toStill {
		return context.WithTimeoutCause(ctx, c.MaxGap, fmt.Errorf("not done within max_gap %v", c.MaxGap))
	}
	return context.WithCancel(ctx)
}

// levels has both servers have the same before the writes move.
func (c *cutover) levels(ctx context.Context, call action.Call, s *serverPair) error {
	limited, cancel := c.whileNobodyWrites(ctx, s)
	defer cancel()
	if err := c.returnRows(limited, call, s); err != nil {
		return err
	}
	return s.approach(limited, call)
}

// approach brings the replica up to its source before anybody has to wait for it.
func (s *serverPair) approach(ctx context.Context, call action.Call) error {
	call.Progress(0.1, "catching up")
	if !s.forward.Runs() { // an act was cut off when it had stopped it
		if err := s.to.run(ctx, s.forward.Name); err != nil {
			return err
		}
	}
	return awaitLevel(ctx, s.to, s.from, *s.forward)
}

// awaitLevel waits until a server has what another has now, by a channel from it.
func awaitLevel(ctx context.Context, s *server, source *server, by admin.Channel) error {
	if !by.GTID {
		end, err := source.end(ctx)
		if err != nil {
			return err
		}
		return s.until(ctx, by.Name, "it is behind its source", func(c admin.Channel) bool { return c.Done.Reached(end) })
	}
	position, err := source.value(ctx, source.Position())
	if err != nil {
		return err
	}
	return s.reach(ctx, by.Name, position)
}
