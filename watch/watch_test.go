package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/watch/storage"
)

// fake is a collector that does what a test says; real servers are read in watch/collect.
type fake struct {
	collect func(ctx context.Context, level Level, now time.Time) (Reading, error)
	closed  bool
}

func (f *fake) Collect(ctx context.Context, l Level, now time.Time) (Reading, error) {
	return f.collect(ctx, l, now)
}
func (f *fake) Close() error { f.closed = true; return nil }

func source(name string, c ...Collector) Source {
	return Source{Instance: Instance{Name: name, Cluster: "a", Engine: "mysql"}, Collectors: c}
}

func TestAnInstanceThatHangsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := &fake{collect: func(ctx context.Context, _ Level, _ time.Time) (Reading, error) {
			<-ctx.Done()
			return Reading{}, ctx.Err()
		}}
		answers := &fake{collect: func(_ context.Context, _ Level, now time.Time) (r Reading, err error) {
			r.Add(now, "x", 1)
			r.Show = func(i *Instance) { i.Throughput = new(float64) }
			return r, nil
		}}
		kept := map[string]int{}
		w := New(Config{
			Sources: []Source{source("a/n1", hangs), source("a/n2", answers)},
			Keep: func(_ context.Context, all []Sample) error {
				for _, s := range all {
					if s.Name == "x" {
						kept[s.Labels[1].Value]++
					}
				}
				return nil
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 60750*time.Millisecond)
		defer cancel()
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if kept["a/n2"] != 61 {
			t.Errorf("%d readings of the other in a minute, want 61", kept["a/n2"])
		}
		f := w.Fleet()
		if f.Instances[0].Name != "a/n1" || f.Instances[0].State != Down || f.Instances[1].State != Up {
			t.Errorf("the fleet is %+v", f.Instances)
		}
		if !hangs.closed || !answers.closed {
			t.Error("a collector was not closed")
		}
	})
}

// patient is a fake that may take longer.
type patient struct{ *fake }

func (patient) ExtraTime() time.Duration { return 10 * time.Second }

func TestACollectorHasTheTimeThatItNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := false
		takes := &fake{collect: func(ctx context.Context, _ Level, _ time.Time) (r Reading, err error) {
			select {
			case <-time.After(most[TenMinutes] + 9*time.Second): // the first visit is of that level
				answered = true
			case <-ctx.Done():
				err = ctx.Err()
			}
			return r, err
		}}
		for _, c := range []struct {
			reads Collector
			want  bool
		}{{takes, false}, {patient{takes}, true}} {
			answered = false
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if err := New(Config{Sources: []Source{source("a/n1", c.reads)}}).Run(ctx); err != nil || answered != c.want {
				t.Errorf("%T: %v, %v; want %v", c.reads, answered, err, c.want)
			}
			cancel()
		}
	})
}

