package collect

import (
	"context"
	"math"
	"time"

	"plimsoll/watch"
)

// Cassandra reads a node of Cassandra from its virtual tables, of the keyspace system_views. It asks every second for its pools of threads and
// every ten seconds for the rest. Up to two of the sessions that dial opens are open at a time; they are to share connections. A node that has no such tables, as ScyllaDB's, is read from the metrics that it shows at its address.
func Cassandra(dial Dial, address string, cores int) []watch.Collector {
	m := &meter{}
	s := &server{meter: m, breaker: breaker{meter: m, slow: slowOnJava}, cores: cores}
	return []watch.Collector{&cassandra{server: s, versions: follower{kind: "version"}, link: &link{dial: dial, meter: m, greet: func(context.Context, *link) error { return nil }}}, newScylla(s, address), newRingChanges(s, dial)}
}

// slowOnJava is slowAnswer for a server that collects garbage and compiles as it goes.
const slowOnJava = 250 * time.Millisecond

type cassandra struct {
	*server
	*link
	version  string
	load     []map[string]float64 // of the last readings
	requests rates
	// Of the node: its version, and when it was started, in seconds since 1970.
	versions   follower
	generation float64
}

var _ watch.Collector = (*cassandra)(nil)

func (c *cassandra) Close() error { return c.close() }

// answers is a question that every node can answer.
const answers = "SELECT key FROM system.local"

// Collect implements watch.Collector.
func (c *cassandra) Collect(ctx context.Context, level watch.Level, now time.Time) (r watch.Reading, err error) {
	ctx, cancel := context.WithTimeout(ctx, hangs)
	defer cancel()
	may, ask, why := c.breaker.allowed(now, level)
	spared := c.breaker.spares(now)
	if ask {
		r, err = c.read(ctx, may, now)
	} else {
		r.Asked, err = c.contact(ctx, now, answers, &c.breaker)
	}
	led(&r, now, level, may, ask, why, spared, err)
	return r, refusal(err)
}

func (c *cassandra) read(ctx context.Context, level watch.Level, now time.Time) (watch.Reading, error) {
	var r watch.Reading
	c.askAgain(c.link, level)
	if err := c.open(ctx); err != nil {
		return r, err
	}
	load, err := c.pools(ctx, now, &r)
	if err != nil {
		return r, err
	}
	var detail func(*watch.Instance)
	if level >= watch.TenSeconds {
		if detail, err = c.detail(ctx, now, &r); err != nil {
			return r, err
		}
	}
	r.Show = func(i *watch.Instance) {
		i.Cores, i.Watching = c.cores, c.watching()
		if c.lacking(virtualTables) {
			return // what it shows is in its metrics
		}
		i.Product, i.Load = "Cassandra", &load
		if c.version != "" {
			i.Version = c.version
		}
		if detail != nil {
			detail(i)
		}
	}
	c.breaker.judge(now)
	return r, nil
}

// classOfPool is the class of wait of the tasks of a pool that serves requests; "" of others.
var classOfPool = map[string]string{"ReadStage": "read", "MutationStage": "write", "CounterMutationStage": "write", "ViewMutationStage": "write"}

// virtualTables are what a node lacks that is none of Cassandra.
const virtualTables = "system_views.thread_pools"

// pools reads the pools of threads. The load is the requests under way, of which some are in the stages that read and write.
func (c *cassandra) pools(ctx context.Context, now time.Time, r *watch.Reading) (watch.Load, error) {
	if c.lacking(virtualTables) {
		_, err := c.rows(ctx, answers)
		return watch.Load{}, err
	}
	rows, err := c.rows(ctx, "SELECT name, active_tasks, pending_tasks, blocked_tasks, completed_tasks FROM "+virtualTables)
	if err != nil && c.lack(virtualTables, err) {
		return watch.Load{}, nil
	}
	if err != nil {
		return watch.Load{}, err
	}
	by := map[string]float64{}
	requests := 0.0
	for row := range rows.Rows {
		name := text(rows.At(row, 0))
		at := func(column int) float64 { v, _ := number(rows.At(row, column)); return v }
		r.Add(now, "cassandra_active_tasks", at(1), "pool", name)
		r.Add(now, "cassandra_pending_tasks", at(2), "pool", name)
		r.Add(now, "cassandra_blocked_tasks", at(3), "pool", name)
		r.Add(now, "cassandra_completed_tasks_total", at(4), "pool", name)
		switch name {
		case "Native-Transport-Requests":
			requests = at(1)
		case "CompactionExecutor":
			r.Add(now, "cassandra_pending_compactions", at(2))
		}
		if class := classOfPool[name]; class != "" {
			by[class] += at(1)
		}
	}
	by["cpu"] = max(requests-by["read"]-by["write"], 0)
	c.load = append(c.load, by)
	c.load = c.load[max(len(c.load)-window, 0):]
	for _, w := range waits(by) {
		r.Add(now, "plimsoll_aas", w.AAS, "wait", w.Class)
	}
	if c.cores > 0 { // ScyllaDB has no such figure to hold beside them: each of its shards works on many requests at once
		r.Add(now, "plimsoll_cores", float64(c.cores))
	}
	l := load{}
	for _, one := range c.load {
		l.history = append(l.history, waits(one))
	}
	return l.picture(), nil
}

