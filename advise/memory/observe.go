// Package memory predicts what a database would read from disk with another size of its page cache, from looking at the running
// server: lists of its cached pages, one after another, show which pages leave and which come back.
package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/advise"

	"plimsoll/engine"
	"plimsoll/infra"
)

// gently is the share of the time that lists of a large pool by the server's dump may take, where at least as many can be taken as fewLists: a server with
// a single processor then loses no more of its throughput than that. Those of a smaller pool are over before a session notices.
const (
	gently   = 0.005
	fewLists = 8
)

// Options are how to look at a server.
type Options struct {
	For time.Duration // how long; 0: 5 minutes
	// Turnovers is how many times over the cache must have been read before looking ends, if that takes longer than For; 0: however often.
	Turnovers float64
	Most      time.Duration // how long to look for these; 0: For
	Budget    float64       // share of the time that may go into lists; 0: 0.05
	// MaxStall is how long a list may hold up the server's reads before looking ends; 0: 50 ms.
	MaxStall time.Duration
	Every    int         // follow one of so many pages; 0: so that some 200,000 are followed
	Files    infra.Files // of the server's machine; nil: lists are asked for by SQL
	Say      func(done, total time.Duration, text string)
}

// followed is how many pages are followed at most, if it is not said.
const followed = 200_000

const (
	// turnover is the share of the cache that should be replaced between two lists.
	turnover = 0.08
	// movement is the share of the cache that should be replaced or used again between two lists. A page that is used, pushed down and used
	// again between them counts once; that takes as much movement as it was pushed down, so smaller caches than this share are not told apart.
	movement = 0.2
)

func (o Options) withDefaults() Options {
	if o.For == 0 {
		o.For = 5 * time.Minute
	}
	if o.Budget == 0 {
		o.Budget = 0.05
	}
	if o.MaxStall == 0 {
		o.MaxStall = 50 * time.Millisecond
	}
	if o.Say == nil {
		o.Say = func(time.Duration, time.Duration, string) {}
	}
	return o
}

// Observation is what a look at a server showed.
type Observation struct {
	Cache     engine.PageCache // at the end
	Intervals []Interval
	Objects   []engine.CachedObject
	Spaces    []engine.DataSpace
	Every     int // one of so many pages was followed
	Cost      advise.Cost
	Began     time.Time
	Took      time.Duration
}

// DataPages is how many pages the files of tables have.
func (o *Observation) DataPages() int64 {
	var bytes int64
	for _, s := range o.Spaces {
		bytes += s.Bytes
	}
	return bytes / max(o.Cache.PageSize, 1)
}

// Unable says why nothing can be predicted, and what would let it.
type Unable struct {
	Reason, Advice string
	Cache          engine.PageCache
	Cause          error // why the server did not tell; nil: it told
}

func (u *Unable) Error() string { return u.Reason }
func (u *Unable) Hint() string  { return u.Advice }
func (u *Unable) Unwrap() error { return u.Cause }

// denied says of an error that the account lacks a privilege which one; others stay as they are.
func denied(err error) error {
	var known *Unable
	if engine.ClassOf(err) != engine.Denied || errors.As(err, &known) {
		return err
	}
	return &Unable{
		Reason: "the account may not see which pages are in the server's memory", Cause: err,
		Advice: "give it the privilege, GRANT PROCESS ON *.* TO 'USER'@'HOST'; commits and storage need none",
	}
}

// Observe looks at a server for a while.
func Observe(ctx context.Context, db engine.Database, o Options) (_ *Observation, err error) {
	o = o.withDefaults()
	defer func() { err = denied(err) }()
	paged, ok := engine.As[engine.PageCaching](db)
	if !ok {
		return nil, &Unable{Reason: "this engine does not show which pages are in its memory", Advice: "MySQL and MariaDB do"}
	}
	cache, err := paged.PageCache(ctx)
	if err != nil {
		return nil, err
	}
	if err := able(ctx, paged, cache, o.For); err != nil {
		return nil, err
	}
	source, err := newLister(ctx, db, cache, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.close(context.WithoutCancel(ctx))) }()
	look := &look{Options: o, db: paged, source: source, watch: newStallWatch(paged), out: &Observation{Every: source.every(), Began: time.Now()}}
	if err := look.run(ctx); err != nil {
		return nil, err
	}
	return look.out, nil
}

