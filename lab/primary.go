package lab

import (
	"context"
	"slices"
	"time"

	"plimsoll/engine"
)

// answerTime is how long a server may take to say which part it plays.
const answerTime = 5 * time.Second

// Primary asks the nodes that run which of them is the primary; "" when none says so. Of nodes that are all alike it is
// the first. Target puts it first from then on.
func (c *Cluster) Primary(ctx context.Context) string {
	replicator, ok := c.launcher.(engine.Replicator)
	c.mu.Lock()
	var running []*member
	for _, m := range c.members {
		if m.state() == Running {
			running = append(running, m)
		}
	}
	first, nodes := c.members[0], plain(running)
	c.mu.Unlock()
	if !ok {
		return first.Name
	}
	at := engine.PrimaryOf(c.deps.statuses(ctx, replicator, nodes))
	if at < 0 {
		return ""
	}
	c.mu.Lock()
	c.primary = nodes[at].Name
	c.mu.Unlock()
	return nodes[at].Name
}

// statuses asks nodes at the same time which parts they play; nil of one that does not answer.
func (d Deps) statuses(ctx context.Context, r engine.Replicator, nodes []engine.Node) []*engine.ReplicationStatus {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	all, _ := engine.ReplicationStatuses(ctx, len(nodes), func(ctx context.Context, i int) (*engine.ReplicationStatus, error) {
		s, err := r.ReplicationStatus(ctx, d.Machine, nodes[i])
		if err != nil {
			return nil, err
		}
		return &s, nil
	})
	return all
}

// primaryFirst puts the primary, as far as it is known, before the others, which stay in their order.
func (c *Cluster) primaryFirst(members []*member) []*member {
	at := slices.IndexFunc(members, func(m *member) bool { return m.Name == c.primary })
	if at <= 0 {
		return members
	}
	sorted := append([]*member{members[at]}, members[:at]...)
	return append(sorted, members[at+1:]...)
}
