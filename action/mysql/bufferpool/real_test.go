package bufferpool

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/infra/local"
	"plimsoll/internal/document"
	"plimsoll/internal/labtest"
	"plimsoll/internal/poll"
	"plimsoll/lab"
)

// onServers runs f on a real server of each product, whose buffer pool is larger than the data.
func onServers(t *testing.T, f func(t *testing.T, b *bench)) {
	specs := []lab.Spec{{Product: "mariadb"}, {Product: "mysql"}}
	if version := os.Getenv("PLIMSOLL_TEST_MARIADB"); version != "" {
		specs[0].Version = version
	}
	t.Parallel()
	for _, spec := range specs {
		t.Run(spec.Product, func(t *testing.T) {
			t.Parallel()
			spec.Name, spec.Nodes = "pool", 1
			spec.Config = map[string]string{
				"innodb_buffer_pool_size": "64M", "innodb_flush_log_at_trx_commit": "2",
				"innodb_buffer_pool_dump_at_shutdown": "OFF", "innodb_buffer_pool_load_at_startup": "OFF",
			}
			inLab := labtest.Cluster(t, spec)
			m, err := local.New()
			if err != nil {
				t.Fatal(err)
			}
			b := &bench{cluster: inLab, on: lab.AsCluster(inLab, enginemysql.Engine{}, m), product: spec.Product}
			t.Cleanup(func() { _ = b.on.Close() })
			b.fill(t)
			f(t, b)
		})
	}
}

// bench is a server with data.
type bench struct {
	cluster *lab.Cluster
	on      *cluster.Cluster
	product string
}

// fill makes shop.orders, whose rows and index customer take some 5 MiB, and tables of other shapes.
func (b *bench) fill(t *testing.T) {
	t.Helper()
	digits := "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
	b.execute(t,
		"CREATE DATABASE shop",
		"CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, placed DATETIME(3), note CHAR(200) CHARACTER SET latin1, KEY customer (customer), KEY placed (placed))",
		fmt.Sprintf(`INSERT INTO shop.orders SELECT n, IF(n %% 7 = 0, NULL, n DIV 100), '2024-01-01' + INTERVAL n * 1003 MICROSECOND, REPEAT('x', 200) FROM
			(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d n FROM %s a, %s b, %s c, %s e, %s f) x WHERE n < 20000 ORDER BY n`,
			digits, digits, digits, digits, digits),
		"CREATE TABLE shop.odd (a VARCHAR(20), b DECIMAL(10, 3), c ENUM('x', 'y'), d TEXT, KEY words (a, b), KEY kind (c), KEY beginning (d(5)), FULLTEXT KEY search (d))",
		"INSERT INTO shop.odd SELECT IF(id % 3 = 0, NULL, CONCAT('w', id % 5)), id / 7, IF(id % 2, 'x', 'y'), note FROM shop.orders WHERE id < 3000",
		"CREATE TABLE shop.parts (id INT, at DATE, PRIMARY KEY (id, at), KEY at (at)) PARTITION BY HASH (id) PARTITIONS 3",
		"INSERT INTO shop.parts SELECT id, placed FROM shop.orders WHERE id < 9000",
		"ANALYZE TABLE shop.orders", "ANALYZE TABLE shop.odd", "ANALYZE TABLE shop.parts",
	)
}

func (b *bench) execute(t *testing.T, statements ...string) {
	t.Helper()
	if err := b.on.Execute(t.Context(), "", statements, func(int) {}); err != nil {
		t.Fatal(err)
	}
}

