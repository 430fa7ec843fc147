package main

import (
	"fmt"
	"math"
	"time"

	"plimsoll/watch"
	"plimsoll/watch/storage"
)

// burst is the section on when a bucket is empty, foretold from what is asked of a volume, beside when it is.
func burst(s study) (string, error) {
	steady := newTable("volume", "asked", "empty after", "forecast error, on average", "at worst", "shown as rough", "error of those, at worst")
	daily := newTable("volume", "mean asked, and by how much the day moves it", "empty after", "foretold (half of courses)", "off")
	src := newSource(s.seed, 1717)
	noise := func(share float64) float64 { return 1 + share*src.rng.NormFloat64() }
	furthest := 0.0
	for _, c := range []struct {
		gib, asks float64
	}{{100, 1000}, {100, 2000}, {200, 1500}, {500, 2500}, {800, 2900}} {
		v := storage.Volume{Type: "gp2", GiB: c.gib}
		load := func(time.Duration) float64 { return c.asks * noise(0.1) }
		plain, rough, truth := foretold(v, load)
		furthest = max(furthest, plain.worst)
		steady.row(v.String(), fmt.Sprintf("%.0f ± 10 %%", c.asks), truth.Round(time.Minute).String(), fmt.Sprintf("%.1f %%", 100*plain.mean()), fmt.Sprintf("%.1f %%", 100*plain.worst),
			fmt.Sprintf("%d of %d", rough.count, rough.count+plain.count), fmt.Sprintf("%.1f %%", 100*rough.worst))
	}
	now := time.Date(2026, 5, 4, 6, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		gib, mean, moves float64
	}{{200, 700, 400}, {200, 800, 300}, {500, 1600, 700}, {300, 1000, 500}} {
		v := storage.Volume{Type: "gp2", GiB: c.gib}
		load := func(at time.Time) float64 {
			hour := float64(at.Hour()) + float64(at.Minute())/60
			return max((c.mean+c.moves*math.Sin((hour-8)/24*2*math.Pi))*noise(0.1), 0)
		}
		var past storage.Week
		for back := 14 * 24 * time.Hour; back > 0; back -= 5 * time.Minute {
			past.Add(now.Add(-back), load(now.Add(-back)))
		}
		o, ok := past.Forecast(v.Bucket(), now, s.seed)
		truth := emptyAfter(v, func(passed time.Duration) float64 { return load(now.Add(passed)) })
		if !ok || truth == 0 {
			return "", fmt.Errorf("%s: the bucket is not emptied", v)
		}
		daily.row(v.String(), fmt.Sprintf("%.0f ± %.0f", c.mean, c.moves), truth.Round(time.Minute).String(), o.P50.Round(time.Minute).String(), fmt.Sprintf("%+.1f %%", 100*(o.P50.Seconds()/truth.Seconds()-1)))
	}
	verdict := "All of them are within it."
	if furthest > 0.05 {
		verdict = fmt.Sprintf("The worst of them is %.1f %% off, which misses it.", 100*furthest)
	}
	return fmt.Sprintf(`Simulated volumes are asked for operations until their bucket is empty, second by second, at no more than they give. While a third of the time is left and
more, a watch forecasts each minute when that will be, from the rate of the last minutes in which the load was alike: the goal is an error of at most 5 %% of the whole time. A forecast whose
own 95 %% interval is wider than ±5 %%, as in the first five minutes, is shown as rough ("≈5 h"), and is counted apart. %s

%s
A load that follows the day is foretold from the same hours of two weeks before: the goal is 20 %%.

%s`, verdict, steady, daily), nil
}

// deviations are how far off forecasts were, as shares of the whole time.
type deviations struct {
	count      int
	sum, worst float64
}

func (d *deviations) add(off float64) {
	d.count, d.sum, d.worst = d.count+1, d.sum+off, max(d.worst, off)
}

func (d deviations) mean() float64 { return d.sum / float64(max(d.count, 1)) }

// foretold is how far off a steady load's exhaustion is foretold: the forecasts that are shown plainly, and those that are shown as rough.
func foretold(v storage.Volume, load func(time.Duration) float64) (plain, rough deviations, truth time.Duration) {
	m, b := storage.NewModel(v), v.Bucket()
	at := time.Unix(0, 0)
	type forecast struct {
		at, empty time.Duration
		rough     bool
	}
	var forecasts []forecast
	for passed := time.Duration(0); b.Level > 0; passed += time.Second {
		given := min(load(passed), v.Burst())
		b = b.Step(given, time.Second)
		s := m.Observe(at.Add(passed), given)
		if passed > 0 && passed%time.Minute == 0 {
			shown := watch.IO{HoursToDry: new(float64), HoursMargin: s.Margin}
			forecasts = append(forecasts, forecast{passed, passed + s.In, shown.Rough()})
		}
		truth = passed
	}
	for _, f := range forecasts {
		off := math.Abs(f.empty.Seconds()/truth.Seconds() - 1)
		switch {
		case f.at > truth*2/3:
		case f.rough:
			rough.add(off)
		default:
			plain.add(off)
		}
	}
	return plain, rough, truth
}

// emptyAfter is when a bucket is empty, at most ten days on; 0: it is not.
func emptyAfter(v storage.Volume, asks func(time.Duration) float64) time.Duration {
	b := v.Bucket()
	for passed := time.Duration(0); passed < 10*24*time.Hour; passed += time.Second {
		if b = b.Step(min(asks(passed), v.Burst()), time.Second); b.Level == 0 {
			return passed
		}
	}
	return 0
}
