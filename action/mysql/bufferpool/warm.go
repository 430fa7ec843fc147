package bufferpool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

var warmAction = action.Action{
	Name: "mysql.warm", Version: 1,
	About: "Reads tables or chosen indexes into a node's buffer pool, in chunks and at a bounded rate, completely or a range.",
	New:   func() action.Task { return &warm{} },
}

// warm reads every index that was chosen from one end to the other, one after another.
type warm struct {
	onServer
	chosen
	From     string  `yaml:"from" doc:"For one index: start at this value of its first column. Default: from the beginning."`
	To       string  `yaml:"to" doc:"For one index: stop after this value of its first column. Default: to the end."`
	Rate     int64   `yaml:"rate" doc:"Limit in bytes of index per second, such as 50M. Default 0: no limit."`
	InMemory float64 `yaml:"in_memory" doc:"Fail unless at least this share of the pages read was in memory already, judged by how many pages the server read from disk meanwhile, for any session. Reading the same tables again with this input verifies the first reading: every version counts these pages, Aurora too. Default 0: any share."`
	Larger   bool    `yaml:"larger" doc:"Read even if the chosen tables are larger than the buffer pool, so that the last pages evict the first. Default false."`
}

var (
	_ action.Verifier  = (*warm)(nil)
	_ action.Validator = (*warm)(nil)
)

func (w *warm) Validate() error {
	if w.empty() {
		return errors.New("give tables or indexes to read")
	}
	if (w.From != "" || w.To != "") && (len(w.Indexes) != 1 || len(w.Tables) > 0) {
		return errors.New("from and to need one index, because they are values of its first column")
	}
	if w.InMemory < 0 || w.InMemory > 1 {
		return fmt.Errorf("in_memory is %v, expected a share from 0 to 1", w.InMemory)
	}
	if w.Rate < 0 {
		return fmt.Errorf("rate is %d, expected bytes in a second, such as 50M", w.Rate)
	}
	return w.validate()
}

// Traits says that nothing is left behind: data and settings stay as they are.
func (w *warm) Traits() action.Traits { return action.Traits{Effect: action.None, Repeatable: true} }

// Check always finds it needed. It refuses what does not fit.
func (w *warm) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	f := action.CheckResult{State: action.Needed}
	err := w.use(ctx, on, func(s engine.Session) error {
		all, err := w.choose(ctx, s)
		if err != nil {
			return err
		}
		var names []string
		for _, i := range all {
			names = append(names, i.String())
		}
		f.Intended = action.Facts{"read": names}
		f.Reason = "about " + size(total(all))
		return nil
	})
	return f, err
}

// choose finds the indexes and holds them against the pool's size.
func (w *warm) choose(ctx context.Context, s engine.Session) ([]index, error) {
	all, err := w.find(ctx, s)
	if err != nil {
		return nil, err
	}
	if w.From != "" || w.To != "" {
		if all[0].oneGo != "" {
			return nil, &hint.PermanentError{Reason: fmt.Sprintf("no range of %s can be read: %s", all[0], all[0].oneGo), Advice: "read all of it, without from and to"}
		}
		if err := w.narrow(ctx, s, &all[0]); err != nil {
			return nil, err
		}
	}
	return all, w.fits(ctx, s, all)
}

// fits refuses what is larger than the pool.
func (w *warm) fits(ctx context.Context, s engine.Session, all []index) error {
	pool, err := number(ctx, s, admin.Global("innodb_buffer_pool_size"))
	if err != nil {
		return err
	}
	if sum := total(all); sum > pool && !w.Larger {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("the chosen tables need %s, the buffer pool has %s: the last pages would evict the first", size(sum), size(pool)),
			Advice: "choose fewer indexes or a range, or set larger: true",
		}
	}
	return nil
}

// narrow scales an index down to its range, by what the optimizer expects of it.
func (w *warm) narrow(ctx context.Context, s engine.Session, i *index) error {
	entries := walk{index: *i, from: w.From, to: w.To}
	text, args := entries.statement()
	r, err := query(ctx, s, "EXPLAIN FORMAT=TRADITIONAL "+text, append(args, engine.Int(1<<40))...)
	if err != nil {
		return fmt.Errorf("look for the range of %s: %w", i, err)
	}
	rows := i.rows
	for c := r.Columns - 1; c >= 0 && r.Rows > 0; c-- {
		if v := r.At(0, c); v.Kind == engine.Integer { // rows is the last whole number, in either product
			rows = float64(v.Int)
			break
		}
	}
	if i.rows > 0 && rows < i.rows {
		share := rows / i.rows
		i.pages, i.leaves, i.rows = i.pages*share, i.leaves*share, rows
	}
	return nil
}

func (w *warm) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	var out action.Facts
	err := w.use(ctx, on, func(s engine.Session) error {
		all, err := w.choose(ctx, s)
		if err != nil {
			return err
		}
		r := &reader{session: s, warm: w, tell: c.Progress, total: total(all), began: time.Now()}
		out, err = r.run(ctx, on, all)
		return err
	})
	if had, _ := out["in_memory"].(float64); err == nil && had < w.InMemory {
		err = hint.With(fmt.Errorf("only %.1f %% of the pages read were in memory, expected %.1f %%", 100*had, 100*w.InMemory),
			"read them again, read fewer tables than the buffer pool holds, or keep other reads away meanwhile")
	}
	return out, err
}

// Verify has nothing to hold it to: other work may have driven out what was read. mysql.wait-warm looks.
func (w *warm) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }
