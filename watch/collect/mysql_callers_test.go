package collect

import (
	"context"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// silent is a session of a server that has nothing to tell.
type silent struct{ engine.Session }

func (silent) Exec(_ context.Context, _ string, r *engine.Result) error {
	if r != nil {
		*r = engine.Result{}
	}
	return nil
}

func (silent) Table(context.Context, string) ([]map[string]string, error) { return nil, nil }

func (silent) Close() error { return nil }

// Of a server in distress only what is due each second is read, where a run attends it. Whose load it is needs no query, and is written of each ten samples all the same.
func TestLoadByAccountOfAServerInDistress(t *testing.T) {
	q := MySQL(func(context.Context) (engine.Session, error) { return silent{}, nil }, 1)[0].(*quick)
	q.link.greet = func(context.Context, *link) error { return nil }
	q.breaker.slow = time.Minute
	Attend([]watch.Collector{q})
	begin := time.Now()
	readings, at := 0, 0
	for second := range 60 {
		level := watch.Second
		if second < 30 && second%10 == 0 {
			level = watch.TenSeconds
		}
		now := begin.Add(time.Duration(second) * time.Second)
		q.breaker.strained(now, 40*oneIf(second >= 30), 1)
		r, err := q.Collect(t.Context(), level, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Samples {
			if s.Name != "plimsoll_statement_readings" {
				continue
			}
			readings++
			if since := second + 1 - at; since != samplesApart {
				t.Errorf("at second %d a reading is of %d samples", second, since)
			}
			at = second + 1
		}
	}
	if readings != 6 {
		t.Errorf("%d readings in a minute, want 6", readings)
	}
}

// A server in trouble is read once a minute, between the longest pauses: whose load it is is written all the same, and no sample is lost.
func TestLoadByAccountOfAServerThatIsHardlyPolled(t *testing.T) {
	q := MySQL(func(context.Context) (engine.Session, error) { return silent{}, nil }, 1)[0].(*quick)
	q.link.greet = func(context.Context, *link) error { return nil }
	q.breaker.slow = time.Minute
	begin := time.Now()
	const every = longestPause + time.Second
	readings, samples := 0, 0
	for n := range 50 {
		now := begin.Add(time.Duration(n) * every)
		waited := len(q.sampled.fresh) + 1
		r, err := q.Collect(t.Context(), watch.Minute, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Samples {
			if s.Name == "plimsoll_statement_readings" {
				readings, samples = readings+1, samples+waited
			}
		}
	}
	if readings != 10 || samples != 50 {
		t.Errorf("of 50 samples in %v %d were written, in %d readings; want all, in 10", 50*every, samples, readings)
	}
}

// While a server is not polled for long, nothing is known of its sessions: those of before are not of the minute in which it is read again.
func TestWhatWasBeforeALongPauseIsNotNow(t *testing.T) {
	var s sampled
	var l load
	counters := &rates{now: map[string]float64{"threads_connected": 9}}
	at := time.Unix(1_000_000, 0)
	read := func(users ...string) {
		at = at.Add(time.Second)
		var sessions []session
		for _, user := range users {
			sessions = append(sessions, session{user: user, class: "cpu", digest: "of " + user})
		}
		s.turn(at, sessions)
		l.turn(at, sessions, nil, counters)
	}
	for range 8 {
		read("before", "before", "before")
	}
	at = at.Add(time.Minute)
	read("now")
	if got := s.last.callers(); len(got) != 1 || got[0] != (watch.Caller{User: "now", AAS: 1}) {
		t.Errorf("a minute later the accounts of the last minute are %+v", got)
	}
	if got := s.last.top(); len(got) != 1 || got[0].Digest != "of now" {
		t.Errorf("a minute later the statements of the last minute are %+v", got)
	}
	if got := l.picture().AAS; got != 1 {
		t.Errorf("a minute later the load is %v, want 1", got)
	}
	if got := len(s.fresh); got != 9 {
		t.Errorf("%d samples wait to be written, want 9: pauses come again and again, and there would never be ten", got)
	}
	at = at.Add(time.Hour)
	read("now")
	if got := s.written().callers(); len(got) != 1 || got[0] != (watch.Caller{User: "now", AAS: 1}) {
		t.Errorf("an hour later the accounts of the reading are %+v", got)
	}
}
