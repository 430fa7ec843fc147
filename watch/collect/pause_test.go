package collect

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// pretended is a server that answers every question with nothing, until it is dead or hangs.
type pretended struct {
	dead, hangs bool
	refuses     error         // the login
	diesAt      string        // a word of the question at which it dies, after it has told how many threads run
	takes       time.Duration // for each answer
	running     int64         // threads
	asked       []string
}

func (p *pretended) dial(context.Context) (engine.Session, error) {
	if p.dead {
		return nil, errors.New("connection refused")
	}
	if p.refuses != nil {
		return nil, p.refuses
	}
	return &pretendedSession{server: p}, nil
}

type pretendedSession struct {
	engine.Session
	server *pretended
}

func (s *pretendedSession) Exec(ctx context.Context, text string, r *engine.Result) error {
	s.server.asked = append(s.server.asked, text)
	if at := s.server.diesAt; at != "" && strings.Contains(text, at) {
		s.server.dead = true
	}
	switch {
	case s.server.hangs:
		<-ctx.Done()
		return ctx.Err()
	case s.server.dead:
		return errGone
	}
	time.Sleep(s.server.takes)
	if r != nil {
		r.Reset()
		if (s.server.diesAt != "" || s.server.running > 0) && strings.Contains(text, "GLOBAL_STATUS") {
			r.Rows, r.Columns, r.Values = 1, 2, append(r.Values, engine.Chars([]byte("Threads_running")), engine.Int(max(s.server.running, 3)))
		}
		if text == "SELECT CONNECTION_ID()" {
			r.Rows, r.Columns, r.Values = 1, 1, append(r.Values, engine.Int(7))
		}
	}
	return nil
}

func (s *pretendedSession) Table(ctx context.Context, text string) ([]map[string]string, error) {
	return nil, s.Exec(ctx, text, nil)
}

func (*pretendedSession) Close() error { return nil }

