// Package runbooktest holds what tests of runs share: a cluster without an engine, and a claim that is kept in memory.
package runbooktest

import (
	"context"
	"errors"
	"sync"
	"time"

	"plimsoll/action"
	"plimsoll/engine"
)

// MemoryLock is a ClusterLock that keeps the claim in memory, where two stores share it.
type MemoryLock struct {
	Mu   sync.Mutex
	Has  action.Claim
	had  action.Claim // last
	At   time.Time    // when that was taken
	Dead bool         // its holder does not prolong it any more
	Mute bool         // it fails to clear a claim

	Unclear bool  // it fails to claim
	Refuses error // what it answers to every claim
}

func (b *MemoryLock) Claim(_ context.Context, c action.Claim) error {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.Unclear {
		return &engine.Error{Kind: engine.Timeout, Text: "it does not answer"}
	}
	if b.Refuses != nil {
		return b.Refuses
	}
	if b.Has.Run == "" && b.had.Run != "" && b.had.Run != c.Run && c.Elsewhere(time.Since(b.At), c.For/2) {
		return &action.ClaimedError{Cluster: c.Cluster}
	}
	if b.Has.Run != "" && b.Has.Run != c.Run && b.Has.Run != c.Past && !(b.Dead && c.Break) {
		return &action.ClaimedError{Cluster: c.Cluster, Run: b.Has.Run, Holder: b.Has.Holder, Expired: b.Dead, Since: time.Unix(0, 0), Silent: time.Hour}
	}
	if b.Has.Run != c.Run {
		b.At = time.Now()
	}
	b.Has, b.had, b.Dead = c, c, false
	return nil
}

func (b *MemoryLock) Clear(_ context.Context, c action.Claim) error {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.Mute {
		return errors.New("it does not answer")
	}
	if b.Has.Run == c.Run && b.Has.Epoch <= c.Epoch {
		b.Has = action.Claim{}
	}
	return nil
}
