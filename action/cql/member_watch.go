package cql

import (
	"context"
	"fmt"
	"time"

	"plimsoll/cluster"
)

const (
	// asking is how often a node is asked for its mode while it joins or leaves. It costs a second or two of a processor.
	asking = 20 * time.Second
	// askingBusy is how often while data is on its way: then it is well, but for a stream that hangs.
	askingBusy = 5 * time.Minute
)

// watch looks at a node that joins or leaves, for what ends that before its time.
type watch struct {
	up    time.Time // when the others last had it as up
	asked time.Time // when it was last asked for its mode
}

func watching() watch { return watch{up: time.Now(), asked: time.Now()} }

// gone says that the others have not had a node as up for long; "" if they have.
func (w *watch) gone(v view, n cluster.Node) string {
	if is := v.member(n); is != nil && is.Up {
		w.up = time.Now()
	}
	if time.Since(w.up) < silence {
		return ""
	}
	return fmt.Sprintf("the others have not seen it as up for %v", silence)
}

// mode is what a node says that it is at; "" if it is not its turn, or does not say.
func (w *watch) mode(ctx context.Context, v view, n cluster.Node) string {
	every := asking
	if _, _, transfers, err := v.moving(ctx); err == nil && transfers > 0 {
		every = askingBusy
	}
	if v.member(n) == nil || tooled(n) != nil || time.Since(w.asked) < every {
		return ""
	}
	defer func() { w.asked = time.Now() }()
	if v.orderly(ctx, n) != nil {
		return "" // what nodetool says is said of another
	}
	is, _ := mode(ctx, n) // asked again later: a server that starts, or is busy, gives no answer
	return is
}

// ended says how a node's joining ended before its time; "" while it goes on.
func (w *watch) ended(ctx context.Context, v view, n cluster.Node) (string, error) {
	if n.Server != nil {
		if running, err := n.Server.Running(ctx); err != nil {
			return "", err
		} else if !running {
			return "its server stopped while it was joining", nil
		}
	} else if gone := w.gone(v, n); gone != "" {
		return gone, nil
	}
	if w.mode(ctx, v, n) == "JOINING_FAILED" { // its server stays, and does nothing more by itself
		return "it did not receive its data (JOINING_FAILED)", nil
	}
	return "", nil
}
