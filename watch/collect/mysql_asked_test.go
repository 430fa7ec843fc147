package collect

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/watch"
)

// listening is a session that remembers what it was asked in vain.
type listening struct {
	engine.Session
	in *inVain
}

// inVain counts the questions that a server refused, by their text.
type inVain struct {
	mu    sync.Mutex
	count map[string]int
}

func (v *inVain) heard(text string, err error) error {
	if err != nil && !lost(err) && !strings.HasPrefix(text, "SET SESSION") { // each server knows some of the settings, of every connection
		v.mu.Lock()
		defer v.mu.Unlock()
		v.count[text]++
	}
	return err
}

func (l listening) Exec(ctx context.Context, text string, r *engine.Result) error {
	return l.in.heard(text, l.Session.Exec(ctx, text, r))
}

func (l listening) Table(ctx context.Context, text string) ([]map[string]string, error) {
	rows, err := l.Session.(engine.Tabular).Table(ctx, text)
	return rows, l.in.heard(text, err)
}

// askedOnce reads three times everything that can be read: what the server does not have is asked for once.
func (w *watched) askedOnce() {
	heard := &inVain{count: map[string]int{}}
	readers := MySQL(func(ctx context.Context) (engine.Session, error) {
		s, err := w.db.Engine.(engine.Dialer).Dial(ctx, w.db.Target)
		if err != nil {
			return nil, err
		}
		return listening{s, heard}, nil
	}, 0)
	readers[0].(*quick).breaker.slow = time.Minute
	for range 3 {
		for _, c := range readers {
			if _, err := c.Collect(w.t.Context(), watch.TenMinutes, time.Now()); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	for _, c := range readers {
		_ = c.Close() // the server ends with the test
	}
	if len(heard.count) == 0 && w.seen.Product == "MySQL" { // MariaDB has all of it, if empty
		w.t.Error("the server has everything that was asked for: there is nothing to be seen here")
	}
	for text, times := range heard.count {
		if times > 1 {
			w.t.Errorf("asked %d times in vain: %s", times, text)
		}
	}
}

// limited asks for far too much over the watch's own connections: the server itself gives up.
func (w *watched) limited() {
	const endless = "SELECT COUNT(*) FROM information_schema.COLUMNS a, information_schema.COLUMNS b, information_schema.COLUMNS c"
	for name, l := range map[string]*link{"quick": w.readers[0].(*quick).link, "slow": w.readers[1].(*slow).link} {
		begun := time.Now()
		_, err := l.rows(w.t.Context(), endless)
		if took := time.Since(begun); err == nil || lost(err) || took < time.Second || took > 10*time.Second { // the limit is two seconds
			w.t.Errorf("%s: after %s it answers %v", name, took, err)
		}
	}
}

// openForLong has a transaction stay open, rows change behind it, and two others run into a deadlock: all of it is seen.
func (w *watched) openForLong() {
	exec := func(s engine.Session, texts ...string) {
		w.t.Helper()
		for _, text := range texts {
			if err := s.Exec(w.t.Context(), text, nil); err != nil {
				w.t.Fatalf("%s: %v", text, err)
			}
		}
	}
	session := func() engine.Session {
		s, err := w.db.Session(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		return s
	}
	zone := func(zone string) { // of the session that reads: the server's is another
		w.t.Helper()
		if _, err := w.readers[0].(*quick).rows(w.t.Context(), "SET SESSION time_zone = '"+zone+"'"); err != nil {
			w.t.Fatal(err)
		}
	}
	zone("+09:00")
	defer zone("+00:00")
	w.read(watch.TenSeconds)
	deadlocks := w.samples["mysql_global_status_innodb_deadlocks"]
	reader, one, two := session(), session(), session()
	defer reader.Close()
	defer one.Close()
	defer two.Close()
	exec(reader, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "BEGIN", "SELECT COUNT(*) FROM t")
	for range 50 {
		exec(one, "UPDATE t SET v = v + 1 WHERE id = 1")
	}
	exec(one, "BEGIN", "UPDATE t SET v = v + 1 WHERE id = 1")
	exec(two, "BEGIN", "UPDATE t SET v = v + 1 WHERE id = 2")
	failed := make(chan error, 2)
	go func() { failed <- one.Exec(w.t.Context(), "UPDATE t SET v = v + 1 WHERE id = 2", nil) }()
	go func() { failed <- two.Exec(w.t.Context(), "UPDATE t SET v = v + 1 WHERE id = 1", nil) }()
	if first, second := <-failed, <-failed; (first == nil) == (second == nil) {
		w.t.Fatalf("no deadlock: %v, %v", first, second)
	}
	exec(one, "ROLLBACK")
	exec(two, "ROLLBACK")
	seen := func() bool {
		return w.samples["plimsoll_oldest_transaction_seconds"] >= 2 && w.samples["mysql_global_status_innodb_history_list_length"] >= 50 &&
			w.samples["mysql_global_status_innodb_deadlocks"] == deadlocks+1
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !seen() && time.Now().Before(end); <-tick.C {
		w.read(watch.TenSeconds)
	}
	if !seen() {
		w.t.Errorf("the oldest transaction is %v s old, %v row versions are kept, %v deadlocks, before %v", w.samples["plimsoll_oldest_transaction_seconds"],
			w.samples["mysql_global_status_innodb_history_list_length"], w.samples["mysql_global_status_innodb_deadlocks"], deadlocks)
	}
	if len(w.seen.Sessions) != 1 || w.seen.Sessions[0].Does != "transaction" || w.seen.Sessions[0].Seconds < 2 || w.seen.Sessions[0].Seconds > 600 {
		w.t.Errorf("the session with the open transaction: %+v", w.seen.Sessions)
	}
	exec(reader, "ROLLBACK")
}

// ownQuestions looks for what the watch itself asks among the statements by load, where others ask a server for the same tables.
func (w *watched) ownQuestions(counted bool) {
	if !counted {
		return
	}
	other, err := w.db.Session(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer other.Close()
	const theirs = "SELECT MAX(THREAD_ID), SLEEP(0.2) FROM performance_schema.threads"
	for range 2 {
		for range 3 {
			if err := other.Exec(w.t.Context(), theirs, nil); err != nil {
				w.t.Fatal(err)
			}
		}
		w.read(watch.TenMinutes)
		w.read(watch.Second)
	}
	seen := false
	for _, st := range w.seen.Statements {
		text := strings.ToLower(st.Text)
		if strings.Contains(text, "max (") || strings.Contains(text, "max(") {
			seen = seen || strings.Contains(text, "sleep")
			continue
		}
		for _, own := range []string{"performance_schema", "information_schema", "variable_name", "innodb_trx"} {
			if strings.Contains(text, own) {
				w.t.Errorf("the watch's own question is among the statements by load: %s", st.Text)
			}
		}
	}
	if !seen {
		w.t.Errorf("what others ask is not among the statements by load: %+v", w.seen.Statements)
	}
}

// granted has an account get a grant that it lacked. It is asked for it again ten minutes later, and not before.
func (w *watched) granted() {
	labtest.Ask(w.t, w.db, "CREATE USER little IDENTIFIED BY 'pw'")
	target := w.db.Target
	target.User, target.Password, target.Namespace = "little", "pw", ""
	readers := MySQL(func(ctx context.Context) (engine.Session, error) {
		return w.db.Engine.(engine.Dialer).Dial(ctx, target)
	}, 0)
	readers[0].(*quick).breaker.slow = time.Minute
	defer func() {
		for _, c := range readers {
			_ = c.Close() // the server ends with the test
		}
	}()
	lacks := func(level watch.Level) []string {
		var i watch.Instance
		for _, c := range readers {
			r, err := c.Collect(w.t.Context(), level, time.Now())
			if err != nil {
				w.t.Fatal(err)
			}
			if r.Show != nil {
				r.Show(&i)
			}
		}
		r, err := readers[0].Collect(w.t.Context(), watch.Second, time.Now())
		if err != nil {
			w.t.Fatal(err)
		}
		r.Show(&i)
		return i.Watching.Lacks
	}
	if l := lacks(watch.TenMinutes); !slices.Contains(l, transactionTable) {
		w.t.Fatalf("without a grant it lacks %v", l)
	}
	labtest.Ask(w.t, w.db, "GRANT PROCESS ON *.* TO little")
	if l := lacks(watch.TenSeconds); !slices.Contains(l, transactionTable) {
		w.t.Errorf("it was asked again at once, and lacks %v", l)
	}
	if l := lacks(watch.TenMinutes); slices.Contains(l, transactionTable) {
		w.t.Errorf("ten minutes after the grant it lacks %v", l)
	}
}
