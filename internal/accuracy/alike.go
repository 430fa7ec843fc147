package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"plimsoll/analyze"
	"plimsoll/load"
	"plimsoll/series"
)

// The stretches of a real server that are dealt out to two cells.
const (
	alikePairs   = 24
	alikeRounds  = 5
	alikeSeconds = 10
)

// realAlike is the section on A/A trials of a real server: stretches of one load on one server are dealt out to two cells, so
// that whatever differs between them is chance, with the correlations, stalls and drifts that a server really has.
func realAlike(s study) (_ string, err error) {
	home, err := os.MkdirTemp("", "plimsoll-accuracy-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	ctx := context.Background()
	real, err := startServer(ctx, home)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, real.stop()) }()
	pairs, err := real.stretches(ctx, s, min(alikePairs, max(2*alikeRounds, int(alikePairs*s.share))))
	if err != nil {
		return "", err
	}
	type outcome struct{ p99, throughput analyze.Answer }
	trials := repeat(s, "alike", s.trials(2000), func(src *source) outcome {
		var a, b [][]analyze.Second
		for _, pair := range src.rng.Perm(len(pairs))[:alikeRounds] {
			first := src.rng.IntN(2)
			a, b = append(a, pairs[pair][first]), append(b, pairs[pair][1-first])
		}
		return outcome{ask(p99, b, "<=", a), ask(analyze.Throughput(), b, ">=", a)}
	})
	of := func(pick func(outcome) analyze.Answer, is analyze.Answer) string {
		return percent(count(trials, func(o outcome) bool { return pick(o) == is }).share())
	}
	byP99, byThroughput := func(o outcome) analyze.Answer { return o.p99 }, func(o outcome) analyze.Answer { return o.throughput }
	var all [][]analyze.Second
	for _, pair := range pairs {
		all = append(all, pair[0], pair[1])
	}
	correlation, varies := lagOne(all)
	t := newTable("metric", "false FAIL", "false PASS")
	t.row("p99", of(byP99, analyze.Fail), of(byP99, analyze.Pass))
	t.row("throughput", of(byThroughput, analyze.Fail), of(byThroughput, analyze.Pass))
	return fmt.Sprintf(`A real MariaDB gets point selects over 8 connections, closed loop. %d stretches of %d s follow one another; neighbours form a pair, as the cells of
a trial take turns. A trial draws %d pairs and deals each out to *a* and *b* by chance: an A/A trial, in which each FAIL, and at a margin of
exactly 1 each PASS, is false. From one second to the next the p99 varies by %s, with a correlation of %.2f. %d trials; they share their
stretches, so no interval is given. Nominally 0.5 %% on each side; the goal is at most 1 %%.

%s`, 2*len(pairs), alikeSeconds, alikeRounds, percent(varies), correlation, len(trials), t), nil
}

// stretches measures pairs of stretches, one after another, after a warm-up.
func (s *server) stretches(ctx context.Context, of study, pairs int) ([][2][]analyze.Second, error) {
	var seconds []analyze.Second
	const warmup = 5
	length := warmup + 2*pairs*alikeSeconds
	spec := load.Spec{Connections: 8, Duration: time.Duration(length) * time.Second}
	_, err := s.load(ctx, spec, of.seed, func(second load.Second) {
		seconds = append(seconds, analyze.FromInterval(series.Together(second.Start, second.Length, second.Operations)))
	})
	if err != nil {
		return nil, err
	}
	if len(seconds) < length {
		return nil, fmt.Errorf("%d seconds of %d were measured", len(seconds), length)
	}
	out := make([][2][]analyze.Second, pairs)
	for i := range out {
		from := seconds[warmup+2*i*alikeSeconds:]
		out[i] = [2][]analyze.Second{from[:alikeSeconds], from[alikeSeconds : 2*alikeSeconds]}
	}
	return out, nil
}
