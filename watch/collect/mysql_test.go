package collect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/watch"
)

// servers are the products as they come: MariaDB with its performance schema off, which is its default, and on; MySQL with it on, its default, and off.
var servers = []struct {
	name, product string
	config        map[string]string
	source        string // of the load
	// Whether it shows who holds a row lock, and a metadata lock.
	blockers, holders bool
}{
	{"mariadb", "mariadb", map[string]string{"performance_schema": "OFF"}, "samples", true, false},
	{"mariadb with its performance schema", "mariadb", map[string]string{"performance_schema": "ON"}, "counters", true, false},
	{"mysql", "mysql", nil, "counters", true, true},
	{"mysql without its performance schema", "mysql", map[string]string{"performance_schema": "OFF"}, "samples", false, false},
}

// watched reads a real server as the Watcher does.
type watched struct {
	t       *testing.T
	db      labtest.Server
	readers []watch.Collector
	seen    watch.Instance
	changes []watch.Change
	wrote   []watch.Document
	samples map[string]float64 // the latest, by name and labels
}

func (w *watched) read(level watch.Level) {
	w.t.Helper()
	for _, c := range w.readers {
		now := time.Now()
		r, err := c.Collect(w.t.Context(), level, now)
		if err != nil {
			w.t.Fatalf("read at level %d: %v", level, err)
		}
		if r.Show != nil {
			r.Show(&w.seen)
		}
		w.changes, w.wrote = append(w.changes, r.Changes...), append(w.wrote, r.Documents...)
		for _, s := range r.Samples {
			key := s.Name
			for _, l := range s.Labels {
				key += " " + l.Value
			}
			w.samples[key] = s.Value
		}
	}
}

func TestMySQL(t *testing.T) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			db := labtest.UpSpec(t, lab.Spec{Name: "watched", Product: s.product, Config: s.config})
			dial := func(ctx context.Context) (engine.Session, error) {
				return db.Engine.(engine.Dialer).Dial(ctx, db.Target)
			}
			w := &watched{t: t, db: db, readers: MySQL(dial, 0, ownQueries...), samples: map[string]float64{}}
			w.readers[0].(*quick).breaker.slow = time.Minute // a machine that compiles beside this test is slow to answer
			defer func() {
				for _, c := range w.readers {
					_ = c.Close() // the server ends with the test
				}
			}()
			labtest.Ask(t, db, "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 0), (2, 0)")
			w.read(watch.TenMinutes)
			t.Run("load of a known concurrency", func(t *testing.T) { w.t = t; w.knownLoad(s.source) })
			t.Run("who waits for whom", func(t *testing.T) { w.t = t; w.rowLock(s.blockers) })
			t.Run("who waits for a metadata lock", func(t *testing.T) { w.t = t; w.metadataLock(s.holders) })
			t.Run("a transaction open for long, and a deadlock", func(t *testing.T) { w.t = t; w.openForLong() })
			t.Run("writes of logs are among the IOPS", func(t *testing.T) { w.t = t; w.logWrites() })
			t.Run("no temporary table on disk each second", func(t *testing.T) { w.t = t; w.nothingOnDisk() })
			t.Run("a statement longer than the short list shows", func(t *testing.T) { w.t = t; w.longStatement() })
			t.Run("dear digests are read every minute", func(t *testing.T) { w.t = t; w.dearDigests(s.source == "counters") })
			t.Run("its own questions are no load", func(t *testing.T) { w.t = t; w.ownQuestions(s.source == "counters") })
			t.Run("a grant counts without a restart", func(t *testing.T) { w.t = t; w.granted() })
			t.Run("changes", func(t *testing.T) { w.t = t; w.change() })
			t.Run("a table that grew suddenly", func(t *testing.T) { w.t = t; w.grown() })
			t.Run("own SQL", func(t *testing.T) { w.t = t; w.ownSQL() })
			t.Run("what dashboards name", func(t *testing.T) { w.t = t; w.dashboards() })
			t.Run("names of mysqld_exporter", func(t *testing.T) { w.t = t; w.asTheExporter() })
			t.Run("at most two connections", func(t *testing.T) { w.t = t; w.connections() })
			t.Run("a limit in the server", func(t *testing.T) { w.t = t; w.limited() })
			t.Run("what it lacks is asked for once", func(t *testing.T) { w.t = t; w.askedOnce() })
			t.Run("own SQL that costs the connection", func(t *testing.T) { w.t = t; w.lostInOwnSQL() })
			t.Run("a wrong password is no death", func(t *testing.T) { w.t = t; w.refused() })
			t.Run("it dies in a pause", func(t *testing.T) { w.t = t; w.killedInAPause() })
		})
	}
}

