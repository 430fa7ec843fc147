package cql_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/engine"
	enginecql "plimsoll/engine/cql"
	"plimsoll/runbook/action"
)

// hangs freezes a node, as a host that is paused or waits for its disk would: its connections stay open, and it answers
// nothing. A load goes to the others meanwhile, and what would change the ring is refused.
func (w world) hangs(node string) {
	ctx := w.Context()
	n, err := w.site.Node(ctx, node)
	if err != nil {
		w.Fatal(err)
	}
	served, avoids, stop := w.serves()
	defer stop()
	w.until("the load is served", func() bool { return served() > 20 })
	if err := w.cluster.Freeze(ctx, node); err != nil {
		w.Fatal(err)
	}
	w.until("the load keeps away from it", func() bool { return slices.Contains(avoids(), n.Target.Addresses[0]) })
	before := served()
	w.until("the others serve", func() bool { return served() > before+20 })
	w.refuses(w.task("cql.decommission", "node: n2"), "it takes connections and answers nothing: it hangs")
	if err := w.cluster.Thaw(ctx, node); err != nil {
		w.Fatal(err)
	}
	w.until("the load returns to it", func() bool { return len(avoids()) == 0 })
	stop()
	if _, err := w.task("cql.wait-whole", "{}").Act(ctx, w.site, call(action.Finding{})); err != nil {
		w.Fatal(err)
	}
}

// serves reads from all nodes in turn until it is stopped: how often that went well so far, and of which nodes the load keeps
// away.
func (w world) serves() (served func() int64, avoids func() []string, stop func()) {
	target, err := w.cluster.Target()
	if err != nil {
		w.Fatal(err)
	}
	db, err := enginecql.Engine{}.Open(w.Context(), target)
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	var readers sync.WaitGroup
	var well atomic.Int64
	for range 12 { // more than wait for the one that hangs, which is tried once a second
		readers.Go(func() {
			again := time.NewTicker(100 * time.Millisecond)
			defer again.Stop()
			for ctx.Err() == nil {
				if read(ctx, db) == nil {
					well.Add(1)
				}
				select {
				case <-again.C:
				case <-ctx.Done():
				}
			}
		})
	}
	return well.Load, db.(engine.Avoiding).Avoids, sync.OnceFunc(func() {
		cancel()
		readers.Wait()
		_ = db.Close() // it was only read from
	})
}

// read reads once, with the patience of a service.
func read(ctx context.Context, db engine.Database) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	return session.Exec(ctx, "SELECT run FROM plimsoll.claim WHERE id = 1", nil)
}
