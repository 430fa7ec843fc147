package cluster

import (
	"context"
	"sync"
	"time"

	"plimsoll/engine"
)

// LookTime is how long a node may let a plan wait for its database, over all that the plan asks. It is less than a change has patience for: a plan
// says what is, and whoever judges by a node's silence asks again.
const LookTime = 4 * time.Second

// impatience remembers, for one look at a cluster, which nodes let it wait in vain: a frozen server would let every question wait anew.
type impatience struct {
	mu     sync.Mutex
	silent map[string]bool
}

// WaitOnce has a cluster, and all that is made of it from now on with ReadOnly, wait for each node once: one that has let a question wait for
// LookTime is not asked again. It is for a plan, which looks at every node many times, and is closed with its cluster. If a node was silent when all
// were asked for their parts, all are asked at once first, so that those which do not answer are waited for together. A ring, whose members answer
// for one another and take their time, is left as it is.
func WaitOnce(ctx context.Context, on *Cluster) {
	if on.roles == nil || on.impatience != nil {
		return
	}
	if _, err := on.Primary(ctx); err != nil && ctx.Err() != nil {
		return
	}
	late, plays := on.roles.lately()
	if !plays {
		return
	}
	on.impatience = &impatience{silent: map[string]bool{}}
	nodes, err := on.List(ctx)
	if err != nil || !late {
		return // whoever asks next says so
	}
	var asking sync.WaitGroup
	for _, n := range nodes {
		if on.Hangs(n.Name) { // it was waited for already
			on.impatience.note(n.Name)
			continue
		}
		asking.Go(func() { _, _ = on.Database(ctx, n.Name) }) // it is remembered who does not answer
	}
	asking.Wait()
}

// within opens a database as far as there is patience for its node.
func (i *impatience) within(ctx context.Context, node string, open func(context.Context) (engine.Database, error)) (engine.Database, error) {
	if i == nil {
		return open(ctx)
	}
	if i.is(node) {
		return nil, errSilent
	}
	limited, cancel := context.WithTimeout(ctx, LookTime)
	defer cancel()
	db, err := open(limited)
	if limited.Err() != nil && ctx.Err() == nil {
		i.note(node)
		return nil, errSilent
	}
	return db, err
}

func (i *impatience) is(node string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.silent[node]
}

func (i *impatience) note(node string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.silent[node] = true
}

var errSilent error = &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "it does not answer within " + LookTime.String() + ": check for a firewall in between, or a frozen server"}
