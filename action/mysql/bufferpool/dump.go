package bufferpool

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

var dumpAction = action.Action{
	Name: "mysql.dump-buffer-pool", Version: 1,
	About: "Dumps the list of pages in a node's buffer pool (innodb_buffer_pool_dump_now), and waits until it is written.",
	New:   func() action.Task { return &dump{Percent: 100} },
}

// dump writes the list of pages that a load reads back. The list before is lost.
type dump struct {
	onServer
	Percent int `yaml:"percent" doc:"Percentage of the pool, most recently used pages first (innodb_buffer_pool_dump_pct, which is restored afterwards). Default 100."`
}

var (
	_ action.Verifier  = (*dump)(nil)
	_ action.Validator = (*dump)(nil)
)

func (d *dump) Validate() error {
	if d.Percent < 1 || d.Percent > 100 {
		return fmt.Errorf("percent is %d, expected 1 to 100", d.Percent)
	}
	return nil
}

func (d *dump) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

const percentVariable = "innodb_buffer_pool_dump_pct"

// Check always finds it needed: what is in memory changes all the time.
func (d *dump) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	last, err := d.status(ctx, on, dumpStatus)
	if err != nil {
		return action.CheckResult{}, err
	}
	percent, err := on.Value(ctx, d.Node, admin.Global(percentVariable))
	if err != nil {
		return action.CheckResult{}, err
	}
	return action.CheckResult{
		State:    action.Needed,
		Observed: action.Facts{"last": last.text, "percent": percent},
		Intended: action.Facts{"last": "now", "percent": strconv.Itoa(d.Percent)},
	}, nil
}

var dumpNow = order{variable: "innodb_buffer_pool_dump_now", procedure: "rds_innodb_buffer_pool_dump_now", status: dumpStatus}

func (d *dump) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	began := time.Now()
	back, err := d.take(ctx, on, c)
	if err != nil {
		return nil, err
	}
	s, err := d.carry(ctx, on, dumpNow, func(s statusLine) { c.Progress(s.share, s.text) })
	if err = errors.Join(err, back()); err != nil {
		return nil, err
	}
	return action.Facts{"status": s.text, "seconds": time.Since(began).Seconds()}, nil
}

// take sets the percentage for this dump. What is put back is what was found before the first attempt: one that was killed
// has left its own.
func (d *dump) take(ctx context.Context, on *cluster.Cluster, c action.Call) (back func() error, err error) {
	now, err := on.Value(ctx, d.Node, admin.Global(percentVariable))
	if err != nil {
		return nil, err
	}
	before, ok := c.Before["percent"].(string)
	if !ok {
		before = now
	}
	if want := strconv.Itoa(d.Percent); now != want {
		err := d.set(ctx, on, want)
		if engine.ClassOf(err) == engine.Denied {
			return nil, &hint.PermanentError{
				Reason: fmt.Sprintf("%s is %s and cannot be set to %s: %v", percentVariable, now, want, err),
				Advice: "dump with percent: " + now + ", or set it where the server's parameters are kept",
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return func() error {
		if before == strconv.Itoa(d.Percent) {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return d.set(ctx, on, before)
	}, nil
}

func (d *dump) set(ctx context.Context, on *cluster.Cluster, percent string) error {
	return on.Execute(ctx, d.Node, []string{admin.SetGlobal(percentVariable, percent)}, func(int) {})
}

// Verify looks that the server still tells of a dump that it completed.
func (d *dump) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	s, err := d.status(ctx, on, dumpStatus)
	if err != nil {
		return err
	}
	return ended(s)
}
