package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"plimsoll/engine"
)

// membership is how servers are one cluster: whom they follow, and who leads.
type membership struct {
	*foundation
	roster *roster
}

func (c *Cluster) membership() membership { return membership{c.foundation, c.roster} }

// answerTime is how long a server may take to say which part it plays.
const answerTime = 5 * time.Second

// primary asks the nodes that run which of them is the primary; "" when none says so. Of nodes that are all alike it is
// the first.
func (m membership) primary(ctx context.Context) string {
	replicator, ok := m.launcher.(engine.Replicator)
	if !ok {
		return m.roster.first().Name
	}
	var running []*member
	for _, one := range m.roster.all() {
		if one.state() == Running {
			running = append(running, one)
		}
	}
	nodes := plain(running)
	at := engine.PrimaryOf(m.deps.statuses(ctx, replicator, nodes))
	if at < 0 {
		return ""
	}
	m.roster.lead(nodes[at].Name)
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

// start starts a node that does not run and waits until it serves and has joined.
func (m membership) start(ctx context.Context, one *member) error {
	if one.state() != Stopped {
		return nil
	}
	if err := one.serve(ctx); err != nil {
		return err
	}
	if err := m.join(ctx, one); err != nil {
		return err
	}
	m.primary(ctx)
	return nil
}

// restart stops and starts a node.
func (m membership) restart(ctx context.Context, one *member) error {
	if err := one.stop(ctx); err != nil {
		return err
	}
	return m.start(ctx, one)
}

// startAll starts nodes in the order of their numbers.
func (m membership) startAll(ctx context.Context, members []*member) error {
	members = slices.Clone(members)
	slices.SortFunc(members, byNumber)
	for _, one := range members {
		if err := m.start(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// endAll ends nodes at once, because each writes its memory to disk, and the cluster's primary after the others: it waits for its
// replicas.
func (m membership) endAll(ctx context.Context, members []*member, end func(*member) error) error {
	if len(members) > 1 {
		m.primary(ctx)
	}
	results := make(chan error, len(members))
	others := slices.DeleteFunc(slices.Clone(members), m.roster.leads)
	for _, one := range others {
		go func() { results <- end(one) }()
	}
	var all error
	for range others {
		all = errors.Join(all, <-results)
	}
	if at := slices.IndexFunc(members, m.roster.leads); at >= 0 {
		all = errors.Join(all, end(members[at]))
	}
	return all
}

// join makes a node that was started a part of the cluster, if those before it run, or waits until it is one again. A
// replica whose primary is down joins by itself later. What was grown, what is separate, and what is a primary now, the lab
// does not touch: that is decided by others.
func (m membership) join(ctx context.Context, one *member) error {
	r := m.record.of(one.Name)
	if r.Apart || m.record.Separate {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, m.deps.Patience)
	defer cancel()
	before, err := m.before(limited, one, r.Member)
	if err != nil {
		return fmt.Errorf("%s did not join: %w", one.Name, err)
	}
	if len(before) > 0 {
		if err := m.launcher.Join(limited, one.host.machine(), one.Node, before); err != nil {
			return fmt.Errorf("%s did not join: %w", one.Name, err)
		}
	}
	if !r.Member && (len(before) > 0 || one == m.roster.first()) {
		return one.note(ctx, func(n *nodeRecord) { n.Member = true })
	}
	return nil
}

// before are the nodes of which a node becomes a part, or with which it is one again; none when there is nothing to be done,
// or it cannot be done now.
func (m membership) before(ctx context.Context, one *member, joined bool) ([]engine.Node, error) {
	replicator, ok := m.launcher.(engine.Replicator)
	switch {
	case !ok:
		return m.earlier(one), nil
	case !joined && one == m.roster.first():
		return nil, nil // the founder
	case !joined:
		primary := m.primary(ctx)
		return m.toFollow(func(n engine.Node) bool { return n.Name == primary && n.Name != one.Name }), nil
	}
	is, err := replicator.ReplicationStatus(ctx, one.host.machine(), one.Node)
	if err != nil {
		return nil, err
	}
	return m.toFollow(func(n engine.Node) bool { return net.JoinHostPort(n.Address, strconv.Itoa(n.Port)) == is.Follows() }), nil
}

// earlier are the nodes before one, none unless all of them run.
func (m membership) earlier(one *member) []engine.Node {
	before := m.roster.earlier(one)
	if slices.ContainsFunc(before, func(b *member) bool { return b.state() != Running }) {
		return nil
	}
	return plain(before)
}

// toFollow is the node that runs and is meant, if there is one.
func (m membership) toFollow(meant func(engine.Node) bool) []engine.Node {
	for _, one := range m.roster.all() {
		if n := one.now(); n.State == Running && meant(n.Node) {
			return []engine.Node{n.Node}
		}
	}
	return nil
}
