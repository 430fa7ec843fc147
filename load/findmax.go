package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Max is the highest throughput of a closed loop that FindMax met.
type Max struct {
	Throughput  float64 // operations per second that were done
	Connections int     // of the level that reached it
	Rising      bool    // it still rose at the most connections allowed: there is more to be had
	Levels      []Level
}

// Level is the throughput with a number of connections.
type Level struct {
	Connections int
	Throughput  float64
}

const (
	firstLevel  = 4 // connections; each further level has twice as many
	levelLength = 5 * time.Second
	rises       = 1.05 // a level that brings less than this share more does not rise
	flatLevels  = 2    // so many in a row end the search: one may be bad luck
)

// FindMax searches for the maximum throughput: it doubles the connections of a closed loop, up to spec.Connections, until
// throughput rises no more. Each level runs for spec.Duration, a second at least and 5 if it is 0, after half as long to
// settle, and is told to each, which may be nil. The spec's schedule and limit are ignored.
func FindMax(ctx context.Context, spec Spec, issue Runner, each func(Level)) (Max, error) {
	most := spec.Connections
	var found Max
	for n, flat := min(firstLevel, most), 0; ; n = min(2*n, most) {
		spec.Connections = n
		level, err := measure(ctx, spec, issue)
		if err != nil {
			return found, fmt.Errorf("find the maximum with %d connections: %w", n, err)
		}
		if each != nil {
			each(level)
		}
		rose := level.Throughput > rises*found.Throughput
		if flat++; rose {
			flat = 0
		}
		found.Levels = append(found.Levels, level)
		if level.Throughput > found.Throughput {
			found.Throughput, found.Connections = level.Throughput, n
		}
		if n == most || flat == flatLevels {
			found.Rising = rose
			return found, nil
		}
	}
}

// measure runs one level.
func measure(ctx context.Context, spec Spec, issue Runner) (Level, error) {
	if spec.Duration == 0 {
		spec.Duration = levelLength
	}
	spec.Duration = max(spec.Duration, time.Second)
	settle := spec.Duration / 2
	spec.Duration += settle
	spec.Schedule, spec.Limit = nil, 0
	var begun time.Time
	var length time.Duration
	var done int64
	all, err := issue(ctx, spec, func(s Second) {
		if begun.IsZero() {
			begun = s.Start
		}
		if s.Start.Sub(begun) < settle {
			return
		}
		length += s.Length
		for _, o := range s.Operations {
			done += o.Done
		}
	})
	switch {
	case err != nil:
		return Level{}, err
	case ctx.Err() != nil:
		return Level{}, ctx.Err()
	case len(all.Broken) > 0:
		return Level{}, errors.New(all.Broken[0])
	case done == 0 && len(all.Examples) > 0:
		class := slices.Min(slices.Collect(maps.Keys(all.Examples)))
		return Level{}, fmt.Errorf("no operation succeeded: %s: %s", class, all.Examples[class])
	case done == 0:
		return Level{}, errors.New("no operation ended")
	}
	return Level{Connections: spec.Connections, Throughput: float64(done) / length.Seconds()}, nil
}
