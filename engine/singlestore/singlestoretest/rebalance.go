package singlestoretest

import (
	"cmp"
	"slices"
	"time"
)

// plan is what a rebalance of a database would do: within each group the copies are spread evenly over the leaves that are
// online, but for one that is to be left. The lock is held.
func (c *Cluster) plan(database string, left *leaf) []*move {
	var moves []*move
	for group := 1; group <= c.spec.Copies; group++ {
		moves = append(moves, c.spread(database, group, left)...)
	}
	slices.SortStableFunc(moves, func(a, b *move) int { return cmp.Compare(a.phase, b.phase) })
	return moves
}

func (c *Cluster) spread(database string, group int, left *leaf) (moves []*move) {
	held := map[*leaf][]*copyOf{}
	var open []*leaf
	for _, l := range c.leaves {
		if l.group == group && l != left && l.state == "online" {
			open = append(open, l)
		}
	}
	for _, p := range c.copies {
		if p.database == database && p.leaf.group == group {
			held[p.leaf] = append(held[p.leaf], p)
		}
	}
	if len(open) == 0 {
		return nil
	}
	for {
		least := slices.MinFunc(open, func(a, b *leaf) int { return cmp.Compare(len(held[a]), len(held[b])) })
		most := slices.MaxFunc(open, func(a, b *leaf) int { return cmp.Compare(len(held[a]), len(held[b])) })
		if left != nil && len(held[left]) > 0 {
			most = left
		} else if len(held[most])-len(held[least]) < 2 {
			return moves
		}
		goes := held[most][len(held[most])-1]
		held[most] = held[most][:len(held[most])-1]
		held[least] = append(held[least], goes)
		moves = append(moves, c.transfer(goes, least)...)
	}
}

// transfer is what moves one copy to another leaf.
func (c *Cluster) transfer(p *copyOf, to *leaf) []*move {
	made := func(action string, phase int, target *leaf, apply func()) *move {
		return &move{database: p.database, ordinal: p.ordinal, action: action, phase: phase, target: target, status: "scheduled", apply: apply}
	}
	from := p.leaf
	arrived := &copyOf{database: p.database, ordinal: p.ordinal, leaf: to}
	drop := func() { c.copies = slices.DeleteFunc(c.copies, func(x *copyOf) bool { return x == p }) }
	copied := made("COPY PARTITION", 1, to, func() { c.copies = append(c.copies, arrived) })
	if p.master {
		return []*move{copied, made("PROMOTE PARTITION WITH DROP", 2, to, func() { arrived.master = true; drop() })}
	}
	return []*move{copied, made("DROP PARTITION", 3, from, drop)}
}

// begin shows what a rebalance of databases is going to do. The lock is held.
func (c *Cluster) begin(databases []string, left *leaf) ([]*move, *Failure) {
	if len(c.moves) > 0 {
		return nil, &Failure{1777, "Another cluster operation is running"}
	}
	for _, database := range databases {
		c.moves = append(c.moves, c.plan(database, left)...)
	}
	return c.moves, nil
}

// play executes moves one after another to their end, whoever waits for it or does not any more.
func (c *Cluster) play(moves []*move) *Failure {
	defer func() {
		c.mu.Lock()
		c.moves = nil
		c.mu.Unlock()
	}()
	var held <-chan struct{}
	for _, m := range moves {
		c.mu.Lock()
		m.status, m.began = "running", time.Now()
		if held == nil {
			held = c.keep()
		}
		c.mu.Unlock()
		time.Sleep(c.spec.Pace)
		<-held
		for c.shown(m) < c.spec.Shown {
			time.Sleep(time.Millisecond)
		}
		c.mu.Lock()
		failed := c.failing == m.action
		if failed {
			m.status, c.failing = "failed", ""
		} else {
			m.status = "success"
			m.apply()
		}
		c.mu.Unlock()
		if failed {
			return &Failure{1778, "Rebalance failed: " + m.action + " " + m.database}
		}
	}
	return nil
}

func (c *Cluster) shown(m *move) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return m.shown
}
