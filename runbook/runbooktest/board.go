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

// Board is a marker in memory that two stores share.
type Board struct {
	Mu   sync.Mutex
	Has  action.Claim
	had  action.Claim // last
	At   time.Time    // when that was taken
	Dead bool         // who has it does not prolong it any more
	Mute bool         // it takes nothing back

	Unclear bool  // it does not say who has it
	Refuses error // to the account
}

func (b *Board) Claim(_ context.Context, c action.Claim) error {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.Unclear {
		return &engine.Error{Kind: engine.Timeout, Text: "it does not answer"}
	}
	if b.Refuses != nil {
		return b.Refuses
	}
	if b.Has.Run == "" && b.had.Run != "" && b.had.Run != c.Run && c.Elsewhere(time.Since(b.At)) {
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

func (b *Board) Clear(_ context.Context, c action.Claim) error {
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
