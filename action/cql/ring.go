package cql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

// ring is a cluster as its members see it.
type ring struct {
	cluster *cluster.Cluster
	nodes   []cluster.Node
	named   map[string][]string // the addresses of hosts that the inventory has by name
}

func ringOf(ctx context.Context, on *cluster.Cluster) (*ring, error) {
	nodes, err := on.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the nodes of %s: %w", on.Name, err)
	}
	r := &ring{cluster: on, nodes: nodes, named: map[string][]string{}}
	for _, n := range slices.Concat(nodes, on.Spares) {
		if len(n.Target.Addresses) > 0 {
			r.resolve(ctx, host(n.Target.Addresses[0]))
		}
	}
	return r, nil
}

// resolve finds the addresses of a host. Members know one another by these alone. A name that nobody knows is no member's.
func (r *ring) resolve(ctx context.Context, name string) {
	if _, err := netip.ParseAddr(name); err == nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if found, err := net.DefaultResolver.LookupHost(limited, name); err == nil {
		r.named[name] = found
	}
}

// view is the ring as one of its nodes has it.
type view struct {
	engine.Ring
	ring *ring
	db   engine.Ringed
	node string // who was asked
}

// view asks the nodes but one, in turn, until one answers.
func (r *ring) view(ctx context.Context, but string) (view, error) {
	var troubles []error
	running, unknown, _ := r.byWord(ctx)
	for _, n := range running {
		if n.Name == but {
			continue
		}
		v, err := r.viewOf(ctx, n)
		if err == nil {
			return v, nil
		}
		troubles = append(troubles, fmt.Errorf("node %s: %w", n.Name, err))
		if ctx.Err() != nil {
			break
		}
	}
	for _, n := range unknown {
		if n.Name == but || ctx.Err() != nil || len(troubles) > 0 {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, idleTime)
		v, err := r.viewOf(limited, n)
		cancel()
		if err == nil {
			return v, nil
		}
	}
	if len(troubles) == 0 {
		return view{}, &hint.PermanentError{Reason: "no other node of " + r.cluster.Name + " runs that could be asked about the ring",
			Advice: "start one that is stopped"}
	}
	return view{}, fmt.Errorf("ask about the ring: %w", errors.Join(troubles...))
}

// alone tells whether a node is the only one that is listed; the ring may have members beside it.
func (r *ring) alone(n cluster.Node) bool {
	return !slices.ContainsFunc(r.nodes, func(other cluster.Node) bool { return other.Name != n.Name })
}

// around is the ring as the others see it; as the node does, if no other is listed.
func (r *ring) around(ctx context.Context, n cluster.Node) (view, error) {
	if r.alone(n) {
		return r.view(ctx, "")
	}
	return r.view(ctx, n.Name)
}

// silence is how long nobody may answer while a change is under way: nodes that send their data can be busy for a while, and
// those that run on one host with the new one are while it starts.
const silence = 5 * time.Minute

// await is a view, waited for while no node answers.
func (r *ring) await(ctx context.Context, but string, c action.Call) (view, error) {
	limited, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	var last error
	for {
		v, err := r.view(limited, but)
		if err == nil || ctx.Err() != nil {
			return v, err
		}
		if last == nil || limited.Err() == nil { // the end of the time is no cause
			last = err
		}
		c.Progress(-1, "no other node answers yet: "+last.Error())
		if poll.Rest(limited, often) != nil {
			return v, fmt.Errorf("%w; for %v", last, silence)
		}
	}
}

// patience is how long one node may take to answer; telling a dead node from a quiet one takes ten seconds of it.
const patience = 30 * time.Second

func (r *ring) viewOf(ctx context.Context, n cluster.Node) (view, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	db, err := r.cluster.Database(limited, n.Name)
	if err != nil {
		return view{}, err
	}
	ringed, ok := engine.As[engine.Ringed](db)
	if !ok {
		return view{}, &hint.PermanentError{Reason: r.cluster.Name + " is not a ring", Advice: "these actions are for Cassandra and ScyllaDB"}
	}
	seen, err := ringed.Ring(limited, n.Target.Addresses[0])
	if engine.ClassOf(err) == engine.Missing {
		err = &hint.PermanentError{Reason: fmt.Sprintf("it lacks the tables in which Cassandra 4.0 and later show their ring (system_views), as ScyllaDB does: %v", err), Advice: ofOtherTables, Err: errOtherTables}
	}
	return view{seen, r, ringed, n.Name}, err
}

