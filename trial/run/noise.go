package run

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"plimsoll/analyze"
	"plimsoll/report/quantity"
	"plimsoll/series"
	"plimsoll/trial/judge"
	"plimsoll/trial/progress"
	"plimsoll/trial/spec"
)

// A trial that is planned to take so long begins with a look at how noisy its load is here.
const (
	longTrial   = 5 * time.Minute
	NoiseLength = 15 * time.Second // unless Options.Noise says otherwise
)

// looksAtNoise is how long the noise is looked at in a cell: in the first of a trial alone. Stages of a rate begin when the warm-up is over: there it
// is left out.
func (r *runner) looksAtNoise(c *spec.Cell) time.Duration {
	length := noiseCheck(r.trial, r.options.Noise)
	if r.noise || length == 0 || c.Load.Rate.Staged() {
		return 0
	}
	r.noise = true
	return length
}

// noiseCheck is how long the noise is looked at; 0: not at all.
func noiseCheck(t *spec.Trial, asked time.Duration) time.Duration {
	switch {
	case asked < 0:
		return 0
	case asked > 0:
		return asked
	case left(t, pace{}) >= longTrial:
		return NoiseLength
	}
	return 0
}

// lookAtNoise goes on after the first warm-up for some seconds, which are booked under it, and says how small a difference the trial
// could show if it stays like this.
func (d *cellRun) lookAtNoise(ctx context.Context) error {
	length, from := d.noise, len(d.now.All)
	for passed := time.Duration(0); length-passed > judge.Second/2; {
		d.observe(progress.Stage{Doing: progress.WarmingUp, Cell: d.cell.Name, Round: d.round, Detail: "how noisy the load is", Share: float64(passed) / float64(length)})
		s, err := d.next(ctx)
		if err != nil {
			return err
		}
		passed += s.Length
	}
	detail, text := whatItCanShow(d.trial, d.now.All[from:], d.cell.Load.Open())
	if text == "" {
		return nil
	}
	detail["seconds"] = length.Seconds()
	d.happened(series.Event{Kind: series.NoiseChecked, Cell: d.cell.Name, Round: d.round, Detail: detail})
	d.note("Judging by %s of its load before the first measurement, %s", length, text)
	return nil
}

// A trial that shows only changes of this share or more is told how long it would have to measure; longer than that is not worth saying.
const (
	coarse      = 0.5
	longestSaid = time.Hour
)

// whatItCanShow says from which change of throughput and p99 on a trial can show one, and how long it would have to measure where that is a
// large one. A rate is as it was asked for, so that of a load with one there is only p99.
func whatItCanShow(t *spec.Trial, seen []analyze.Second, open bool) (detail map[string]any, text string) {
	detail = map[string]any{}
	design := analyze.Design{Measure: judgedLength(t), Rounds: t.Phases.Rounds}
	longer, beyond := design, false // beyond: the longest that is said would not do
	var parts []string
	for _, m := range []struct {
		name string
		of   analyze.Statistic
	}{{"throughput", analyze.Throughput()}, {"p99", analyze.Percentile(0.99, analyze.Response)}} {
		foresee := func(d analyze.Design) float64 { return analyze.Foresee(seen, m.of, d, t.Options()) }
		share := foresee(design)
		if math.IsNaN(share) || math.IsInf(share, 0) || open && m.name == "throughput" {
			continue
		}
		detail[m.name+"_percent"] = math.Round(share*1000) / 10
		parts = append(parts, fmt.Sprintf("%s of %s or more", m.name, quantity.Smallest(max(share, 0.001))))
		for share >= coarse && longer.Measure < longestSaid && foresee(longer) >= coarse {
			longer.Measure = min((longer.Measure * 2).Round(time.Second), longestSaid)
		}
		beyond = beyond || share >= coarse && design.Measure < longestSaid && foresee(longer) >= coarse
	}
	if len(parts) == 0 {
		return nil, ""
	}
	text = fmt.Sprintf("this trial, with %s, can show a change in %s; if rounds differ more than the seconds within them, only a larger change.", designOf(design), strings.Join(parts, ", and in "))
	switch key := longerKey(t); {
	case beyond:
		text += fmt.Sprintf(" Even an hour in each round would not show a change of %s: the load varies too much here.", quantity.Share.Format(coarse))
	case longer.Measure > design.Measure:
		text += fmt.Sprintf(" To show a change of %s, measure longer: %s: %s.", quantity.Share.Format(coarse), key, longer.Measure)
	}
	return detail, text
}

// longerKey is what is written for a longer measurement.
func longerKey(t *spec.Trial) string {
	for _, s := range t.Timeline {
		if s.Call == nil {
			return "timeline, " + s.Phase
		}
	}
	return "phases.measure"
}

// judgedLength is how long what is judged is measured in a round: of a timeline the first period.
func judgedLength(t *spec.Trial) time.Duration {
	for _, s := range t.Timeline {
		if s.Call == nil {
			return s.Length
		}
	}
	return t.Phases.Measure
}

func designOf(d analyze.Design) string {
	if d.Rounds == 1 {
		return fmt.Sprintf("one round of %s", d.Measure)
	}
	return fmt.Sprintf("%d rounds of %s", d.Rounds, d.Measure)
}
