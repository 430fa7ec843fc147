package channel

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// serverPair is how the two servers stand.
type serverPair struct {
	from, to           *server
	forward, backward  *admin.Channel // the channel on to, and that on from; nil: none
	fromStill, toStill bool
	toFollows          bool            // anybody
	sources            []admin.Channel // all channels on from
}

func (c *cutover) look(ctx context.Context, on *cluster.Cluster) (*serverPair, error) {
	from, to, err := pair(ctx, on, c.From, c.To)
	if err != nil {
		return nil, err
	}
	s := &serverPair{from: from, to: to}
	if err := s.refresh(ctx); err != nil {
		return nil, errors.Join(err, from.Close(), to.Close())
	}
	return s, nil
}

func (s *serverPair) refresh(ctx context.Context) (err error) {
	if s.forward, err = s.to.from(ctx, s.from); err != nil {
		return err
	}
	if s.sources, err = s.from.states(ctx); err != nil {
		return err
	}
	s.backward = channelFrom(s.sources, s.to)
	follows, err := s.to.states(ctx)
	if err != nil {
		return err
	}
	s.toFollows = len(follows) > 0
	if s.fromStill, err = s.from.readOnly(ctx); err != nil {
		return err
	}
	s.toStill, err = s.to.readOnly(ctx)
	return err
}

func (s *serverPair) close() { closeAll(s.from, s.to) }

// moved tells whether the writes have moved, whatever is still to be done afterwards.
func (s *serverPair) moved() bool { return s.fromStill && !s.toStill }

// closedAgain tells whether the new server took writes once and refuses them now, as it may after a restart: it forgets its source only when it
// takes writes.
func (s *serverPair) closedAgain() bool {
	return s.fromStill && s.toStill && s.backward != nil && !s.toFollows
}

// hasNewer tells whether the new server has what the old one lacks, of which the way back that was prepared keeps account: it may have taken writes until
// a restart closed it.
func (s *serverPair) hasNewer(ctx context.Context) (bool, error) {
	if s.backward == nil {
		return false, nil
	}
	if !s.backward.GTID {
		end, err := s.to.end(ctx)
		return err == nil && !s.backward.Done.Reached(end), err
	}
	position, err := s.to.value(ctx, s.to.Position())
	if err != nil {
		return false, err
	}
	if position, err = foreignTransactions(ctx, s.from, position); err != nil || position == "" {
		return false, err
	}
	behind, err := s.from.value(ctx, s.from.Await(position))
	return behind != "0", err
}

// bothWrite refuses to go on while both servers accept writes: whose rows count only a person knows.
func (s *serverPair) bothWrite() error {
	closing, then := s.to, "What clients wrote to it meanwhile may be on no other server: compare the two servers in a step that uses mysql.compare"
	if s.backward != nil {
		closing, then = s.from, fmt.Sprintf("The writes had moved to %s, so what clients have written to %s since may be on no other server: compare the two servers in a step that uses mysql.compare", s.to.name, s.from.name)
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s and %s both accept writes", s.from.name, s.to.name),
		Advice: fmt.Sprintf("execute SET GLOBAL read_only = ON on %[1]s, and put read_only = ON into its option file if the server starts writable without it; then plimsoll runbook resume RUN. %[2]s", closing.name, then),
	}
}

// writes names who takes writes.
func (s *serverPair) writes() string {
	switch {
	case s.fromStill && s.toStill:
		return "nobody"
	case s.fromStill:
		return s.to.name
	case s.toStill:
		return s.from.name
	}
	return s.from.name + " and " + s.to.name
}

// readOnly tells whether a server refuses writes.
func (s *server) readOnly(ctx context.Context) (bool, error) {
	v, err := s.variable(ctx, "read_only")
	return v != "OFF" && v != "0", err
}
