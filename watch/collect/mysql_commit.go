package collect

import (
	"context"
	"time"

	"plimsoll/watch"
)

// The performance schema's events that a commit consists of.
const (
	redoFile   = "wait/io/file/innodb/innodb_log_file"
	binlogFile = "wait/io/file/sql/binlog"
	commitSQL  = "statement/sql/commit"
)

// commits follows where the time of commits goes.
type commits struct {
	counters rates
	all      map[string]watch.Counted // since the watch began, by part: what a mean over a period of any length is made of
}

// add counts what came since the reading before, and writes it.
func (c *commits) add(now time.Time, p watch.Commit, r *watch.Reading) {
	if c.all == nil {
		c.all = map[string]watch.Counted{}
	}
	counted := map[string]watch.Counted{"total": p.Counted.Total, "redo": p.Counted.Redo, "binlog": p.Counted.Binlog, "semi-sync": p.Counted.SemiSync}
	if p.Queue != nil {
		counted["queue"] = watch.Counted{Sum: *p.Queue * p.Counted.Total.Of, Of: p.Counted.Total.Of}
	}
	for part, more := range counted {
		if all := c.all[part]; all.Of+more.Of > 0 {
			c.all[part] = watch.Counted{Sum: all.Sum + more.Sum, Of: all.Of + more.Of}
		}
	}
	for part, all := range c.all {
		r.Add(now, "plimsoll_commit_part_seconds_total", all.Sum, "part", part)
		r.Add(now, "plimsoll_commit_parts_total", all.Of, "part", part)
	}
}

// commitSplit asks for the counters of the log files and of the statement COMMIT. A sync of a log is shared by a group of commits, each of
// which waits for it as long as it takes: so the mean of a sync is the time that one commit waits for it.
func (q *quick) commitSplit(ctx context.Context, now time.Time, status map[string]float64, r *watch.Reading) (*watch.Commit, error) {
	counters := map[string]float64{}
	for _, name := range []string{
		"binlog_commits", "binlog_group_commits", "rpl_semi_sync_master_tx_wait_time", "rpl_semi_sync_master_tx_waits",
		"rpl_semi_sync_source_tx_wait_time", "rpl_semi_sync_source_tx_waits",
	} {
		if v, ok := status[name]; ok {
			counters[name] = v
		}
	}
	if q.shape.performs && !q.lacking("file summaries") {
		rows, err := q.rows(ctx, `SELECT EVENT_NAME, COUNT_MISC, SUM_TIMER_MISC / 1000000000000 FROM performance_schema.file_summary_by_event_name
WHERE EVENT_NAME IN ('`+redoFile+`', '`+binlogFile+`')
UNION ALL SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT / 1000000000000 FROM performance_schema.events_statements_summary_global_by_event_name
WHERE EVENT_NAME = '`+commitSQL+`'`)
		if err != nil && !q.lack("file summaries", err) {
			return nil, err
		}
		if err == nil {
			for row := range rows.Rows {
				name := text(rows.At(row, 0))
				counters[name+" count"], _ = number(rows.At(row, 1))
				counters[name+" seconds"], _ = number(rows.At(row, 2))
			}
		}
	}
	q.commits.counters.turn(now, counters)
	c := q.commits.parts()
	q.commits.add(now, c, r)
	for part, v := range map[string]*float64{"total": c.Total, "redo": c.Redo, "binlog": c.Binlog, "semi-sync": c.SemiSync, "queue": c.Queue} {
		if v != nil {
			r.Add(now, "plimsoll_commit_seconds", *v, "part", part)
		}
	}
	if c.GroupSize != nil {
		r.Add(now, "plimsoll_commit_group_size", *c.GroupSize)
	}
	return &c, nil
}

// parts works out the split since the reading before.
func (c *commits) parts() watch.Commit {
	sum := func(seconds, count string, unit float64) watch.Counted {
		s, ok := c.counters.delta(seconds)
		n, also := c.counters.delta(count)
		if !ok || !also {
			return watch.Counted{}
		}
		return watch.Counted{Sum: s * unit, Of: n}
	}
	counted := watch.CommitTimes{
		Total: sum(commitSQL+" seconds", commitSQL+" count", 1), Redo: sum(redoFile+" seconds", redoFile+" count", 1),
		Binlog:   sum(binlogFile+" seconds", binlogFile+" count", 1),
		SemiSync: sum("rpl_semi_sync_master_tx_wait_time", "rpl_semi_sync_master_tx_waits", 1e-6),
		Group:    sum("binlog_commits", "binlog_group_commits", 1),
	}
	if counted.SemiSync.Of == 0 {
		counted.SemiSync = sum("rpl_semi_sync_source_tx_wait_time", "rpl_semi_sync_source_tx_waits", 1e-6)
	}
	if !c.knows("binlog_group_commits") { // MySQL has no counter of groups: each is one sync of the binary log, if all are synced
		counted.Group = sum(commitSQL+" count", binlogFile+" count", 1)
	}
	p := watch.Commit{
		Total: counted.Total.Mean(), Redo: counted.Redo.Mean(), Binlog: counted.Binlog.Mean(), SemiSync: counted.SemiSync.Mean(), GroupSize: counted.Group.Mean(),
		Counted: counted,
	}
	for name, seen := range map[string]bool{"redo": c.has(redoFile), "binlog": c.has(binlogFile), "total": c.has(commitSQL)} {
		if !seen {
			p.Untold = append(p.Untold, name)
		}
	}
	if p.Total != nil && p.Redo != nil {
		queue := *p.Total
		for _, part := range []*float64{p.Redo, p.Binlog, p.SemiSync} {
			if part != nil {
				queue -= *part
			}
		}
		p.Queue = known(max(queue, 0))
	}
	return p
}

func (c *commits) has(event string) bool { return c.knows(event + " count") }

func (c *commits) knows(counter string) bool {
	_, ok := c.counters.now[counter]
	return ok
}
