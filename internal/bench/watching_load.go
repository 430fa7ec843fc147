package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/lab"
)

// onBoth measures on a MariaDB, and then on a MySQL with the same settings.
func onBoth(ctx context.Context, measure func(ctx context.Context, spec lab.Spec) error) error {
	for _, spec := range []lab.Spec{mariadb, {Name: "bench", Product: "mysql", Config: mariadb.Config}} {
		if err := measure(ctx, spec); err != nil {
			return fmt.Errorf("%s: %w", spec.Product, err)
		}
	}
	return nil
}

// byItself gives a server a processor of its own, until together.
func byItself(ctx context.Context, target engine.Target) (server serverProcess, together func() error, err error) {
	if server, err = processOf(ctx, target); err != nil {
		return server, nil, err
	}
	together, err = apart(ctx, server)
	return server, together, err
}

// alone starts a server that has a processor of its own, until end.
func (o options) alone(ctx context.Context, spec lab.Spec) (target engine.Target, server serverProcess, end func() error, err error) {
	target, release, err := o.server(ctx, spec)
	if err != nil {
		return target, server, nil, err
	}
	server, together, err := byItself(ctx, target)
	if err != nil {
		release()
		return target, server, nil, err
	}
	return target, server, func() error { defer release(); return together() }, nil
}

// goingOn is sysbench, which works while something is measured.
type goingOn struct {
	stop  context.CancelFunc
	ended chan error
}

// goOn has sysbench fill its table and work on it, and returns once that has warmed up. It goes on for at least that long.
func goOn(ctx context.Context, peer sysbench, warmup, length time.Duration) (goingOn, error) {
	if _, err := peer.run(ctx, "prepare", 4, 0); err != nil {
		return goingOn{}, err
	}
	const spare = 30 * time.Second
	running, stop := context.WithCancel(ctx)
	g := goingOn{stop, make(chan error, 1)}
	go func() {
		_, err := peer.run(running, "run", connections, int((warmup + length + spare).Seconds()))
		g.ended <- err
	}()
	if err := wait(ctx, warmup); err != nil {
		g.end()
		return g, err
	}
	return g, nil
}

// lengthOf is how long pairs of slices take at most.
func lengthOf(pairs int) time.Duration {
	return time.Duration(2*pairs) * (slice + settling + longestReading)
}

// goesOn is an error once sysbench has ended by itself: then what was measured is not of its load.
func (g goingOn) goesOn() error {
	select {
	case err := <-g.ended:
		g.ended <- err
		return errors.Join(errors.New("the load ended before the measurement did"), err)
	default:
		return nil
	}
}

// end stops it, and waits for that.
func (g goingOn) end() {
	g.stop()
	<-g.ended //nolint:errcheck // it was stopped, or goesOn has told why it ended
}
