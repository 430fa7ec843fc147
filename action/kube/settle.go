package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

// agreed is how many looks in a row must say that something is done: an operator may say of a moment ago that it is.
const agreed = 3

// look tells what is still waited for; "" when it is done.
type look func(ctx context.Context, r resource) (waits string, err error)

// await looks until a change is done and the cluster whole again.
func (r resource) await(ctx context.Context, on *cluster.Cluster, every time.Duration, c action.Call, done look) error {
	return r.awaitOnly(ctx, every, c, func(ctx context.Context, r resource) (string, error) { return r.unfinished(ctx, on, done) })
}

// awaitOnly looks until a change is done. What cannot be read for now is waited for; what a person must mend ends it.
func (r resource) awaitOnly(ctx context.Context, every time.Duration, c action.Call, done look) error {
	seen := 0
	return poll.Until(ctx, every, func() (string, error) {
		waits, err := done(ctx, r)
		var permanent *hint.PermanentError
		switch {
		case errors.As(err, &permanent):
			return "", err
		case err != nil && ctx.Err() == nil:
			waits = "an answer: " + err.Error()
		case err == nil && waits == "":
			if seen++; seen == agreed {
				return "", nil
			}
			c.Progress(-1, "done as far as Plimsoll sees; checking again")
			return fmt.Sprintf("it waited for the same answer %d times more", agreed-seen), nil
		}
		seen = 0
		c.Progress(-1, "waiting for "+waits)
		return "it waited for " + waits, nil
	})
}

func (r resource) unfinished(ctx context.Context, on *cluster.Cluster, done look) (string, error) {
	now, err := r.again(ctx)
	if err != nil {
		return "", err
	}
	if now.UID() != r.UID() {
		return "", &hint.PermanentError{Reason: fmt.Sprintf("%s was deleted and created again in the meantime", r)}
	}
	if err := now.free(); err != nil {
		return "", err
	}
	if done != nil {
		if waits, err := done(ctx, now); err != nil || waits != "" {
			return waits, err
		}
	}
	return now.waits(ctx, on)
}

// settle waits until the operator is done with what a Plimsoll asked for that is not there any more.
func settle(ctx context.Context, on *cluster.Cluster, every time.Duration, c action.Call) error {
	r, err := find(ctx, on)
	if err != nil {
		return err
	}
	return r.await(ctx, on, every, c, nil)
}
