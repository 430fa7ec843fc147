package mysql

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// How quiet is told.
//
// A level alone cannot tell: under a steady load of writes there are always dirty pages, undo to purge and a checkpoint
// that is behind, while after a bulk load the same numbers mean minutes of work to come. What tells is whether they
// move. So each is judged by its drift per minute (trend), the first two as a share of what they fill, the undo history
// as a share of itself; nothing is quiet until five seconds have been seen. A server that ran idle into a plateau is
// quiet, one that flushes or purges in the background is not, and a load is steady once flushing and purge keep up.
const (
	calmDrift   = 10.0 // % of the buffer pool, or of the redo log, per minute: a 60 s measurement sees no more of it than noise
	calmHistory = 50.0 // % of the undo history per minute: it is the noisiest of the three
	idleHistory = 2000 // transactions of undo that are always left, or gone within a second: drift is counted from here up
	calmReplica = 1.0  // seconds: servers count whole ones
	noTrendYet  = 100.0
)

// backlog is what is remembered from question to question.
type backlog struct{ dirty, checkpoint, history trend }

// signs are the status variables that PendingWork looks at, of both products.
var signs = []string{
	"Innodb_buffer_pool_pages_dirty", "Innodb_buffer_pool_pages_total",
	"Innodb_checkpoint_age", "Innodb_checkpoint_max_age", // MariaDB
	"Innodb_redo_log_current_lsn", "Innodb_redo_log_checkpoint_lsn", "Innodb_redo_log_capacity_resized", // MySQL
	"Innodb_history_list_length",                                        // MariaDB
	"Innodb_buffer_pool_load_status",                                    // the pool's pages being read in after a start
	"Innodb_buffer_pool_resize_status", "Innodb_redo_log_resize_status", // a change of size that is still under way
}

func (d *database) PendingWork(ctx context.Context) ([]engine.Pending, error) {
	status, err := d.shown(ctx, admin.Status(signs...))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	number := func(name string) (float64, bool) {
		f, err := strconv.ParseFloat(status[name], 64)
		return f, err == nil
	}
	var pending []engine.Pending

	if dirty, ok := number("Innodb_buffer_pool_pages_dirty"); ok {
		total, _ := number("Innodb_buffer_pool_pages_total")
		pending = append(pending, drift("mysql.dirty_pages_drift_percent_per_minute", &d.backlog.dirty, now, dirty, total, calmDrift))
	}
	if age, capacity, ok := checkpointAge(number); ok {
		pending = append(pending, drift("mysql.checkpoint_age_drift_percent_per_minute", &d.backlog.checkpoint, now, age, capacity, calmDrift))
	}
	history, ok := number("Innodb_history_list_length")
	if !ok {
		history, ok = d.historyLength(ctx)
	}
	if ok {
		pending = append(pending, drift("mysql.history_list_drift_percent_per_minute", &d.backlog.history, now,
			max(history, idleHistory), max(history, idleHistory), calmHistory))
	}

	pending = append(pending,
		engine.Pending{Signal: "mysql.pool_loading", Value: oneIf(isLoading(status["Innodb_buffer_pool_load_status"]))},
		engine.Pending{Signal: "mysql.resizing", Value: oneIf(
			isResizing(status["Innodb_buffer_pool_resize_status"]) || isResizing(status["Innodb_redo_log_resize_status"]))})
	if lag, ok := d.replicaLag(ctx); ok {
		pending = append(pending, engine.Pending{Signal: lagSignal, Value: lag, Calm: calmReplica})
	}
	return pending, ctx.Err()
}

// drift judges how fast a number moves, against the whole of which it is a part.
func drift(signal string, t *trend, now time.Time, value, whole, calm float64) engine.Pending {
	p := engine.Pending{Signal: signal, Value: noTrendYet, Calm: calm}
	if perMinute, known := t.add(now, value); known && whole > 0 {
		p.Value = 100 * math.Abs(perMinute) / whole
	}
	return p
}

// checkpointAge is how much redo log a crash would have to read, and the most that the log holds.
func checkpointAge(number func(string) (float64, bool)) (age, capacity float64, ok bool) {
	if age, ok = number("Innodb_checkpoint_age"); ok {
		capacity, ok = number("Innodb_checkpoint_max_age")
		return age, capacity, ok
	}
	current, ok := number("Innodb_redo_log_current_lsn")
	checkpoint, _ := number("Innodb_redo_log_checkpoint_lsn")
	capacity, _ = number("Innodb_redo_log_capacity_resized")
	return current - checkpoint, capacity, ok && capacity > 0
}

// historyLength asks where MySQL keeps it, which takes the privilege PROCESS; without it there is none to judge.
func (d *database) historyLength(ctx context.Context) (float64, bool) {
	r := engine.Result{Keep: true}
	err := d.control.use(ctx, func(s *session) error {
		return s.Exec(ctx, "SELECT `count` FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len' AND status = 'enabled'", &r)
	})
	if err != nil || r.Rows == 0 {
		return 0, false
	}
	return float64(r.At(0, 0).Int), true
}

// isLoading reads Innodb_buffer_pool_load_status: "Loaded 17/300 pages" against "Buffer pool(s) load completed at …",
// "… not started", "… aborted due to …".
func isLoading(status string) bool {
	return strings.HasPrefix(status, "Loaded ") || strings.HasPrefix(status, "Loading ")
}

// isResizing reads a resize status, which is empty or OK, or says Completed, Size did not change, or that it failed,
// when nothing is under way.
func isResizing(status string) bool {
	for _, done := range []string{"OK", "Completed", "Size did not change"} {
		if strings.HasPrefix(status, done) {
			return false
		}
	}
	return status != "" && !strings.Contains(strings.ToLower(status), "fail")
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// replicaLag is how far the last replica among the target's servers is behind. A replica that does not run works nothing
// off: it is left out.
func (d *database) replicaLag(ctx context.Context) (worst float64, ok bool) {
	for _, c := range d.servers() {
		for _, channel := range c.follows(ctx) {
			if lag, err := strconv.ParseFloat(channel.Lag, 64); err == nil {
				worst, ok = max(worst, lag), true
			}
		}
	}
	return worst, ok
}

// follows are the channels of a server; none of one that is no replica, that cannot be reached, or that does not let us see.
func (c *control) follows(ctx context.Context) []admin.Channel {
	var all []admin.Channel
	_ = c.use(ctx, func(s *session) (err error) {
		all, err = s.channels(ctx)
		return err
	})
	return all
}
