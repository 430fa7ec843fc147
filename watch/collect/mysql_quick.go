package collect

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/watch"
)

// quick reads what is read every second and every ten. It leads: if it gets no answer the instance is down.
type quick struct {
	*server
	*link
	counters  rates // of the status
	load      load
	shape     shape
	sampled   sampled
	long      bool // some statement is longer than the short list of sessions shows
	commits   commits
	syncs     float64             // sync_binlog
	follows   bool                // it has channels of replication
	sources   follower            // its channels
	histogram map[float64]float64 // of statements, by the upper bounds of buckets
	unread    map[string]error    // what it did not show, and why
}

var _ watch.Collector = (*quick)(nil)

// shape is what a server has, asked when a connection begins.
type shape struct {
	asked     bool
	instance  watch.Instance // product, version and what else does not change while it runs
	performs  bool           // its performance schema is on
	timesMore bool           // its list of sessions tells milliseconds: MariaDB
}

func (q *quick) Close() error { return q.close() }

// hangs is how long a server may take at most that is asked whether it is up, whatever else is due.
const hangs = 5 * time.Second

// Collect implements watch.Collector.
func (q *quick) Collect(ctx context.Context, level watch.Level, now time.Time) (r watch.Reading, err error) {
	ctx, cancel := context.WithTimeout(ctx, hangs)
	defer cancel()
	may, ask, why := q.breaker.allowed(now, level)
	spared := q.breaker.spares(now)
	if ask {
		r, err = q.read(ctx, may, now)
	} else {
		r.Asked, err = q.contact(ctx, now, "SELECT 1", &q.breaker)
	}
	led(&r, now, level, may, ask, why, spared, err)
	if r.Asked != watch.Nothing {
		r.Add(now, "mysql_up", oneIf(err == nil))
	}
	return r, refusal(err)
}

func (q *quick) read(ctx context.Context, level watch.Level, now time.Time) (watch.Reading, error) {
	var r watch.Reading
	if q.askAgain(q.link, level); q.session == nil {
		q.shape.asked = false
	}
	if err := q.open(ctx); err != nil {
		q.shape.asked = false
		return r, err
	}
	if err := q.ask(ctx); err != nil {
		return r, err
	}
	names := everySecond
	if level >= watch.TenSeconds {
		names = nil
	}
	status, err := q.status(ctx, names)
	if err != nil {
		return r, err
	}
	addStatus(&r, now, status)
	q.counters.turn(now, status)
	q.breaker.strained(now, status["threads_running"], q.cores)

	var sessions []session
	if sessions, err = q.sessions(ctx, level); err != nil && lost(err) {
		return r, err
	}
	var total *total
	if q.shape.performs {
		if total, err = q.total(ctx, sessions); err != nil && lost(err) {
			return r, err
		}
	}
	q.load.turn(now, sessions, total, &q.counters)
	picture := q.load.picture()
	for _, w := range q.load.latest {
		r.Add(now, "plimsoll_aas", w.AAS, "wait", w.Class)
	}
	if q.cores > 0 {
		r.Add(now, "plimsoll_cores", float64(q.cores))
	}
	q.sampled.turn(now, sessions)
	if io, _ := q.io(); io.IOPS != nil {
		r.Add(now, "plimsoll_iops", *io.IOPS)
	}
	show := []func(*watch.Instance){q.showStatus(status)}
	if level >= watch.TenSeconds || q.follows {
		channels, err := q.channels(ctx, now, &r)
		if lost(err) {
			return r, err
		}
		if q.note("replication", err); err == nil {
			q.follows = len(channels) > 0
			r.Changes = append(r.Changes, q.sources.turn(now, sourcesOf(channels))...)
			show = append(show, func(i *watch.Instance) { i.Channels, i.Role = channels, part(channels) })
		}
	}
	if level >= watch.TenSeconds {
		detail, err := q.detail(ctx, now, status, &r)
		if lost(err) {
			return r, err
		}
		if q.note("commits, transactions and locks", err); err == nil {
			show = append(show, detail)
		}
	}
	if q.sampled.due(now) { // also of a server in distress, of which less is read: no query is needed
		q.addSampled(now, &r)
	}
	if up, before := status["uptime"], q.counters.last["uptime"]; up < before {
		r.Changes = append(r.Changes, watch.Change{At: now, Kind: "restart", What: "server", To: now.Add(-time.Duration(up) * time.Second).UTC().Format(time.RFC3339)})
	}
	seen, callers, notes := q.sampled.last.top(), q.sampled.last.callers(), q.notes()
	show = append(show, func(i *watch.Instance) {
		i.Load, i.Callers, i.Findings = &picture, callers, slices.Concat(i.Findings, notes)
		if len(i.Statements) == 0 || i.Statements[0].Source == "samples" {
			i.Statements = seen
		}
		i.Watching = q.watching()
	})
	r.Show = func(i *watch.Instance) {
		for _, f := range show {
			f(i)
		}
	}
	q.breaker.judge(now)
	return r, nil
}

// note keeps what a server, which answers, did not show because it took too long for it. What it showed of that before stays, and is older.
func (q *quick) note(what string, why error) {
	if q.unread == nil {
		q.unread = map[string]error{}
	}
	if q.unread[what] = why; why == nil {
		delete(q.unread, what)
	}
}

