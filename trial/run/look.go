package run

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/trial/judge"
)

// look asks every node at once. One that does not answer is left out; an engine that cannot tell gives nothing.
func (w *watch) look(ctx context.Context) judge.Memory {
	w.follow(ctx, lookTime)
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	seen := judge.Memory{}
	var one sync.Mutex
	var asking sync.WaitGroup
	for _, node := range w.servers.serving() {
		caches, ok := engine.As[engine.PageCaching](w.bases[node])
		if !ok {
			continue
		}
		asking.Go(func() {
			sum := int64(0)
			for _, namespace := range w.of {
				pages, err := caches.InMemory(ctx, namespace)
				if err != nil {
					return
				}
				sum += pages
			}
			one.Lock()
			seen[node] = sum
			one.Unlock()
		})
	}
	asking.Wait()
	return seen
}

// Looks are taken while a change is made too, because a load warms a node from its first second on; but a look that takes
// long is not taken often.
const (
	lookEvery = 250 * time.Millisecond
	lookTime  = 2 * time.Second // that a node may take
	lookShare = 10              // the time between looks, in times that a look takes
	lastLooks = 5 * time.Second // that nodes which run may take to answer when a change is done
)

// attend keeps looking at the nodes until a change is done, then at those that came with it too.
func (d *cellRun) attend(ctx context.Context, change *judge.PhaseRecord, done <-chan error) error {
	for {
		began := time.Now()
		seen := d.watch.look(ctx)
		maps.DeleteFunc(seen, func(node string, _ int64) bool { _, was := change.Before[node]; return !was })
		change.Remember(seen)
		wait := time.NewTimer(max(lookEvery, lookShare*time.Since(began)))
		select {
		case err := <-done:
			wait.Stop()
			d.lookAfter(ctx, change)
			return err
		case <-wait.C:
		}
	}
}

// lookAfter looks at the nodes when a change is done. A node that runs and did not answer is asked again for a while, and so is
// which of them is the primary: on a busy machine one question may come too late, and what it was to tell would be missing.
func (d *cellRun) lookAfter(ctx context.Context, change *judge.PhaseRecord) {
	began := time.Now()
	for {
		seen := d.watch.look(ctx)
		nodes, primary := d.servers.shown(ctx)
		complete := (primary != "" || !slices.Contains(nodes, change.Primary)) && !slices.ContainsFunc(nodes, func(node string) bool {
			_, had := change.Before[node]
			_, has := seen[node]
			return had && !has
		})
		if complete || time.Since(began) > lastLooks || ctx.Err() != nil {
			change.Remember(seen)
			change.Assign(nodes, primary)
			return
		}
		again := time.NewTimer(lookEvery)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
		}
	}
}
