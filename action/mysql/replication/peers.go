package replication

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// peer is another node of a cluster, with what it says of itself.
type peer struct {
	name    string
	address string // where other servers reach it
	is      engine.ReplicationStatus
	silent  error // why it does not answer
}

func (p peer) answers() bool { return p.silent == nil }

// leads tells whether a server accepts writes and replicates from nobody.
func (p peer) leads() bool { return p.answers() && p.is.Primary() }

// writable tells whether a server lets clients write, whatever it replicates from.
func (p peer) writable() bool { return p.answers() && !p.is.ReadOnly }

// stands tells whether a server that is set up to replicate does not.
func (p peer) stands() bool {
	return len(p.is.Sources) > 0 && !slices.ContainsFunc(p.is.Sources, func(s engine.Source) bool { return s.Receives || s.Applies })
}

// despite says, behind that a server accepts writes, that it is set up as a replica; "" for one that is not.
func (p peer) despite() string {
	if len(p.is.Sources) == 0 {
		return ""
	}
	return ", although it is set up to replicate from " + p.is.Follows()
}

// refusesUs tells whether a server runs and says so, and does not let us in.
func (p peer) refusesUs() bool {
	class := engine.ClassOf(p.silent)
	return class == engine.Overloaded || class == engine.Denied
}

// silence says how it is that a node does not tell which part it plays: a server that refuses the account answers.
func (p peer) silence() string {
	if engine.ClassOf(p.silent) == engine.Denied {
		return "refuses the account of Plimsoll"
	}
	return "does not answer"
}

// ask asks all nodes of a cluster at the same time which parts they play.
func ask(ctx context.Context, on *cluster.Cluster) ([]peer, error) { return askBut(ctx, on, "") }

// askBut asks all nodes but one, of which it is known that it does not answer.
func askBut(ctx context.Context, on *cluster.Cluster, but string) ([]peer, error) {
	return askFor(ctx, on, but, func(string) time.Duration { return patience })
}

// askFor asks all nodes but one, and says how long each of them may take to answer.
func askFor(ctx context.Context, on *cluster.Cluster, but string, patience func(node string) time.Duration) ([]peer, error) {
	nodes, err := on.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n cluster.Node) bool { return n.Name == but })
	all := make([]peer, len(nodes))
	var asking sync.WaitGroup
	for i, n := range nodes {
		asking.Go(func() {
			address := ""
			if len(n.Target.Addresses) > 0 {
				address = withPort(n.Target.Addresses[0])
			}
			all[i] = askOne(ctx, on, n.Name, address, patience(n.Name))
		})
	}
	asking.Wait()
	return all, ctx.Err()
}

// askOne asks one node.
func askOne(ctx context.Context, on *cluster.Cluster, node, address string, patience time.Duration) peer {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	is, err := statusOf(limited, on, node)
	if err != nil && limited.Err() == nil { // a connection that was cut meanwhile is made anew
		is, err = statusOf(limited, on, node)
	}
	return peer{name: node, address: address, is: is, silent: err}
}

// peers are the other nodes.
func (s *server) peers(ctx context.Context) ([]peer, error) {
	all, err := ask(ctx, s.on)
	var others []peer
	for _, p := range all {
		if p.name != s.name() {
			others = append(others, p)
		}
	}
	return others, err
}
