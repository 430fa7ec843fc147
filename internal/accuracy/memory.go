package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/memory"
	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/custom"
)

//go:embed memory/*.yaml
var memoryFiles embed.FS

// memoryCase is a workload on a server whose reads are predicted at other sizes, and then measured there.
type memoryCase struct {
	name       string
	product    string
	workload   string // of a file in memory, or of the catalog with parameters
	parameters string
	pool       int64 // bytes
	config     map[string]string
	sql        bool // lists by SQL and not by file
	look       time.Duration
	warm       time.Duration
	measure    time.Duration
	sizes      []float64 // times the pool
}

// otherSizes are those at which the goals are stated.
var otherSizes = []float64{0.5, 0.75, 1.5, 2, 2.5}

// memoryOutcome is what was predicted and what came.
type memoryOutcome struct {
	memoryCase
	curve                           advise.Curve
	truth                           map[float64]float64 // pages read for each operation, by times the pool
	now                             float64             // the same while the server was looked at
	data                            int64               // pages
	held                            float64             // pages in the pool
	cost                            advise.Cost
	requests, reads, loads, created float64 // while it was looked at
	rate                            float64 // operations a second
	looked                          *memory.Observation
}

func (c memoryCase) settings(times float64) map[string]string {
	s := map[string]string{
		"innodb_buffer_pool_size": fmt.Sprint(int64(times*float64(c.pool)) >> 20 << 20), "innodb_flush_method": "O_DIRECT",
		"innodb_buffer_pool_load_at_startup": "OFF", "innodb_buffer_pool_dump_at_shutdown": "OFF", "innodb_buffer_pool_chunk_size": "1048576",
		// A small pool turns over in seconds: a page must prove itself sooner than in a large one.
		"innodb_old_blocks_time": "2", "innodb_flush_log_at_trx_commit": "2", "log_bin": "OFF", "sync_binlog": "0",
	}
	if c.product == "mariadb" {
		s["innodb_log_file_size"] = "268435456"
	} else {
		s["innodb_redo_log_capacity"] = "536870912"
	}
	maps.Copy(s, c.config)
	return s
}

// memoryLab is a server with the data of a case.
type memoryLab struct {
	memoryCase
	cluster *lab.Cluster
	engine  engine.Engine
	work    workload.Workload
	db      engine.Database
	files   lab.Deps
}

func (c memoryCase) start(ctx context.Context, home string) (_ *memoryLab, err error) {
	machine, err := catalog.Machine()
	if err != nil {
		return nil, err
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		return nil, err
	}
	l := &memoryLab{memoryCase: c, engine: catalog.Products()[c.product].Engine}
	l.files = lab.Deps{Machine: machine, Launchers: catalog.Launchers(), Home: home, Cache: cache}
	if l.work, err = c.make(l.engine); err != nil {
		return nil, err
	}
	if l.cluster, err = lab.Up(ctx, lab.Spec{Name: "memory", Product: c.product, Config: c.settings(2)}, l.files); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.stop())
		}
	}()
	if err := l.open(ctx, true); err != nil {
		return nil, err
	}
	if err := l.work.Prepare(ctx, l.db, func(int64, int64, string) {}); err != nil {
		return nil, err
	}
	return l, l.cluster.Save(ctx)
}

func (c memoryCase) make(e engine.Engine) (workload.Workload, error) {
	parameters, err := document.Parse("parameters", []byte(c.parameters))
	if err != nil {
		return nil, err
	}
	if text, err := memoryFiles.ReadFile("memory/" + c.workload + ".yaml"); !errors.Is(err, fs.ErrNotExist) {
		maker, err := custom.Parse(c.workload+".yaml", text, time.Now)
		if err != nil {
			return nil, err
		}
		return maker.New(parameters, e)
	}
	return catalog.Workload(&document.Node{Kind: document.Scalar, Text: c.workload}, parameters, e)
}

func (l *memoryLab) open(ctx context.Context, first bool) error {
	if l.db != nil {
		_ = l.db.Close() // it was restarted
	}
	target, err := l.cluster.Target()
	if err != nil {
		return err
	}
	if first {
		db, err := l.engine.Open(ctx, target)
		if err != nil {
			return err
		}
		defer db.Close()
		if err := db.(engine.Namespaced).MakeNamespace(ctx, "memory"); err != nil {
			return err
		}
	}
	target.Namespace = "memory"
	l.db, err = l.engine.Open(ctx, target)
	return err
}

func (l *memoryLab) stop() error {
	var closed error
	if l.db != nil {
		closed = l.db.Close()
	}
	return errors.Join(closed, l.cluster.Down(context.Background()))
}

// resized starts the server anew with the data as it was made and another pool.
func (l *memoryLab) resized(ctx context.Context, times float64) error {
	if err := l.cluster.Reconfigure(ctx, l.settings(times)); err != nil {
		return err
	}
	if err := l.cluster.Restore(ctx); err != nil {
		return err
	}
	if err := l.open(ctx, false); err != nil {
		return err
	}
	if err := l.work.Adopt(ctx, l.db); err != nil {
		return err
	}
	return l.fill(ctx)
}

