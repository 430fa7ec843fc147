package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"plimsoll/advise/memory"
	"plimsoll/analyze"
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

// adviseStall fills the pool of a MariaDB and of a MySQL with small pages, reads rows of it all the while, and takes a list of the pages in one of
// each two neighbouring slices: what a point select waits for then, and how many fewer there are. A list holds the server up for as long as it keeps
// the pool's lock, each time about as long, and what else the machine does adds to it: so the shortest of the longest waits of all lists is an upper bound.
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
	server, together, err := byItself(ctx, target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, together()) }()
	fmt.Println("| lists | processors | selects at once | the server's processor time for one | lists taken | one takes | p99 without | p99 while a list is made | a list holds up at most | selects while a list is made and half a second more, of those without (95 %) | a list costs the selects of | lost where lists take 5 % of the time | lost 0.5 % at most where lists begin this far apart | the goals |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, way := range o.stallWays(cache) {
		if err := o.stallBy(ctx, stalled{target, server, db, rows}, way); err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
	}
	fmt.Println()
	return nil
}

// stalled is a server with a full pool.
type stalled struct {
	target engine.Target
	server serverProcess
	db     engine.Database
	rows   int
}

// listing is a way to take a list.
type listing struct {
	name   string
	list   func(ctx context.Context, db engine.Database) (func(context.Context) error, func(context.Context) error, error) // take one; clean up
	askers int                                                                                                             // that select as fast as they can
	spare  bool                                                                                                            // what writes the list has another processor than the sessions
	pairs  int
}

// stallPairs is how many pairs of slices there are for each of o.pairs, of the dump; of lists by SQL, which take seconds, there are o.pairs, and three at
// least: one pair does not tell how pairs differ.
const stallPairs = 16

func (o options) stallWays(cache engine.PageCache) []listing {
	bySQL := func(every int) listing {
		list := func(_ context.Context, db engine.Database) (func(context.Context) error, func(context.Context) error, error) {
			return func(ctx context.Context) error { _, err := db.(engine.PageCaching).CachedPages(ctx, every); return err },
				func(context.Context) error { return nil }, nil
		}
		return listing{fmt.Sprintf("SQL, one page of %d", every), list, busyAskers, false, max(o.pairs, 3)}
	}
	const followed = 200_000 // as advise memory follows them
	return []listing{
		{"the server's dump", byFile, busyAskers, false, stallPairs * o.pairs}, {"the server's dump", byFile, 1, true, stallPairs * o.pairs},
		bySQL(max(int(cache.Data/followed), 1)), bySQL(32),
	}
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

// afterList is what of a slice follows the end of its list at least: what a list costs later than that is not counted.
const afterList = 500 * time.Millisecond

func (o options) stallBy(ctx context.Context, on stalled, way listing) (err error) {
	take, clean, err := way.list(ctx, on.db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clean(context.WithoutCancel(ctx))) }()
	alone, err := processorTimeOf(ctx, on.server, take)
	if err != nil {
		return err
	}
	load, err := beginSelects(ctx, on.target, on.rows, way.askers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, load.end()) }()
	if way.spare {
		together, err := on.server.sparing(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, together()) }()
	}
	m := stall{load: load, take: take}
	if err := m.settle(ctx); err != nil {
		return err
	}
	if err := inSlices(ctx, way.pairs, orderSeed, m.slice); err != nil {
		return err
	}
	if err := load.end(); err != nil {
		return err
	}
	m.print(way, alone)
	return nil
}

// stall is what is measured of a way to take lists.
type stall struct {
	load   *selects
	take   func(context.Context) error
	length time.Duration // of a slice; longer if its list takes longer

	done           paired
	lists, without []span
}

