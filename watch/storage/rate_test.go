package storage

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Where little more is asked than a volume gives for ever, the noise of single seconds moves the forecast most. Of the forecasts whose own margin is
// within 5 %, hardly one is off by more than 5 % of the whole time, whatever the noise happens to be.
func TestForecastsWithAMarginOfFivePercentHoldIt(t *testing.T) {
	v := Volume{Type: "gp2", GiB: 800}
	forecasts, plain, off := 0, 0, 0
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 11))
		m, b := NewModel(v), v.Bucket()
		type forecast struct{ at, empty time.Duration }
		var said []forecast
		var truth time.Duration
		for passed := time.Duration(0); b.Level > 0; passed += time.Second {
			given := min(2900*(1+random.NormFloat64()/10), v.Burst())
			b = b.Step(given, time.Second)
			s := m.Observe(time.Unix(0, 0).Add(passed), given)
			if passed > 0 && passed%time.Minute == 0 {
				forecasts++
				if s.Margin <= 0.05 {
					said = append(said, forecast{passed, passed + s.In})
				}
			}
			truth = passed
		}
		for _, f := range said {
			plain++
			if math.Abs(f.empty.Seconds()/truth.Seconds()-1) > 0.05 {
				off++
				t.Logf("noise %d: at %v it said %v, and it was %v", seed, f.at, f.empty, truth)
			}
		}
	}
	if plain < forecasts*8/10 {
		t.Errorf("only %d of %d forecasts have a margin within 5 %%", plain, forecasts)
	}
	if off > plain/100 {
		t.Errorf("%d of %d forecasts were off by more than 5 %%", off, plain)
	}
}

// A load that doubles is what counts within six minutes, however long it was another; meanwhile the forecast is a rough one.
func TestALoadThatChangesIsFollowedInSixMinutes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	m := NewModel(Volume{Type: "gp2", GiB: 800})
	m.Tell(1)
	at := time.Unix(0, 0)
	see := func(iops float64, over time.Duration) (s State) {
		for range int(over / time.Second) {
			at = at.Add(time.Second)
			s = m.Observe(at, iops*(1+random.NormFloat64()/10))
		}
		return s
	}
	if s := see(1200, time.Hour); s.Empties {
		t.Errorf("a load below what the volume gives for ever empties it: %+v", s)
	}
	if s := see(2700, 5*time.Minute); s.Empties && s.Margin <= 0.05 {
		t.Errorf("five minutes after the change it is sure: %+v", s)
	}
	if s := see(2700, time.Minute); !s.Empties {
		t.Errorf("six minutes after the change: %+v", s)
	} else if want := m.disk.Level / 300; math.Abs(s.In.Seconds()/want-1) > 0.2 {
		t.Errorf("six minutes after the change it is empty in %v, want %.0f s", s.In, want)
	}
	if s := see(2700, 30*time.Minute); s.Margin > 0.1 || s.Margin <= 0 {
		t.Errorf("half an hour later: %+v", s)
	}
}

// One reading of several minutes is one minute seen: it does not tell how they differed.
func TestOneReadingIsNotManyMinutes(t *testing.T) {
	m := NewModel(Volume{Type: "gp2", GiB: 100})
	at := time.Unix(0, 0)
	m.Observe(at, 1000)
	for n, margin := range []float64{1, 1} {
		at = at.Add(4 * time.Minute)
		if s := m.Observe(at, 1000+float64(n)); s.Margin != margin {
			t.Errorf("after %d readings of four minutes the margin is %g, want %g: five minutes were not seen one by one", n+1, s.Margin, margin)
		}
	}
}

// A load that goes up and down is no steady one because it is read less than once a minute.
func TestALoadThatIsReadSeldomIsNoSteadyOne(t *testing.T) {
	m := NewModel(Volume{Type: "gp2", GiB: 100})
	at := time.Unix(0, 0)
	m.Observe(at, 1000)
	at = at.Add(30 * time.Second) // so that each minute of the clock has a part of two readings
	s := m.Observe(at, 1000)
	for n := range 12 {
		at = at.Add(90 * time.Second)
		s = m.Observe(at, []float64{600, 1400}[n%2])
	}
	if !s.Empties || s.Margin < 0.2 {
		t.Errorf("the load goes up and down between 600 and 1,400, and the forecast is %+v", s)
	}
}

func TestStudentsQuantiles(t *testing.T) {
	for freedom, want := range map[float64]float64{4: 2.7764, 9: 2.2622, 19: 2.0930, 59: 2.0010} {
		if got := student(freedom); math.Abs(got/want-1) > 0.01 {
			t.Errorf("student(%g) = %.4f, want %.4f", freedom, got, want)
		}
	}
}
