package run

import (
	"context"
	"fmt"
	"math"
	"time"

	"plimsoll/analyze"
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
// could show if it stays like this. Stages of a rate begin when the warm-up is over: there it is left out.
func (d *cellRun) lookAtNoise(ctx context.Context) error {
	length := noiseCheck(d.trial, d.options.Noise)
	if d.noise || length == 0 || d.cell.Load.Rate.Staged() {
		return nil
	}
	d.noise = true
	from := len(d.now.All)
	for passed := time.Duration(0); length-passed > judge.Second/2; {
		d.observe(progress.Stage{Doing: progress.WarmingUp, Cell: d.cell.Name, Round: d.round, Detail: "how noisy the load is", Share: float64(passed) / float64(length)})
		s, err := d.next(ctx)
		if err != nil {
			return err
		}
		passed += s.Length
	}
	seen := d.now.All[from:]
	detail := map[string]any{"seconds": length.Seconds()}
	text := ""
	design := analyze.Design{Measure: judgedLength(d.trial), Rounds: d.trial.Phases.Rounds}
	for _, m := range []struct {
		name string
		of   analyze.Statistic
	}{{"throughput", analyze.Throughput()}, {"p99", analyze.Percentile(0.99, analyze.Response)}} {
		share := analyze.Foresee(seen, m.of, design, d.trial.Options())
		if math.IsNaN(share) || math.IsInf(share, 0) || d.cell.Load.Open() && m.name == "throughput" { // a rate is as it was asked for
			continue
		}
		detail[m.name+"_percent"] = math.Round(share*1000) / 10
		if text != "" {
			text += " and "
		}
		text += fmt.Sprintf("%.1f %% in %s", share*100, m.name)
	}
	if text == "" {
		return nil
	}
	d.happened(series.Event{Kind: series.NoiseChecked, Cell: d.cell.Name, Round: d.round, Detail: detail})
	d.note("Judging by %s of this load before the first measurement, %s cannot distinguish differences of less than about %s from noise; the limit is larger if rounds differ by more than their seconds do.",
		length, designOf(design), text)
	return nil
}

// judgedLength is how long what is judged is measured in a round: of a timeline the first stretch of time.
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
