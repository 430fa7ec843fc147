package storage

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// The vectors are AWS' own, from its page on gp2 volumes; the last two are of volumes striped as RDS does.
func TestAWSVectors(t *testing.T) {
	for _, c := range []struct {
		v       Volume
		iops    float64
		seconds float64
	}{
		{Volume{Type: "gp2", GiB: 1}, 3000, 1862},
		{Volume{Type: "gp2", GiB: 100}, 3000, 2000},
		{Volume{Type: "gp2", GiB: 334}, 3000, 2703},
		{Volume{Type: "gp2", GiB: 750}, 3000, 7200},
		{Volume{Type: "gp2", GiB: 200, Managed: true}, 3000, 2250},
		{Volume{Type: "gp2", GiB: 400, Managed: true}, 3000, 12000},
	} {
		got, empties := c.v.Bucket().Empties(c.iops)
		if !empties || math.Round(got.Seconds()) != c.seconds {
			t.Errorf("%+v at %g: %.2f s, want %g", c.v, c.iops, got.Seconds(), c.seconds)
		}
	}
	if b := (Volume{Type: "gp2", GiB: 100}).Bucket(); b.Size/b.Base != 18000 {
		t.Errorf("100 GiB refill in %g s", b.Size/b.Base)
	}
}

func TestWhatVolumesGive(t *testing.T) {
	for _, c := range []struct {
		v           Volume
		base, burst float64
	}{
		{Volume{Type: "gp2", GiB: 800}, 2400, 3000},
		{Volume{Type: "gp2", GiB: 999}, 2997, 3000},
		{Volume{Type: "gp2", GiB: 800, Managed: true}, 2400, 12000},
		{Volume{Type: "gp2", GiB: 16000}, 16000, 16000},
		{Volume{Type: "gp3", GiB: 200, Managed: true}, 3000, 3000},
		{Volume{Type: "gp3", GiB: 400, Managed: true}, 12000, 12000},
		{Volume{Type: "gp3", GiB: 100, IOPS: 5000}, 5000, 5000},
		{Volume{Type: "io2", GiB: 100, IOPS: 20000}, 20000, 20000},
		{Volume{Type: "io1", GiB: 400, IOPS: 6000}, 6000, 6000},
		{Volume{Type: "local", GiB: 100}, 0, 0},
	} {
		if c.v.Base() != c.base || c.v.Burst() != c.burst {
			t.Errorf("%+v: %g and %g, want %g and %g", c.v, c.v.Base(), c.v.Burst(), c.base, c.burst)
		}
	}
	for _, v := range []Volume{{Type: "gp4", GiB: 1}, {Type: "io1", GiB: 1}, {Type: "gp2"}} {
		if v.Check() == nil {
			t.Errorf("%+v was taken", v)
		}
	}
}

// throttled is a volume as it behaves: it gives no more than its limit, second by second.
func throttled(v Volume, asks func(time.Duration) float64, until time.Duration) (empty time.Duration) {
	b := v.Bucket()
	for passed := time.Duration(0); passed < until; passed += time.Second {
		b = b.Step(min(asks(passed), v.Burst()), time.Second)
		if b.Level == 0 {
			return passed
		}
	}
	return 0
}

func TestASteadyLoadIsForetoldToFivePercent(t *testing.T) {
	v := Volume{Type: "gp2", GiB: 100}
	m := NewModel(v)
	at := time.Unix(0, 0)
	var foretold time.Duration
	for n := range 600 { // for ten minutes, after which a third is left
		s := m.Observe(at.Add(time.Duration(n)*time.Second), 2000)
		foretold = time.Duration(n)*time.Second + s.In
	}
	truth := throttled(v, func(time.Duration) float64 { return 2000 }, 3*time.Hour)
	if off := foretold.Seconds()/truth.Seconds() - 1; math.Abs(off) > 0.05 {
		t.Errorf("foretold %v, was %v", foretold, truth)
	}
}

// Seconds that differ by a tenth from one another are a steady load all the same, also where little is asked beyond what the volume gives for ever.
func TestALoadWhoseSecondsDifferIsForetoldToFivePercent(t *testing.T) {
	const seed = 4
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, seed))
	v := Volume{Type: "gp2", GiB: 500}
	load := func(time.Duration) float64 { return 2500 * (1 + random.NormFloat64()/10) }
	truth := throttled(v, load, 3*time.Hour)
	m := NewModel(v)
	at := time.Unix(0, 0)
	var foretold time.Duration
	for n := range 1800 {
		passed := time.Duration(n) * time.Second
		foretold = passed + m.Observe(at.Add(passed), load(passed)).In
	}
	if off := foretold.Seconds()/truth.Seconds() - 1; truth == 0 || math.Abs(off) > 0.05 {
		t.Errorf("foretold %v, was %v", foretold, truth)
	}
}

