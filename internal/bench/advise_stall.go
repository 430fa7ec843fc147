package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"plimsoll/advise/memory"
	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/lab"
)

// The goals of what a list of the cached pages may cost a server.
const (
	mostP99  = 50 * time.Millisecond
	mostLost = 0.005 // of the throughput
)

// listBudget is the share of the time that lists take, as advise memory takes them.
const listBudget = 0.05

// adviseStall fills the pool of a MariaDB and of a MySQL with small pages, reads rows of it all the while, and takes lists of the pages in every
// other round: what a point select waits for then, and how many fewer there are. A list holds the server up for as long as it keeps the pool's
// lock, each time about as long, and what else the machine does adds to it: so the shortest of the longest waits of all lists is an upper bound.
func adviseStall(ctx context.Context, o options) error {
	for _, product := range []string{"mariadb", "mysql"} {
		if err := o.stallOf(ctx, product); err != nil {
			return fmt.Errorf("%s: %w", product, err)
		}
	}
	return nil
}

func (o options) stallOf(ctx context.Context, product string) (err error) {
	const page = 4 << 10 // the smallest: most pages for the memory that there is
	pool := int64(o.pages) * page * 11 / 10
	target, release, err := o.server(ctx, lab.Spec{Name: "bench", Product: product, Config: map[string]string{
		"innodb_page_size": "4k", "innodb_buffer_pool_size": fmt.Sprintf("%dM", pool>>20), "innodb_flush_log_at_trx_commit": "2", "innodb_doublewrite": "0",
		"innodb_buffer_pool_load_at_startup": "0",
	}})
	if err != nil {
		return err
	}
	defer release()
	e, err := catalog.EngineOf(target)
	if err != nil {
		return err
	}
	db, err := e.Open(ctx, target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := fillPool(ctx, target, o.pages)
	if err != nil {
		return err
	}
	cache, err := db.(engine.PageCaching).PageCache(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d pages of %d bytes in %d parts of the pool\n\n", product, cache.Data, cache.PageSize, max(cache.Parts, 1))
	switch took, err := memory.Pilot(ctx, db, memory.Options{MaxStall: mostP99}); {
	case err != nil:
		fmt.Printf("The pilot scan of advise memory ends it there: %v.\n\n", err)
	default:
		fmt.Printf("The pilot scan of advise memory took %v, and lets it go on.\n\n", took.Round(time.Millisecond))
	}
	fmt.Println("| lists | the server's processor time for one | lists taken | one takes | p99 without | p99 while a list is made | a list holds up at most | selects with lists, of those without | the goals |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, way := range stallWays(cache) {
		if err := o.stallBy(ctx, target, db, rows, way); err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
	}
	fmt.Println()
	return nil
}

// listing is a way to take a list.
type listing struct {
	name string
	list func(ctx context.Context, db engine.Database) (func(context.Context) error, func(context.Context) error, error) // take one; clean up
}

func stallWays(cache engine.PageCache) []listing {
	bySQL := func(every int) listing {
		return listing{fmt.Sprintf("SQL, one page of %d", every), func(_ context.Context, db engine.Database) (func(context.Context) error, func(context.Context) error, error) {
			return func(ctx context.Context) error { _, err := db.(engine.PageCaching).CachedPages(ctx, every); return err },
				func(context.Context) error { return nil }, nil
		}}
	}
	const followed = 200_000 // as advise memory follows them
	return []listing{{"the server's dump", byFile}, bySQL(max(int(cache.Data/followed), 1)), bySQL(32)}
}

func byFile(ctx context.Context, db engine.Database) (take, clean func(context.Context) error, err error) {
	paged, ok := engine.As[engine.PageCaching](db)
	if !ok {
		return nil, nil, errors.New("this server writes no list")
	}
	file, err := paged.PageListFile(ctx)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context) error {
		if err := os.Remove(file.Path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := file.Write(ctx); err != nil {
			return err
		}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			if _, err := os.Stat(file.Path()); err == nil {
				return nil
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}, file.Close, nil
}

// fillPool makes a table of which two rows fill a page, and as many rows as the pages take; they are in memory then.
func fillPool(ctx context.Context, target engine.Target, pages int) (rows int, err error) {
	sessions, err := connect(ctx, target, 1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, closeAll(sessions)) }()
	rows = 2 * pages
	texts := []string{"CREATE TABLE items (id INT PRIMARY KEY, body VARCHAR(1700) CHARACTER SET latin1 NOT NULL)", "INSERT INTO items VALUES (1, REPEAT('x', 1700))"}
	const batch = 200_000 // rows in a statement, so that no undo log grows without end
	for n := 1; n < rows; {
		more := min(n, rows-n, batch)
		texts = append(texts, fmt.Sprintf("INSERT INTO items SELECT id + %d, body FROM items WHERE id <= %d", n, more))
		n += more
	}
	for _, text := range append(texts, "SELECT SUM(LENGTH(body)) FROM items") {
		if err := sessions[0].Exec(ctx, text, nil); err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// span is from when until when something went on.
type span struct{ from, to time.Time }

// roundSeen is what was seen in a round.
type roundSeen struct {
	done   int           // point selects of those that ask as fast as they can
	took   time.Duration // the round
	probes []span        // questions that were to be asked at fixed moments, from these on
	lists  []span
}

const askers = 4

// probeEvery is how often a question is asked whose waiting is measured; one that comes late because the one before waited counts from when it was due.
const probeEvery = 2 * time.Millisecond

// round reads rows for a while, and takes lists meanwhile where there is one to take.
func round(ctx context.Context, target engine.Target, rows int, long time.Duration, take func(context.Context) error) (a roundSeen, err error) {
	sessions, err := connect(ctx, target, askers+1)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, closeAll(sessions)) }()
	var looks []engine.Statement
	for _, s := range sessions {
		look, err := s.Prepare(ctx, "SELECT id FROM items WHERE id = ?")
		if err != nil {
			return a, err
		}
		looks = append(looks, look)
	}
	began := time.Now()
	end := began.Add(long)
	var all sync.WaitGroup
	done, failed := make([]int, askers), make([]error, askers+2)
	for n := range askers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 1)) //nolint:gosec // a load, not a secret
			for time.Now().Before(end) && failed[n] == nil {
				failed[n] = looks[n].Exec(ctx, []engine.Value{engine.Int(random.Int64N(int64(rows)) + 1)}, nil)
				done[n]++
			}
		})
	}
	all.Go(func() {
		random := rand.New(rand.NewPCG(askers, 1)) //nolint:gosec // a load, not a secret
		tick := time.NewTicker(probeEvery / 2)
		defer tick.Stop()
		for due := began; due.Before(end) && failed[askers] == nil; due = due.Add(probeEvery) {
			for time.Now().Before(due) {
				<-tick.C
			}
			failed[askers] = looks[askers].Exec(ctx, []engine.Value{engine.Int(random.Int64N(int64(rows)) + 1)}, nil)
			a.probes = append(a.probes, span{due, time.Now()})
		}
	})
	if take != nil {
		all.Go(func() {
			for time.Now().Before(end) && failed[askers+1] == nil {
				from := time.Now()
				failed[askers+1] = take(ctx)
				now := time.Now()
				a.lists = append(a.lists, span{from, now})
				rest := time.NewTimer(time.Duration(float64(now.Sub(from)) * (1/listBudget - 1)))
				select {
				case <-rest.C:
				case <-time.After(time.Until(end)):
					rest.Stop()
				}
			}
		})
	}
	all.Wait()
	a.took = time.Since(began)
	for _, n := range done {
		a.done += n
	}
	return a, errors.Join(failed...)
}

