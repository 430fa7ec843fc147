package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"time"

	"plimsoll/advise/memory"
)

// memoryCases are the workloads of the page.
func memoryCases() []memoryCase {
	var all []memoryCase
	workloads := map[string][]string{
		"mariadb": {"points", "ranges", "inserts", "scans", "drift", "heat", "batch", "tpcc"}, "mysql": {"points", "inserts", "heat", "tpcc"},
	}
	for _, product := range []string{"mariadb", "mysql"} {
		for _, name := range workloads[product] {
			c := memoryCase{
				name: name, product: product, workload: name, parameters: "{}", pool: 128 << 20,
				look: 14 * time.Second, warm: 6 * time.Second, measure: 6 * time.Second, sizes: otherSizes, sql: product == "mysql",
			}
			if name == "tpcc" {
				c.parameters = "{scale: 4}"
			}
			all = append(all, c)
		}
	}
	parts := memoryCase{
		name: "points, 4 instances", product: "mysql", workload: "points", parameters: "{rows: {items: 2200000}}", pool: 1 << 30, sql: true,
		config: map[string]string{"innodb_buffer_pool_instances": "4"},
		look:   45 * time.Second, warm: 25 * time.Second, measure: 10 * time.Second, sizes: []float64{0.75, 1.5, 2},
	}
	return append(all, parts)
}

// memorySection is the section on reads with another size of memory.
func memorySection(s study) (string, error) {
	t := newTable("server", "workload", "times the memory", "reads an operation", "predicted", "90 % interval", "off", "power law", "linear", "one size")
	score := memoryScore{}
	failed := ""
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // what was measured until then is written
	defer stop()
	for _, c := range memoryCases() {
		o, err := c.measured(ctx, s.seed)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s on %s: %v\n", c.name, c.product, err)
			failed += fmt.Sprintf("- %s on %s was not measured: %v\n", c.name, c.product, err)
			continue
		}
		for _, times := range c.sizes {
			score.add(o, times)
			p := o.at(times)
			t.row(c.product, c.name, fmt.Sprint(times), fmt.Sprintf("%.3g", o.truth[times]), fmt.Sprintf("%.3g", o.perOp(p.Reads)),
				fmt.Sprintf("%.3g–%.3g", o.perOp(p.Low), o.perOp(p.High)), signed(o.off(times, o.perOp(p.Reads))),
				signed(o.off(times, o.power(times))), signed(o.off(times, o.linear(times))), signed(o.off(times, o.oneSize(times))))
		}
	}
	return fmt.Sprintf(`A real server with a pool of 128 MiB and three to four times as much data, read and written with O_DIRECT, is looked at for
14 s under a load, and its pages read for each operation are predicted at other sizes of the pool. Then it is started anew at each of these
sizes with the data as it was, filled by reading all of it once, warmed up until it has read twice what it holds, and measured for 6 s under the same load: that is the truth, with some noise of its own.
innodb_old_blocks_time is 2 ms, since a small pool turns over in seconds. What is off is given in percent of the truth.

%s

Beside it stand three ways to guess: reads fall as memory rises (power law with exponent 1); reads fall in a straight line to none when all
data fits; and a Zipf law fitted to today's hit ratio alone (one size).

%s
%s`, score.String(), t, failed), nil
}

// measured has a case done in a folder of its own, and says on the way what comes out.
func (c memoryCase) measured(ctx context.Context, seed uint64) (_ *memoryOutcome, err error) {
	home, err := os.MkdirTemp("", "plimsoll-accuracy-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	return c.predictAndMeasure(ctx, home, seed, func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, c.product+" "+format+"\n", args...)
	})
}

// memoryScore adds up what was off.
type memoryScore struct {
	n, within, doubted           int
	sum, worst                   float64
	sumSure, worstSure           float64
	power, linear, one           float64
	worstPower, worstLin, worst1 float64
}

func (s *memoryScore) add(o *memoryOutcome, times float64) {
	p := o.at(times)
	off := math.Abs(o.off(times, o.perOp(p.Reads)))
	s.n++
	s.sum, s.worst = s.sum+off, max(s.worst, off)
	if p.Doubt != "" {
		s.doubted++
	} else {
		s.sumSure, s.worstSure = s.sumSure+off, max(s.worstSure, off)
	}
	if truth := o.truth[times]; o.perOp(p.Low) <= truth && truth <= o.perOp(p.High) {
		s.within++
	}
	for _, rival := range []struct {
		value      float64
		sum, worst *float64
	}{{o.power(times), &s.power, &s.worstPower}, {o.linear(times), &s.linear, &s.worstLin}, {o.oneSize(times), &s.one, &s.worst1}} {
		off := math.Abs(o.off(times, rival.value))
		*rival.sum += off
		*rival.worst = max(*rival.worst, off)
	}
}

func (s *memoryScore) String() string {
	n := float64(max(s.n, 1))
	sure := float64(max(s.n-s.doubted, 1))
	return fmt.Sprintf(`| of %d predictions | mean error | worst |
| --- | --- | --- |
| advise memory | **%s** | **%s** |
| those %d not called of low confidence | %s | %s |
| power law | %s | %s |
| linear to the data | %s | %s |
| one size | %s | %s |

The 90 %% interval held the truth in **%s**. Goals: mean at most 10 %%, worst at most 15 %%, intervals hold at least 85 %%.`,
		s.n, percent(s.sum/n), percent(s.worst), s.n-s.doubted, percent(s.sumSure/sure), percent(s.worstSure),
		percent(s.power/n), percent(s.worstPower), percent(s.linear/n), percent(s.worstLin), percent(s.one/n), percent(s.worst1),
		proportion{hits: s.within, of: s.n})
}

func signed(share float64) string { return fmt.Sprintf("%+.0f %%", 100*share) }

// off is how far a number of reads an operation is from the truth, as a share of it. Below a fiftieth of today's reads there is
// nothing to be wrong about: the share is of that.
func (o *memoryOutcome) off(times, reads float64) float64 {
	truth := o.truth[times]
	return (reads - truth) / max(truth, 0.02*o.now)
}

func (o *memoryOutcome) power(times float64) float64 { return o.now / o.at(times).Times }

func (o *memoryOutcome) linear(times float64) float64 {
	data := float64(o.data) / o.held
	return o.now * max(data-o.at(times).Times, 0) / (data - 1)
}

func (o *memoryOutcome) oneSize(times float64) float64 {
	return o.now * memory.FromOneSize(o.requests, o.reads, o.held, float64(o.data), o.at(times).Times)
}
