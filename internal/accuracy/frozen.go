package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"plimsoll/load"
)

// frozenServer is the section on a server that stands still: SIGSTOP for five seconds while 1,000 operations arrive every
// second. What the response times must be follows from arithmetic.
func frozenServer(s study) (string, error) {
	home, err := os.MkdirTemp("", "plimsoll-accuracy-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(home)
	ctx := context.Background()
	real, err := startServer(ctx, home)
	if err != nil {
		return "", err
	}
	defer real.stop() //nolint:errcheck // the page is what matters; a lab that stays shows up in lab list

	const connections = 64
	fast, err := real.load(ctx, load.Spec{Connections: connections, Duration: 5 * time.Second}, s.seed, nil)
	if err != nil {
		return "", err
	}
	t := newTable("run", "scheduled", "booked", "", "p50", "p99", "p99.9")
	worst := 0.0
	for run := range 3 {
		f, err := real.freeze(ctx, connections, s.seed+uint64(run))
		if err != nil {
			return "", err
		}
		before := fast.All.Throughput()
		if fast, err = real.load(ctx, load.Spec{Connections: connections, Duration: 5 * time.Second}, s.seed, nil); err != nil {
			return "", err
		}
		want := f.expected((before + fast.All.Throughput()) / 2)
		got := f.summary.All
		measured, theory, off := []string{"measured"}, []string{"theory"}, []string{"off"}
		for _, q := range []float64{0.5, 0.99, 0.999} {
			m, th := got.Response.Quantile(q), timeAt(want, q)
			share := float64(m-th) / float64(th)
			worst = max(worst, max(share, -share))
			measured, theory = append(measured, inMillis(m)), append(theory, inMillis(th))
			off = append(off, fmt.Sprintf("%+.2f %%", 100*share))
		}
		name := fmt.Sprint(run + 1)
		t.row(append([]string{name, fmt.Sprint(len(want)), fmt.Sprint(got.Scheduled)}, measured...)...)
		t.row(append([]string{"", "", fmt.Sprintf("%d done, %d errors", got.Done, got.Errors)}, theory...)...)
		t.row(append([]string{"", "", ""}, off...)...)
		if got.Scheduled != int64(len(want)) || !got.Balanced() {
			return "", fmt.Errorf("booked %+v, scheduled %d", got.Tally, len(want))
		}
	}
	return fmt.Sprintf(`A real MariaDB gets %d point selects per second, evenly spaced, over %d connections for %v. After half a second it is frozen with
SIGSTOP for five seconds. An operation that is due while it stands still must wait until it goes on, and for those before it, which are worked off
at the rate that the server reaches with as many connections (measured just before and after). Count exact; the largest deviation of a
percentile is %.2f %%, the goal 1 %%.

%s`, frozenRate, connections, frozenLength, 100*worst, t), nil
}

const (
	frozenRate   = 1000
	frozenLength = 6 * time.Second
	frozenAfter  = 500 * time.Millisecond
	frozenFor    = 5 * time.Second
)

// frozen is a load during which the server stood still, by the load's clock.
type frozen struct {
	summary  load.Summary
	from, to time.Duration
}

func (s *server) freeze(ctx context.Context, connections int, seed uint64) (*frozen, error) {
	schedule, err := load.Uniform(load.Constant(frozenRate))
	if err != nil {
		return nil, err
	}
	var f frozen
	type span struct {
		from, to time.Time
		err      error
	}
	done := make(chan span, 1)
	go func() {
		// The load begins within milliseconds; what matters is when the freeze began and ended by the clock.
		<-time.After(frozenAfter)
		stood := span{from: time.Now(), err: s.cluster.Server("n1").Freeze(ctx)}
		if stood.err == nil {
			<-time.After(frozenFor)
			stood.err = s.cluster.Server("n1").Thaw(ctx)
			stood.to = time.Now()
		}
		done <- stood
	}()
	f.summary, err = s.load(ctx, load.Spec{Connections: connections, Schedule: schedule, Duration: frozenLength}, seed, nil)
	stood := <-done
	if err != nil || stood.err != nil {
		return nil, fmt.Errorf("freeze the server under load: %w", firstOf(err, stood.err))
	}
	f.from, f.to = stood.from.Sub(f.summary.Start), stood.to.Sub(f.summary.Start)
	return &f, nil
}

// expected are the response times that must come out, sorted: a deterministic queue (Lindley 1952) whose server stands
// still between from and to and otherwise takes 1/rate for each, beside the time of one query alone.
func (f *frozen) expected(rate float64) []time.Duration {
	each := time.Duration(float64(time.Second) / rate)
	alone := f.summary.All.Service.Quantile(0.01)
	var free time.Duration // when the server is done with what came before
	var out []time.Duration
	for i := range int(frozenLength.Seconds() * frozenRate) {
		due := time.Duration(i) * time.Second / frozenRate
		start := max(due, free)
		if start >= f.from && start < f.to {
			start = f.to
		}
		free = start + each
		out = append(out, free-due+alone)
	}
	slices.Sort(out)
	return out
}

// timeAt is a quantile of a sorted list, by the rank that HdrHistogram takes.
func timeAt(sorted []time.Duration, q float64) time.Duration {
	rank := int(q*float64(len(sorted)) + 0.5)
	return sorted[min(max(rank, 1), len(sorted))-1]
}

func inMillis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
