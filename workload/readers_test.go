package workload_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/internal/document"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/custom"
)

// shop has a transaction that fails when its statements come to different servers, or over different connections.
const shop = `
workload: shop
tables:
  orders: {rows: 100, columns: {id: BIGINT NOT NULL = sequence, n: INT NOT NULL = constant 0}, key: id}
operations:
  look: {with: {id: uniform 1..100}, run: "SELECT n FROM orders WHERE id = :id"}
  change: {with: {id: uniform 1..100}, run: "UPDATE orders SET n = n + 1 WHERE id = :id"}
  look_twice:
    transaction:
      - SELECT @here := CONCAT(@@server_id, ' ', CONNECTION_ID())
      - SELECT IF(@here = CONCAT(@@server_id, ' ', CONNECTION_ID()), 1, (SELECT 1 UNION SELECT 2))
`

const (
	look = iota
	change
	lookTwice
)

// replicas is a primary, n1, and two replicas.
type replicas struct {
	*testing.T
	cluster *lab.Cluster
	primary engine.Database
	shop    workload.Workload
}

func (r *replicas) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// open opens a node, all for "".
func (r *replicas) open(ctx context.Context, node, namespace string) (engine.Database, error) {
	var names []string
	if node != "" {
		names = []string{node}
	}
	target, err := r.cluster.Target(names...)
	if err != nil {
		return nil, err
	}
	target.Namespace = namespace
	return mysql.Engine{}.Open(ctx, target)
}

func newReplicas(t *testing.T) *replicas {
	r := &replicas{T: t, cluster: labtest.Cluster(t, lab.Spec{Name: "readers", Product: "mariadb", Nodes: 3, Config: map[string]string{
		"innodb_buffer_pool_size": "32M", "innodb_log_file_size": "8M", "innodb_flush_log_at_trx_commit": "2", "sync_binlog": "0",
	}})}
	ctx := t.Context()
	admin, err := r.open(ctx, "", "")
	r.must(err)
	r.must(admin.(engine.Namespaced).MakeNamespace(ctx, "shop"))
	r.must(admin.Close())
	maker, err := custom.Parse("shop.yaml", []byte(shop), time.Now)
	r.must(err)
	r.shop, err = maker.New(&document.Node{Kind: document.Mapping}, mysql.Engine{})
	r.must(err)
	r.primary, err = r.open(ctx, "", "shop")
	r.must(err)
	t.Cleanup(func() { _ = r.primary.Close() })
	r.must(r.shop.Prepare(ctx, r.primary, func(int64, int64, string) {}))
	for _, node := range []string{"n2", "n3"} {
		r.until(node+" has the data", func() bool {
			db, err := r.open(ctx, node, "")
			if err != nil {
				return false
			}
			defer db.Close()
			return labtest.Query(t, db, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'shop'")[0] == "1" &&
				labtest.Query(t, db, "SELECT COUNT(*) FROM shop.orders")[0] == "100"
		})
	}
	return r
}

func (r *replicas) until(what string, so func() bool) {
	r.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); !so(); <-tick.C {
		if time.Now().After(end) {
			r.Fatalf("waited in vain: %s", what)
		}
	}
}

// ask runs a statement on a node.
func (r *replicas) ask(node, text string) {
	r.Helper()
	db, err := r.open(r.Context(), node, "")
	r.must(err)
	defer db.Close()
	labtest.Ask(r.T, db, text)
}

// counted is how many statements of a kind each node has executed.
func (r *replicas) counted(counter string) map[string]int64 {
	r.Helper()
	counts := map[string]int64{}
	for _, node := range []string{"n1", "n2", "n3"} {
		db, err := r.open(r.Context(), node, "")
		r.must(err)
		counts[node] = int64(labtest.Status(r.T, db, counter)[counter])
		_ = db.Close() // it was only asked
	}
	return counts
}

// crowd is clients of the shop, whose reads the replicas answer.
type crowd struct {
	*replicas
	readers *workload.Readers
	clients []load.Client

	mu   sync.Mutex
	read []string
}

func (r *replicas) crowd(maxBehind time.Duration) *crowd {
	r.Helper()
	c, ctx := &crowd{replicas: r}, r.Context()
	c.readers = workload.NewReaders(ctx, workload.Replicas{
		Nodes: func() []string { return []string{"n1", "n2", "n3"} }, MaxBehind: maxBehind,
		Open: func(ctx context.Context, node string) (engine.Database, error) { return r.open(ctx, node, "shop") },
		Changed: func(read []string, left map[string]error) {
			r.Logf("at most %s behind: read %v, left %v", maxBehind, read, left)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.read = slices.Clone(read)
		},
	})
	r.Cleanup(func() {
		for _, client := range c.clients {
			_ = client.Close() // its server may be gone
		}
		_ = c.readers.Close()
	})
	connect, err := c.readers.Connect(r.shop, r.primary, 7)
	r.must(err)
	for worker := range 4 {
		client, err := connect(ctx, worker)
		r.must(err)
		c.clients = append(c.clients, client)
	}
	return c
}

