package singlestore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/engine"
)

// opened are the moves that are not at their end.
func opened(moves []engine.Move) []engine.Move {
	return slices.DeleteFunc(slices.Clone(moves), func(m engine.Move) bool { return !m.Open() })
}

// share is how much of the moves is done, from 0 to 1; of one that executes, by the server's estimate.
func share(moves []engine.Move) float64 {
	if len(moves) == 0 {
		return -1
	}
	done := 0.0
	for _, m := range moves {
		switch {
		case m.Status == "success":
			done++
		case m.Status == "running" && m.Took+m.Left > 0:
			done += float64(m.Took) / float64(m.Took+m.Left)
		}
	}
	return done / float64(len(moves))
}

// left is how long the moves will still take by the server's estimates: those of one phase side by side, phase after phase.
func left(moves []engine.Move) time.Duration {
	longest := map[int]time.Duration{}
	for _, m := range moves {
		if m.Status != "success" {
			longest[m.Phase] = max(longest[m.Phase], m.Left)
		}
	}
	sum := time.Duration(0)
	for _, d := range longest {
		sum += d
	}
	return sum
}

// said tells how far moves are: copy 3 of 8, promote 0 of 8, 12s left.
func said(moves []engine.Move) string {
	var kinds []string
	done, all := map[string]int{}, map[string]int{}
	for _, m := range moves {
		kind, _, _ := strings.Cut(strings.ToLower(m.Action), " ")
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		all[kind]++
		if m.Status == "success" {
			done[kind]++
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s %d of %d", kind, done[kind], all[kind])
	}
	text := strings.Join(kinds, ", ")
	if d := left(moves).Round(time.Second); d > 0 {
		text += fmt.Sprintf(", %s left by the server's estimate", d)
	}
	return text
}

// follow waits for the end of what moves partitions, and tells how far it is. The error of a command that failed comes with the
// move that did.
func follow(ctx context.Context, db engine.Sharded, c action.Call, ordered <-chan error, otherwise string) error {
	failed := ""
	c.Progress(-1, otherwise)
	for {
		select {
		case err := <-ordered:
			if err != nil && failed != "" {
				err = fmt.Errorf("%w (%s)", err, failed)
			}
			return err
		case <-time.After(often):
		}
		moves, err := db.Moves(ctx)
		if err != nil || len(moves) == 0 {
			continue // it has not begun, or is over, or the answer takes its time: the order itself says what became of it
		}
		c.Progress(share(moves), said(moves))
		for _, m := range moves {
			if m.Status == "failed" {
				failed = fmt.Sprintf("%s of %s:%d to %s failed", m.Action, m.Database, m.Ordinal, m.Target)
			}
		}
	}
}
