package advisecmd

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/watch"
)

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s: %.6g, want %.6g ± %.2g %%", what, got, want, 100*share)
	}
}

// Readings of 654 commits of 3.9 ms each, and after the load has stopped one commit of a second in each third: the mean of the readings' means would be
// 170 ms and more, with which 55 sessions would commit at 327 a second.
func TestTheTimeOfACommitIsThatOfAllOverTheirNumber(t *testing.T) {
	readings := func(busy float64) (all []looked) {
		for n := range 40 {
			l := looked{seconds: 1, source: "counters", sessions: busy}
			commits, took := 654.0, 654*0.0039
			if n >= 20 {
				l.sessions, commits, took = 0.3, 0, 0
				if n%3 == 0 {
					commits, took = 1, 1
				}
			}
			questions := 10 * commits
			l.commits, l.questions, l.counted.Total = &commits, &questions, watch.Counted{Sum: took, Of: commits}
			l.counted.Redo = watch.Counted{Sum: took / 2, Of: commits / 2} // a sync of two commits
			all = append(all, l)
		}
		return all
	}
	seen := &advise.Seen{Began: time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)}
	sum(seen, watch.Instance{}, readings(4))
	c := seen.Commit
	commits, took := 20*654+7.0, 20*654*0.0039+7
	within(t, "commits a second", c.Rate.Mean, commits/40, 1e-9)
	within(t, "the time of a commit", c.Total.Mean, took/commits, 1e-9)
	within(t, "sessions that commit", c.Waiting.Mean, c.Total.Mean*c.Rate.Mean, 1e-9)
	within(t, "the redo log's sync", c.Redo.Mean, took/commits, 1e-9)
	for what, f := range map[string]advise.Figure{"rate": c.Rate, "time": *c.Total, "sessions": c.Sessions, "that commit": c.Waiting} {
		if !(f.Low < f.Mean && f.Mean < f.High) {
			t.Errorf("%s: %+v is no interval", what, f)
		}
	}
	if !strings.Contains(seen.Changed, "The load changed at 09:00:20 UTC, 20 seconds after") {
		t.Errorf("since when the load is another: %q", seen.Changed)
	}
	// As many commits of that time by one session cannot be.
	seen = &advise.Seen{}
	sum(seen, watch.Instance{}, readings(1))
	if c := seen.Commit; c.Total != nil || c.Redo != nil || !strings.Contains(c.Doubt, "only 0.65") {
		t.Errorf("%+v", c)
	}
}

// Readings that came late stand for as many seconds as they took.
func TestALateReadingCountsForItsSeconds(t *testing.T) {
	var all []looked
	for n := range 30 {
		l, iops := looked{seconds: 1}, 100.0
		if n%2 == 0 {
			l.seconds, iops = 3, 500
		}
		l.iops, l.writes, l.bytes = &iops, &iops, &iops
		all = append(all, l)
	}
	seen := &advise.Seen{}
	sum(seen, watch.Instance{}, all)
	within(t, "operations a second", seen.Disk.IOPS.Mean, 400, 1e-9)
	within(t, "seconds", float64(seen.Seconds), 60, 1e-9)
	if seen.Changed != "" {
		t.Error(seen.Changed)
	}
}

// What is said of commits is what the server itself has counted meanwhile, also where the load stops half-way.
func TestCommitsOfRealServers(t *testing.T) {
	for _, product := range []string{"mariadb", "mysql"} {
		t.Run(product, func(t *testing.T) {
			db := labtest.UpSpec(t, lab.Spec{Name: "commits", Product: product, Config: map[string]string{"performance_schema": "ON"}})
			labtest.Ask(t, db, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
			source, err := catalog.WatchSource(watch.Instance{Name: "commits/n1", Cluster: "commits", Node: "n1"}, db.Target, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				for _, c := range source.Collectors {
					_ = c.Close() // it only reads
				}
			}()
			const sessions, span = 4, 24 * time.Second
			counted := func() (count, seconds float64) {
				return number(t, db, "SELECT COUNT_STAR FROM "+summary), number(t, db, "SELECT SUM_TIMER_WAIT / 1000000000000 FROM "+summary)
			}
			before, took := counted()
			stopped := committing(t, db, sessions, span/2)
			seen, err := follow(t.Context(), source, span, console.NewProgress(console.Streams{Out: io.Discard, Err: io.Discard}, "observe"))
			stopped()
			if err != nil {
				t.Fatal(err)
			}
			after, until := counted()
			c := seen.Commit
			if c == nil || c.Total == nil {
				t.Fatalf("%+v", c)
			}
			t.Logf("%s: the server counted %.0f commits of %.3f ms; %+v of %.3f ms (%.3f to %.3f), %+v of %+v sessions; %s", product,
				after-before, 1000*(until-took)/(after-before), c.Rate, 1000*c.Total.Mean, 1000*c.Total.Low, 1000*c.Total.High, c.Waiting, c.Sessions, seen.Changed)
			within(t, "the time of a commit", c.Total.Mean, (until-took)/(after-before), 0.1) // the load began some commits before it was looked at
			within(t, "sessions that commit", c.Waiting.Mean, c.Rate.Mean*c.Total.Mean, 1e-6)
			if c.Waiting.Mean > sessions || c.Doubt != "" {
				t.Errorf("of %d connections %.3g commit: %s", sessions, c.Waiting.Mean, c.Doubt)
			}
			var since float64
			if _, told, is := strings.Cut(seen.Changed, " UTC, "); !is {
				t.Errorf("nothing is said of a load that stopped half-way: %q", seen.Changed)
			} else if _, err := fmt.Sscanf(told, "%f seconds after the observation had begun", &since); err != nil || math.Abs(since-(span/2).Seconds()) > (span/4).Seconds() {
				t.Errorf("the load stopped after %s, and %q is said", span/2, seen.Changed)
			}
		})
	}
}

const summary = "performance_schema.events_statements_summary_global_by_event_name WHERE EVENT_NAME = 'statement/sql/commit'"

func number(t *testing.T, db labtest.Server, query string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(labtest.Query(t, db, query)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// committing has sessions commit one change after another for a while.
func committing(t *testing.T, db labtest.Server, sessions int, span time.Duration) (wait func()) {
	ctx, cancel := context.WithTimeout(t.Context(), span)
	var all sync.WaitGroup
	for range sessions {
		s, err := db.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer s.Close()
			for ctx.Err() == nil {
				for _, text := range []string{"BEGIN", "INSERT INTO t (v) VALUES (1)", "COMMIT"} {
					if err := s.Exec(t.Context(), text, nil); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	return func() { all.Wait(); cancel() }
}

// Each wrong flag has a message of its own.
func TestAWrongFlagIsNamed(t *testing.T) {
	for text, o := range map[string]memoryOptions{
		"--for 3s: expected 4s or more":         {Span: 3 * time.Second, MaxStall: time.Second},
		"--max-stall -1s: expected more than 0": {Span: time.Minute, MaxStall: -time.Second},
	} {
		if _, err := o.bytes(); err == nil || err.Error() != text {
			t.Errorf("%v, want %s", err, text)
		}
	}
}
