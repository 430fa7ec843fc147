package collect

import (
	"context"
	"net"
	"strings"
	"time"

	"plimsoll/watch"
)

// replicaForms are the ways to ask for the status of all channels, in the order in which they are tried.
var replicaForms = []string{"SHOW ALL SLAVES STATUS", "SHOW REPLICA STATUS", "SHOW SLAVE STATUS"}

// channels asks which sources the server follows, and how far each is.
func (q *quick) channels(ctx context.Context, now time.Time, r *watch.Reading) ([]watch.Channel, error) {
	rows, err := q.replicaStatus(ctx)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	precise, err := q.appliers(ctx)
	if err != nil {
		return nil, err
	}
	var all []watch.Channel
	for _, row := range rows {
		c := channelOf(row)
		if lag, ok := precise[c.Name]; ok && !c.Stopped {
			c.Lag = &lag
		}
		all = append(all, c)
		labels := []string{ // as mysqld_exporter has them: what a server does not have is empty
			"master_host", first(row, "Master_Host", "Source_Host"), "master_uuid", first(row, "Master_UUID", "Source_UUID"),
			"channel_name", row["Channel_Name"], "connection_name", row["Connection_name"],
		}
		if c.Lag != nil {
			r.Add(now, "plimsoll_replica_lag_seconds", *c.Lag, "channel", c.Name, "source", c.Source)
		}
		r.Add(now, "plimsoll_replica_stopped", oneIf(c.Stopped), "channel", c.Name, "source", c.Source)
		r.Add(now, "plimsoll_replica_connecting", oneIf(c.Connecting), "channel", c.Name, "source", c.Source)
		for column, text := range row {
			if v, ok := numeric(text); ok {
				r.Add(now, "mysql_slave_status_"+slaveName(column), v, labels...)
			}
		}
	}
	return all, nil
}

func (q *quick) replicaStatus(ctx context.Context) (rows []map[string]string, err error) {
	for _, form := range replicaForms {
		if q.lacking(form) {
			continue
		}
		if rows, err = q.table(ctx, form); err == nil {
			return rows, nil
		}
		if !q.lack(form, err) {
			return nil, err
		}
	}
	return nil, nil // it does not let us see
}

func channelOf(row map[string]string) watch.Channel {
	c := watch.Channel{
		Name:   first(row, "Connection_name", "Channel_Name"),
		Source: net.JoinHostPort(first(row, "Master_Host", "Source_Host"), first(row, "Master_Port", "Source_Port")),
	}
	receives, applies := first(row, "Slave_IO_Running", "Replica_IO_Running"), first(row, "Slave_SQL_Running", "Replica_SQL_Running")
	c.Stopped = receives == "No" || applies == "No"
	c.Connecting = !c.Stopped && receives == "Connecting"
	for _, column := range []string{"Last_SQL_Error", "Last_IO_Error"} {
		if row[column] != "" {
			c.Error = row[column]
			break
		}
	}
	if lag, ok := numeric(first(row, "Seconds_Behind_Master", "Seconds_Behind_Source")); ok {
		c.Lag = &lag
	}
	return c
}

// appliers are the lags of MySQL's channels to the microsecond: now less when the transaction that is being applied was committed
// at its origin. Seconds_Behind_Source counts whole seconds.
func (q *quick) appliers(ctx context.Context) (map[string]float64, error) {
	const what = "performance_schema.replication_applier_status_by_worker"
	if !q.shape.performs || q.lacking(what) {
		return nil, nil
	}
	r, err := q.rows(ctx, `SELECT CHANNEL_NAME, MAX(TIMESTAMPDIFF(MICROSECOND, APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP, NOW(6))) / 1000000
FROM performance_schema.replication_applier_status_by_worker WHERE APPLYING_TRANSACTION <> '' GROUP BY CHANNEL_NAME`)
	if err != nil {
		if q.lack(what, err) {
			return nil, nil
		}
		return nil, err
	}
	lags := map[string]float64{}
	for row := range r.Rows {
		if lag, ok := number(r.At(row, 1)); ok {
			lags[text(r.At(row, 0))] = max(lag, 0)
		}
	}
	return lags, nil
}

// slaveName is the name that mysqld_exporter gives a column of the replica status, under its old words.
func slaveName(column string) string {
	return strings.NewReplacer("replica_", "slave_", "source_", "master_", "_source", "_master").Replace(strings.ToLower(column))
}

func first(row map[string]string, names ...string) string {
	for _, name := range names {
		if v, ok := row[name]; ok {
			return v
		}
	}
	return ""
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// part is what a server plays, by whom it follows.
func part(channels []watch.Channel) string {
	if len(channels) > 0 {
		return "replica"
	}
	return "primary"
}