// fill reads all tables once, so that no room is left in the pool: reads would take minutes to fill a large one.
func (l *memoryLab) fill(ctx context.Context) error {
	s, err := l.db.Session(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	tables, err := s.(engine.Tabular).Table(ctx, "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()")
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := s.Exec(ctx, "SELECT COUNT(*) FROM "+t["name"]+" FORCE INDEX (PRIMARY)", nil); engine.ClassOf(err) == engine.Missing {
			err = s.Exec(ctx, "SELECT COUNT(*) FROM "+t["name"], nil) // it has no primary key
			if err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// perOperation runs the load, warms the server up by it, and returns pages read for each operation after that, and operations a
// second. One load does both, so that what moves on through the data goes on moving. The server is warm when the load has gone on for
// so long, and has read as much as the pool holds twice over; begin is called then.
func (l *memoryLab) perOperation(ctx context.Context, d time.Duration, seed uint64, begin func()) (reads, rate float64, err error) {
	paged := l.db.(engine.PageCaching)
	first, err := paged.PageCache(ctx)
	if err != nil {
		return 0, 0, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var before, after engine.PageCache
	var asked error
	done, seconds, measured := int64(0), 0, -1
	spec := load.Spec{Operations: l.work.Operations(), Connections: 8, Duration: l.warm + d + longestWarm}
	_, err = load.Run(ctx, spec, l.work.Connect(l.db, seed), func(s load.Second) {
		switch seconds++; {
		case asked != nil || measured >= int(d/time.Second):
			stop()
		case measured >= 0:
			for _, o := range s.Operations {
				done += o.Done
			}
			if measured++; measured == int(d/time.Second) {
				after, asked = paged.PageCache(context.WithoutCancel(ctx))
				stop()
			}
		case seconds >= int(l.warm/time.Second):
			if before, asked = paged.PageCache(ctx); before.Read-first.Read > 2*before.Pages || seconds > int((l.warm+longestWarm)/time.Second)-2 {
				measured = 0
				begin()
			}
		}
	})
	if measured < int(d/time.Second) {
		return 0, 0, errors.Join(err, asked, errors.New("the load ended too soon"))
	}
	return float64(after.Read-before.Read) / float64(done), float64(done) / d.Seconds(), asked
}

// longestWarm is how long a warm-up may take more than its least.
const longestWarm = time.Minute

// predictAndMeasure looks at the server at its size, and then runs it at the others.
func (c memoryCase) predictAndMeasure(ctx context.Context, home string, seed uint64, say func(string, ...any)) (_ *memoryOutcome, err error) {
	l, err := c.start(ctx, home)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.stop()) }()
	out := &memoryOutcome{memoryCase: c, truth: map[float64]float64{}}
	if err := l.resized(ctx, 1); err != nil {
		return nil, err
	}
	if err := l.lookAt(ctx, out, seed+1); err != nil {
		return nil, err
	}
	say("%s: loads %.3f of reads, held %.0f of %.0f; now %.4f reads an operation, %.0f operations/s, %d intervals, %+v", c.name, (out.loads-out.created)/out.reads, out.held, float64(c.pool)/16384, out.now, out.rate, len(out.looked.Intervals), out.cost)
	for _, times := range c.sizes {
		if err := l.resized(ctx, times); err != nil {
			return nil, err
		}
		if out.truth[times], _, err = l.perOperation(ctx, c.measure, seed+2, func() {}); err != nil {
			return nil, err
		}
		p := out.at(times)
		say("%s %.2f: truth %.4f predicted %.4f [%.4f %.4f] model %.4f %s %s: %+.1f %%", c.name, times, out.truth[times], out.perOp(p.Reads), out.perOp(p.Low), out.perOp(p.High),
			out.perOp(p.Model), p.Source, p.Doubt, 100*(out.perOp(p.Reads)/out.truth[times]-1))
	}
	return out, nil
}

func (o *memoryOutcome) perOp(reads float64) float64 { return reads / o.curve.Now.Reads * o.now }

func (o *memoryOutcome) at(times float64) advise.Point {
	for _, p := range o.curve.Points {
		if p.Bytes == int64(times*float64(o.pool))>>20<<20 {
			return p
		}
	}
	panic("no such size")
}

// lookAt looks at the server while the load goes on.
func (l *memoryLab) lookAt(ctx context.Context, out *memoryOutcome, seed uint64) error {
	type done struct {
		looked *memory.Observation
		err    error
	}
	looking := make(chan done, 1)
	var err error
	out.now, out.rate, err = l.perOperation(ctx, l.look, seed, func() {
		go func() {
			o := memory.Options{For: l.look - time.Second, Budget: 0.15, MaxStall: 2 * time.Second}
			if !l.sql {
				o.Files = l.files.Machine
			}
			looked, err := memory.Observe(ctx, l.db, o)
			looking <- done{looked, err}
		}()
	})
	if err != nil {
		return err
	}
	d := <-looking
	if d.err != nil {
		return d.err
	}
	out.looked, out.cost, out.data = d.looked, d.looked.Cost, d.looked.DataPages()
	var sizes []int64
	for _, times := range append([]float64{1}, l.sizes...) {
		sizes = append(sizes, int64(times*float64(l.pool))>>20<<20)
	}
	out.curve = memory.Predict(d.looked.Intervals, d.looked.Cache, out.data, sizes, seed)
	for _, i := range d.looked.Intervals {
		out.held += i.Pages / float64(len(d.looked.Intervals))
		out.requests += float64(i.Counts.Requests)
		out.reads += float64(i.Counts.Read)
		out.loads += i.Loads
		out.created += float64(i.Counts.Created)
	}
	return nil
}