// A load that follows the day, as it was for two weeks and goes on: the median is within a fifth of the truth.
func TestADailyLoadIsForetoldToAFifth(t *testing.T) {
	daily := func(at time.Time) float64 {
		hour := float64(at.UTC().Hour()) + float64(at.UTC().Minute())/60
		return 700 + 400*math.Sin((hour-8)/24*2*math.Pi)
	}
	v := Volume{Type: "gp2", GiB: 200}
	now := time.Date(2026, 5, 4, 6, 0, 0, 0, time.UTC)
	var w Week
	for back := 14 * 24 * time.Hour; back > 0; back -= 5 * time.Minute {
		w.Add(now.Add(-back), daily(now.Add(-back)))
	}
	o, ok := w.Forecast(v.Bucket(), now, 7)
	truth := throttled(v, func(d time.Duration) float64 { return daily(now.Add(d)) }, 10*24*time.Hour)
	if off := o.P50.Seconds()/truth.Seconds() - 1; !ok || truth == 0 || math.Abs(off) > 0.2 || o.P10 > o.P50 || o.P50 > o.P90 {
		t.Errorf("foretold %+v, was %v", o, truth)
	}
}

// Weekdays ask for more than the volume gives for ever, and weekends for nearly nothing: what is foretold on a Saturday evening is the Monday, and on a
// Monday morning the same day. By the hour of the day alone both would be wrong.
func TestAWeekendIsForetoldAsAWeekend(t *testing.T) {
	weekly := func(at time.Time) float64 {
		if day := at.UTC().Weekday(); day == time.Saturday || day == time.Sunday {
			return 50
		}
		return 900
	}
	v := Volume{Type: "gp2", GiB: 200} // 600 a second for ever, and 5.4 million beyond that: five hours of a weekday
	for _, now := range []time.Time{time.Date(2026, 5, 2, 18, 0, 0, 0, time.UTC), time.Date(2026, 5, 4, 6, 0, 0, 0, time.UTC)} {
		var w Week
		for back := 14 * 24 * time.Hour; back > 0; back -= 5 * time.Minute {
			w.Add(now.Add(-back), weekly(now.Add(-back)))
		}
		o, ok := w.Forecast(v.Bucket(), now, 7)
		truth := throttled(v, func(d time.Duration) float64 { return weekly(now.Add(d)) }, 10*24*time.Hour)
		if off := o.P50.Seconds()/truth.Seconds() - 1; !ok || truth == 0 || math.Abs(off) > 0.05 {
			t.Errorf("on a %s: foretold %+v, was %v", now.Weekday(), o, truth)
		}
	}
}

// The bucket of an instance's class: m5.large gives 18,750 IOPS for thirty minutes, and 3,600 for ever, by the documentation of AWS on EBS-optimized
// instances.
func TestTheBucketOfAnInstanceLastsHalfAnHour(t *testing.T) {
	v := Volume{Type: "io2", GiB: 1000, IOPS: 30000, InstanceIOPS: 18750, InstanceBase: 3600}
	b := v.InstanceBucket()
	if lasts, empties := b.Empties(18750); !empties || lasts != 30*time.Minute {
		t.Errorf("at its most it lasts %v, %v", lasts, empties)
	}
	if _, empties := b.Empties(3600); empties {
		t.Error("it empties at what the class gives for ever")
	}
	if b := (Volume{Type: "gp3", GiB: 100, InstanceIOPS: 40000}).InstanceBucket(); b.Size != 0 {
		t.Errorf("a class that gives its most for ever has the bucket %+v", b)
	}
	m := NewModel(v)
	at := time.Unix(0, 0)
	var last State
	for n := range 31 * 60 {
		last = m.Observe(at.Add(time.Duration(n)*time.Second), 18750)
	}
	if last.By != "instance" || last.Limit != 3600 {
		t.Errorf("after 31 minutes at its most: %+v", last)
	}
}

func TestIOPSAtTheLimitAreCensored(t *testing.T) {
	m := NewModel(Volume{Type: "gp2", GiB: 100, InstanceIOPS: 2500, InstanceBase: 1000})
	at := time.Unix(0, 0)
	if s := m.Observe(at, 2490); !s.Censored || s.Limit != 2500 || s.By != "instance" {
		t.Errorf("%+v", s)
	}
	if s := m.Observe(at.Add(time.Second), 1200); s.Censored {
		t.Errorf("%+v", s)
	}
	m.Tell(0)
	if s := m.Observe(at.Add(2*time.Second), 299); s.By != "volume" || s.Limit != 300 || !s.Censored || s.Share > 0.001 {
		t.Errorf("with an empty bucket: %+v", s)
	}
}
