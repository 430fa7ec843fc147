package collect

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// MySQL reads a server that speaks MySQL's language: MySQL, MariaDB, RDS, Aurora. Its two collectors have a connection each: one
// for what is read every second and every ten, one for what takes longer.
func MySQL(dial Dial, cores int, queries ...Query) []watch.Collector {
	m, asks := &meter{}, &questions{}
	s := &server{meter: m, breaker: breaker{meter: m}, cores: cores}
	quick := &quick{server: s, sources: follower{kind: "topology"}, link: &link{dial: dial, meter: m, greet: s.greet, asks: asks}}
	slow := &slow{
		server: s, link: &link{dial: dial, meter: &meter{}, greet: s.greet, asks: asks},
		own: own{queries: queries}, settings: follower{kind: "setting"}, schema: follower{kind: "schema"}, sizes: sizes{least: leastGrowth},
	}
	return []watch.Collector{quick, slow}
}

// server is what the two connections know together.
type server struct {
	meter   *meter
	breaker breaker

	mu      sync.Mutex
	cores   int
	numbers map[string]bool // of our connections
	lacks   map[string]bool // asked once: the server does not show it
	denied  map[string]bool // of these, what it does not show to this account
	notes   []watch.Finding // of the connection that is not quick
	folder  string          // of its data; "": not known yet
}

// keepsDataIn notes where the server keeps its data.
func (s *server) keepsDataIn(folder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folder = folder
}

func (s *server) dataFolder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.folder
}

// greet says to a server how it may treat our connection. Each server knows some of it.
func (s *server) greet(ctx context.Context, l *link) error {
	for _, text := range []string{
		"SET SESSION max_statement_time = 2",       // MariaDB, seconds
		"SET SESSION max_execution_time = 2000",    // MySQL, ms
		"SET SESSION lock_wait_timeout = 1",        // for metadata locks
		"SET SESSION long_query_time = 3600",       // our questions are no news for the slow log
		"SET SESSION TRANSACTION READ ONLY",        // nothing is changed, by mistake neither
		"SET SESSION sql_mode = ''",                // own SQL must not depend on the server's
		"SET SESSION time_zone = '+00:00'",         // times are compared
		"SET SESSION group_concat_max_len = 65536", // table definitions are hashed whole
	} {
		if err := l.do(ctx, text); lost(err) {
			return err
		}
	}
	r, err := l.rows(ctx, "SELECT CONNECTION_ID()")
	if err != nil {
		return err
	}
	l.number = text(r.At(0, 0))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.numbers == nil {
		s.numbers = map[string]bool{}
	}
	s.numbers[l.number] = true
	return nil
}

// ours tells whether a connection is one of our own.
func (s *server) ours(number string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.numbers[number]
}

// lack notes that the server does not show something, for a reason that will not pass by itself, and tells whether err says so.
func (s *server) lack(what string, err error) bool {
	if !lasting(err) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lacks == nil {
		s.lacks = map[string]bool{}
	}
	s.lacks[what] = true
	if engine.ClassOf(err) == engine.Denied {
		if s.denied == nil {
			s.denied = map[string]bool{}
		}
		s.denied[what] = true
	}
	return true
}

// askAgain has what the account was denied asked again every ten minutes: it may have been granted since. Some grants count for new connections
// only, so it closes the one over which something was denied.
func (s *server) askAgain(l *link, level watch.Level) {
	if level < watch.TenMinutes || !l.denied {
		return
	}
	l.denied = false
	_ = l.close() // there will be another
	s.mu.Lock()
	defer s.mu.Unlock()
	for what := range s.denied {
		delete(s.lacks, what)
	}
	s.denied = nil
}

// hide notes what the server does not show, or shows again, as it is set.
func (s *server) hide(tables map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lacks == nil {
		s.lacks = map[string]bool{}
	}
	for table, hidden := range tables {
		if s.lacks[table] = hidden; !hidden {
			delete(s.lacks, table)
		}
	}
}

// lasting tells whether err is a server's answer that will be the same the next time.
func lasting(err error) bool {
	if lost(err) {
		return false
	}
	switch engine.ClassOf(err) {
	case engine.Missing, engine.Denied, engine.Invalid, engine.Other:
		return true
	}
	return false
}

func (s *server) lacking(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lacks[what]
}

// found notes what people should know: what is read less often than usual, and own SQL that failed.
func (s *server) found(notes []watch.Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = notes
}

func (s *server) findings() []watch.Finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.notes
}

// watching is what our looking costs.
func (s *server) watching() watch.Watching {
	p95, _ := s.meter.p95()
	w := watch.Watching{Connections: 2, Queries: s.meter.rate(), P95: p95.Seconds()}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Lacks = slices.Sorted(maps.Keys(s.lacks))
	return w
}

// text is a value as the server would print it.
func text(v engine.Value) string {
	switch v.Kind {
	case engine.Integer:
		return strconv.FormatInt(v.Int, 10)
	case engine.Real:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	return string(v.Data)
}

// number is a value as a number. ON, YES and the like are 1.
func number(v engine.Value) (float64, bool) {
	switch v.Kind {
	case engine.Null:
		return 0, false
	case engine.Integer:
		return float64(v.Int), true
	case engine.Real:
		return v.Float, true
	}
	return numeric(string(v.Data))
}

func numeric(text string) (float64, bool) {
	switch strings.ToUpper(text) {
	case "ON", "YES", "PRIMARY":
		return 1, true
	case "OFF", "NO", "DISABLED", "CONNECTING", "NON-PRIMARY", "DISCONNECTED": // a replica that connects does not receive, as mysqld_exporter has it
		return 0, true
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// known is a pointer to a value, for what may be unknown.
func known(v float64) *float64 { return &v }

// rates turns counters into rates. One that fell was reset: it has no rate then.
type rates struct {
	at   time.Time
	last map[string]float64
	now  map[string]float64
	over float64 // seconds between the two
}

// turn begins a new reading.
func (r *rates) turn(at time.Time, counters map[string]float64) {
	r.over = 0
	if !r.at.IsZero() {
		r.over = at.Sub(r.at).Seconds()
	}
	r.at, r.last, r.now = at, r.now, counters
}

// delta is what a counter rose by; not known the first time and after a reset.
func (r *rates) delta(name string) (float64, bool) {
	now, is := r.now[name]
	before, was := r.last[name]
	return now - before, is && was && now >= before && r.over > 0
}

// rate is per second; nil if not known.
func (r *rates) rate(names ...string) *float64 {
	sum, any := 0.0, false
	for _, name := range names {
		if d, ok := r.delta(name); ok {
			sum, any = sum+d, true
		}
	}
	if !any {
		return nil
	}
	return known(sum / r.over)
}
