package workload

import (
	"sync"
	"sync/atomic"
)

// Keys numbers the rows that operations add, across workers, and tells how many rows are there for others to pick from: a
// row counts once it and all before it are settled, that is acknowledged by the database, or given up after an error.
type Keys struct {
	rows atomic.Int64

	mu      sync.Mutex
	next    int64
	settled []bool // of the rows from rows to next-1, as a ring
}

// NewKeys begins after so many rows that are there.
func NewKeys(rows int64) *Keys {
	k := &Keys{next: rows, settled: make([]bool, 1024)}
	k.rows.Store(rows)
	return k
}

// Rows returns how many rows are there: 0 to Rows()-1.
func (k *Keys) Rows() int64 { return k.rows.Load() }

// Take returns the number of a row to add. It must be settled, whatever comes of it.
func (k *Keys) Take() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	first := k.rows.Load()
	if k.next-first == int64(len(k.settled)) {
		larger := make([]bool, 2*len(k.settled))
		for n := first; n < k.next; n++ {
			larger[n%int64(len(larger))] = k.settled[n%int64(len(k.settled))]
		}
		k.settled = larger
	}
	k.next++
	return k.next - 1
}

// Settle says that a row taken is there, or that it never will be.
func (k *Keys) Settle(row int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	size := int64(len(k.settled))
	k.settled[row%size] = true
	first := k.rows.Load()
	for first < k.next && k.settled[first%size] {
		k.settled[first%size] = false
		first++
	}
	k.rows.Store(first)
}
