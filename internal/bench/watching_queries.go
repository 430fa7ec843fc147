package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/watch"
	"plimsoll/watch/collect"
)

// watchQueries says what each query of the watch costs a server, of its processor's time. That says more than any other time on a machine
// that does other things too. The server has tables and connections, and nothing else to do.
func watchQueries(ctx context.Context, o options) error {
	return o.queriesOfAll(ctx, []queried{
		{"mariadb", "OFF", queryConnections, 0}, {"mariadb", "ON", queryConnections, 0}, {"mysql", "ON", queryConnections, 0}, {"mysql", "OFF", queryConnections, 0},
	})
}

// watchSessions says the same of servers with many connections: that do nothing, and that wait for a row.
func watchSessions(ctx context.Context, o options) error {
	return o.queriesOfAll(ctx, []queried{{"mysql", "ON", 200, 0}, {"mysql", "ON", 0, 200}, {"mariadb", "OFF", 0, 200}, {"mysql", "ON", 0, 1000}, {"mariadb", "OFF", 0, 1000}})
}

// queried is a server whose queries are counted, with so many connections that do nothing, and so many that wait for a row.
type queried struct {
	product, schema string
	idle, waiting   int
}

func (o options) queriesOfAll(ctx context.Context, all []queried) error {
	for _, one := range all {
		if err := o.queriesOn(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", one.product, err)
		}
	}
	return nil
}

// heldRow is what a session says that holds a row, and waitForRow what others say that wait for it.
var heldRow = []string{"CREATE TABLE waited (id INT PRIMARY KEY, v INT)", "INSERT INTO waited VALUES (1, 0)", "BEGIN", "UPDATE waited SET v = 1 WHERE id = 1"}

const waitForRow = "UPDATE waited SET v = v + 1 WHERE id = 1"

// What the server has, and how often it is read at each level.
const (
	queryTables, queryConnections = 200, 16
	readingsOfALevel              = 100
	readingsOfTenMinutes          = 10 // they are dear
)

func (o options) queriesOn(ctx context.Context, of queried) (err error) {
	setting := "performance_schema=" + of.schema
	spec := lab.Spec{Name: "bench", Product: of.product, Config: map[string]string{"innodb_buffer_pool_size": "256M", "performance_schema": of.schema, "max_connections": "1200", "innodb_lock_wait_timeout": "3600"}}
	target, release, err := o.server(ctx, spec)
	if err != nil {
		return err
	}
	defer release()
	server, err := processOf(ctx, target)
	if err != nil {
		return err
	}
	others, err := connect(ctx, target, max(of.idle, 1))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll(others)) }()
	for n := range queryTables {
		text := fmt.Sprintf("CREATE TABLE IF NOT EXISTS t%d (id INT PRIMARY KEY, a VARCHAR(100), b DATETIME, c INT, KEY (b), KEY (a, c))", n)
		if err := others[n%len(others)].Exec(ctx, text, nil); err != nil {
			return err
		}
	}
	waiting, err := connect(ctx, target, of.waiting)
	if err != nil {
		return err
	}
	for _, text := range heldRow {
		if err := others[0].Exec(ctx, text, nil); err != nil {
			return errors.Join(err, closeAll(waiting))
		}
	}
	var all sync.WaitGroup
	for _, s := range waiting {
		all.Go(func() { _ = s.Exec(ctx, waitForRow, nil) }) // they are cut off at the end
	}
	defer func() {
		for _, s := range waiting {
			s.Interrupt()
		}
		all.Wait()
		_ = closeAll(waiting) // they were cut off
	}()
	e, err := catalog.EngineOf(target)
	if err != nil {
		return err
	}
	costs := &queryCosts{by: map[string]*queryCost{}}
	const cores = 1 << 10 // so that the server is never in distress
	readers := collect.MySQL(func(ctx context.Context) (engine.Session, error) {
		return server.dialCounted(ctx, e.(engine.Dialer), costs)
	}, cores)
	at := time.Now()
	read := func(level watch.Level) error {
		for _, r := range readers {
			for tries := 1; ; tries++ {
				at = at.Add(time.Hour) // so that no pause of the watch lasts until then
				reading, err := r.Collect(ctx, level, at)
				if err != nil {
					return err
				}
				if reading.Missed == watch.Second && reading.Asked == watch.Everything {
					break
				}
				if tries == 10 {
					return errors.New("the watch did not read the server, which was slow to answer it")
				}
			}
		}
		return nil
	}
	if err := read(watch.TenMinutes); err != nil { // what it lacks is asked for once
		return err
	}
	costs.by = map[string]*queryCost{}
	for _, level := range []watch.Level{watch.Second, watch.TenSeconds, watch.Minute, watch.TenMinutes} {
		times := readingsOfALevel
		if level == watch.TenMinutes {
			times = readingsOfTenMinutes
		}
		costs.level = level
		for range times {
			if err := read(level); err != nil {
				return err
			}
		}
	}
	for _, r := range readers {
		err = errors.Join(err, r.Close())
	}
	fmt.Printf("%s, %s, %d tables, %d idle connections and %d that wait for a row:\n\n", spec.Product, setting, queryTables, len(others), len(waiting))
	costs.print()
	return err
}

