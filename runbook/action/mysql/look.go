package mysql

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/engine"
	"plimsoll/runbook/action"
)

// lookAt compares the claim with what each of some nodes has of it, and says who answered.
func (m *Marker) lookAt(ctx context.Context, nodes []string, c action.Claim) (answered []string, err error) {
	found, answers := make([]error, len(nodes)), make([]bool, len(nodes))
	each(ctx, nodes, func(ctx context.Context, i int) bool {
		row, err := m.site.Row(ctx, nodes[i], readClaim)
		if err == nil && len(row) == 6 {
			found[i] = m.compare(c, row)
		}
		answers[i] = err == nil || engine.ClassOf(err) == engine.Missing // no run has ever claimed this one
		return answers[i]
	})
	for i, node := range nodes {
		if answers[i] {
			answered = append(answered, node)
		}
	}
	return answered, cmp.Or(found...)
}

const (
	oneNode = 2 * time.Second  // that a node may take to answer when another has answered
	anyNode = 10 * time.Second // when none has: what they keep for each other is not taken for nothing because all are slow
)

// each asks nodes at the same time, and they tell whether they answered: one that hangs takes nothing from the others.
func each(ctx context.Context, nodes []string, ask func(ctx context.Context, i int) bool) {
	ctx, enough := context.WithTimeout(ctx, anyNode)
	defer enough()
	var answered, late atomic.Bool
	defer time.AfterFunc(oneNode, func() {
		if late.Store(true); answered.Load() {
			enough()
		}
	}).Stop()
	var asking sync.WaitGroup
	for i := range nodes {
		asking.Go(func() {
			if !ask(ctx, i) {
				return
			}
			if answered.Store(true); late.Load() {
				enough()
			}
		})
	}
	asking.Wait()
}

func names(nodes []action.Node) []string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = n.Name
	}
	return all
}

// compare finds out whether a claim that cannot be changed now is another's.
func (m *Marker) compare(c action.Claim, row []string) error {
	theirs := row[0] != "" && row[0] != c.Run
	if epoch, err := strconv.ParseInt(row[2], 10, 64); err == nil && row[0] == c.Run {
		theirs = epoch > c.Epoch
	}
	// One that has run out cannot be overwritten: a run that was allowed to take it once is not fenced by it later.
	err := claimed(c.Cluster, row)
	if theirs && !(err.Expired && (c.Break || c.Held)) {
		return err
	}
	if theirs && c.Break {
		m.broken.set(row[0], row[2])
	}
	return nil
}

// broken is a claim that had run out, and that the run was allowed to take when nothing could be written: it may be on the next
// primary still.
type broken struct {
	mu         sync.Mutex
	run, epoch string
}

func (b *broken) set(run, epoch string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.run, b.epoch = run, epoch
}

func (b *broken) claim() (run, epoch string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.run, b.epoch
}

// claimed says who has a cluster, from a row of the table with its times as distances from the server's now.
func claimed(cluster string, row []string) *action.ClaimedError {
	e := &action.ClaimedError{Cluster: cluster, Run: row[0], Holder: row[1]}
	if seconds, err := strconv.Atoi(row[3]); err == nil {
		e.Since = time.Now().Add(-time.Duration(seconds) * time.Second)
	}
	if micros, err := strconv.ParseInt(row[4], 10, 64); err == nil && micros > 0 {
		e.Expired, e.Silent = true, time.Duration(micros)*time.Microsecond
	}
	return e
}
