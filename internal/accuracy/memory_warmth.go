package main

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/advise"
	"plimsoll/advise/memory"
	"plimsoll/engine/mysql/admin"
)

// memoryWarmth is how long it took until a pool was full that had been resized under the load, in seconds with as many operations as while the server
// was looked at: a load that is faster with more memory does not falsify it, and neither does a busy machine.
type memoryWarmth struct {
	Times     float64 `json:"times"` // of the pool that it was
	Predicted float64 `json:"predicted_seconds"`
	Low       float64 `json:"low_seconds"`
	High      float64 `json:"high_seconds"`
	Came      float64 `json:"came_seconds"`
}

// off is how far the prediction was off, as a share of what came.
func (w memoryWarmth) off() float64 { return w.Predicted/w.Came - 1 }

// grownTo is the size to which the pool is resized, in times that it was. Those of which it is compared when they are full are smaller: how much a server keeps
// free goes up and down, and the last pages of the room come with it.
const grownTo = 2.5

// grow resizes the pool once while the load goes on, and sees when it holds as many pages as a pool of each of the sizes would.
func (l *memoryLab) grow(ctx context.Context, out *memoryOutcome, seed uint64, since func() (work, error)) (filled []memoryWarmth, err error) {
	sizes := []int64{l.pool}
	for _, times := range l.grown {
		sizes = append(sizes, l.bytes(times))
	}
	r := memory.Reported(out.looked, sizes, seed)
	began, err := since()
	if err != nil {
		return nil, err
	}
	if err := l.resizePool(ctx, l.bytes(grownTo)); err != nil {
		return nil, err
	}
	before := began
	for _, times := range slices.Sorted(slices.Values(l.grown)) {
		at := slices.IndexFunc(r.Curve.Points, func(p advise.Point) bool { return p.Bytes == l.bytes(times) })
		held := float64(out.looked.Cache.Data)
		target := r.Curve.Points[at].Times * held
		now, err := until(ctx, since, func(s work) bool {
			there := float64(s.held) >= target
			if !there {
				before = s
			}
			return there || s.took-began.took > longestWarm
		})
		if err != nil {
			return nil, err
		}
		if float64(now.held) < target {
			return nil, fmt.Errorf("%.2f times the size was not filled after %s: %d pages of %.0f", times, longestWarm, now.held, target)
		}
		// Between two looks the pool fills evenly.
		operations := float64(before.operations) + (target-float64(before.held))/float64(now.held-before.held)*float64(now.operations-before.operations)
		w := r.Warm[at]
		rate := r.Curve.Now.Reads / out.now.each() // operations a second while it was looked at
		filled = append(filled, memoryWarmth{
			Times: times, Predicted: w.Resized.Seconds(), Low: w.ResizedLow.Seconds(), High: w.ResizedHigh.Seconds(),
			Came: (operations - float64(began.operations)) / rate,
		})
	}
	return filled, nil
}

// resizePool orders another size while the server runs, as mysql/resize-buffer-pool does.
func (l *memoryLab) resizePool(ctx context.Context, bytes int64) error {
	s, err := l.db.Session(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Exec(ctx, admin.SetGlobal("innodb_buffer_pool_size", fmt.Sprint(bytes)), nil)
}