// longest is for each list the longest wait of a probe while it was made.
func (a roundSeen) longest() (waits []time.Duration) {
	for _, l := range a.lists {
		most := time.Duration(0)
		for _, p := range a.probes {
			if p.to.After(l.from) && p.from.Before(l.to) {
				most = max(most, p.to.Sub(p.from))
			}
		}
		waits = append(waits, most)
	}
	return waits
}

// during are the waits of the probes that were under way while a list was made.
func (a roundSeen) during() (waits []time.Duration) {
	for _, p := range a.probes {
		if slices.ContainsFunc(a.lists, func(l span) bool { return p.to.After(l.from) && p.from.Before(l.to) }) {
			waits = append(waits, p.to.Sub(p.from))
		}
	}
	return waits
}

func (a roundSeen) waits() (waits []time.Duration) {
	for _, p := range a.probes {
		waits = append(waits, p.to.Sub(p.from))
	}
	return waits
}

func (o options) stallBy(ctx context.Context, target engine.Target, db engine.Database, rows int, way listing) (err error) {
	take, clean, err := way.list(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clean(context.WithoutCancel(ctx))) }()
	alone, err := processorTimeOf(ctx, target, take)
	if err != nil {
		return err
	}
	long := time.Duration(o.seconds) * time.Second
	var ratios []float64
	var without, during, took, longest []time.Duration
	for pair := range o.pairs {
		takes := []func(context.Context) error{nil, take}
		if pair%2 == 1 {
			slices.Reverse(takes)
		}
		var rate [2]float64 // without lists, with lists
		for _, t := range takes {
			a, err := round(ctx, target, rows, long, t)
			if err != nil {
				return err
			}
			with := 0
			if t != nil {
				with = 1
				during, longest = append(during, a.during()...), append(longest, a.longest()...)
				for _, l := range a.lists {
					took = append(took, l.to.Sub(l.from))
				}
			} else {
				without = append(without, a.waits()...)
			}
			rate[with] = float64(a.done) / a.took.Seconds()
		}
		ratios = append(ratios, rate[1]/rate[0])
	}
	p99 := quantile(during, 0.99)
	fmt.Printf("| %s | %v | %d | %v | %v | %v | %v | %.2f %% (%.2f to %.2f %%) | %s |\n", way.name, alone.Round(time.Millisecond), len(took), quantile(took, 0.5), quantile(without, 0.99), p99, quantile(longest, 0),
		100*median(ratios), 100*slices.Min(ratios), 100*slices.Max(ratios), judged(quantile(without, 0.99), p99, ratios))
	return nil
}

// processorTimeOf is what a list takes of the server's processors while nobody asks anything: the lock is held for no longer than that on a machine
// with a processor to spare, and other work on the machine does not add to it.
func processorTimeOf(ctx context.Context, target engine.Target, take func(context.Context) error) (time.Duration, error) {
	const lists = 5
	server, err := processOf(ctx, target)
	if err != nil {
		return 0, err
	}
	before, err := server.used()
	if err != nil {
		return 0, err
	}
	for range lists {
		if err := take(ctx); err != nil {
			return 0, err
		}
	}
	after, err := server.used()
	return (after - before) / lists, err
}

// judged holds what was seen to the goals. The smallest and the largest ratio of five pairs hold the median with 94 % (sign test).
func judged(without, p99 time.Duration, ratios []float64) string {
	switch {
	case without > mostP99/2:
		return "the machine is too busy to tell"
	case p99 > mostP99:
		return "p99 missed"
	case slices.Max(ratios) < 1-mostLost:
		return "throughput missed"
	case slices.Min(ratios) < 1-mostLost:
		return "p99 held, throughput open"
	}
	return "held"
}

// quantile of durations, to a hundredth of a millisecond; 0 of none.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Round(10 * time.Microsecond)
}
