package workload

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Keys numbers the rows that operations add, across workers, and tells how many rows are there for others to pick from: a
// row counts once it and all before it are settled, that is acknowledged by the database, or given up after an error.
type Keys struct {
	base int64   // rows that were there before anybody added one
	gaps []int64 // numbers of rows that were not, which are added first
	next int64   // number of the first row after all others, of this part or another
	part Part
	rows atomic.Int64

	mu      sync.Mutex
	taken   int64  // counts on from base
	settled []bool // of the rows from rows to taken-1, as a ring
}

// NewKeys begins after so many rows that are there.
func NewKeys(rows int64) *Keys { return Part{}.Keys(Present{Whole: rows, Next: rows}) }

// Rows returns how many rows are known to be there. Row tells the number of each.
func (k *Keys) Rows() int64 { return k.rows.Load() }

// Row returns the number of the i-th row that is there, i from 0 to Rows()-1: i itself, unless other processes add
// rows too, or did before.
func (k *Keys) Row(i int64) int64 {
	if i < k.base {
		return i
	}
	if i -= k.base; i < int64(len(k.gaps)) {
		return k.gaps[i]
	}
	return k.next + (i-int64(len(k.gaps)))*k.part.of() + int64(k.part.Index)
}

// index is the reverse of Row.
func (k *Keys) index(row int64) int64 {
	if row < k.next {
		i, _ := slices.BinarySearch(k.gaps, row)
		return k.base + int64(i)
	}
	return k.base + int64(len(k.gaps)) + (row-k.next)/k.part.of()
}

// Take returns the number of a row to add. It must be settled, whatever comes of it.
func (k *Keys) Take() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	first := k.rows.Load()
	if k.taken-first == int64(len(k.settled)) {
		larger := make([]bool, 2*len(k.settled))
		for n := first; n < k.taken; n++ {
			larger[n%int64(len(larger))] = k.settled[n%int64(len(k.settled))]
		}
		k.settled = larger
	}
	k.taken++
	return k.Row(k.taken - 1)
}

// Settle says that a row taken is there, or that it never will be.
func (k *Keys) Settle(row int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	size := int64(len(k.settled))
	k.settled[k.index(row)%size] = true
	first := k.rows.Load()
	for first < k.taken && k.settled[first%size] {
		k.settled[first%size] = false
		first++
	}
	k.rows.Store(first)
}