// refused logs in with a wrong password.
func (w *watched) refused() {
	wrong := w.db.Target
	wrong.Password = "wrong"
	q := MySQL(func(ctx context.Context) (engine.Session, error) { return w.db.Engine.(engine.Dialer).Dial(ctx, wrong) }, 0)[0]
	defer func() { _ = q.Close() }() // it has no connection
	_, err := q.Collect(w.t.Context(), watch.Second, time.Now())
	if !errors.Is(err, watch.ErrRefused) || engine.CodeOf(err) != "1045" || !strings.HasPrefix(err.Error(), "refuses the watch's account: Access denied for user '") {
		w.t.Errorf("with a wrong password: %v", err)
	}
}

// knownLoad has four sessions execute statements of a known length without a pause: the load is four.
func (w *watched) knownLoad(source string) {
	const sessions = 4
	ctx, cancel := context.WithCancel(w.t.Context())
	var all sync.WaitGroup
	for n := range sessions {
		session, err := w.db.Session(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		defer session.Close()
		// So long that what lies between two does not count on a busy machine, and none as long as another, or all would end at once.
		text := fmt.Sprintf("SELECT SLEEP(%.1f)", 0.8+0.3*float64(n))
		if n == 0 {
			text = "SELECT SLEEP(4)" // longer than the time between two readings
		}
		all.Go(func() {
			for ctx.Err() == nil {
				_ = session.Exec(ctx, text, nil) // it is cut off at the end
			}
		})
	}
	w.readers[0].(*quick).sampled.written() // what was sampled before is not of this load
	var aas []float64
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for range 15 {
		<-tick.C
		w.read(watch.Second)
		sum := 0.0
		for _, x := range w.readers[0].(*quick).load.latest {
			sum += x.AAS
		}
		aas = append(aas, sum)
	}
	// Of a server in distress only what is due each second is read: whose load it is, is written all the same.
	if !slices.ContainsFunc(slices.Collect(maps.Keys(w.samples)), func(key string) bool { return strings.HasPrefix(key, "plimsoll_user_aas ") }) {
		w.t.Error("no series has the load of an account")
	}
	w.read(watch.TenSeconds)
	cancel()
	all.Wait()
	mean := 0.0
	for _, a := range aas[2:] {
		mean += a / float64(len(aas)-2)
	}
	if math.Abs(mean-sessions) > 0.05*sessions {
		w.t.Errorf("a load of %.3f by %s, want %d ± 5 %%: %.2f", mean, source, sessions, aas)
	}
	if w.seen.Load == nil || w.seen.Load.Source != source {
		w.t.Errorf("the load is %+v, want it from %s", w.seen.Load, source)
	}
	if w.seen.Throughput == nil || *w.seen.Throughput < 3 {
		w.t.Errorf("throughput %v", w.seen.Throughput)
	}
	if c := w.seen.Callers; len(c) == 0 || c[0].User != w.db.Target.User || c[0].Host == "" || math.Abs(c[0].AAS-sessions) > 0.2*sessions {
		w.t.Errorf("who causes the load: %+v, want %s with %d", c, w.db.Target.User, sessions)
	} else if v := w.samples["plimsoll_user_aas "+c[0].User+" "+c[0].Host]; math.Abs(v-sessions) > 0.2*sessions {
		w.t.Errorf("the series of %s has %v", c[0].User, v)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(w.samples)), func(key string) bool { return strings.HasPrefix(key, "plimsoll_statement_aas ") }) && source == "samples" {
		w.t.Error("no series has the load of a statement")
	}
	if len(w.seen.Statements) == 0 || !strings.Contains(strings.ToUpper(w.seen.Statements[0].Text), "SLEEP") {
		w.t.Errorf("the statement with the largest load is not SLEEP: %+v", w.seen.Statements)
	}
}

