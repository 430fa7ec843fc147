package advisecmd

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"plimsoll/advise"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/inventory"
	"plimsoll/lab"
)

// countersFollowed is a look at a server's counters that goes on beside the look at its memory.
type countersFollowed struct {
	node     cluster.Node
	replicas bool // other servers follow it
	all      sync.WaitGroup
	found    *advise.Seen
	err      error
}

// followCounters begins to look at the counters of a node.
func followCounters(ctx context.Context, on *cluster.Cluster, name string, inv *inventory.Inventory, deps lab.Deps, span time.Duration) (*countersFollowed, error) {
	node, err := askedNode(ctx, on, name)
	if err != nil {
		return nil, err
	}
	nodes, err := on.List(ctx)
	if err != nil {
		return nil, err
	}
	f := &countersFollowed{node: node, replicas: len(nodes) > 1}
	f.all.Go(func() {
		f.found, f.err = lookAtServer(ctx, console.Streams{Out: io.Discard, Err: io.Discard}, on, node, inv, deps, span) // the look at the memory shows the progress
	})
	return f, nil
}

func (f *countersFollowed) wait() { f.all.Wait() }

// seen is what the counters showed; where they could not be read, a sentence says so, and the rest of the advice does without.
func (f *countersFollowed) seen() (*advise.Seen, string) {
	f.all.Wait()
	if f.err != nil {
		return nil, fmt.Sprintf("Commits: Plimsoll could not read the server's counters once a second: %v.", f.err)
	}
	return f.found, ""
}
