package cql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

var cleanupAction = action.Action{
	Name: "cql.cleanup", Version: 1,
	About: "Removes data from a node that other nodes own since the ring changed (nodetool cleanup).",
	New:   func() action.Task { return &upkeep{order: []string{"cleanup"}, kind: "cleanup"} },
}

var repairAction = action.Action{
	Name: "cql.repair", Version: 1,
	About: "Repairs a node's ranges: compares them with the other replicas and brings all to the same data (nodetool repair). By default its primary ranges, so that a repair of every node in turn compares each range once.",
	New:   func() action.Task { return &repair{} },
}

// validation is the kind of the tasks on files that a repair has.
const validation = "validation"

// upkeep is work that nodetool has a node do to its end; nothing tells afterwards that it was done.
type upkeep struct {
	Node     string `yaml:"node,required" doc:"Which node."`
	Keyspace string `yaml:"keyspace" doc:"The keyspace. Default: all."`

	order []string
	kind  string // of its tasks on files
}

var _ action.Verifier = (*upkeep)(nil)

// Traits says irreversible, and yet repeatable: what it does twice comes to the same.
func (u *upkeep) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// Check always finds it needed, and refuses while the ring is not whole, where nodetool cannot be run, a keyspace that is not there,
// and a node that is no member.
func (u *upkeep) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	f := action.CheckResult{State: action.Needed, Intended: action.Facts{"done": u.order[0]}}
	n, err := on.Node(ctx, u.Node)
	if err != nil {
		return f, err
	}
	if err := tooled(n); err != nil {
		return f, err
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return f, err
	}
	v, err := r.view(ctx, "")
	if err != nil {
		return f, err
	}
	if err := v.orderly(ctx, n); err != nil {
		return f, err
	}
	if v.member(n) == nil {
		return f, stranger(n)
	}
	if u.kind == validation && len(v.Members) == 1 { // nodetool would refuse: there is nothing to compare
		f.State, f.Reason = action.Satisfied, "the ring has no other member with a replica to compare with"
		return f, nil
	}
	if err := v.whole(ctx); err != nil || u.Keyspace == "" {
		return f, err
	}
	return f, there(ctx, on, v.node, u.Keyspace)
}

func (u *upkeep) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	n, err := on.Node(ctx, u.Node)
	if err != nil {
		return nil, err
	}
	order := u.order
	if u.Keyspace != "" {
		order = append(order[:len(order):len(order)], u.Keyspace)
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return nil, err
	}
	w := new(work)
	if u.kind == validation {
		w.compare = u.compares(ctx, on, r, n)
	} else if w.all, err = held(ctx, on, n, u.Keyspace); err == nil && w.all > 0 {
		c.Progress(0, "nodetool "+order[0]+" of "+megabytes(w.all))
	}
	ordered := make(chan error, 1)
	go func() {
		_, err := tool(ctx, n, order...)
		ordered <- err
	}()
	for {
		select {
		case err := <-ordered:
			return action.Facts{"done": order[0]}, err
		case <-time.After(time.Second):
			u.told(ctx, w, r, n, c)
		}
	}
}

// told reports what the node has done of the work on its files.
func (u *upkeep) told(ctx context.Context, w *work, r *ring, n cluster.Node, c action.Call) {
	v, err := r.viewOf(ctx, n)
	if err != nil {
		return // it is busy, and goes on
	}
	m := v.member(n)
	tasks, err := v.db.Tasks(ctx)
	if err != nil || m == nil {
		return // one that does not answer now may have tasks under way
	}
	w.look(tasks, u.kind, host(m.Address))
	share := w.share()
	if w.compare != nil {
		share = w.compare.share(ctx, v.db)
	}
	c.Progress(share, "nodetool "+u.order[0]+w.said())
}

// work is what a node was seen to do to its files.
type work struct {
	under map[string]engine.Task // by their ids
	tasks int                    // that were seen to end
	bytes int64                  // of those

	all     int64       // bytes that there were when a cleanup began; 0: not known
	compare *comparison // of a repair; nil: nothing tells how much there is
}

// share is how much of a cleanup is done, at least: a file of which nothing has to go is not read, and nobody tells that it was
// passed over. Negative if it is not known how much there is.
func (w *work) share() float64 {
	if w.all == 0 {
		return -1
	}
	done := w.bytes
	for _, t := range w.under {
		done += t.Done
	}
	return min(float64(done)/float64(w.all), 1)
}

// look takes in which tasks of a kind are under way now. Those that were, and are no more, have ended.
func (w *work) look(tasks []engine.Task, kind, node string) {
	now := map[string]engine.Task{}
	for _, t := range tasks {
		if host(t.Node) == node && strings.EqualFold(t.Kind, kind) {
			now[t.ID] = t
		}
	}
	for id, t := range w.under {
		if _, goesOn := now[id]; !goesOn {
			w.tasks, w.bytes = w.tasks+1, w.bytes+t.Total
		}
	}
	w.under = now
}

func (w *work) said() string {
	var done, total int64
	for _, t := range w.under {
		done, total = done+t.Done, total+t.Total
	}
	var said string
	if w.tasks > 0 {
		said = fmt.Sprintf(": %s in %d tasks done", megabytes(w.bytes), w.tasks)
	}
	if total > 0 {
		said += fmt.Sprintf("; %s of %s under way", megabytes(done), megabytes(total))
	}
	return said
}

// Verify finds that the node is a normal member.
func (u *upkeep) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	n, err := on.Node(ctx, u.Node)
	if err != nil {
		return err
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return err
	}
	v, err := r.viewOf(ctx, n)
	if err != nil {
		return err
	}
	if is := v.member(n); is == nil || is.Part != engine.Normal {
		return fmt.Errorf("node %s is not a normal member", n.Name)
	}
	return nil
}