// sums are numbers that one row or several tell together, under the names of their series.
var sums = []struct{ series, text string }{
	{"cassandra_hinted_endpoints", "SELECT COUNT(*) FROM system_views.pending_hints"},
	{"cassandra_running_compactions", "SELECT COUNT(*) FROM system_views.sstable_tasks"},
	{"cassandra_streams", "SELECT COUNT(*) FROM system_views.streaming"},
	{"cassandra_clients", "SELECT COUNT(*) FROM system_views.clients"},
	{"cassandra_expired_messages_total", "SELECT SUM(expired_count) FROM system_views.internode_inbound"},
	{"cassandra_disk_mebibytes", "SELECT SUM(mebibytes) FROM system_views.disk_usage"},
}

// detail is what is read every ten seconds.
func (c *cassandra) detail(ctx context.Context, now time.Time, r *watch.Reading) (func(*watch.Instance), error) {
	seen := map[string]float64{}
	for _, s := range sums {
		if c.lacking(s.series) {
			continue
		}
		rows, err := c.rows(ctx, s.text)
		if err != nil {
			if c.lack(s.series, err) {
				continue
			}
			return nil, err
		}
		if rows.Rows == 1 {
			if v, ok := number(rows.At(0, 0)); ok {
				seen[s.series] = v
				r.Add(now, s.series, v)
			}
		}
	}
	if v, ok := seen["cassandra_expired_messages_total"]; ok {
		r.Add(now, "cassandra_dropped_messages_total", v, "type", "expired")
	}
	if err := c.node(ctx, now, r); err != nil {
		return nil, err
	}
	p99, err := c.latencies(ctx, now, r)
	if err != nil {
		return nil, err
	}
	throughput := c.requests.rate("all")
	return func(i *watch.Instance) {
		i.P99, i.Throughput = p99, throughput
		if v, ok := seen["cassandra_clients"]; ok {
			i.Connections = &v
		}
		if v, ok := seen["cassandra_disk_mebibytes"]; ok {
			disk := watch.Disk{}
			if i.Disk != nil {
				disk = *i.Disk
			}
			disk.Data = known(v * (1 << 20))
			i.Disk = &disk
		}
	}, nil
}

// latencies reads those of coordinated reads and writes by table. The percentile of all is that of the slowest table that is in use.
func (c *cassandra) latencies(ctx context.Context, now time.Time, r *watch.Reading) (*float64, error) {
	var worst *float64
	all := 0.0
	for _, kind := range []string{"read", "write"} {
		table := "system_views.coordinator_" + kind + "_latency"
		if c.lacking(table) {
			continue
		}
		rows, err := c.rows(ctx, "SELECT keyspace_name, table_name, count, p99th_ms, per_second FROM "+table)
		if err != nil {
			if c.lack(table, err) {
				continue
			}
			return nil, err
		}
		for row := range rows.Rows {
			count, ok := number(rows.At(row, 2))
			p99, also := number(rows.At(row, 3))
			rate, _ := number(rows.At(row, 4))
			if !ok || !also || math.IsNaN(p99) {
				continue
			}
			all += count
			labels := []string{"keyspace", text(rows.At(row, 0)), "table", text(rows.At(row, 1)), "operation", kind}
			r.Add(now, "cassandra_requests_total", count, labels...)
			r.Add(now, "cassandra_latency_p99_seconds", p99/1000, labels...)
			if seconds := p99 / 1000; rate > 0.1 && (worst == nil || seconds > *worst) {
				worst = &seconds
			}
		}
	}
	c.requests.turn(now, map[string]float64{"all": all})
	return worst, nil
}