// settle lets the load go on for some seconds, and finds how long slices must be.
func (m *stall) settle(ctx context.Context) error {
	if err := wait(ctx, 5*time.Second); err != nil {
		return err
	}
	for range 3 {
		began := time.Now()
		if err := m.take(ctx); err != nil {
			return err
		}
		m.length = max(m.length, time.Since(began)+afterList)
		if err := wait(ctx, time.Second); err != nil {
			return err
		}
	}
	return nil
}

// slice counts the selects of a while, in which a list is taken or none.
func (m *stall) slice(ctx context.Context, with bool) error {
	if err := wait(ctx, afterList); err != nil { // what the slice before has left behind
		return err
	}
	began, before := time.Now(), m.load.done.Load()
	if with {
		if err := m.take(ctx); err != nil {
			return err
		}
		m.lists = append(m.lists, span{began, time.Now()})
	}
	rest := m.length - time.Since(began)
	if with {
		rest = max(rest, afterList)
	}
	if err := wait(ctx, rest); err != nil {
		return err
	}
	now, after := time.Now(), m.load.done.Load()
	if !with {
		m.without = append(m.without, span{began, now})
	}
	slice := analyze.Second{Length: now.Sub(began)}
	slice.Done = after - before
	m.done.add(with, slice)
	return m.load.failure()
}

// cost is how much time's selects a list costs, from the ratio of its slice to one without.
func (m *stall) cost(ratio float64) time.Duration {
	return time.Duration((1 - ratio) * float64(meanLength(m.done.with)))
}

// lost is the share of the selects that is lost where lists take their budget of the time.
func (m *stall) lost(cost time.Duration) float64 {
	var took time.Duration
	for _, l := range m.lists {
		took += l.to.Sub(l.from)
	}
	return listBudget * float64(cost) * float64(len(m.lists)) / float64(took)
}

func meanLength(all []analyze.Second) time.Duration {
	var sum time.Duration
	for _, s := range all {
		sum += s.Length
	}
	return sum / time.Duration(len(all))
}

func (m *stall) print(way listing, alone time.Duration) {
	r := m.done.ratio()
	least, cost, most := m.cost(r.High), m.cost(r.Value), m.cost(r.Low)
	apart := time.Duration(max(float64(most), 0) / mostLost)
	var took []time.Duration
	for _, l := range m.lists {
		took = append(took, l.to.Sub(l.from))
	}
	processors := "one for the server"
	if way.spare {
		processors = "one for the server's sessions; its list is written on another"
	}
	without, during := quantile(m.load.waits(m.without), 0.99), quantile(m.load.waits(m.lists), 0.99)
	fmt.Printf("| %s | %s | %d | %v | %d | %v | %v | %v | %v | %.1f %% (%.1f to %.1f; a pair's ratio deviates by %.1f %%) | %v (%v to %v) | %.2f %% (%.2f to %.2f) | %v | %s |\n",
		way.name, processors, way.askers, alone.Round(time.Millisecond), len(took), quantile(took, 0.5), without, during, quantile(m.load.longest(m.lists), 0),
		100*r.Value, 100*r.Low, 100*r.High, 100*m.done.differ(), cost.Round(time.Millisecond), least.Round(time.Millisecond), most.Round(time.Millisecond),
		100*m.lost(cost), 100*m.lost(least), 100*m.lost(most), apart.Round(100*time.Millisecond), judged(without, during, m.lost(least), m.lost(most)))
}

// processorTimeOf is what a list takes of the server's processors while nobody asks anything: the lock is held for no longer than that on a machine
// with a processor to spare, and other work on the machine does not add to it.
func processorTimeOf(ctx context.Context, server serverProcess, take func(context.Context) error) (time.Duration, error) {
	const lists = 5
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

// judged holds what was seen to the goals: the p99, and the share of the selects that is lost, from its interval.
func judged(without, p99 time.Duration, least, most float64) string {
	switch {
	case without > mostP99/2:
		return "the machine is too busy to tell"
	case p99 > mostP99:
		return "p99 missed"
	case least > mostLost:
		return "p99 held, throughput missed"
	case most > mostLost:
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
