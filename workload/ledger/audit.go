package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/workload"
)

// Audit reads all rows of the ledger back.
func (w *ledger) Audit(ctx context.Context, db engine.Database, tell workload.Progress) (*workload.Audit, error) {
	if w.book == nil {
		return nil, errors.New("audit the ledger: it was never begun")
	}
	if tell == nil {
		tell = func(int64, int64, string) {}
	}
	a := &auditor{
		of: w, db: db, tell: tell, unseen: map[row][]workload.Moment{}, corrupt: maps.Clone(w.book.corrupt),
		result: &workload.Audit{Begun: w.book.begun, Reads: w.book.reads.Load(), Stale: slices.Clone(w.book.stale)},
	}
	for _, s := range w.book.unseen {
		a.unseen[s.row] = append(a.unseen[s.row], s.at)
	}
	accounts := w.book.all()
	for _, account := range accounts {
		a.total += account.size
	}
	if err := a.all(ctx, accounts); err != nil {
		return nil, fmt.Errorf("audit the ledger: %w", err)
	}
	for _, acked := range a.corrupt {
		a.result.Corrupt = append(a.result.Corrupt, acked)
	}
	for _, moments := range [][]workload.Moment{a.result.Lost, a.result.Duplicated, a.result.Corrupt, a.result.Stale} {
		slices.Sort(moments)
	}
	return a.result, nil
}

// auditor compares what is there with what was acknowledged.
type auditor struct {
	of     *ledger
	db     engine.Database
	tell   workload.Progress
	unseen map[row][]workload.Moment // when reads did not find what had been acknowledged
	total  int64

	mu      sync.Mutex // guards what follows
	done    int64
	corrupt map[row]workload.Moment
	result  *workload.Audit
}

// auditors is how many sessions read side by side.
const auditors = 8

func (a *auditor) all(ctx context.Context, accounts []*account) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan *account, len(accounts))
	for _, account := range accounts {
		work <- account
	}
	close(work)
	var reading sync.WaitGroup
	for range min(len(accounts), auditors) {
		reading.Go(func() {
			if err := a.some(ctx, work); err != nil {
				cancel(err)
			}
		})
	}
	reading.Wait()
	return context.Cause(ctx)
}

// some audits accounts over one session.
func (a *auditor) some(ctx context.Context, work <-chan *account) error {
	text, most := a.of.store.auditing()
	var c *workload.Connection
	err := persist(ctx, func() (err error) {
		c, err = workload.Dial(ctx, a.db, []string{text})
		return err
	})
	if err != nil {
		return err
	}
	defer c.Close()
	for account := range work {
		for from := int64(0); from < account.size; from += most {
			if err := a.rows(ctx, c, account, from, min(from+most, account.size)); err != nil {
				return err
			}
		}
		if account.tried > 0 {
			if err := a.register(ctx, c, account); err != nil {
				return err
			}
		}
	}
	return nil
}

// read looks at rows until the server answers: it may have come back a moment ago.
func (a *auditor) read(ctx context.Context, c *workload.Connection, worker int, from, to int64) (map[int64]found, error) {
	var rows map[int64]found
	err := persist(ctx, func() error {
		rows = map[int64]found{}
		err := a.of.store.several(ctx, c, a.of.book.run, worker, from, to, func(f found) {
			f.text = slices.Clone(f.text)
			rows[f.number] = f
		})
		if workload.Lost(err) {
			err = errors.Join(err, c.Reconnect(ctx))
		}
		return err
	})
	return rows, err
}

// rows holds a range of an account against the database.
func (a *auditor) rows(ctx context.Context, c *workload.Connection, of *account, from, to int64) error {
	rows, err := a.read(ctx, c, of.worker, from, to)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	last := workload.Moment(0) // acknowledged before
	for number := from; number < to; number++ {
		e := of.at(number)
		f, there := rows[number]
		a.count(row{of.worker, number}, e, f, there, last)
		if e.acked != inDoubt {
			last = e.acked
		}
	}
	a.done += to - from
	a.tell(a.done, a.total, "ledger")
	return nil
}

// count books what became of one write.
func (a *auditor) count(r row, e entry, f found, there bool, last workload.Moment) {
	if e.acked == inDoubt {
		a.result.InDoubt++
		if !there {
			return
		}
		a.result.Found++
		e.acked = last
	} else {
		a.result.Acknowledged++
		a.result.Acks.Add(e.acked)
		if !there {
			a.result.Lost = append(a.result.Lost, e.acked)
			return
		}
	}
	a.result.Stale = append(a.result.Stale, a.unseen[r]...)
	if f.copies > 1 {
		a.result.Duplicated = append(a.result.Duplicated, e.acked)
	}
	if seen, readable := parseContent(f.text); !readable || seen.sum != e.sum || !seen.intact(a.of.book.run, r) {
		a.corrupt[r] = e.acked
	}
}

// register holds a worker's register to the last version that was acknowledged.
func (a *auditor) register(ctx context.Context, c *workload.Connection, of *account) error {
	rows, err := a.read(ctx, c, of.worker, register, register+1)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r, known := row{of.worker, register}, of.latest()
	f, there := rows[register]
	seen, readable := parseContent(f.text)
	switch {
	case !there:
		a.result.Lost = append(a.result.Lost, known.acked)
	case !readable || !seen.intact(a.of.book.run, r) || seen.version > of.tried:
		a.corrupt[r] = known.acked
	case seen.version < known.number:
		a.result.Lost = append(a.result.Lost, known.acked)
	}
	return nil
}

// How long a database that does not answer is asked again.
const (
	patience = time.Minute
	pause    = 200 * time.Millisecond
)

// persist repeats what fails because the database is not to be had, for a while.
func persist(ctx context.Context, try func() error) error {
	until := time.Now().Add(patience)
	for {
		err := try()
		retry := err != nil && (workload.Lost(err) || engine.ClassOf(err) == engine.Unavailable || engine.ClassOf(err) == engine.Timeout)
		if !retry || time.Now().After(until) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
