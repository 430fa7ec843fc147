package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

const rows = 80_000

// smallPool is a server whose data is four times its pool.
func smallPool(t *testing.T, product string) labtest.Server {
	t.Helper()
	db := labtest.UpSpec(t, lab.Spec{Name: "pool", Product: product, Config: map[string]string{
		"innodb_buffer_pool_size": "32M", "innodb_old_blocks_time": "2", "innodb_lru_scan_depth": "100", "innodb_flush_log_at_trx_commit": "2",
	}})
	neverFullIsRefused(t, db)
	labtest.Ask(t, db, "CREATE TABLE items (id INT PRIMARY KEY, body VARCHAR(1000) NOT NULL)",
		"INSERT INTO items VALUES (1, REPEAT('x', 900))")
	for n := 1; n < rows; n *= 2 {
		labtest.Ask(t, db, fmt.Sprintf("INSERT INTO items (id, body) SELECT id + %d, body FROM items WHERE id <= %d", n, min(n, rows-n)))
	}
	return db
}

// busy has rows looked at until the test ends, some far more often than others: the more so, the larger the skew.
func busy(t *testing.T, db engine.Database, skew float64) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for worker := range uint64(4) {
		all.Go(func() {
			s, err := db.Session(ctx)
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			defer s.Close()
			look, err := s.Prepare(ctx, "SELECT body FROM items WHERE id = ?")
			rng := rand.New(rand.NewPCG(worker, 1))
			for err == nil && ctx.Err() == nil {
				id := int64(math.Pow(rng.Float64(), skew)*rows)*7919%rows + 1
				err = look.Exec(ctx, []engine.Value{engine.Int(id)}, nil)
			}
			if ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

func TestOnServers(t *testing.T) {
	for _, product := range []string{"mariadb", "mysql"} {
		t.Run(product, func(t *testing.T) { onServer(t, product) })
	}
}

func onServer(t *testing.T, product string) {
	db := smallPool(t, product)
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	stop := busy(t, db, 3)
	defer func() { stop() }()
	turnOver(t, db)
	before := labtest.Query(t, db, settingsOfLists)
	share := map[string]float64{}
	for way, files := range map[string]Options{"file": {Files: machine}, "SQL": {Every: 2}} {
		files.For, files.Budget, files.MaxStall = 4*time.Second, 0.3, 5*time.Second
		seen, err := Observe(t.Context(), db.Database, files)
		if err != nil {
			t.Fatal(err)
		}
		if seen.Cost.By != way || seen.Cost.Lists != len(seen.Intervals)+1 || seen.Cost.Took == 0 {
			t.Errorf("lists by %s cost %+v", way, seen.Cost)
		}
		r := Reported(seen, []int64{16 << 20, 32 << 20, 48 << 20, 400 << 20}, 1)
		reads := r.Curve.Points
		if !(reads[0].Reads > reads[1].Reads && reads[1].Reads > reads[2].Reads && reads[3].Reads == 0) {
			t.Errorf("by %s: %+v", way, reads)
		}
		share[way] = reads[2].Reads / reads[1].Reads
		if len(r.Tables) == 0 || r.Tables[0].Table != "test.items" || r.Tables[0].Of < 0.05 || r.Tables[0].Of > 0.5 {
			t.Errorf("tables: %+v", r.Tables)
		}
	}
	if ratio := share["file"] / share["SQL"]; ratio < 0.8 || ratio > 1.25 {
		t.Errorf("with half as much again, %.2f of the reads by file, %.2f by SQL", share["file"], share["SQL"])
	}
	if after := labtest.Query(t, db, settingsOfLists); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("settings were %v and are %v", before, after)
	}
	pilotGoesTheSameWay(t, db, machine)
	withoutPrivilege(t, db)
	stallEndsIt(t, db)
	if product == "mariadb" {
		stop()
		stop = func() {}
		aLoadThatChangesIsTold(t, db, machine)
	}
}

// aLoadThatChangesIsTold: of a load that comes to ask for fewer rows far more often the moment is told, to three seconds. How many
// reads there are for a request does not depend on what else the machine does.
func aLoadThatChangesIsTold(t *testing.T, db labtest.Server, files infra.Files) {
	t.Helper()
	const half = 8 * time.Second
	stop, other := busy(t, db, 3), make(chan func(), 1)
	time.AfterFunc(half, func() { stop(); other <- busy(t, db, 8) })
	seen, err := Observe(t.Context(), db.Database, Options{Files: files, For: 2 * half, Budget: 0.3, MaxStall: 5 * time.Second})
	(<-other)()
	if err != nil {
		t.Fatal(err)
	}
	explained := strings.Join(Reported(seen, nil, 1).Explained, " ")
	var after time.Duration
	if told := regexp.MustCompile(`The load changed at \S+ UTC, (\S+) after the observation had begun`).FindStringSubmatch(explained); told != nil {
		after, _ = time.ParseDuration(told[1])
	}
	if (after - half).Abs() > 3*time.Second {
		t.Errorf("the load became another after %s, of %d lists, and this is told: %s", half, seen.Cost.Lists, explained)
	}
}

// turnOver waits until the pool has been replaced a few times over.
func turnOver(t *testing.T, db labtest.Server) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := db.Database.(engine.PageCaching).PageCache(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.Read > 5*c.Data {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the pool is not used")
		}
	}
}

const settingsOfLists = "SELECT @@innodb_buffer_pool_filename, @@innodb_buffer_pool_dump_pct"

func neverFullIsRefused(t *testing.T, db labtest.Server) {
	t.Helper()
	first, err := db.Database.(engine.PageCaching).PageCache(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Observe(t.Context(), db.Database, Options{For: 4 * time.Second})
	var why *Unable
	if !errors.As(err, &why) {
		t.Fatalf("a pool that never had to drop a page, of a server just started: %v", err)
	}
	want := "has not yet read twice the size of its buffer pool" // of a server that nobody uses
	if Warming(first, why.Cache) != nil {                        // it still read what its own start needs
		want = "its reads still fill its buffer pool"
	}
	if !strings.Contains(why.Reason, want) || why.Hint() == "" || strings.Contains(why.Hint(), "smaller") {
		t.Errorf("a pool that never had to drop a page, of a server just started, with %+v before: %v, expected that it %s", first, err, want)
	}
}

// readFiles counts the files that are read.
type readFiles struct {
	infra.Files
	read int
}

func (f *readFiles) ReadFile(ctx context.Context, path string) ([]byte, error) {
	f.read++
	return f.Files.ReadFile(ctx, path)
}

// pilotGoesTheSameWay: what a list costs is tried in the way in which lists are taken afterwards, and the server's settings stay as they were.
func pilotGoesTheSameWay(t *testing.T, db labtest.Server, files infra.Files) {
	t.Helper()
	before := labtest.Query(t, db, settingsOfLists)
	counted := &readFiles{Files: files}
	if took, err := Pilot(t.Context(), db.Database, Options{MaxStall: 5 * time.Second, Files: counted}); err != nil || took <= 0 || counted.read == 0 {
		t.Errorf("a pilot by the file read %d files in %v: %v", counted.read, took, err)
	}
	if after := labtest.Query(t, db, settingsOfLists); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("settings were %v and are %v", before, after)
	}
}

func withoutPrivilege(t *testing.T, db labtest.Server) {
	t.Helper()
	labtest.Ask(t, db, "CREATE USER nobody IDENTIFIED BY 'none'", "GRANT SELECT ON test.* TO nobody")
	target := db.Target
	target.User, target.Password = "nobody", "none"
	asked, err := db.Engine.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer asked.Close()
	_, err = Observe(t.Context(), asked, Options{For: 4 * time.Second})
	var why *Unable
	if engine.ClassOf(err) != engine.Denied || !errors.As(err, &why) || !strings.Contains(why.Hint(), "GRANT PROCESS ON *.*") {
		t.Errorf("without the privilege PROCESS: %v", err)
	}
}

func stallEndsIt(t *testing.T, db labtest.Server) {
	t.Helper()
	_, err := Observe(t.Context(), db.Database, Options{For: 10 * time.Second, MaxStall: time.Nanosecond, Budget: 0.5})
	var why *Unable
	if !errors.As(err, &why) {
		t.Errorf("no list may hold the server up: %v", err)
	}
}
