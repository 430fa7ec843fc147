package reporttest

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/series"
)

// noise is a series whose neighbours resemble each other, as a database's seconds do: AR(1) with mean 0.
type noise struct {
	rng   *rand.Rand
	rho   float64
	sigma float64
	last  float64
}

func newNoise(seed uint64, sigma float64) *noise {
	return &noise{rng: rand.New(rand.NewPCG(seed, 17)), rho: 0.7, sigma: sigma}
}

func (n *noise) next() float64 {
	n.last = n.rho*n.last + math.Sqrt(1-n.rho*n.rho)*n.rng.NormFloat64()*n.sigma
	return n.last
}

// mix is the share of each operation of a workload and how much longer than the average it takes.
type mix []struct {
	name         string
	share, slack float64
}

var tpcc = mix{{"new_order", 0.45, 1.2}, {"payment", 0.43, 0.6}, {"order_status", 0.04, 0.4}, {"delivery", 0.04, 3}, {"stock_level", 0.04, 1.6}}

// second is what the rows of one second have in common.
type second struct {
	at       time.Time
	cell     string
	round    int
	phase    string
	rate     float64 // operations per second that end
	errors   float64
	response float64 // median in ms
	service  float64
	tail     float64 // p99 / p50
}

// rows are the rows of a second: all operations, and each by itself.
func (s second) rows(m mix) []result.Row {
	all := s.row("all", s.rate, s.errors, 1)
	out := []result.Row{all}
	for _, op := range m {
		out = append(out, s.row(op.name, s.rate*op.share, s.errors*op.share, op.slack))
	}
	return out
}

func (s second) row(operation string, rate, errors, slack float64) result.Row {
	done, failed := int64(math.Round(rate)), int64(math.Round(errors))
	r := result.Row{Time: s.at, Cell: s.cell, Round: s.round, Phase: s.phase, Operation: operation, Length: time.Second}
	r.Tally = series.Tally{Scheduled: done + failed, Done: done, Errors: failed}
	if done > 0 {
		r.Response, r.Service = latency(s.response*slack, s.tail), latency(s.service*slack, s.tail)
		r.Wait = latency(max(s.response-s.service, 0.002)*slack, s.tail)
	}
	return r
}

// latency are percentiles of a plausible shape.
func latency(p50, tail float64) result.Latency {
	ms := func(v float64) time.Duration {
		return time.Duration(v * float64(time.Millisecond)).Round(time.Microsecond)
	}
	return result.Latency{
		Mean: ms(p50 * 1.15), P50: ms(p50), P95: ms(p50 * math.Pow(tail, 0.6)), P99: ms(p50 * tail),
		P999: ms(p50 * math.Pow(tail, 1.5)), Max: ms(p50 * math.Pow(tail, 1.9)),
	}
}

// estimate is a value with an interval of ± spread.
func estimate(value, spread float64) analyze.Estimate {
	return analyze.Estimate{Value: value, Low: value * (1 - spread), High: value * (1 + spread), Confidence: 0.99, Effective: 41}
}

// quantiles yields the percentiles' names with their distance from the median, in a fixed order.
func quantiles(tail float64) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for _, q := range []struct {
			name  string
			power float64
		}{{"p50", 0}, {"p95", 0.6}, {"p99", 1}, {"p999", 1.5}} {
			if !yield(q.name, math.Pow(tail, q.power)) {
				return
			}
		}
	}
}
