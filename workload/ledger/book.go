package ledger

import (
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/workload"
)

// entry is what is known of one write: eight bytes, because there are millions. Its number is its place.
type entry struct {
	sum   uint32
	acked workload.Moment
}

// inDoubt is when a write was acknowledged that ended in an error.
const inDoubt = ^workload.Moment(0)

// book is the ledger of one run, of all workers.
type book struct {
	run    int64 // tells its rows from those of others
	begun  time.Time
	reads  atomic.Int64 // checked
	breaks atomic.Int64 // connections lost, and sought again

	mu       sync.Mutex
	accounts []*account // by worker; nil where there is none
	unseen   []sighting // acknowledged before, and not there when it was read
	stale    []workload.Moment
	corrupt  map[row]workload.Moment // that a read found so
}

// row names a row: one of a worker's writes, by its number, or its register.
type row struct {
	worker int
	number int64
}

// register is the number of the row that a worker overwrites.
const register = -1

// sighting is a read that began at a moment and did not find a row.
type sighting struct {
	row
	at workload.Moment
}

func newBook(run int64) *book {
	return &book{run: run, begun: time.Now(), corrupt: map[row]workload.Moment{}}
}

// now is the moment.
func (b *book) now() workload.Moment { return workload.Moment(time.Since(b.begun).Milliseconds()) }

// account returns that of a worker.
func (b *book) account(worker int) *account {
	b.mu.Lock()
	defer b.mu.Unlock()
	for worker >= len(b.accounts) {
		b.accounts = append(b.accounts, nil)
	}
	if b.accounts[worker] == nil {
		b.accounts[worker] = &account{worker: worker}
	}
	return b.accounts[worker]
}

// all returns every account.
func (b *book) all() []*account {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []*account
	for _, a := range b.accounts {
		if a != nil {
			all = append(all, a)
		}
	}
	return all
}

// other is the account of a worker drawn by number; nil if there is none yet.
func (b *book) other(draw func(n int) int) *account {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.accounts[draw(len(b.accounts))]
}

func (b *book) missed(r row, at workload.Moment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unseen = append(b.unseen, sighting{r, at})
}

func (b *book) outdated(at workload.Moment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stale = append(b.stale, at)
}

func (b *book) spoilt(r row, acked workload.Moment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.corrupt[r] = acked
}

// account is one worker's writes, in the order in which they were issued. The worker adds to it, and everyone may read it.
type account struct {
	worker int

	mu    sync.Mutex
	pages []*page
	size  int64

	tried     int64 // the highest version of the register that was written; the worker's own
	confirmed version
}

// version is one of a register that was acknowledged.
type version struct {
	number int64
	acked  workload.Moment
	breaks int64 // connections lost before: after another, it may be lost as well
}

// page holds entries. They are added page by page, so that a ledger takes little more than it holds.
type page [8192]entry

// next is the number of the worker's next write.
func (a *account) next() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.size
}

// add enters the write of that number, when it has ended.
func (a *account) add(e entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.size % int64(len(page{}))
	if at == 0 {
		a.pages = append(a.pages, new(page))
	}
	a.pages[len(a.pages)-1][at] = e
	a.size++
}

// at is the entry of a write that has ended.
func (a *account) at(number int64) entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pages[number/int64(len(page{}))][number%int64(len(page{}))]
}

// recent is an acknowledged write, so many before the last if there are as many.
func (a *account) recent(back int64) (number int64, e entry, ok bool) {
	a.mu.Lock()
	last := a.size - 1
	a.mu.Unlock()
	for number := max(last-back, 0); number <= last; number++ {
		if e := a.at(number); e.acked != inDoubt {
			return number, e, true
		}
	}
	return 0, entry{}, false
}

// confirm says that a version of the register was acknowledged.
func (a *account) confirm(v version) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.confirmed = v
}

// latest is the last version of the register that was acknowledged.
func (a *account) latest() version {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.confirmed
}
