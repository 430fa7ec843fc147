package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"time"

	"plimsoll/catalog"
	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

// unwritable is the section on the client's recovery time: a real server is frozen for a while that is known, and the ledger says
// for how long no write was acknowledged.
func unwritable(study) (string, error) {
	t := newTable("frozen for", "no write acknowledged for", "off")
	worst := 0.0
	for _, length := range []time.Duration{300 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second} {
		for range 2 {
			stood, told, err := gap(context.Background(), length)
			if err != nil {
				return "", err
			}
			off := float64(told-stood) / float64(time.Millisecond)
			worst = max(worst, math.Abs(off))
			t.row(inMillis(stood), inMillis(told), fmt.Sprintf("%+.1f ms", off))
		}
	}
	return fmt.Sprintf(`A real MariaDB gets %d writes per second from a ledger. It is frozen with SIGSTOP, and goes on after a time that is taken from the
trial's own events. For so long, and up to a write's distance and its way more, no write can be acknowledged. The largest deviation is
%.0f ms, the goal 100 ms.

%s`, ledgerRate, worst, t), nil
}

const ledgerRate = 100

// gap is for how long a server stood still in a trial, and for how long by the ledger no write was acknowledged.
func gap(ctx context.Context, length time.Duration) (stood, told time.Duration, err error) {
	home, err := os.MkdirTemp("", "plimsoll-accuracy-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(home)
	tr, err := spec.Parse("gap.yaml", fmt.Appendf(nil, `trial: gap
cluster: {engine: mariadb}
load: {workload: oltp_point_select, table_size: 1000, rate: 100, connections: 16, ledger: {rate: %d, connections: 16}}
timeline:
  - baseline: 3s
  - run: lab/freeze
    with: {for: %v}
  - recovery: 3s
phases: {warmup: 1s, rounds: 1}
`, ledgerRate, length), spec.Options{}, catalog.Parts())
	if err != nil {
		return 0, 0, err
	}
	machine, err := catalog.Machine()
	if err != nil {
		return 0, 0, err
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		return 0, 0, err
	}
	result, err := run.Run(ctx, tr, catalog.Parts(), run.Options{
		Lab: lab.Deps{Machine: machine, Launchers: catalog.Launchers(), Home: home, Cache: cache},
		Dir: filepath.Join(home, "result"), Log: slog.New(slog.DiscardHandler), Version: "accuracy",
	})
	if err != nil {
		return 0, 0, err
	}
	var from time.Time
	for _, e := range result.Events {
		switch e.Kind {
		case series.NodeFreeze:
			from = e.Time
		case series.NodeThaw:
			stood = e.Time.Sub(from)
		}
	}
	for _, f := range result.Verdict.Cells[0].Figures {
		if f.Metric == "recovery_time" {
			told = time.Duration(f.Estimate.Value * float64(time.Millisecond))
		}
	}
	if stood < length || told == 0 {
		return 0, 0, fmt.Errorf("a freeze of %v: it stood for %v, the ledger says %v", length, stood, told)
	}
	return stood, told, nil
}