// queryCosts are those of each text, by its first level.
type queryCosts struct {
	mu    sync.Mutex
	level watch.Level
	by    map[string]*queryCost
}

// sum is what all of them took.
func (c *queryCosts) sum() (took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.by {
		took += one.took
	}
	return took
}

type queryCost struct {
	level watch.Level
	times int
	took  time.Duration // of the server's processor
}

func (c *queryCosts) add(text string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.by[text]
	if one == nil {
		one = &queryCost{level: c.level}
		c.by[text] = one
	}
	one.times, one.took = one.times+1, one.took+took
}

// everySoMany is how many seconds lie between two readings of a level.
var everySoMany = map[watch.Level]float64{watch.Second: 1, watch.TenSeconds: 10, watch.Minute: 60, watch.TenMinutes: 600}

func (c *queryCosts) print() {
	fmt.Print("| query | every | ms of the server's processor | ms a second |\n|---|---|---|---|\n")
	type line struct {
		text                   string
		every, each, perSecond float64
	}
	var lines []line
	sum := 0.0
	for text, one := range c.by {
		each := one.took.Seconds() * 1000 / float64(one.times)
		every := everySoMany[one.level]
		lines = append(lines, line{text, every, each, each / every})
		sum += each / every
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(b.perSecond, a.perSecond) })
	for _, l := range lines {
		text := strings.Join(strings.Fields(l.text), " ")
		fmt.Printf("| `%s` | %.0f s | %.3f | %.3f |\n", text[:min(len(text), 140)], l.every, l.each, l.perSecond)
	}
	fmt.Printf("| all | | | **%.3f**, so %.2f %% of a core |\n\n", sum, sum/10)
}

// countedSession counts what the server's thread that answers it takes of a processor.
type countedSession struct {
	engine.Session
	thread string // its file in /proc
	costs  *queryCosts
}

func (s serverProcess) dialCounted(ctx context.Context, from engine.Dialer, costs *queryCosts) (engine.Session, error) {
	before, err := s.tasks()
	if err != nil {
		return nil, err
	}
	session, err := from.Dial(ctx, s.target)
	if err != nil {
		return nil, err
	}
	after, err := s.tasks()
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	fresh := slices.DeleteFunc(after, func(task string) bool { return slices.Contains(before, task) })
	if len(fresh) != 1 {
		return nil, errors.Join(fmt.Errorf("%d threads of the server are new with a session, expected one", len(fresh)), session.Close())
	}
	return countedSession{session, filepath.Join(fresh[0], "schedstat"), costs}, nil
}

// tasks are the folders of the server's threads.
func (s serverProcess) tasks() ([]string, error) {
	return filepath.Glob(filepath.Join(s.folder, "task", "*"))
}

func (s countedSession) Exec(ctx context.Context, text string, r *engine.Result) error {
	return s.counted(text, func() error { return s.Session.Exec(ctx, text, r) })
}

func (s countedSession) Table(ctx context.Context, text string) (rows []map[string]string, err error) {
	err = s.counted(text, func() error {
		rows, err = s.Session.(engine.Tabular).Table(ctx, text)
		return err
	})
	return rows, err
}

func (s countedSession) counted(text string, ask func() error) error {
	before, err := s.rested()
	if err != nil {
		return err
	}
	if err := ask(); err != nil {
		return err
	}
	after, err := s.rested()
	s.costs.add(text, after-before)
	return err
}

// rested is the time of the thread once it waits for the next query: what it does after its answer counts too.
func (s countedSession) rested() (time.Duration, error) {
	const rest = time.Millisecond
	for began := time.Now(); ; {
		stat, err := os.ReadFile(filepath.Join(filepath.Dir(s.thread), "stat"))
		if err != nil {
			return 0, err
		}
		if rest := stat[strings.LastIndexByte(string(stat), ')')+2:]; rest[0] == 'S' {
			return busy([]string{s.thread})
		}
		if time.Since(began) > longestReading {
			return 0, errors.New("the server's thread does not come to rest")
		}
		time.Sleep(rest)
	}
}
