package collect

import (
	"context"
	"strings"
	"sync"
	"time"

	"plimsoll/engine"
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