func TestWhatAnInstanceShowedBeforeItWentDownIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := false
		c := &fake{collect: func(context.Context, Level, time.Time) (Reading, error) {
			if down {
				return Reading{}, errors.New("refused")
			}
			return Reading{Show: func(i *Instance) { i.Version = "11.4"; i.Throughput = new(float64) }}, nil
		}}
		w := New(Config{Sources: []Source{source("a/n1", c)}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(2500 * time.Millisecond)
		if i, _ := w.Instance("a/n1"); i.State != Up || i.Throughput == nil {
			t.Errorf("before: %+v", i)
		}
		down = true
		time.Sleep(5 * time.Second)
		i, _ := w.Instance("a/n1")
		if i.State != Down || i.Why != "refused" || i.Throughput != nil || i.Version != "11.4" || i.Age < 4 {
			t.Errorf("after: %+v", i)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A reading counts from when its samples are kept: an alert that was evaluated while they were read is not taken for one that knows them.
func TestAReadingCountsWhenItIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, kept := time.Now(), false
		c := &fake{collect: func(context.Context, Level, time.Time) (r Reading, err error) {
			if kept {
				r.Asked, r.Show = Nothing, func(i *Instance) { i.State, i.Why = Paused, "slow" }
				return r, nil
			}
			time.Sleep(2 * time.Second) // an alert is evaluated meanwhile
			return r, nil
		}}
		w := New(Config{Sources: []Source{source("a/n1", c)}, Keep: func(context.Context, []Sample) error { kept = true; return nil }})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(5500 * time.Millisecond)
		if w.Unread("a/n1", begun.Add(time.Second)) || !w.Unread("a/n1", begun.Add(3*time.Second)) {
			t.Error("what was kept after two seconds is newer than what was known after one, and not than after three")
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Who keeps series is told when an instance stops to answer, once, and before it is written that it is not up.
func TestItIsToldOnceThatAnInstanceIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		c := &fake{collect: func(context.Context, Level, time.Time) (Reading, error) {
			if s := time.Since(begun).Seconds(); s >= 3 && s < 6 || s >= 8 {
				return Reading{}, errors.New("refused")
			}
			return Reading{}, nil
		}}
		var told []string
		w := New(Config{
			Sources: []Source{source("a/n1", c, &fake{collect: func(context.Context, Level, time.Time) (Reading, error) { return Reading{}, errors.New("no room") }})},
			Gone: func(_ context.Context, name string, at time.Time) {
				told = append(told, fmt.Sprintf("%s gone at %.0f", name, at.Sub(begun).Seconds()))
			},
			Keep: func(_ context.Context, all []Sample) error {
				for _, s := range all {
					if s.Name == "up" && s.Value == 0 {
						told = append(told, "down")
					}
				}
				return nil
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 9500*time.Millisecond)
		defer cancel()
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if want := []string{"a/n1 gone at 3", "down", "down", "down", "a/n1 gone at 8", "down", "down"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

func TestLevelsComeAsOftenAsTheySay(t *testing.T) {
	count := map[Level]int{}
	for n := range 1200 {
		count[levelAt(n-1, n)]++
	}
	if count[TenMinutes] != 2 || count[Minute] != 18 || count[TenSeconds] != 100 || count[Second] != 1080 {
		t.Errorf("in twenty minutes: %v", count)
	}
	if levelAt(-1, 0) != TenMinutes {
		t.Error("the first reading does not read everything")
	}
	for _, c := range []struct {
		after, n int
		want     Level
	}{{5, 9, Second}, {5, 13, TenSeconds}, {58, 62, Minute}, {590, 640, TenMinutes}} { // a visit took so long that the one of the level was left out
		if got := levelAt(c.after, c.n); got != c.want {
			t.Errorf("from %d to %d: level %d, want %d", c.after, c.n, got, c.want)
		}
	}
}

// What an instance was spared is read when it may be asked again, and what ended in an error a minute later, not every second.
func TestALevelThatWasMissedIsReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		at := func() int { return int(time.Since(begun).Seconds()) }
		read := map[int]Level{}
		c := &fake{collect: func(_ context.Context, l Level, _ time.Time) (r Reading, err error) {
			switch second := at(); {
			case second < 5 || second >= 55 && second < 65: // a pause
				r.Missed = l
			case second == 600:
				err = errors.New("it took too long")
			default:
				read[second] = l
			}
			return r, err
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Second)
		defer cancel()
		if err := New(Config{Sources: []Source{source("a/n1", c)}}).Run(ctx); err != nil {
			t.Fatal(err)
		}
		for second, want := range map[int]Level{5: TenMinutes, 6: Second, 10: TenSeconds, 65: Minute, 66: Second, 601: Second, 610: TenSeconds, 660: TenMinutes, 661: Second} {
			if read[second] != want {
				t.Errorf("at %d s it reads level %d, want %d", second, read[second], want)
			}
		}
	})
}

// What was missed of a server that was down is read as soon as it answers, by the collector that leads and by the others.
func TestWhatWasMissedOfADeadServerIsReadWhenItIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		reads := func(asksEverySecond bool, read map[int]Level) *fake {
			return &fake{collect: func(_ context.Context, l Level, _ time.Time) (r Reading, err error) {
				second := int(time.Since(begun).Seconds())
				if second >= 100 && second < 702 && (asksEverySecond || l > Second) {
					return r, errors.New("refused")
				}
				read[second] = l
				return r, nil
			}}
		}
		leads, other := map[int]Level{}, map[int]Level{}
		ctx, cancel := context.WithTimeout(t.Context(), 710*time.Second)
		defer cancel()
		if err := New(Config{Sources: []Source{source("a/n1", reads(true, leads), reads(false, other))}}).Run(ctx); err != nil {
			t.Fatal(err)
		}
		for name, read := range map[string]map[int]Level{"leads": leads, "other": other} {
			if read[702] != TenMinutes && read[703] != TenMinutes && read[704] != TenMinutes {
				t.Errorf("%s: back at 702 s, it reads level %d, then %d and %d", name, read[702], read[703], read[704])
			}
		}
	})
}

// A pause of the polling says nothing of the instance: it is as old as its last reading, and up only as far as it was asked.
func TestAnInstanceThatIsNotPolledIsNotToldAsFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		c := &fake{collect: func(context.Context, Level, time.Time) (r Reading, err error) {
			second := int(time.Since(begun).Seconds())
			if second < 3 {
				r.Show = func(i *Instance) { i.Throughput = new(float64) }
				return r, nil
			}
			r.Show = func(i *Instance) { i.State, i.Why = Paused, "slow" }
			switch {
			case second >= 12:
				err = errors.New("refused")
			case second%3 == 0:
				r.Asked = Contact
			default:
				r.Asked = Nothing
			}
			return r, err
		}}
		ups := map[int]float64{}
		w := New(Config{Sources: []Source{source("a/n1", c)}, Keep: func(_ context.Context, all []Sample) error {
			for _, s := range all {
				if s.Name == "up" {
					ups[int(s.At.Sub(begun).Seconds())] = s.Value
				}
			}
			return nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(11500 * time.Millisecond)
		if i, _ := w.Instance("a/n1"); i.State != Paused || i.Why != "slow" || i.Age < 9 || i.Throughput == nil {
			t.Errorf("in the pause: %+v", i)
		}
		if before, after := w.Unread("a/n1", begun), w.Unread("a/n1", begun.Add(4*time.Second)); before || !after || w.Unread("a/n9", begun) {
			t.Errorf("in the pause it was not read since its beginning: %v, nor since the fourth second: %v", before, after)
		}
		time.Sleep(time.Second)
		if i, _ := w.Instance("a/n1"); i.State != Down || i.Why != "refused" || i.Throughput != nil {
			t.Errorf("after its death: %+v", i)
		}
		if w.Unread("a/n1", time.Now()) {
			t.Error("a dead instance is told as one that is not polled")
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if want := map[int]float64{0: 1, 1: 1, 2: 1, 3: 1, 6: 1, 9: 1, 12: 0}; !maps.Equal(ups, want) {
			t.Errorf("up at the seconds %v, want %v", ups, want)
		}
	})
}

// A server that answers and does not let the watch in is not told as down, nor as one that lets it in once it is gone.
func TestAnInstanceThatRefusesTheAccountIsNotDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal := fmt.Errorf("%w: %w", ErrRefused, errors.New("Access denied for user 'plimsoll'"))
		var says error
		c := &fake{collect: func(context.Context, Level, time.Time) (Reading, error) { return Reading{}, says }}
		last := map[string]float64{}
		w := New(Config{Sources: []Source{source("a/n1", c)}, Keep: func(_ context.Context, all []Sample) error {
			for _, s := range all {
				last[s.Name] = s.Value
			}
			return nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(500 * time.Millisecond)
		for _, c := range []struct {
			says        error
			state       State
			why         string
			up, refused float64
		}{
			{nil, Up, "", 1, 0},
			{refusal, Refused, "refuses the watch's account: Access denied for user 'plimsoll'", 0, 1},
			{errors.New("connection refused"), Down, "connection refused", 0, 0},
			{refusal, Refused, "refuses the watch's account: Access denied for user 'plimsoll'", 0, 1},
			{nil, Up, "", 1, 0},
		} {
			says = c.says
			time.Sleep(2 * time.Second)
			if i, _ := w.Instance("a/n1"); i.State != c.state || i.Why != c.why || !maps.Equal(last, map[string]float64{"up": c.up, "plimsoll_login_refused": c.refused}) {
				t.Errorf("of %v: %s, %q, %v", c.says, i.State, i.Why, last)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestIOPSAreJudgedByTheStorage(t *testing.T) {
	iops := 2000.0
	i := Instance{IO: &IO{IOPS: &iops, Source: "innodb"}}
	at := time.Unix(0, 0)
	var past storage.Week
	for back := range 14 * 24 { // the same all the time
		past.Add(at.Add(-time.Duration(back)*time.Hour), iops)
	}
	derive := FollowStorage(storage.NewModel(storage.Volume{Type: "gp2", GiB: 100}), &past)
	names := map[string]float64{}
	for n := range 61 {
		for _, s := range derive(at.Add(time.Duration(n)*time.Second), &i) {
			names[s.Name] = s.Value
		}
	}
	if *i.IO.Limit != 3000 || i.IO.LimitBy != "burst" || i.IO.HoursToDry == nil || *i.IO.HoursToDry < 0.86 || *i.IO.HoursToDry > 0.87 {
		t.Errorf("%+v", *i.IO)
	}
	if p := i.IO.HoursP50; p == nil || *p < 0.85 || *p > 0.9 || *i.IO.HoursP10 > *p || *i.IO.HoursP90 < *p {
		t.Errorf("foretold %v, %v, %v", i.IO.HoursP10, p, i.IO.HoursP90)
	}
	if names["plimsoll_bucket_share"] >= 1 || names["plimsoll_iops_limit"] != 3000 {
		t.Errorf("series %v", names)
	}
	told := 0.5
	i.IO.Bucket, i.IO.BucketBasis = &told, "cloud"
	derive(at.Add(61*time.Second), &i)
	if i.IO.BucketBasis != "cloud" || *i.IO.HoursToDry > 0.45 {
		t.Errorf("with the cloud's word: %+v", *i.IO)
	}
}

// A server that is busy is paused, and read once in a minute: what that reading says counts for the minute, and not as one second among many.
func TestAReadingCountsForTheTimeThatItIsOf(t *testing.T) {
	iops := 100.0
	i := Instance{IO: &IO{IOPS: &iops, Source: "innodb"}}
	at := time.Unix(0, 0)
	var past storage.Week
	derive := FollowStorage(storage.NewModel(storage.Volume{Type: "gp2", GiB: 100}), &past)
	for n := range 241 {
		derive(at.Add(time.Duration(n)*time.Second), &i)
	}
	iops = 3000
	derive(at.Add(5*time.Minute), &i)
	if seen := past[storage.HourOf(at)]; len(seen) != 1 || seen[0] < 650 || seen[0] > 700 {
		t.Errorf("four minutes of 100 IOPS and one of 3,000 are %v, want one mean of 680", seen)
	}
}

func TestInstancesComeAndGoWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := func(count *int) *fake {
			return &fake{collect: func(context.Context, Level, time.Time) (Reading, error) { *count++; return Reading{}, nil }}
		}
		var n1, n2, again int
		first, second, unused := reads(&n1), reads(&n2), reads(&again)
		var left []string
		w := New(Config{Sources: []Source{source("a/n1", first)}, Left: func(_ context.Context, name string) {
			if !first.closed {
				t.Error("it is told of before the last sample")
			}
			left = append(left, name)
		}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(2500 * time.Millisecond)
		w.Follow([]Source{source("a/n1", unused), source("a/n2", second)})
		time.Sleep(1900 * time.Millisecond)
		if n1 != 5 || n2 != 2 || again != 0 {
			t.Errorf("read %d, %d and %d times, want 5, 2 and 0", n1, n2, again)
		}
		w.Follow([]Source{source("a/n2", unused)})
		time.Sleep(1900 * time.Millisecond)
		if n1 != 5 || n2 != 4 || !first.closed || second.closed {
			t.Errorf("after it left: read %d and %d times, closed %v and %v", n1, n2, first.closed, second.closed)
		}
		if _, known := w.Instance("a/n1"); known || len(w.Fleet().Instances) != 1 {
			t.Errorf("the fleet is %+v", w.Fleet().Instances)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(left) != 1 || left[0] != "a/n1" { // the other was read until the end
			t.Errorf("%v left, want a/n1", left)
		}
	})
}

// An instance that is at another address is read there, and no longer where it was.
func TestAnInstanceThatMovedIsReadAtItsNewAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(address string, count *int) (Source, *fake) {
			c := &fake{collect: func(context.Context, Level, time.Time) (Reading, error) { *count++; return Reading{}, nil }}
			s := source("a/n1", c)
			s.Instance.Address = address
			return s, c
		}
		var n1, n2, again int
		first, old := at("10.0.0.1:3306", &n1)
		second, present := at("10.0.0.2:3306", &n2)
		same, _ := at("10.0.0.2:3306", &again)
		w := New(Config{Sources: []Source{first}, Left: func(context.Context, string) { t.Error("it has not left") }})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(2500 * time.Millisecond)
		w.Follow([]Source{second})
		time.Sleep(1900 * time.Millisecond)
		w.Follow([]Source{same})
		time.Sleep(2 * time.Second)
		if i, _ := w.Instance("a/n1"); n1 != 3 || n2 != 4 || again != 0 || !old.closed || present.closed || i.Address != "10.0.0.2:3306" || i.State != Up || len(w.Fleet().Instances) != 1 {
			t.Errorf("read %d, %d and %d times, want 3, 4 and 0; closed %v and %v; %+v", n1, n2, again, old.closed, present.closed, i)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Each node of a ring tells of a change of the schema: it is told once, as one of the cluster, and again when it is changed back. What is a node's own
// is told of each.
func TestAChangeOfARingIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := func() *fake {
			states := []string{"one", "two", "one"}
			return &fake{collect: func(_ context.Context, _ Level, now time.Time) (r Reading, err error) {
				if len(states) > 0 {
					r.Changes = []Change{{At: now, Kind: "schema", What: "shop.orders", To: states[0], OfCluster: true}, {At: now, Kind: "setting", What: "x", To: states[0]}}
					states = states[1:]
				}
				return r, nil
			}}
		}
		var mu sync.Mutex
		told := map[string]int{}
		w := New(Config{Sources: []Source{source("a/n1", node()), source("a/n2", node())}, Changes: func(c Change) {
			mu.Lock()
			defer mu.Unlock()
			told[c.Instance+" "+c.What+" "+c.To]++
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"a shop.orders one": 2, "a shop.orders two": 1, "a/n1 x one": 2, "a/n1 x two": 1, "a/n2 x one": 2, "a/n2 x two": 1}
		if !maps.Equal(told, want) {
			t.Errorf("told of %v, want %v", told, want)
		}
	})
}
