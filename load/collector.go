package load

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// collectEvery is how many bytes are allocated, at least, between two collections while a load runs. With a few MiB in use the collector
// would otherwise run every few hundred operations of a driver that allocates, at a third of its processor time.
const collectEvery = 64 << 20

// collector holds the process's garbage collection back while loads run. The zero value is ready to use.
type collector struct {
	mu      sync.Mutex
	running int
	before  int // the percentage in force before the first of them
}

var processCollector collector // garbage collection belongs to the process

// holdBack makes collections rarer until release is called.
func (c *collector) holdBack() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running++; c.running == 1 {
		c.before = debug.SetGCPercent(percentFor(liveHeap()))
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.running--; c.running == 0 {
			debug.SetGCPercent(c.before)
		}
	}
}

// percentFor is the growth of a heap of so many bytes after which it is to be collected, as debug.SetGCPercent takes it: never less
// than the runtime's own 100.
func percentFor(live uint64) int {
	return int(max(100, min(collectEvery*100/max(live, 1), 6400)))
}

// liveHeap is how many bytes the last collection left.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