// reading waits until these are read from, and no others.
func (c *crowd) reading(want ...string) {
	c.Helper()
	c.until("reads from "+strings.Join(want, ", "), func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Equal(c.read, want)
	})
}

// do performs an operation with every client and returns how many failed, with the last reason; lost connections are sought
// again, as a load does.
func (c *crowd) do(operation, times int) (failed int, last error) {
	c.Helper()
	for range times {
		for _, client := range c.clients {
			ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
			if err := client.Do(ctx, operation); err != nil {
				failed, last = failed+1, err
				if workload.Lost(err) {
					c.must(client.Reconnect(ctx))
				}
			}
			cancel()
		}
	}
	return failed, last
}

// well performs an operation with every client, none of which may fail.
func (c *crowd) well(operation, times int) {
	c.Helper()
	if failed, err := c.do(operation, times); failed > 0 {
		c.Fatalf("%d operations failed, the last: %v", failed, err)
	}
}

// answers is who answers how many reads of a round, in which each of the four clients performs so many.
func (c *crowd) answers(operation, times int) map[string]int64 {
	c.Helper()
	before := c.readers.Answered()
	c.well(operation, times)
	now := c.readers.Answered()
	for node := range now {
		now[node] -= before[node]
	}
	maps.DeleteFunc(now, func(_ string, n int64) bool { return n == 0 })
	return now
}

func TestReadsGoToHealthyReplicas(t *testing.T) {
	r := newReplicas(t)
	ctx := t.Context()
	strict, patient := r.crowd(2*time.Second), r.crowd(time.Hour)
	evenly := func(each int64) func() bool { // a replica that is too busy to say how it is is left for a moment
		return func() bool {
			return maps.Equal(strict.answers(look, int(each/2)), map[string]int64{"n2": each, "n3": each})
		}
	}

	// Reads are spread over the replicas, writes go to the primary, and a transaction stays together.
	strict.reading("n2", "n3")
	selects, updates := r.counted("Com_select"), r.counted("Com_update")
	r.until("both replicas answer as many reads", evenly(100))
	strict.well(change, 10)
	strict.well(lookTwice, 10)
	selected, updated := r.counted("Com_select"), r.counted("Com_update")
	for node, n := range strict.readers.Answered() {
		if node != "" && selected[node]-selects[node] < n {
			t.Errorf("%s counted %d reads, we %d", node, selected[node]-selects[node], n)
		}
	}
	if got := updated["n1"] - updates["n1"]; got != 40 {
		t.Errorf("the primary took %d writes, want 40", got)
	}

	// One that hangs is left, and comes back.
	r.must(r.cluster.Server("n3").Freeze(ctx))
	strict.reading("n2")
	if got := strict.answers(look, 25); got["n3"] > 0 {
		t.Errorf("a frozen replica answered: %v", got)
	}
	r.must(r.cluster.Server("n3").Thaw(ctx))
	strict.reading("n2", "n3")
	r.until("both answer again", evenly(10))

	// One that dies costs each of its clients at most one read.
	r.must(r.cluster.Server("n3").Kill(ctx))
	if failed, err := strict.do(look, 50); failed > len(strict.clients) {
		t.Errorf("%d reads failed when a replica died, the last: %v", failed, err)
	}
	strict.reading("n2")

	// One that does not apply is left when what it shows is too old; then the primary answers.
	r.ask("n2", "STOP SLAVE SQL_THREAD")
	strict.reading()
	if got := strict.answers(look, 25); got[""] != 100 {
		t.Errorf("without a replica the reads were answered by %v", got)
	}
	r.until("who may read what is old still reads it", func() bool { return patient.answers(look, 5)["n2"] == 20 })

	// They come back by themselves, and answer although the primary is dead.
	r.ask("n2", "START SLAVE")
	r.must(r.cluster.Start(ctx, "n3"))
	strict.reading("n2", "n3")
	patient.reading("n2", "n3")
	r.must(r.cluster.Server("n1").Kill(ctx))
	r.until("reads are answered without a primary", func() bool {
		failed, _ := patient.do(look, 5)
		return failed == 0
	})
	if failed, _ := patient.do(change, 1); failed != len(patient.clients) {
		t.Errorf("%d writes failed without a primary, want all", failed)
	}
	r.must(r.cluster.Start(ctx, "n1"))
	r.until("writes are taken again", func() bool {
		failed, _ := patient.do(change, 1)
		return failed == 0
	})
}
