package bufferpool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// reader reads indexes and keeps to the rate.
type reader struct {
	session engine.Session
	warm    *warm
	tell    func(share float64, text string)
	total   float64 // bytes
	done    float64 // bytes
	began   time.Time
	chunk   int // entries, as many as take about pace
}

const (
	firstChunk  = 1000
	mostEntries = 1 << 20
	pace        = 100 * time.Millisecond // of a chunk: short enough to be cut off, long enough to cost nothing
)

// settings of the session: dirty reads, because what is read is thrown away and nothing must be kept or rebuilt for it.
var settings = []string{
	"SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
	"SET SESSION time_zone = '+00:00'", // a moment that is read stands at the same place when it is sent back
}

func (r *reader) run(ctx context.Context, on *cluster.Cluster, all []index) (action.Facts, error) {
	for _, text := range settings {
		if err := r.session.Exec(ctx, text, nil); err != nil {
			return nil, err
		}
	}
	id, err := number(ctx, r.session, "SELECT CONNECTION_ID()")
	if err != nil {
		return nil, err
	}
	from, err := count(ctx, r.session)
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		if err := r.read(ctx, i); err != nil {
			return nil, errors.Join(fmt.Errorf("read %s: %w", i, err), r.kill(ctx, on, id))
		}
	}
	to, err := count(ctx, r.session)
	if err != nil {
		return nil, err
	}
	read := to.read() - from.read() // for whomever they were read
	return action.Facts{
		"indexes": len(all), "bytes": r.total, "seconds": time.Since(r.began).Seconds(), "pages_from_disk": read, "in_memory": hadInMemory(all, read),
	}, nil
}

// hadInMemory is the share of the leaves that need not have been read from disk, from 0 to 1. Every page that was read counts against it.
func hadInMemory(all []index, read float64) float64 {
	leaves := 0.0
	for _, i := range all {
		leaves += i.leaves
	}
	if leaves == 0 {
		return 1
	}
	return max(0, 1-read/leaves)
}

func (r *reader) read(ctx context.Context, i index) error {
	if i.oneGo != "" {
		r.tell(r.share(), i.String()+", in one query: "+i.oneGo)
		if _, err := query(ctx, r.session, i.whole()); err != nil {
			return err
		}
		return r.book(ctx, i.bytes(), i)
	}
	w := walk{session: r.session, index: i, from: r.warm.From, to: r.warm.To}
	each := i.bytes() / max(i.rows, 1) // bytes of an entry
	before := r.done
	r.chunk = firstChunk
	for {
		entries := r.entries(each)
		began := time.Now()
		done, err := w.next(ctx, entries)
		if err != nil {
			return err
		}
		r.adapt(time.Since(began))
		if done {
			r.done = before
			return r.book(ctx, i.bytes(), i)
		}
		most := before + i.bytes() - r.done // statistics may be old: an index is never more than all of itself
		if err := r.book(ctx, min(float64(entries)*each, most), i); err != nil {
			return err
		}
	}
}

// entries is how long the next chunk may be: at the rate, no more than half a second of it.
func (r *reader) entries(each float64) int {
	n := r.chunk
	if r.warm.Rate > 0 && each > 0 {
		n = min(n, int(float64(r.warm.Rate)/2/each)+1)
	}
	return n
}

// adapt makes chunks as long as they should be on this disk.
func (r *reader) adapt(took time.Duration) {
	ratio := float64(pace) / float64(max(took, time.Millisecond))
	r.chunk = min(max(int(float64(r.chunk)*min(max(ratio, 0.25), 4)), 100), mostEntries)
}

// book counts what was read, tells of it, and waits until the rate allows more.
func (r *reader) book(ctx context.Context, bytes float64, i index) error {
	r.done += bytes
	r.tell(r.share(), fmt.Sprintf("%s, %s of %s", i, size(r.done), size(r.total)))
	if r.warm.Rate == 0 {
		return ctx.Err()
	}
	due := time.Duration(r.done / float64(r.warm.Rate) * float64(time.Second))
	timer := time.NewTimer(due - time.Since(r.began))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *reader) share() float64 {
	if r.total == 0 {
		return -1
	}
	return min(r.done/r.total, 1)
}

// kill ends a statement that was cut off: a server notices a client that has gone only when it has something to send.
func (r *reader) kill(ctx context.Context, on *cluster.Cluster, id float64) error {
	if ctx.Err() == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := on.Execute(ctx, r.warm.Node, []string{admin.Kill(fmt.Sprintf("%.0f", id))}, func(int) {})
	if engine.CodeOf(err) == "1094" {
		return nil // no such thread: it has ended
	}
	return err
}