// errOtherTables is the cause when a server answers, but does not show its ring as Cassandra does.
var errOtherTables = errors.New("another kind of server")

const ofOtherTables = "nothing was started. Plimsoll cannot look at the ring of such a server, nor see hints: use a runbook without the steps that do (plimsoll runbook show NAME prints this one), look at the ring yourself before and after it (nodetool status), and repair the node (nodetool repair)"

// idleTime is how long a node may take to answer of which its machine does not say that it runs.
const idleTime = 2 * time.Second

// slowTime is how long it may take when no node has answered within idleTime: a ring that is busy takes seconds to make the table of claims.
const slowTime = 15 * time.Second

// byWord parts the nodes by the word of their machines: those that run, those of which the machine cannot tell, as without systemd, and those that
// do not run. A server that was started otherwise answers all the same. Frozen ones are in none.
func (r *ring) byWord(ctx context.Context) (running, unknown, idle []cluster.Node) {
	for _, n := range r.nodes {
		if serves(ctx, n) {
			running = append(running, n)
			continue
		}
		switch runs, err := n.Server.Running(ctx); {
		case err != nil:
			unknown = append(unknown, n)
		case !runs:
			idle = append(idle, n)
		}
	}
	return running, unknown, idle
}

// serves tells whether a node is worth asking: one that does not run, by the word of its machine, or is frozen, is not.
func serves(ctx context.Context, n cluster.Node) bool {
	if n.Server == nil {
		return true
	}
	if running, err := n.Server.Running(ctx); err != nil || !running {
		return false
	}
	return !frozen(ctx, n)
}

func frozen(ctx context.Context, n cluster.Node) bool {
	if b, ok := cluster.As[cluster.Freezable](n.Server); ok {
		frozen, err := b.Frozen(ctx)
		return err != nil || frozen
	}
	return false
}

// member is a node's place in the ring; nil if it has none. Where nodes share a host the port tells them apart.
func (v view) member(n cluster.Node) *engine.Member {
	if len(n.Target.Addresses) == 0 {
		return nil
	}
	address := n.Target.Addresses[0]
	hosts := []string{host(address)}
	if v.ring != nil {
		hosts = append(hosts, v.ring.named[host(address)]...)
	}
	_, port, _ := net.SplitHostPort(address)
	var near *engine.Member
	for i, m := range v.Members {
		if !slices.Contains(hosts, host(m.Address)) {
			continue
		}
		if m.Address == net.JoinHostPort(host(m.Address), port) {
			return &v.Members[i]
		}
		if near == nil {
			near = &v.Members[i]
		}
	}
	return near
}

// host is an address without its port.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}

// named is how a member is shown: where it is, and the two letters that operators know.
func named(m engine.Member) string { return fmt.Sprintf("%s (%s)", host(m.Address), m.Code()) }

// unfit are the members, but for some, that are down or on their way in, out or elsewhere.
func (v view) unfit(but ...*engine.Member) []engine.Member {
	var all []engine.Member
	for _, m := range v.Members {
		if slices.ContainsFunc(but, func(b *engine.Member) bool { return b != nil && b.Host == m.Host }) {
			continue
		}
		if !m.Up || m.Part != engine.Normal {
			all = append(all, m)
		}
	}
	return all
}

// whole refuses to begin while the ring is not: two changes at once, or one beside a node that is down, would move ranges
// whose replicas are not all there.
func (v view) whole(ctx context.Context, but ...*engine.Member) error {
	if unfit := v.unfit(but...); len(unfit) > 0 {
		return v.refusal(ctx, unfit)
	}
	return nil
}

// moving is how much of the data that is under way between nodes has gone, and in how many transfers. The sender tells.
func (v view) moving(ctx context.Context) (sent, total int64, transfers int, err error) {
	all, err := v.db.Streams(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	for _, s := range all {
		if ended(s) || s.ToSend == 0 {
			continue
		}
		sent, total, transfers = sent+s.Sent, total+s.ToSend, transfers+1
	}
	return sent, total, transfers, nil
}

// often is how often a ring is asked how far it is.
const often = time.Second