// chill empties the buffer pool by a restart.
func (b *bench) chill(t *testing.T) {
	t.Helper()
	if err := b.cluster.Server("n1").Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// memory is the share of indexes in memory.
func (b *bench) memory(t *testing.T, names string) float64 {
	t.Helper()
	c := chosen{}
	with(t, "{"+names+"}", &c)
	var share float64
	err := onServer{}.use(t.Context(), b.on, func(s engine.Session) error {
		all, err := c.find(t.Context(), s)
		if err == nil {
			share, err = b.scan(t, s, all)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return share
}

// scan looks at every page, and holds the server's own count, where it has one, against that.
func (b *bench) scan(t *testing.T, s engine.Session, all []index) (float64, error) {
	counted, err := counts(t.Context(), s)
	if err != nil {
		return 0, err
	}
	var have, want float64
	for _, i := range all {
		n, err := pagesByScan(t.Context(), s, i)
		if err != nil {
			return 0, err
		}
		have += min(n, i.leaves)
		want += i.leaves
		if !counted || i.partitioned {
			continue
		}
		if count, err := pagesByCount(t.Context(), s, i); err != nil || count < n-1 || count > n+1 {
			t.Errorf("%s: the server counts %v pages in memory, there are %v: %v", i, count, n, err)
		}
	}
	return have / want, nil
}

func with(t *testing.T, text string, into any) {
	t.Helper()
	n, err := document.Parse("with", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// act does what an action does, and returns how far it said that it was, in the end.
func (b *bench) act(t *testing.T, a action.Action, text string) (action.Facts, float64) {
	t.Helper()
	last := -1.0
	out, err := actiontest.Bind(t, a, text).Act(t.Context(), b.on, action.Call{Progress: func(share float64, text string) {
		if share >= 0 && share < last {
			t.Errorf("progress falls from %v to %v: %s", last, share, text)
		}
		last = max(last, share)
	}})
	if err != nil {
		t.Fatalf("%s: %v", a.Name, err)
	}
	return out, last
}

func (b *bench) value(t *testing.T, query string) string {
	t.Helper()
	v, err := b.on.Value(t.Context(), "", query)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestOnRealServers(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		t.Run("every index is read whole, and no other", b.readsChosen)
		t.Run("a range is read, and no more", b.readsRange)
		t.Run("keeps to the rate, and ends when it is cut off", b.keepsRate)
		t.Run("refuses", b.refuses)
		t.Run("what was dumped comes back", b.comesBack)
		t.Run("waits until the misses end", b.waitsForMisses)
		t.Run("conformance", b.conform)
	})
}

// readsChosen holds what is in memory against what was read, by the servers' own books.
func (b *bench) readsChosen(t *testing.T) {
	b.chill(t)
	if share := b.memory(t, "indexes: [shop.orders.PRIMARY]"); share > 0.2 {
		t.Fatalf("after a restart %.2f of the rows are in memory", share)
	}
	out, progress := b.act(t, warmAction, "{indexes: shop.orders.customer}")
	if share := b.memory(t, "indexes: [shop.orders.customer]"); share < 0.99 {
		t.Errorf("%.2f of the index are in memory", share)
	}
	if share := b.memory(t, "indexes: [shop.orders.PRIMARY]"); share > 0.2 {
		t.Errorf("%.2f of the rows are in memory, although only an index was read", share)
	}
	if progress != 1 || out["pages_from_disk"].(float64) < 10 {
		t.Errorf("progress %v, %v", progress, out)
	}
	b.act(t, warmAction, "{tables: [shop.*]}")
	for _, name := range []string{
		"orders.PRIMARY", "orders.customer", "orders.placed", "odd.words", "odd.kind", "odd.beginning", "parts.PRIMARY", "parts.at",
	} {
		if share := b.memory(t, "indexes: [shop."+name+"]"); share < 0.99 {
			t.Errorf("%.2f of %s are in memory", share, name)
		}
	}
	if out, _ := b.act(t, warmAction, "{tables: [shop.orders], in_memory: 0.95}"); out["in_memory"].(float64) < 0.95 {
		t.Errorf("read again: %v", out)
	}
	b.chill(t)
	_, err := actiontest.Bind(t, warmAction, "{tables: [shop.orders], in_memory: 0.5}").Act(t.Context(), b.on, action.Call{Progress: func(float64, string) {}})
	if err == nil || !strings.Contains(err.Error(), "of the pages read were in memory, expected 50.0 %") {
		t.Errorf("a cold server is called warm: %v", err)
	}
}

func (b *bench) readsRange(t *testing.T) {
	b.chill(t)
	b.act(t, warmAction, `{indexes: [shop.orders.PRIMARY], from: 16000}`)
	if share := b.memory(t, "indexes: [shop.orders.PRIMARY]"); share < 0.15 || share > 0.45 {
		t.Errorf("%.2f of the rows are in memory, a fifth was read", share)
	}
	b.act(t, warmAction, `{indexes: [shop.orders.placed], to: "2024-01-01 00:00:04"}`)
	if share := b.memory(t, "indexes: [shop.orders.placed]"); share < 0.1 || share > 0.6 {
		t.Errorf("%.2f of the index are in memory, a fifth was read", share)
	}
}

func (b *bench) keepsRate(t *testing.T) {
	began := time.Now()
	b.act(t, warmAction, "{indexes: [shop.orders.PRIMARY], rate: 4M}")
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("%v for more than 4 MB at 4 MB a second", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := actiontest.Bind(t, warmAction, "{tables: [shop.orders], rate: 100k}").Act(ctx, b.on, action.Call{Progress: func(float64, string) {}})
	if err == nil {
		t.Error("cut off, it says that it is done")
	}
	limited, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	err = poll.Until(limited, 100*time.Millisecond, func() (string, error) {
		if b.value(t, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%FORCE INDEX%' AND id <> CONNECTION_ID()") == "0" {
			return "", nil
		}
		return "the server reads on", nil
	})
	if err != nil {
		t.Error(err)
	}
}

func (b *bench) refuses(t *testing.T) {
	for with, want := range map[string]string{
		"{tables: [shop.order]}":                         "no table shop.order",
		"{indexes: [shop.orders.custmer]}":               "no index custmer",
		"{indexes: [shop.odd.search]}":                   "FULLTEXT",
		"{indexes: [shop.odd.kind], from: x}":            "no range of shop.odd.kind",
		"{tables: [mysql.general_log]}":                  "mysql.general_log is CSV",
		"{tables: [nowhere.*]}":                          "no InnoDB tables in nowhere",
		"{indexes: [shop.odd.GEN_CLUST_INDEX], from: a}": "the table has no key",
	} {
		_, err := actiontest.Bind(t, warmAction, with).Check(t.Context(), b.on.ReadOnly())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", with, err, want)
		}
	}
	big := actiontest.Bind(t, warmAction, "{tables: [shop.orders]}").(*warm)
	err := big.use(t.Context(), b.on, func(s engine.Session) error {
		all, err := big.find(t.Context(), s)
		if err != nil {
			return err
		}
		all[0].pages *= 100 // as if it were larger than the pool
		return big.fits(t.Context(), s, all)
	})
	if err == nil || !strings.Contains(err.Error(), "would evict the first") {
		t.Errorf("larger than the pool: %v", err)
	}
}

func (b *bench) comesBack(t *testing.T) {
	b.chill(t)
	b.act(t, warmAction, "{tables: [shop.orders]}")
	before := b.value(t, "SELECT @@GLOBAL.innodb_buffer_pool_dump_pct")
	b.act(t, dumpAction, "{percent: 100}")
	if after := b.value(t, "SELECT @@GLOBAL.innodb_buffer_pool_dump_pct"); after != before {
		t.Errorf("innodb_buffer_pool_dump_pct is %s and was %s", after, before)
	}
	b.chill(t)
	if share := b.memory(t, "tables: [shop.orders]"); share > 0.2 {
		t.Fatalf("after a restart %.2f are in memory", share)
	}
	b.act(t, loadAction, "{}")
	if share := b.memory(t, "tables: [shop.orders]"); share < 0.95 {
		t.Errorf("%.2f came back", share)
	}
	f, err := actiontest.Bind(t, waitAction, "{tables: [shop.orders], share: 0.9, costly: true}").Check(t.Context(), b.on.ReadOnly())
	if err != nil || f.State != action.Satisfied {
		t.Errorf("what came back is found %+v %v", f, err)
	}
	_, err = actiontest.Bind(t, waitAction, "{tables: [shop.parts]}").Check(t.Context(), b.on.ReadOnly())
	if err == nil || !strings.Contains(err.Error(), "scan its whole buffer pool") {
		t.Errorf("a look that costs is taken unasked: %v", err)
	}
}

// reading reads all the time, until it is told to end.
func (b *bench) reading(t *testing.T) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_ = b.on.Execute(ctx, "", []string{"SELECT COUNT(note) FROM shop.orders WHERE customer BETWEEN 10 AND 20"}, func(int) {})
		}
	}()
	return func() { cancel(); <-ended }
}

func (b *bench) waitsForMisses(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := actiontest.Bind(t, waitAction, "{requests: 1M}").Act(ctx, b.on, action.Call{Progress: func(_ float64, text string) {
		if text != "the first look" {
			cancel()
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "too few to judge") {
		t.Errorf("a server that nobody asks is warm: %v", err)
	}
	b.chill(t)
	end := b.reading(t)
	defer end()
	out, _ := b.act(t, waitAction, "{hold: 1s}")
	t.Log(out["found"])
}

// TestRDSIsWorkedByItsProcedures is on servers of the lab dressed as RDS, whose administrator may set no variable: no RDS was there.
func TestRDSIsWorkedByItsProcedures(t *testing.T) {
	t.Parallel()
	inLab := labtest.Cluster(t, lab.Spec{Name: "pool", Product: "rds-mysql", Nodes: 1, Config: map[string]string{"innodb_buffer_pool_size": "64M", "innodb_flush_log_at_trx_commit": "2"}})
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{cluster: inLab, on: lab.AsCluster(inLab, enginemysql.Engine{}, m), product: "rds-mysql"}
	t.Cleanup(func() { _ = b.on.Close() })
	if err := b.on.Execute(t.Context(), "", []string{"SET GLOBAL innodb_buffer_pool_dump_now = ON"}, func(int) {}); engine.ClassOf(err) != engine.Denied {
		t.Fatalf("its administrator may do what RDS's may not: %v", err)
	}
	if out, _ := b.act(t, dumpAction, "{percent: 25}"); !strings.Contains(out["status"].(string), "completed") { // the server's own percentage: it may not be set
		t.Errorf("dumped: %v", out)
	}
	if out, _ := b.act(t, loadAction, "{}"); !strings.Contains(out["status"].(string), "completed") {
		t.Errorf("loaded: %v", out)
	}
}

func (b *bench) conform(t *testing.T) {
	endReading := sync.OnceFunc(b.reading(t))
	defer endReading()
	percent := func(t *testing.T) string { return b.value(t, "SELECT @@GLOBAL.innodb_buffer_pool_dump_pct") }
	for name, s := range map[string]actiontest.Subject{
		"dump": {Action: dumpAction, With: "{percent: 77}"},
		"load": {Action: loadAction, With: "{}"},
		"warm": {Action: warmAction, With: "{tables: [shop.orders]}"},
		"wait": {Action: waitAction, With: "{miss_share: 0.5, hold: 1ms}"},
	} {
		t.Run(name, func(t *testing.T) {
			s.Cluster, s.Snapshot, s.Always, s.Cuts = b.on, percent, true, []time.Duration{0, 20 * time.Millisecond}
			actiontest.Run(t, s)
		})
	}
	t.Run("resize", func(t *testing.T) {
		sizes := []string{"192M"} // from 64M
		if b.product == "mysql" {
			endReading() // under reads of the whole table, MySQL took more than ten minutes to give pages back
		} else {
			sizes = append(sizes, "48M") // MySQL's pool is one chunk, and cannot be smaller
		}
		for _, size := range sizes {
			actiontest.Run(t, actiontest.Subject{
				Action: resizeAction, With: "{size: " + size + "}", Cluster: b.on, Cuts: []time.Duration{0, 20 * time.Millisecond},
				Snapshot: func(t *testing.T) string {
					return b.value(t, "SELECT @@GLOBAL.innodb_buffer_pool_size") // its pages follow, and Check looks at them
				},
			})
		}
	})
}
