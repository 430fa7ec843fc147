package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"plimsoll/analyze"
)

// inSlices has neighbouring slices of one load measured in pairs, one of a pair with what is to be measured and one without it. Which comes
// first is drawn by lot, each order as often as the other, so that neither a drift of the machine nor anything periodic favours one of them.
func inSlices(ctx context.Context, pairs int, seed uint64, measure func(ctx context.Context, with bool) error) error {
	for _, first := range orders(pairs, seed) {
		for _, with := range []bool{first, !first} {
			if err := measure(ctx, with); err != nil {
				return err
			}
		}
	}
	return nil
}

// orders says of each pair whether the slice with what is measured comes first.
func orders(pairs int, seed uint64) []bool {
	all := make([]bool, pairs)
	for n := range all {
		all[n] = n%2 == 0
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(pairs, func(i, j int) { all[i], all[j] = all[j], all[i] }) //nolint:gosec // an order, not a secret
	return all
}

// paired are slices by their pair: with what is measured, and without.
type paired struct{ with, without []analyze.Second }

func (p *paired) add(with bool, slice analyze.Second) {
	if with {
		p.with = append(p.with, slice)
	} else {
		p.without = append(p.without, slice)
	}
}

// ratio is the throughput with, over that without, at 95 %, a pair being a round. The slices carry no times, since both of a pair count as
// measured at the same time: the comparison then goes by pairs alone.
func (p paired) ratio() analyze.Estimate {
	of := func(all []analyze.Second) analyze.Quantity {
		return analyze.Quantity{Rounds: slices.Collect(slices.Chunk(all, 1)), Statistic: analyze.Throughput()}
	}
	return analyze.RatioOf(of(p.with), of(p.without), analyze.Options{Confidence: 0.95})
}

// differ is how much pairs differ: the standard deviation of the logarithms of their ratios.
func (p paired) differ() float64 {
	var logs []float64
	var sum, squares float64
	for n := range min(len(p.with), len(p.without)) {
		x := math.Log(analyze.Value(analyze.Throughput(), p.with[n:n+1]) / analyze.Value(analyze.Throughput(), p.without[n:n+1]))
		logs, sum = append(logs, x), sum+x
	}
	for _, x := range logs {
		squares += math.Pow(x-sum/float64(len(logs)), 2)
	}
	return math.Sqrt(squares / float64(len(logs)-1))
}

// apart gives a server the first processor of this machine for itself, and the others to this process and to what it starts from then on, until
// release: where client and server share processors, the scheduler moves them to and fro, and the throughput goes up and down by more
// than what is looked for.
func apart(ctx context.Context, server serverProcess) (release func() error, err error) {
	count := runtime.NumCPU()
	if count < 2 {
		return nil, fmt.Errorf("a server and its load need a processor each, and this machine has %d", count)
	}
	if err := server.place(ctx, firstProcessor); err != nil {
		return nil, err
	}
	own := strconv.Itoa(os.Getpid())
	if err := taskset(ctx, "--all-tasks", "--cpu-list", "--pid", otherProcessors(), own); err != nil {
		return nil, err
	}
	return func() error {
		return taskset(context.WithoutCancel(ctx), "--all-tasks", "--cpu-list", "--pid", fmt.Sprintf("0-%d", count-1), own)
	}, nil
}

// sparing leaves the sessions of a server that stands apart where they are, and has what it does besides run on the other processors, until release.
func (s serverProcess) sparing(ctx context.Context) (release func() error, err error) {
	if err := s.place(ctx, otherProcessors()); err != nil {
		return nil, err
	}
	sessions, err := s.sessionThreads(ctx)
	if err != nil {
		return nil, err
	}
	for _, number := range sessions {
		if err := taskset(ctx, "--cpu-list", "--pid", firstProcessor, number); err != nil {
			return nil, err
		}
	}
	return func() error { return s.place(context.WithoutCancel(ctx), firstProcessor) }, nil
}

// place has all of a server run on these processors only.
func (s serverProcess) place(ctx context.Context, processors string) error {
	return taskset(ctx, "--all-tasks", "--cpu-list", "--pid", processors, filepath.Base(s.folder))
}

const firstProcessor = "0"

func otherProcessors() string { return fmt.Sprintf("1-%d", runtime.NumCPU()-1) }

func taskset(ctx context.Context, arguments ...string) error {
	if out, err := exec.CommandContext(ctx, "taskset", arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("choose the processors of a process: taskset: %w: %s", err, out)
	}
	return nil
}
