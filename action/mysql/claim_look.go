package mysql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// lookAt compares the claim with what each of some nodes has of it, and says who answered, and why the others did not. primary is the node that
// leads, among them or not: where it tells what it has, a claim counts elsewhere only if it was written there, on a server that takes writes. A
// replica that has lost its source keeps the copy of one that was removed long ago. "": nobody leads, and whatever a node has counts.
func (m *ClusterLock) lookAt(ctx context.Context, nodes []string, c action.Claim, primary string) (answered []string, silent, err error) {
	if primary != "" && !slices.Contains(nodes, primary) {
		nodes = append(slices.Clip(nodes), primary)
	}
	rows, troubles, answers := make([][]string, len(nodes)), make([]error, len(nodes)), make([]bool, len(nodes))
	m.each(ctx, nodes, func(ctx context.Context, i int) bool {
		rows[i], troubles[i] = m.cluster.Row(ctx, nodes[i], readClaimAndPlace)
		if answers[i] = troubles[i] == nil || engine.ClassOf(troubles[i]) == engine.Missing; answers[i] { // Missing: no run has ever claimed this one
			troubles[i] = nil
		}
		return answers[i]
	})
	led := primary != "" && answers[slices.Index(nodes, primary)]
	found, sure := make([]error, len(nodes)), byWriters(rows)
	for i := range nodes {
		if sure[i] && claimed(c.Cluster, rows[i]).Expired {
			m.overdue.add(rows[i])
		}
	}
	for i, node := range nodes {
		if answers[i] {
			answered = append(answered, node)
		}
		if row := rows[i]; len(row) == allColumns && (!led || node == primary || row[5] == "0" && row[isCopy] != copied) {
			found[i] = m.compare(c, row)
		}
	}
	return answered, errors.Join(troubles...), cmp.Or(found...)
}

const (
	oneNode = 2 * time.Second  // that a node may take to answer when another has answered
	anyNode = 10 * time.Second // when none has: what they keep for each other is not taken for nothing because all are slow
)

// each asks nodes at the same time, and they tell whether they answered: one that hangs takes nothing from the others, and less time than
// they may take, since a claim is asked for before and after everything that a run does.
func (m *ClusterLock) each(ctx context.Context, nodes []string, ask func(ctx context.Context, i int) bool) {
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
			patient, asked := ctx, func() {}
			if m.cluster.Hangs(nodes[i]) {
				patient, asked = context.WithTimeout(ctx, cluster.HungTime)
			}
			defer asked()
			if !ask(patient, i) {
				return
			}
			if answered.Store(true); late.Load() {
				enough()
			}
		})
	}
	asking.Wait()
}

func names(nodes []cluster.Node) []string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = n.Name
	}
	return all
}

// compare finds out whether a claim that cannot be changed now is another's, or shows that another had the cluster since we did.
func (m *ClusterLock) compare(c action.Claim, row []string) error {
	theirs := claimed(c.Cluster, row)
	switch {
	case row[0] == "" && c.Run == "": // who only looks has lost nothing
		return nil
	case row[0] == c.Run:
		if epoch, err := strconv.ParseInt(row[2], 10, 64); err == nil && epoch > c.Epoch {
			return theirs
		}
		return nil
	case c.Elsewhere(since(row), doubt(c)):
		return theirs
	case row[0] == "", row[0] == c.Past:
		return nil
	case c.Held && theirs.Expired, c.Break && m.overdue.has(row):
		return nil // one that has run out cannot be overwritten here: a run that was allowed to take it once is not fenced by it later
	case c.Break:
		theirs.Expired, theirs.Silent = false, 0 // a clock may say so that is not the writer's
	}
	return theirs
}

// since is how long ago the last claim was taken, given back or not.
func since(row []string) time.Duration {
	micros, err := strconv.ParseInt(row[3], 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(micros) * time.Microsecond
}

// claimed says who has a cluster, from a row of the table with its times as distances from the server's now.
func claimed(cluster string, row []string) *action.ClaimedError {
	e := &action.ClaimedError{Cluster: cluster, Run: row[0], Holder: unsigned(row[1])}
	e.Since = time.Now().Add(-since(row))
	if micros, err := strconv.ParseInt(row[4], 10, 64); err == nil && micros > 0 {
		e.Expired, e.Silent = true, time.Duration(micros)*time.Microsecond
	}
	return e
}

var _ interface {
	Look(ctx context.Context, cluster string) error
} = (*ClusterLock)(nil)

// Look tells which run has a cluster, from what its nodes have of the claim. It changes nothing.
func (m *ClusterLock) Look(ctx context.Context, cluster string) error {
	nodes, err := m.cluster.List(ctx)
	if err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	primary, err := m.cluster.Primary(ctx)
	if err != nil {
		primary.Name = ""
	}
	answered, silent, err := m.lookAt(ctx, names(nodes), action.Claim{Cluster: cluster}, primary.Name)
	if err == nil && len(answered) == 0 {
		return silent
	}
	return err
}