// rowLock has one session hold a row that another wants. Where the server does not show who holds it, that is said.
func (w *watched) rowLock(showsHolder bool) {
	holder, err := w.db.Session(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer holder.Close()
	for _, text := range []string{"BEGIN", "UPDATE t SET v = v + 1 WHERE id = 1"} {
		if err := holder.Exec(w.t.Context(), text, nil); err != nil {
			w.t.Fatal(err)
		}
	}
	waiter, err := w.db.Session(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer waiter.Close()
	done := make(chan error)
	const secret = "73390011" // a value in a statement, such as a number of a card
	go func() {
		done <- waiter.Exec(w.t.Context(), "UPDATE t SET v = v + 1 WHERE id = 1 AND v <> "+secret+" AND id <> '"+secret+"'", nil)
	}()
	does := func(want string) bool {
		return slices.ContainsFunc(w.seen.Sessions, func(s watch.Session) bool { return s.Does == want })
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for range 50 {
		<-tick.C
		if w.read(watch.TenSeconds); does("waits for a row lock") && (!showsHolder || does("blocks 1 other")) {
			break
		}
	}
	if !does("waits for a row lock") || does("blocks 1 other") != showsHolder {
		w.t.Errorf("sessions %+v", w.seen.Sessions)
	}
	told := slices.ContainsFunc(w.seen.Findings, func(f watch.Finding) bool { return strings.Contains(f.Text, "who holds a row lock") })
	if told == showsHolder || slices.Contains(w.seen.Watching.Lacks, "performance_schema.data_lock_waits") == showsHolder {
		w.t.Errorf("whether it shows who holds a row lock: %v, findings %+v, it lacks %v", showsHolder, w.seen.Findings, w.seen.Watching.Lacks)
	}
	waits := slices.IndexFunc(w.seen.Sessions, func(s watch.Session) bool { return s.Does == "waits for a row lock" })
	if waits >= 0 && !strings.Contains(w.seen.Sessions[waits].Text, "<> ?") {
		w.t.Errorf("the statement that waits is shown as %q", w.seen.Sessions[waits].Text)
	}
	// Nobody who looks is shown values of statements, whatever their role: they do not leave the collector.
	if shown, err := json.Marshal(w.seen); err != nil || strings.Contains(string(shown), secret) {
		w.t.Errorf("what is shown holds a value of a statement: %s, %v", shown, err)
	}
	if !slices.ContainsFunc(w.readers[0].(*quick).load.sampled, func(seen map[string]float64) bool { return seen["row lock"] > 0 }) {
		w.t.Error("no sample has a session that waits for a row")
	}
	if err := holder.Exec(w.t.Context(), "ROLLBACK", nil); err != nil {
		w.t.Fatal(err)
	}
	if err := <-done; err != nil {
		w.t.Fatal(err)
	}
}

// nothingOnDisk reads what is read every second: the server, which has only short statements, needs no temporary table on disk for that. With
// its performance schema on MariaDB needs one, since only the long list has milliseconds.
func (w *watched) nothingOnDisk() {
	const tables, readings = "created_tmp_disk_tables", 5
	w.read(watch.TenSeconds) // and tries the short list again
	w.read(watch.Second)
	q := w.readers[0].(*quick)
	before := q.counters.now[tables]
	for range readings {
		w.read(watch.Second)
	}
	if made := q.counters.now[tables] - before; made != 0 && !(q.shape.performs && made == readings) {
		w.t.Errorf("%v temporary tables on disk in %d readings", made, readings)
	}
}

// longStatement executes one whose last words no short list of sessions shows.
func (w *watched) longStatement() {
	executes, err := w.db.Session(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer executes.Close()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error)
	go func() {
		done <- executes.Exec(ctx, "SELECT SLEEP(20) AS "+strings.Repeat("a", 60)+", 1 AS "+strings.Repeat("b", 60)+", 2 AS the_last", nil)
	}()
	q := w.readers[0].(*quick)
	seen := func() bool {
		latest := q.sampled.last[len(q.sampled.last)-1].sessions
		return slices.ContainsFunc(latest, func(s session) bool { return strings.Contains(strings.ToLower(s.text), "the_last") })
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); ; <-tick.C {
		if w.read(watch.Second); seen() {
			break
		}
		if time.Now().After(end) {
			w.t.Fatalf("a long statement is not seen whole: %+v", q.sampled.last[len(q.sampled.last)-1])
		}
	}
	w.read(watch.TenSeconds)
	if !seen() {
		w.t.Error("the long statement is not seen whole at the next ten seconds")
	}
	cancel()
	if err := <-done; err == nil {
		w.t.Error("the long statement ended by itself")
	}
}

// dearDigests has the server take longer to show its statements by digest than it may every ten seconds.
func (w *watched) dearDigests(has bool) {
	s := w.readers[1].(*slow)
	s.digests.most = time.Nanosecond
	defer func() { s.digests.most = 0 }()
	asked := func(level watch.Level) bool {
		before := s.digests.at
		w.read(level)
		return s.digests.at.After(before)
	}
	for range 3 {
		w.read(watch.TenSeconds)
	}
	for level, want := range map[watch.Level]bool{watch.TenSeconds: false, watch.Minute: true} {
		if got := asked(level); has && got != want {
			w.t.Errorf("at level %d they are read: %v, want %v", level, got, want)
		}
	}
	w.read(watch.Second)
	if told := slices.ContainsFunc(w.seen.Findings, func(f watch.Finding) bool { return f.Code == "statements-every-minute" }); told != has {
		w.t.Errorf("the findings are %+v", w.seen.Findings)
	}
	s.digests.most = time.Hour
	w.read(watch.Minute)
	if w.read(watch.Second); slices.ContainsFunc(w.seen.Findings, func(f watch.Finding) bool { return f.Code == "statements-every-minute" }) || has && !asked(watch.TenSeconds) {
		w.t.Errorf("they are cheap again, and the findings are %+v", w.seen.Findings)
	}
}

// metadataLock has a statement that changes a table wait for a transaction that has read it.
func (w *watched) metadataLock(showsHolder bool) {
	holder, err := w.db.Session(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer holder.Close()
	for _, text := range []string{"BEGIN", "SELECT v FROM t WHERE id = 1"} {
		if err := holder.Exec(w.t.Context(), text, nil); err != nil {
			w.t.Fatal(err)
		}
	}
	waiter, err := w.db.Session(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer waiter.Close()
	done := make(chan error)
	go func() { done <- waiter.Exec(w.t.Context(), "ALTER TABLE t COMMENT = 'changed'", nil) }()
	does := func(want string) bool {
		return slices.ContainsFunc(w.seen.Sessions, func(s watch.Session) bool { return s.Does == want })
	}
	const holds = "holds a metadata lock that 1 other session waits for"
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for range 50 {
		<-tick.C
		if w.read(watch.TenSeconds); does("waits for a metadata lock") && (!showsHolder || does(holds)) {
			break
		}
	}
	if !does("waits for a metadata lock") || showsHolder && !does(holds) {
		w.t.Errorf("sessions %+v", w.seen.Sessions)
	}
	if showsHolder { // it shows the digest of a statement under way too
		w.underWay()
	}
	if err := holder.Exec(w.t.Context(), "ROLLBACK", nil); err != nil {
		w.t.Fatal(err)
	}
	if err := <-done; err != nil {
		w.t.Fatal(err)
	}
}

// underWay looks at a statement that waits: it is the load, also while no counter has it, since a server counts a statement when it ends.
func (w *watched) underWay() {
	w.read(watch.Minute)
	pause := time.NewTimer(2 * time.Second)
	<-pause.C
	w.read(watch.Minute)
	if n := slices.IndexFunc(w.seen.Statements, func(s watch.Statement) bool { return strings.Contains(s.Text, "ALTER TABLE") }); n < 0 || w.seen.Statements[n].AAS < 0.5 || w.seen.Statements[n].AAS > 1.5 {
		w.t.Errorf("the statement that waits is not among those by load: %+v", w.seen.Statements)
	}
}

// dashboards looks for the series of a server's own status that the dashboards for Grafana name.
func (w *watched) dashboards() {
	w.read(watch.TenMinutes)
	for _, name := range dashboardNames(w.t, "*.json", "mysql") {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(w.samples)), func(key string) bool { return key == name || strings.HasPrefix(key, name+" ") }) {
			w.t.Errorf("the server shows no %s, which a dashboard names", name)
		}
	}
}

// logWrites commits so many times, one after another and each synced: that many writes of the redo log are seen, and not twice as many.
func (w *watched) logWrites() {
	const commits = 300
	labtest.Ask(w.t, w.db, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
	w.read(watch.TenSeconds)
	q := w.readers[0].(*quick)
	session, err := w.db.Session(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer session.Close()
	before, pages := q.counters.now, "innodb_buffer_pool_pages_flushed"
	for range commits {
		if err := session.Exec(w.t.Context(), "UPDATE t SET v = v + 1 WHERE id = 2", nil); err != nil {
			w.t.Fatal(err)
		}
	}
	w.read(watch.TenSeconds)
	flushed := q.counters.now[pages] - before[pages]
	if w.seen.IO == nil || w.seen.IO.Writes == nil {
		w.t.Fatalf("the storage: %+v, findings %+v", w.seen.IO, w.seen.Findings)
	}
	// A log that is synced at each commit is written then at least; MySQL's writer of the log may write again, and the binary log is a write too.
	writes := math.Round(*w.seen.IO.Writes * q.counters.over) // a count, of which a rate was made
	if most := 4*commits + 2*flushed + 200; writes < commits || writes > most {
		w.t.Errorf("%.0f writes with %d commits and %.0f pages flushed, want at most %.0f", writes, commits, flushed, most)
	}
	if v := w.samples["plimsoll_iops"]; math.Round(v*q.counters.over) < commits {
		w.t.Errorf("the series of IOPS is %v", v)
	}
}

// killedInAPause kills the server while it is not polled.
func (w *watched) killedInAPause() {
	q := w.readers[0].(*quick)
	now := time.Now()
	q.breaker.until = now.Add(longestPause)
	collect := func(second int) (watch.Reading, error) {
		return q.Collect(w.t.Context(), watch.Second, now.Add(time.Duration(second)*time.Second))
	}
	if r, err := collect(0); err != nil || r.Asked != watch.Contact {
		w.t.Fatalf("in the pause: %+v, %v", r, err)
	}
	if err := w.db.Cluster.Kill(w.t.Context(), "n1"); err != nil {
		w.t.Fatal(err)
	}
	if r, err := collect(1); err != nil || r.Asked != watch.Nothing {
		w.t.Errorf("a second later it is asked nothing: %+v, %v", r, err)
	}
	r, err := collect(2)
	up := slices.IndexFunc(r.Samples, func(s watch.Sample) bool { return s.Name == "mysql_up" })
	if err == nil || up < 0 || r.Samples[up].Value != 0 {
		w.t.Errorf("after it was killed: %+v, %v", r, err)
	}
}

func (w *watched) change() {
	w.changes = nil
	labtest.Ask(w.t, w.db, "SET GLOBAL innodb_flush_log_at_trx_commit = 0", "ALTER TABLE t ADD INDEX by_v (v)", "CREATE TABLE u (id INT PRIMARY KEY)")
	w.read(watch.TenMinutes)
	var told []string
	for _, c := range w.changes {
		told = append(told, fmt.Sprintf("%s %s", c.Kind, c.What))
		if c.What == "innodb_flush_log_at_trx_commit" && (c.From == "0" || c.To != "0") {
			w.t.Errorf("the change is %+v", c)
		}
	}
	for _, want := range []string{"setting innodb_flush_log_at_trx_commit", "schema test.t", "schema test.u"} {
		if !slices.Contains(told, want) {
			w.t.Errorf("no word of %s: %q", want, told)
		}
	}
	if len(told) > 3 {
		w.t.Errorf("changes that nobody made: %+v", w.changes)
	}
	if v, ok := w.samples["mysql_global_variables_innodb_flush_log_at_trx_commit"]; !ok || v != 0 {
		w.t.Errorf("the series of the setting is %v", v)
	}
}

// grown has a table grow by more than what is told from one look to the next.
func (w *watched) grown() {
	w.readers[1].(*slow).sizes.least = 4 << 20
	labtest.Ask(w.t, w.db, "CREATE TABLE grows (id INT PRIMARY KEY, v LONGTEXT)")
	w.read(watch.TenMinutes)
	w.changes = nil
	labtest.Ask(w.t, w.db, "INSERT INTO grows VALUES (1, REPEAT('x', 8000000))")
	w.read(watch.TenMinutes)
	at := slices.IndexFunc(w.changes, func(c watch.Change) bool { return c.Kind == "size" && c.What == "test.grows" })
	if at < 0 || w.changes[at].From != "0 MiB" || w.changes[at].To == "0 MiB" {
		w.t.Errorf("the changes are %+v", w.changes)
	}
}

// ownQueries are one that works, one whose table is not there, one that takes too long.
var ownQueries = []Query{
	{Name: "rows", SQL: "SELECT id AS Kind, COUNT(*) FROM test.t GROUP BY id", Labels: []string{"kind"}, Every: time.Second},
	{Name: "wrong", SQL: "SELECT 1 FROM test.nosuch", Every: time.Second},
	{Name: "long", SQL: "SELECT COUNT(*) FROM information_schema.COLUMNS a, information_schema.COLUMNS b, information_schema.COLUMNS c", Every: time.Hour, Timeout: 200 * time.Millisecond},
}

func (w *watched) ownSQL() {
	for name, want := range map[string]float64{
		"sql_rows_count 1": 1, "sql_rows_count 2": 1, "plimsoll_own_query_failed rows": 0, "plimsoll_own_query_failed wrong": 1, "plimsoll_own_query_failed long": 1,
	} {
		if v, ok := w.samples[name]; !ok || v != want {
			w.t.Errorf("%s is %v, %v, want %v", name, v, ok, want)
		}
	}
	rows := map[string]bool{}
	for _, d := range w.wrote {
		if d.Fields["query"] == "rows" && d.Fields["count(*)"] == 1.0 {
			rows[fmt.Sprint(d.Fields["kind"])] = true
		}
	}
	if !rows["1"] || !rows["2"] {
		w.t.Errorf("a document of each row is written, and not %+v", w.wrote)
	}
	if took := w.samples["plimsoll_own_query_seconds long"]; took < 0.1 || took > 2 {
		w.t.Errorf("the query that takes too long took %g s", took)
	}
}

// lostInOwnSQL loses the connection in the middle of a visit, by a query that is cut off: the visit ends, and the next has another.
func (w *watched) lostInOwnSQL() {
	s := w.readers[1].(*slow)
	before := s.own
	s.own = own{queries: []Query{{Name: "endless", SQL: "SELECT SLEEP(20)", Every: time.Hour, Timeout: time.Minute}, {Name: "next", SQL: "SELECT 1 AS n", Values: []string{"n"}, Every: time.Hour}}}
	defer func() { s.own = before }()
	ctx, cancel := context.WithTimeout(w.t.Context(), 500*time.Millisecond)
	defer cancel()
	r, err := s.Collect(ctx, watch.Second, time.Now())
	if !lost(err) || !slices.ContainsFunc(r.Samples, func(s watch.Sample) bool { return s.Name == "plimsoll_own_query_failed" && s.Value == 1 }) {
		w.t.Errorf("the visit ended with %v and %+v", err, r.Samples)
	}
	r, err = s.Collect(w.t.Context(), watch.Second, time.Now())
	if err != nil || !slices.ContainsFunc(r.Samples, func(s watch.Sample) bool { return s.Name == "sql_next_n" && s.Value == 1 }) {
		w.t.Errorf("at the next visit the other is asked: %v, %+v", err, r.Samples)
	}
}

func (w *watched) connections() {
	mine := labtest.Query(w.t, w.db, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID IN ("+strings.Join(w.numbers(), ",")+")")
	if len(w.numbers()) != 2 || mine[0] != "2" {
		w.t.Errorf("connections %v, of which there are %v", w.numbers(), mine)
	}
	made := func() string { // by anybody, since the server was started
		rows, err := w.readers[0].(*quick).rows(w.t.Context(), "SHOW GLOBAL STATUS LIKE 'Connections'")
		if err != nil || rows.Rows != 1 {
			w.t.Fatalf("%d rows, %v", rows.Rows, err)
		}
		return text(rows.At(0, 1))
	}
	before := made()
	w.read(watch.TenMinutes) // with own SQL
	if after := made(); after != before {
		w.t.Errorf("connections were made in one reading of everything: %s before, %s after", before, after)
	}
	w.fromTheFirstMoment(made)
	for _, name := range []string{"mysql_global_status_threads_running", "mysql_global_status_commands_total select", "mysql_global_status_buffer_pool_pages data"} {
		if w.samples[name] == 0 {
			w.t.Errorf("no %s, which mysqld_exporter has", name)
		}
	}
}

// fromTheFirstMoment counts the connections that are made to the server, by anybody, while one more watch begins, with that of the disk.
func (w *watched) fromTheFirstMoment(made func() string) {
	machine, err := local.New()
	if err != nil {
		w.t.Fatal(err)
	}
	number := func() int {
		n, err := strconv.Atoi(made())
		if err != nil {
			w.t.Fatal(err)
		}
		return n
	}
	before := number()
	readers := MySQL(func(ctx context.Context) (engine.Session, error) {
		return w.db.Engine.(engine.Dialer).Dial(ctx, w.db.Target)
	}, 0, ownQueries...)
	readers[0].(*quick).breaker.slow = time.Minute
	readers = append(readers, Disk(readers, machine))
	var disk *watch.Disk
	for range 2 {
		for _, c := range readers {
			r, err := c.Collect(w.t.Context(), watch.TenMinutes, time.Now())
			if err != nil {
				w.t.Fatal(err)
			}
			if i := (watch.Instance{}); r.Show != nil {
				if r.Show(&i); i.Disk != nil && i.Disk.Total != nil {
					disk = i.Disk
				}
			}
		}
	}
	if after := number(); after != before+2 {
		w.t.Errorf("a watch has made %d connections", after-before)
	}
	if disk == nil || *disk.Total <= 0 {
		w.t.Error("it does not know the disk")
	}
	for _, c := range readers {
		_ = c.Close() // the server ends with the test
	}
}

func (w *watched) numbers() (all []string) {
	for n := range w.readers[0].(*quick).server.numbers {
		all = append(all, n)
	}
	return all
}

func TestABreakerStopsWithinTwoSecondsAndTriesAgain(t *testing.T) {
	m := &meter{}
	b := breaker{meter: m}
	now := time.Unix(0, 0)
	for range 30 {
		m.took(2 * time.Millisecond)
	}
	b.judge(now)
	if _, ask, _ := b.allowed(now, watch.Second); !ask {
		t.Fatal("a server that answers in 2 ms is left alone")
	}
	seconds := 0
	for ask := true; ask && seconds < 5; seconds++ { // three queries a second, each slow
		for range 3 {
			m.took(80 * time.Millisecond)
		}
		b.judge(now)
		_, ask, _ = b.allowed(now, watch.Second)
	}
	if seconds > 2 {
		t.Errorf("it was asked for %d s more", seconds)
	}
	if _, ask, why := b.allowed(now.Add(4*time.Second), watch.Second); ask || !strings.Contains(why, "80 ms") {
		t.Errorf("after 4 s it is asked again, or not told why: %q", why)
	}
	if _, ask, _ := b.allowed(now.Add(6*time.Second), watch.Second); !ask {
		t.Error("after 6 s it is not asked again")
	}
}

func TestADistressedServerIsLookedAtEveryTenSeconds(t *testing.T) {
	b := breaker{meter: &meter{}}
	now := time.Now()
	b.strained(now, 40, 4)
	if _, ask, why := b.allowed(now.Add(9*time.Second), watch.TenMinutes); ask || !strings.Contains(why, "40 threads are running on 4 cores, so Plimsoll looks at this instance only every 10 s") {
		t.Errorf("after nine seconds: %v, %q", ask, why)
	}
	if level, ask, why := b.allowed(now.Add(10*time.Second), watch.TenMinutes); !ask || level != watch.Second || why == "" {
		t.Errorf("after ten seconds: level %d, %v, %q", level, ask, why)
	}
	b.strained(now.Add(10*time.Second), 3, 4)
	if level, ask, _ := b.allowed(now.Add(11*time.Second), watch.TenMinutes); !ask || level != watch.TenMinutes {
		t.Error("it is not asked again when it is calm")
	}
}

// What the watch does less is not said of the instance: one that is polled less serves, and its figures are of the last ten seconds.
func TestAPollingThatIsReducedIsNotAPausedInstance(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		running float64
		until   time.Time
		want    watch.State
	}{{3, time.Time{}, watch.Up}, {40, time.Time{}, watch.Reduced}, {40, now.Add(time.Minute), watch.Paused}, {3, now.Add(time.Minute), watch.Paused}} {
		b := breaker{meter: &meter{}, reason: "its own queries took 80 ms"}
		b.strained(now, c.running, 4)
		b.until = c.until
		var r watch.Reading
		may, ask, why := b.allowed(now, watch.Second)
		led(&r, now, watch.Second, may, ask, why, b.spares(now), nil)
		i := watch.Instance{State: watch.Up}
		if r.Show(&i); i.State != c.want || i.Why != why || (i.Why == "") != (c.want == watch.Up) {
			t.Errorf("%v threads, a pause until %s: %s, %q", c.running, c.until, i.State, i.Why)
		}
	}
}

func TestCountsCores(t *testing.T) {
	for list, want := range map[string]int{"0-1": 2, "0-3,6": 5, "7": 1, "": 0, "x": 0} {
		if got := countIDs(list); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}
