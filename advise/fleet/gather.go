package fleet

import (
	"context"
	"math"
	"time"
)

// gathered sums up the samples of series in parts of a span, by instance. An error ends it, and stands in err.
type gathered struct {
	kept Series
	span Span
	err  error
}

// part is what was seen of one series in one part of the span.
type part struct{ sum, weight float64 }

// summary is a way to make a value of the samples of a part, and of several series of an instance.
type summary struct {
	add  func(p *part, before, now sample, every time.Duration)
	join func(a, b float64) float64
}

// sample is a value at a time in milliseconds; before the first of a series v is NaN.
type sample struct {
	at int64
	v  float64
}

var (
	// averages are means over time, added up over series.
	averages = summary{
		func(p *part, _, now sample, _ time.Duration) { p.sum, p.weight = p.sum+now.v, p.weight+1 },
		func(a, b float64) float64 { return a + b },
	}
	// largest is the largest value, of all series.
	largest = summary{
		func(p *part, _, now sample, _ time.Duration) {
			if p.weight == 0 || now.v > p.sum {
				p.sum, p.weight = now.v, 1
			}
		},
		math.Max,
	}
	// rates are how fast counters rise a second, added up over series. One that is smaller than before began anew at 0; over a gap that is longer than
	// a part nothing is told.
	rates = summary{
		func(p *part, before, now sample, every time.Duration) {
			gap := now.at - before.at
			if math.IsNaN(before.v) || gap <= 0 || gap > every.Milliseconds() {
				return
			}
			more := now.v - before.v
			if more < 0 {
				more = now.v
			}
			p.sum, p.weight = p.sum+more, p.weight+float64(gap)/1000
		},
		func(a, b float64) float64 { return a + b },
	}
)

// all are the values of all instances that a selector names series of: one for each part, which ends at its moment; NaN where nothing was seen.
func (g *gathered) all(ctx context.Context, selector string, how summary) map[string][]float64 {
	out := map[string][]float64{}
	if g.err != nil {
		return out
	}
	every := g.span.Every.Milliseconds()
	from, n := g.span.From.UnixMilli(), int(g.span.To.Sub(g.span.From)/g.span.Every)+1
	parts := make([]part, n)
	name, before := "", sample{v: math.NaN()}
	end := func() {
		if name == "" {
			return
		}
		values := out[name]
		if values == nil {
			values = make([]float64, n)
			for i := range values {
				values[i] = math.NaN()
			}
			out[name] = values
		}
		for i, p := range parts {
			switch {
			case p.weight == 0:
			case math.IsNaN(values[i]):
				values[i] = p.sum / p.weight
			default:
				values[i] = how.join(values[i], p.sum/p.weight)
			}
		}
		clear(parts)
	}
	g.err = g.kept.Stream(ctx, selector, g.span.From.Add(-g.span.Every+time.Millisecond), g.span.To, func(labels map[string]string) func(int64, float64) {
		end()
		name, before = labels["instance"], sample{v: math.NaN()}
		return func(at int64, v float64) {
			if math.IsNaN(v) { // it ended there
				return
			}
			now := sample{at, v}
			if i := int((at - from + every - 1) / every); i >= 0 && i < n {
				how.add(&parts[i], before, now, g.span.Every)
			}
			before = now
		}
	})
	end()
	return out
}