// An instance that dies, or hangs, while it is not polled is down within a few seconds: rules take ten more to tell.
func TestADeathInAPauseIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		readers func(*pretended) []watch.Collector
		pause   func(watch.Collector) *breaker
	}{
		"mysql": {func(p *pretended) []watch.Collector { return MySQL(p.dial, 0) }, func(c watch.Collector) *breaker { return &c.(*quick).breaker }},
		"cql":   {func(p *pretended) []watch.Collector { return Cassandra(p.dial, "127.0.0.1:1", 0)[:1] }, func(c watch.Collector) *breaker { return &c.(*cassandra).breaker }},
	} {
		for how, cause := range map[string]struct {
			do     func(*pretended)
			within time.Duration
		}{
			"dies": {func(p *pretended) { p.dead = true }, 2 * time.Second}, "hangs": {func(p *pretended) { p.hangs = true }, 5 * time.Second},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &pretended{}
					readers := c.readers(p)
					var died, down time.Time
					last := map[string]float64{}
					w := watch.New(watch.Config{
						Sources: []watch.Source{{Instance: watch.Instance{Name: "a/n1", Cluster: "a", Engine: name}, Collectors: readers}},
						Keep: func(_ context.Context, all []watch.Sample) error {
							for _, s := range all {
								last[s.Name] = s.Value
								if s.Name == "up" && s.Value == 0 && down.IsZero() {
									down = time.Now()
								}
							}
							return nil
						},
					})
					ctx, cancel := context.WithCancel(t.Context())
					done := make(chan error)
					go func() { done <- w.Run(ctx) }()
					time.Sleep(3500 * time.Millisecond)
					b := c.pause(readers[0])
					b.mu.Lock()
					b.until, b.reason = time.Now().Add(longestPause), "slow"
					b.mu.Unlock()
					time.Sleep(10 * time.Second)
					if i, _ := w.Instance("a/n1"); i.State != watch.Paused || i.Age < 9 || !down.IsZero() || last["up"] != 1 || last["plimsoll_watch_paused"] != 1 {
						t.Errorf("in the pause: %s, %v s old, up %v, paused %v", i.State, i.Age, last["up"], last["plimsoll_watch_paused"])
					}
					died = time.Now()
					cause.do(p)
					time.Sleep(8 * time.Second)
					if took := down.Sub(died); down.IsZero() || took > cause.within {
						t.Errorf("it is down %s after it %s, want at most %s", took, how, cause.within)
					}
					if i, _ := w.Instance("a/n1"); i.State != watch.Down || last["plimsoll_watch_paused"] != 0 || name == "mysql" && last["mysql_up"] != 0 {
						t.Errorf("after: %s, %v", i.State, last)
					}
					p.dead, p.hangs = false, false
					cancel()
					if err := <-done; err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// Of a server that gives no answer, or dies while it is read, the watch tells that it is down and that nothing is paused, and no figures.
func TestADeadServerHasNoFigures(t *testing.T) {
	for name, p := range map[string]*pretended{"gone": {dead: true}, "dies while it is read": {diesAt: "PROCESSLIST"}} {
		q := MySQL(p.dial, 0)[0].(*quick)
		r, err := q.Collect(t.Context(), watch.Second, time.Now())
		if err == nil {
			t.Errorf("%s: it answers; it was asked %q", name, p.asked)
		}
		told := map[string]float64{}
		for _, s := range r.Samples {
			told[s.Name] = s.Value
		}
		if !maps.Equal(told, map[string]float64{"mysql_up": 0, "plimsoll_watch_paused": 0}) || len(r.Samples) != 2 {
			t.Errorf("%s: %v", name, r.Samples)
		}
	}
}

// A server that refuses the account answers: that is told apart from one that is gone, in a pause too. A socket that this machine does not let
// us open says nothing of the server.
func TestARefusedLoginIsNoDeath(t *testing.T) {
	for said, c := range map[string]struct {
		err     error
		refused bool
	}{
		"wrong password":         {&engine.Error{Kind: engine.Denied, Code: "1045", Text: "Access denied for user 'plimsoll'@'10.0.0.9' (using password: YES)"}, true},
		"no grant":               {&engine.Error{Kind: engine.Denied, Code: "1044", Text: "Access denied for user 'plimsoll'@'%' to database 'orders'"}, true},
		"credentials of a ring":  {&engine.Error{Kind: engine.Denied, Lost: true, Code: "0x0100", Text: "Provided username plimsoll and/or password are incorrect"}, true},
		"a socket of others":     {&engine.Error{Kind: engine.Denied, Lost: true, Text: "the socket cannot be opened", Err: syscall.EACCES}, false},
		"nothing listens":        {&engine.Error{Kind: engine.Unavailable, Lost: true, Text: "nothing listens"}, false},
		"too many connections":   {&engine.Error{Kind: engine.Overloaded, Lost: true, Code: "1040", Text: "Too many connections"}, false},
		"no error of a database": {errors.New("no route to host"), false},
	} {
		for _, paused := range []bool{false, true} {
			p := &pretended{refuses: c.err}
			readers := map[string]watch.Collector{"mysql": MySQL(p.dial, 0)[0], "cql": Cassandra(p.dial, "127.0.0.1:1", 0)[0]}
			if paused {
				readers["mysql"].(*quick).breaker.until = time.Now().Add(longestPause)
				readers["cql"].(*cassandra).breaker.until = time.Now().Add(longestPause)
			}
			for name, r := range readers {
				if _, err := r.Collect(t.Context(), watch.Second, time.Now()); !errors.Is(err, c.err) || errors.Is(err, watch.ErrRefused) != c.refused {
					t.Errorf("%s, %s, paused %v: %v", name, said, paused, err)
				}
			}
		}
	}
}

// A watch leaves a server alone within two seconds once that takes 80 ms for each answer, or forty threads run on it, says so, and asks it again. Whether it answers is
// asked on; one that is in distress is looked at every ten seconds.
func TestAServerInTroubleIsSpared(t *testing.T) {
	for name, c := range map[string]struct {
		trouble func(*pretended)
		state   watch.State
		why     string
	}{
		"slow":     {func(p *pretended) { p.takes = 80 * time.Millisecond }, watch.Paused, "own queries took 80 ms (p95)"},
		"distress": {func(p *pretended) { p.running = 40 }, watch.Reduced, "40 threads are running on 2 cores"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pretended{}
				w := watch.New(watch.Config{Sources: []watch.Source{{Instance: watch.Instance{Name: "a/n1", Cluster: "a", Engine: "mysql"}, Collectors: MySQL(p.dial, 2)[:1]}}})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- w.Run(ctx) }()
				time.Sleep(10500 * time.Millisecond)
				c.trouble(p)
				time.Sleep(2500 * time.Millisecond) // the first reading in it begins after half a second
				if i, _ := w.Instance("a/n1"); i.State != c.state || !strings.Contains(i.Why, c.why) {
					t.Errorf("two seconds later it is %s: %s", i.State, i.Why)
				}
				p.asked = nil
				time.Sleep(time.Second)
				if len(p.asked) > 1 || len(p.asked) == 1 && p.asked[0] != "SELECT 1" {
					t.Errorf("it is asked %q", p.asked)
				}
				if name == "distress" {
					time.Sleep(19 * time.Second)
					looks, contacts := 0, 0
					for _, text := range p.asked {
						switch {
						case text == "SELECT 1":
							contacts++
						case strings.Contains(text, "GLOBAL_STATUS"):
							looks++
						case !strings.Contains(text, "PROCESSLIST"): // what it waits for
							t.Errorf("in distress it is asked %q", text)
						}
					}
					if looks != 2 || contacts < 8 || contacts > 10 || len(p.asked) > 14 {
						t.Errorf("in twenty seconds of distress it is looked at %d times, and asked %d times whether it answers: %q", looks, contacts, p.asked)
					}
					if i, _ := w.Instance("a/n1"); i.State != c.state || i.Age > 10 {
						t.Errorf("it is %s, read %.0f s ago", i.State, i.Age)
					}
				}
				p.takes, p.running = 0, 1
				time.Sleep(10 * time.Second)
				if i, _ := w.Instance("a/n1"); i.State != watch.Up {
					t.Errorf("when it is well again it is %s: %s", i.State, i.Why)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// In a pause an instance is asked nothing but whether it answers, every two seconds.
func TestAPauseAsksLittle(t *testing.T) {
	p := &pretended{}
	q := MySQL(p.dial, 0)[0].(*quick)
	now := time.Now()
	if _, err := q.Collect(t.Context(), watch.Second, now); err != nil {
		t.Fatal(err)
	}
	q.breaker.until = now.Add(longestPause)
	p.asked = nil
	asked := map[watch.Asked]int{}
	for second := range 10 {
		r, err := q.Collect(t.Context(), watch.TenSeconds, now.Add(time.Duration(second)*time.Second))
		if err != nil || r.Missed != watch.TenSeconds {
			t.Errorf("missed level %d, %v", r.Missed, err)
		}
		asked[r.Asked]++
	}
	if len(p.asked) != 5 || asked[watch.Contact] != 5 || asked[watch.Nothing] != 5 || slices.ContainsFunc(p.asked, func(text string) bool { return text != "SELECT 1" }) {
		t.Errorf("asked %q, %v", p.asked, asked)
	}
}

// Neither in a pause nor in distress own SQL runs; it keeps its turn, and what else was due is said to be missed.
func TestOwnSQLWaitsForAServerInDistress(t *testing.T) {
	p := &pretended{}
	s := MySQL(p.dial, 2, Query{Name: "orders", SQL: "SELECT 1 AS orders", Every: time.Hour})[1].(*slow)
	now := time.Now()
	ran := func() bool {
		return slices.ContainsFunc(p.asked, func(text string) bool { return strings.Contains(text, "AS orders") })
	}
	for what, begin := range map[string]func(){
		"a pause": func() { s.breaker.until = now.Add(time.Minute) }, "distress": func() { s.breaker.until = time.Time{}; s.breaker.strained(now, 40, 2) },
	} {
		begin()
		if r, err := s.Collect(t.Context(), watch.TenMinutes, now); err != nil || r.Missed != watch.TenMinutes || len(p.asked) > 0 {
			t.Errorf("in %s: missed level %d, %v, asked %q", what, r.Missed, err, p.asked)
		}
		s.breaker.until = time.Time{}
		s.breaker.strained(now, 0, 2)
	}
	if _, err := s.Collect(t.Context(), watch.Second, now); err != nil || !ran() {
		t.Errorf("afterwards: %v, asked %q", err, p.asked)
	}
}

// A run whose guardrails name series of a server in distress goes on to see it every second.
func TestARunSeesAServerInDistress(t *testing.T) {
	for attended, want := range map[bool]int{false: 1, true: 5} {
		p := &pretended{running: 40}
		readers := MySQL(p.dial, 2)
		if attended {
			Attend(readers)
		}
		now, looks := time.Now(), 0
		for second := range 5 {
			r, err := readers[0].Collect(t.Context(), watch.TenSeconds, now.Add(time.Duration(second)*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			looks += map[bool]int{true: 1}[r.Asked == watch.Everything]
		}
		if looks != want {
			t.Errorf("attended %v: it is read %d times in five seconds, want %d", attended, looks, want)
		}
	}
}

// What a server in distress waits for is the mean of its last looks, and not of the quiet minutes before them.
func TestTheLoadOfAServerInDistressIsOfNow(t *testing.T) {
	var l load
	now := time.Now()
	for second := range 30 {
		l.turn(now.Add(time.Duration(second)*time.Second), nil, nil, &rates{})
	}
	busy := make([]session, 40)
	for n := range busy {
		busy[n].class = "row lock"
	}
	for look := range 2 {
		l.turn(now.Add(30*time.Second+time.Duration(look)*lookEvery), busy, nil, &rates{})
	}
	if aas := l.picture().AAS; aas != 40 {
		t.Errorf("the load is %g", aas)
	}
}
