package channel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
)

// giveUp lets the old server take writes again, on a session of its own: that of the attempt may be cut off, and the new server may hang. It returns
// why the move failed, and what came of this.
func (c *cutover) giveUp(ctx context.Context, on *cluster.Cluster, call action.Call, failed *serverPair, why error) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	old := failed.from.name
	if err := c.reopen(ctx, on, call); err != nil {
		return errors.Join(fmt.Errorf("%s may refuse writes, because Plimsoll could not make it accept them again: %w", old, why), err)
	}
	s, err := c.look(ctx, on)
	if err == nil {
		defer s.close()
		err = s.stay(ctx)
	}
	return errors.Join(fmt.Errorf("%s accepts writes again: %w", old, why), err)
}

// reopen lets the old server take writes again, unless another node has begun to.
func (c *cutover) reopen(ctx context.Context, on *cluster.Cluster, call action.Call) error {
	from, err := dial(ctx, on, c.From)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := c.noOther(ctx, on, call, from, "plimsoll runbook resume RUN"); err != nil {
		return err
	}
	return from.release(ctx)
}

// stay brings two servers of which the new one takes no writes yet back to where they were.
func (s *serverPair) stay(ctx context.Context) error {
	if err := s.from.release(ctx); err != nil {
		return err
	}
	if s.backward != nil {
		if err := s.from.drop(ctx, s.backward.Name); err != nil {
			return err
		}
	}
	if s.forward == nil || s.forward.Runs() {
		return nil
	}
	return s.to.run(ctx, s.forward.Name)
}

// Undo is the cut-over in the other direction.
func (c *cutover) Undo(ctx context.Context, on *cluster.Cluster, call action.Call) error {
	s, err := c.look(ctx, on)
	if err != nil {
		return err
	}
	defer s.close()
	if !s.fromStill && !s.toStill {
		return s.bothWrite()
	}
	if s.fromStill { // else it takes writes, and nothing is opened
		if err := c.noOther(ctx, on, call, s.from, "plimsoll runbook cancel RUN --undo"); err != nil {
			return err
		}
	}
	if !s.moved() && !s.closedAgain() {
		limited, cancel := c.whileNobodyWrites(ctx, s)
		defer cancel()
		if err := c.returnRows(limited, call, s); err != nil {
			return err
		}
		return s.stay(ctx)
	}
	if s.backward != nil && !s.backward.Runs() {
		limited, cancel := c.whileNobodyWrites(ctx, s)
		defer cancel()
		if err := s.from.run(limited, s.backward.Name); err != nil {
			return err
		}
	}
	back := cutover{From: c.To, To: c.From, WayBack: true, MaxGap: c.MaxGap}
	reversed, err := back.look(ctx, on)
	if err != nil {
		return err
	}
	defer reversed.close()
	_, err = back.carryOut(ctx, on, call, reversed)
	return err
}
