package reads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/memory"
	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/workload/random"
)

const (
	rows = 60_000
	skew = 0.8
)

// users is a server whose table is three times its pool.
func users(t *testing.T, product string, config map[string]string) labtest.Server {
	t.Helper()
	settings := map[string]string{"innodb_buffer_pool_size": "16M", "innodb_old_blocks_time": "2", "innodb_lru_scan_depth": "100", "innodb_flush_log_at_trx_commit": "2"}
	for name, value := range config {
		settings[name] = value
	}
	db := labtest.UpSpec(t, lab.Spec{Name: "reads", Product: product, Config: settings})
	labtest.Ask(t, db, "CREATE TABLE users (id INT PRIMARY KEY, handle BIGINT NOT NULL, plan VARCHAR(8) NOT NULL, note INT NOT NULL, body VARCHAR(900) NOT NULL, KEY by_handle (handle))",
		"INSERT INTO users VALUES (1, 7919 % 60000, 'free', 1, REPEAT('x', 600))")
	for n := 1; n < rows; n *= 2 {
		labtest.Ask(t, db, fmt.Sprintf("INSERT INTO users SELECT id + %d, (id + %d) * 7919 %% %d, 'free', id %% 5000, body FROM users WHERE id <= %d", n, n, rows, min(n, rows-n)))
	}
	labtest.Ask(t, db, "ANALYZE TABLE users")
	return db
}

// busy looks people up by their handle, with the values in the text, and now and then reads the whole table.
func busy(t *testing.T, db engine.Database) (stop func()) {
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
			r := rand.New(rand.NewPCG(worker, 1))
			zipf := random.NewZipf(skew)
			for n := 0; err == nil && ctx.Err() == nil; n++ {
				text := fmt.Sprintf("SELECT plan FROM users WHERE handle = %d", zipf.Draw(r, rows))
				if worker == 0 && n%400 == 399 {
					text = fmt.Sprintf("SELECT id, plan FROM users WHERE note = %d", r.IntN(5000))
				}
				err = s.Exec(ctx, text, nil)
			}
			if ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

func TestWhichStatementsReadIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	for name, c := range map[string]struct {
		product, source string
		config          map[string]string
	}{
		"MariaDB as it comes":                 {"mariadb", "samples", map[string]string{"performance_schema": "OFF"}},
		"MariaDB with its performance schema": {"mariadb", "counters", map[string]string{"performance_schema": "ON", "performance_schema_consumer_events_statements_history": "ON", "performance_schema_consumer_events_statements_current": "ON"}},
		"MySQL":                               {"mysql", "counters", nil},
	} {
		t.Run(name, func(t *testing.T) {
			db := users(t, c.product, c.config)
			s := seen(t, db)
			if s.Source != c.source || len(s.All) < 2 {
				t.Fatalf("by %s: %+v", s.Source, s.All)
			}
			at := func(part string) advise.Statement {
				i := slices.IndexFunc(s.All, func(st advise.Statement) bool { return strings.Contains(strings.ReplaceAll(st.Text, "`", ""), part) })
				if i < 0 {
					t.Fatalf("no statement with %q: %+v", part, s.All)
				}
				return s.All[i]
			}
			look, scan := at("WHERE handle = ?"), at("WHERE note = ?")
			if look.Key != "by_handle" || scan.Access != "ALL" || look.Shape.Rows < rows/2 || look.Shape.Pages < 1000 {
				t.Errorf("%+v\n%+v", look, scan)
			}
			if c.source == "counters" && (look.Calls < 10*scan.Calls || scan.Examined < rows/2 || look.Returned > 3) {
				t.Errorf("counted: %+v\n%+v", look, scan)
			}
			if look.Reads.Mean <= 0 || look.Reads.Low > look.Reads.Mean || look.Reads.High < look.Reads.Mean {
				t.Errorf("reads: %+v", look.Reads)
			}
			k := look.Keys
			if k == nil {
				t.Fatalf("no keys were seen: %q", s.Unknown)
			}
			t.Logf("%d texts, %d keys, %d of them different, skew %+v, biased %v", s.Texts, k.Seen, k.Distinct, k.Skew, k.Biased)
			if allowed := 0.1; !k.Biased && (k.Skew.Low-allowed > skew || k.Skew.High+allowed < skew) {
				t.Errorf("a skew of %.2f is taken for %+v", skew, k.Skew)
			}
			if k.Biased && k.Skew.Low > skew { // slow executions ask for what nobody else does
				t.Errorf("a skew of %.2f is taken for %+v", skew, k.Skew)
			}
		})
	}
}

// seen looks at the statements and the memory of a busy server.
func seen(t *testing.T, db labtest.Server) *advise.Statements {
	t.Helper()
	stop := busy(t, db.Database)
	defer stop()
	shows := db.Database.(engine.StatementReading)
	look := make(chan *Look, 1)
	time.Sleep(time.Second) // the pool fills
	go func() {
		l, err := Observe(t.Context(), shows, Options{For: 6 * time.Second, Every: 20 * time.Millisecond})
		if err != nil {
			t.Error(err)
		}
		look <- l
	}()
	m, err := memory.Observe(t.Context(), db.Database, memory.Options{For: 6 * time.Second, MaxStall: 5 * time.Second})
	l := <-look
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Statements(t.Context(), shows, memory.Reported(m, nil, 1))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAnIdleServerIsSaidToBeSo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	db := labtest.Up(t, "mariadb")
	shows := db.Database.(engine.StatementReading)
	l, err := Observe(t.Context(), shows, Options{For: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Statements(t.Context(), shows, &advise.Memory{PageSize: 16384})
	if err != nil || len(s.All) > 0 || !strings.Contains(strings.Join(s.Unknown, " "), "while the service is under") {
		t.Errorf("of an idle server: %+v, %v", s, err)
	}
}