// notes are those findings.
func (q *quick) notes() (all []watch.Finding) {
	for _, what := range slices.Sorted(maps.Keys(q.unread)) {
		all = append(all, watch.Finding{
			Code: "not-read", Text: "The server took too long to show its " + what + ", so the figures are older: " + q.unread[what].Error(),
			Do: "Look at what it waits for. They are read again every ten seconds.",
		})
	}
	return all
}

// ask finds out what the server is and has.
func (q *quick) ask(ctx context.Context) error {
	if q.shape.asked {
		return nil
	}
	rows, err := q.table(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'version_comment', 'aurora_version', 'performance_schema', "+
		"'thread_pool_size', 'innodb_buffer_pool_size', 'innodb_page_size', 'log_bin', 'read_only', 'datadir')")
	if err != nil {
		return err
	}
	shown := map[string]string{}
	for _, row := range rows {
		shown[row["Variable_name"]] = row["Value"]
	}
	i := &q.shape.instance
	i.Product, i.Version = product(shown)
	q.keepsDataIn(shown["datadir"])
	if pool, ok := numeric(shown["innodb_buffer_pool_size"]); ok {
		i.Memory = &watch.Memory{Pool: &pool}
	}
	q.shape.performs, i.Findings = shown["performance_schema"] == "ON", nil // a restart may have switched it
	hidden, err := q.hidden(ctx)
	if err != nil {
		return err
	}
	if !q.shape.performs {
		i.Findings = []watch.Finding{{
			Code: "performance-schema-off", Text: "The performance schema is off: waits are sampled once a second from the list of sessions, and who holds " + hidden + " that others wait for is not shown.",
			Do: "For exact waits, and for who blocks whom, set performance_schema=ON and restart.",
		}}
	}
	_, err = q.rows(ctx, "SELECT TIME_MS FROM information_schema.PROCESSLIST LIMIT 0")
	if lost(err) {
		return err
	}
	q.shape.timesMore = err == nil
	if err := q.countCores(ctx, shown); err != nil {
		return err
	}
	q.shape.asked = true
	return nil
}

// countCores takes the number of cores from what the server derives of it, if nobody gave it: MariaDB's pool of threads has one
// group for each, and MySQL's default resource group names them.
func (q *quick) countCores(ctx context.Context, shown map[string]string) error {
	if q.cores > 0 {
		return nil
	}
	if n, ok := numeric(shown["thread_pool_size"]); ok && n > 0 {
		q.cores = int(n)
		return nil
	}
	r, err := q.rows(ctx, "SELECT VCPU_IDS FROM information_schema.RESOURCE_GROUPS WHERE RESOURCE_GROUP_NAME = 'USR_default'")
	switch {
	case lost(err):
		return err
	case err == nil && r.Rows == 1:
		q.cores = countIDs(text(r.At(0, 0)))
	}
	return nil
}

// countIDs counts what a list such as 0-3,6 names.
func countIDs(list string) int {
	n := 0
	for span := range strings.SplitSeq(list, ",") {
		from, to, isSpan := strings.Cut(span, "-")
		a, err := strconv.Atoi(from)
		if err != nil {
			return 0
		}
		b := a
		if isSpan {
			if b, err = strconv.Atoi(to); err != nil {
				return 0
			}
		}
		n += b - a + 1
	}
	return n
}

// sourcesOf names what a server follows, for the list of changes.
func sourcesOf(channels []watch.Channel) map[string]string {
	all := map[string]string{}
	for _, c := range channels {
		all["source "+c.Name] = c.Source
	}
	return all
}

func (q *quick) showStatus(status map[string]float64) func(*watch.Instance) {
	c := &q.counters
	shape := q.shape.instance
	throughput, commits := c.rate("questions"), c.rate("com_commit")
	io, untold := q.io()
	memory := watch.Memory{Misses: c.rate("innodb_buffer_pool_reads")}
	if shape.Memory != nil {
		memory.Pool = shape.Memory.Pool
	}
	if asked := c.rate("innodb_buffer_pool_read_requests"); asked != nil && *asked > 0 && memory.Misses != nil {
		memory.MissShare = known(min(*memory.Misses / *asked, 1))
	}
	gauge := func(name string) *float64 {
		if v, ok := status[name]; ok {
			return &v
		}
		return nil
	}
	connected, running, uptime := gauge("threads_connected"), gauge("threads_running"), gauge("uptime")
	cores, findings := q.cores, slices.Concat(shape.Findings, untold, q.findings())
	return func(i *watch.Instance) {
		i.Product, i.Version, i.MostConns, i.Cores = shape.Product, shape.Version, shape.MostConns, cores
		i.Throughput, i.Commits, i.Connections, i.Running, i.Uptime = throughput, commits, connected, running, uptime
		io := io
		if i.IO == nil || i.IO.Source == "" || i.IO.Source == "innodb" {
			if i.IO != nil { // what the model of its storage, or its cloud, says of it
				was := *i.IO
				was.Reads, was.Writes, was.IOPS, was.Bytes, was.Source = io.Reads, io.Writes, io.IOPS, io.Bytes, io.Source
				io = &was
			}
			i.IO = io
		}
		i.Memory = &memory
		i.Findings = findings
	}
}