// Pilot takes one list, in the way in which they would be taken of the server that matters, and says how long it took, or that it held the server up for
// too long. It is for a replica, before that server is asked.
func Pilot(ctx context.Context, db engine.Database, o Options) (_ time.Duration, err error) {
	o = o.withDefaults()
	defer func() { err = denied(err) }()
	paged, ok := engine.As[engine.PageCaching](db)
	if !ok {
		return 0, &Unable{Reason: "this engine does not show which pages are in its memory", Advice: "MySQL and MariaDB do"}
	}
	cache, err := paged.PageCache(ctx)
	if err != nil {
		return 0, err
	}
	source, err := newLister(ctx, db, cache, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, source.close(context.WithoutCancel(ctx))) }()
	watch := newStallWatch(paged)
	if err := watch.during(ctx, func() error { _, err := source.list(ctx); return err }); err != nil {
		return 0, err
	}
	return watch.lastTook(), watch.tooMuch(o.MaxStall)
}

// shortly is how long a server is looked at to see whether its reads still fill a cache that never was full.
const shortly = 5 * time.Second

// able refuses a cache of which lists would tell nothing. That its server was just started is asked before all else: what such a cache holds says
// nothing of what it will.
func able(ctx context.Context, db engine.PageCaching, first engine.PageCache, span time.Duration) error {
	last := first
	if Warming(first, last) == nil && first.Read+first.Created < fills*first.Data {
		if err := pause(ctx, min(shortly, span/2)); err != nil {
			return err
		}
		var err error
		if last, err = db.PageCache(ctx); err != nil {
			return err
		}
	}
	return tells(first, last)
}

func tells(first, c engine.PageCache) error {
	warming := Warming(first, c)
	switch came := c.Read + c.Created; {
	case c.Loading:
		return &Unable{Reason: "the server has just started and is still loading its buffer pool dump", Advice: "run this again when it has finished", Cache: c}
	case warming != nil:
		return &Unable{Reason: warming.Told(), Advice: "run this again " + advise.WarmUpEnds + ": what it reads until then tells nothing about the size that its buffer pool needs", Cache: c}
	case c.Data == 0:
		return &Unable{Reason: "the buffer pool is empty", Advice: "run this again under the usual load", Cache: c}
	case came < fills*c.Data && c.Uptime < hour:
		return &Unable{
			Reason: fmt.Sprintf("the server started %s ago and has not yet read twice the size of its buffer pool", c.Uptime),
			Advice: "run this again under the usual load: what it has read so far tells nothing about the size that its buffer pool needs", Cache: c,
		}
	case came <= c.Data+c.Data/50:
		return &Unable{
			Reason: fmt.Sprintf("no page has been evicted from the buffer pool yet: %d of %d pages are free, after %s", c.Free, c.Pages, c.Uptime),
			Advice: neverFull(c), Cache: c,
		}
	case came < fills*c.Data:
		return &Unable{
			Reason: fmt.Sprintf("the server started %s ago and has not yet read twice the size of its buffer pool", c.Uptime),
			Advice: "run this again later: too few pages were evicted so far", Cache: c,
		}
	}
	return nil
}

func neverFull(c engine.PageCache) string {
	enough := (c.Data + c.Data/10) * c.PageSize
	return fmt.Sprintf("so far %d MiB would be enough, and %d MiB are configured; to learn more, make the buffer pool a tenth smaller on a replica and run this again",
		enough>>20, c.Size>>20)
}

// look is one under way.
type look struct {
	Options

	db     engine.PageCaching
	source lister
	watch  *stallWatch
	out    *Observation

	parts  []*reuse
	cache  engine.PageCache
	listed time.Time
}

