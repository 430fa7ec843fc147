package collect

import (
	"context"

	"plimsoll/watch"
)

// redoApart tells whether a server counts writes of its redo log apart from its other writes, and whether it counts them at all. MySQL and
// MariaDB before 10.8 have them among Innodb_data_writes, and have a counter of the log's syncs, which MariaDB has not had since.
func redoApart(status map[string]float64) (apart, counted bool) {
	_, syncs := status["innodb_os_log_fsyncs"]
	_, writes := status["innodb_log_writes"]
	return !syncs, syncs || writes
}

// io is the load on the server's storage, as far as it counts it: reads and writes of InnoDB with those of the redo log, and syncs of the
// binary log, each of which is one write at least. Without the writes of the redo log no figure is given: it would be far too small.
func (q *quick) io() (*watch.IO, []watch.Finding) {
	c := &q.counters
	io := &watch.IO{Reads: c.rate("innodb_data_reads"), Bytes: c.rate("innodb_data_read", "innodb_data_written"), Source: "innodb"}
	writes := []string{"innodb_data_writes"}
	apart, counted := redoApart(c.now)
	if !counted {
		return io, []watch.Finding{{
			Code: "iops-unknown", Text: "The server does not count the writes of its redo log, so its IOPS are unknown, and so is when a burst bucket is empty.",
			Do: "Look at the IOPS of its volume: iostat on its machine, or the cloud's metrics.",
		}}
	}
	if apart {
		writes = append(writes, "innodb_log_writes")
	}
	io.Writes = c.rate(writes...)
	if io.Writes != nil {
		*io.Writes += q.binlogSyncs()
	}
	if io.Reads != nil && io.Writes != nil {
		io.IOPS = known(*io.Reads + *io.Writes)
	}
	return io, nil
}

// binlogSyncs is how often a second the binary log is synced: as the performance schema counted it in the last ten seconds, else once a
// group of commits, or once in so many, as sync_binlog says.
func (q *quick) binlogSyncs() float64 {
	if counted := q.commits.counters.rate(binlogFile + " count"); counted != nil {
		return *counted
	}
	if groups := q.counters.rate("binlog_group_commits"); groups != nil && q.syncs > 0 {
		return *groups / q.syncs
	}
	return 0
}

// settingsNow reads those settings that figures depend on and that may change while the server runs.
func (q *quick) settingsNow(ctx context.Context) error {
	r, err := q.rows(ctx, "SELECT @@GLOBAL.max_connections, @@GLOBAL.sync_binlog") // SHOW VARIABLES looks at all of them
	if err != nil || r.Rows == 0 {
		return err
	}
	if v, ok := number(r.At(0, 0)); ok {
		q.shape.instance.MostConns = &v
	}
	q.syncs, _ = number(r.At(0, 1))
	return nil
}