func (l *look) run(ctx context.Context) error {
	if err := l.pilot(ctx); err != nil {
		return err
	}
	first := l.cache
	for took := time.Duration(0); took < l.For || took < l.Most && l.turnovers(first) < l.Turnovers; took = time.Since(l.out.Began) {
		if err := pause(ctx, l.wait()); err != nil {
			return err
		}
		if err := l.step(ctx); err != nil {
			return err
		}
		l.Say(time.Since(l.out.Began), l.For, fmt.Sprintf("%d lists of %d pages", len(l.out.Intervals)+1, l.cache.Data))
	}
	var err error
	if l.out.Cache, err = l.db.PageCache(ctx); err != nil {
		return err
	}
	if l.out.Objects, err = l.db.CachedObjects(ctx); err != nil && engine.ClassOf(err) != engine.Denied {
		return err
	}
	if l.out.Spaces, err = l.db.DataSpaces(ctx); err != nil && engine.ClassOf(err) != engine.Denied {
		return err
	}
	l.out.Took = time.Since(l.out.Began)
	l.out.Cost = l.watch.cost(l.source.name(), l.out.Took)
	if len(l.out.Intervals) < 4 {
		return &Unable{Reason: fmt.Sprintf("%d lists in %s are too few", len(l.out.Intervals)+1, l.For), Advice: "observe for longer, with --for " + (4 * l.For).String(), Cache: l.out.Cache}
	}
	return nil
}

// turnovers is how often the cache was read over since a moment.
func (l *look) turnovers(since engine.PageCache) float64 {
	came := l.cache.Read + l.cache.Created - since.Read - since.Created
	return float64(came) / float64(max(l.cache.Data, 1))
}

// pilot takes the first list, and ends the look where it holds up the server for too long.
func (l *look) pilot(ctx context.Context) error {
	lists, err := l.list(ctx)
	if err != nil {
		return err
	}
	for _, list := range lists {
		l.parts = append(l.parts, newReuse(list))
	}
	return nil
}

// list takes one, and what the server counts at that moment.
func (l *look) list(ctx context.Context) ([]engine.PageList, error) {
	var lists []engine.PageList
	err := l.watch.during(ctx, func() (err error) {
		lists, err = l.source.list(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := l.watch.tooMuch(l.MaxStall); err != nil {
		return nil, err
	}
	l.listed = time.Now()
	l.cache, err = l.db.PageCache(ctx)
	return lists, err
}

func (l *look) step(ctx context.Context) error {
	before, at := l.cache, l.listed
	lists, err := l.list(ctx)
	if err != nil {
		return err
	}
	now := l.cache
	if err := disturbed(before, now, len(l.parts), len(lists)); err != nil {
		return err
	}
	i := Interval{
		Seconds: l.listed.Sub(at).Seconds(), Back: make([]float64, bins), Fresh: make([]float64, bins), Promoted: make([]float64, perCache),
		Spaces: map[uint32]float64{},
		Counts: Counts{
			now.Requests - before.Requests, now.Waited - before.Waited, now.Read - before.Read, now.Created - before.Created,
			now.Statement - before.Statement, now.Commits - before.Commits, now.DiskReads - before.DiskReads, now.Written - before.Written,
		},
	}
	for part, list := range lists {
		i.Pages += float64(list.Total)
		l.parts[part].next(list, float64(l.source.every()), &i)
	}
	l.out.Intervals = append(l.out.Intervals, i)
	return nil
}

// disturbed refuses to go on with a server that is another than it was at the list before: what its lists show cannot be compared.
func disturbed(before, now engine.PageCache, parts, lists int) error {
	switch {
	case now.Uptime < before.Uptime:
		return &Unable{Reason: "the server was restarted during the observation", Advice: "run this again when it has been up for a while", Cache: now}
	case now.Size != before.Size || lists != parts:
		return &Unable{Reason: "the buffer pool was resized during the observation", Advice: "run this again", Cache: now}
	}
	return nil
}

// wait is how long until the next list: until enough of the cache is replaced or used again, and not so soon that lists take more than their budget.
func (l *look) wait() time.Duration {
	within := func(share float64) time.Duration { return time.Duration(float64(l.watch.lastTook()) * (1/share - 1)) }
	least := max(within(l.Budget), 20*time.Millisecond)
	if l.cache.Data > followed && l.source.name() == byFile {
		least = max(least, min(within(gently), l.For/fewLists))
	}
	if len(l.out.Intervals) == 0 {
		return least
	}
	return min(max(least, l.out.Intervals[len(l.out.Intervals)-1].untilMoved()), max(l.For/fewLists, least))
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
