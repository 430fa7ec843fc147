package collect

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"plimsoll/internal/sqltext"
	"plimsoll/watch"
)

// detail is what is read every ten seconds.
func (q *quick) detail(ctx context.Context, now time.Time, status map[string]float64, r *watch.Reading) (func(*watch.Instance), error) {
	if err := q.settingsNow(ctx); err != nil {
		return nil, err
	}
	commit, err := q.commitSplit(ctx, now, status, r)
	if err != nil {
		return nil, err
	}
	p99, err := q.tail(ctx)
	if err != nil {
		return nil, err
	}
	if p99 != nil {
		r.Add(now, "plimsoll_statement_p99_seconds", *p99)
	}
	sessions, err := q.transactions(ctx)
	if err != nil {
		return nil, err
	}
	oldest := 0.0
	for _, s := range sessions {
		oldest = max(oldest, s.Seconds)
	}
	if !q.lacking(transactionTable) {
		r.Add(now, "plimsoll_oldest_transaction_seconds", oldest)
	}
	if err := q.metrics(ctx, now, r); err != nil {
		return nil, err
	}
	if q.shape.instance.MostConns != nil {
		r.Add(now, "mysql_global_variables_max_connections", *q.shape.instance.MostConns)
	}
	return func(i *watch.Instance) { i.Commit, i.P99, i.Sessions = commit, p99, sessions }, nil
}

// tail is the 99th percentile of all statements since the last time, from MySQL's histogram of them; nil where there is none.
func (q *quick) tail(ctx context.Context) (*float64, error) {
	const what = "performance_schema.events_statements_histogram_global"
	if !q.shape.performs || q.lacking(what) {
		return nil, nil
	}
	r, err := q.rows(ctx, "SELECT BUCKET_TIMER_HIGH / 1000000000000, COUNT_BUCKET FROM "+what+" WHERE COUNT_BUCKET > 0 ORDER BY BUCKET_NUMBER")
	if err != nil {
		if q.lack(what, err) {
			return nil, nil
		}
		return nil, err
	}
	now := map[float64]float64{}
	var bounds []float64
	for row := range r.Rows {
		bound, _ := number(r.At(row, 0))
		now[bound], _ = number(r.At(row, 1))
		bounds = append(bounds, bound)
	}
	before := q.histogram
	q.histogram = now
	if before == nil {
		return nil, nil
	}
	return quantile(0.99, bounds, now, before), nil
}

// quantile of what came between two states of a histogram: the upper bound of its bucket, at most 5 % too high.
func quantile(at float64, bounds []float64, now, before map[float64]float64) *float64 {
	all := 0.0
	for _, b := range bounds {
		all += max(now[b]-before[b], 0)
	}
	if all == 0 {
		return nil
	}
	sum := 0.0
	for _, b := range bounds {
		if sum += max(now[b]-before[b], 0); sum >= at*all {
			return &b
		}
	}
	return nil
}

const transactionTable = "information_schema.INNODB_TRX"

// transactionSeconds is how long a transaction is open: its beginning is in the time zone of the server's machine, and NOW() in the session's.
const transactionSeconds = "TIMESTAMPDIFF(SECOND, t.trx_started, CONVERT_TZ(NOW(), @@session.time_zone, 'SYSTEM'))"

// transactions are those that are open for long, and who waits for whom.
func (q *quick) transactions(ctx context.Context) ([]watch.Session, error) {
	if q.lacking(transactionTable) {
		return nil, nil
	}
	r, err := q.rows(ctx, `SELECT t.trx_mysql_thread_id, p.USER, p.HOST, `+transactionSeconds+`, t.trx_state, LEFT(COALESCE(t.trx_query, ''), 512)
FROM information_schema.INNODB_TRX t LEFT JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id ORDER BY t.trx_started LIMIT 20`)
	if err != nil {
		if q.lack(transactionTable, err) {
			return nil, nil
		}
		return nil, err
	}
	var all []watch.Session
	waits := false
	for row := range r.Rows {
		at := func(column int) string { return text(r.At(row, column)) }
		seconds, _ := strconv.ParseFloat(at(3), 64)
		s := watch.Session{ID: at(0), User: at(1), Host: hostOf(at(2)), Seconds: max(seconds, 0), Does: "transaction", Text: sqltext.Normalize(at(5))}
		if at(4) == "LOCK WAIT" {
			s.Does, waits = "waits for a row lock", true
		}
		if !q.ours(s.ID) && s.ID != "0" {
			all = append(all, s)
		}
	}
	if waits {
		if err := q.blockers(ctx, all); err != nil {
			return nil, err
		}
	}
	if all, err = q.metadataLocks(ctx, all); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(one watch.Session) bool { return one.Does == "transaction" && one.Seconds < 1 }) // as any that works
	slices.SortStableFunc(all, func(a, b watch.Session) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return all, nil
}

// lockWaits are the ways to ask who waits for a row lock of whom: MariaDB's and MySQL's.
var lockWaits = []struct{ table, text string }{
	{"information_schema.INNODB_LOCK_WAITS", `SELECT b.trx_mysql_thread_id, COUNT(*) FROM information_schema.INNODB_LOCK_WAITS w
JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id GROUP BY 1`},
	{"performance_schema.data_lock_waits", `SELECT t.PROCESSLIST_ID, COUNT(*) FROM performance_schema.data_lock_waits w
JOIN performance_schema.threads t ON t.THREAD_ID = w.BLOCKING_THREAD_ID GROUP BY 1`},
}

// hidden says which locks' holders the server does not show, because its performance schema is off, and notes them among what it lacks: the tables
// are there and empty.
func (q *quick) hidden(ctx context.Context) (which string, err error) {
	all := map[string]bool{metadataTable: !q.shape.performs, lockWaits[1].table: false}
	which = "a metadata lock"
	if !q.shape.performs {
		if !q.lacking(lockWaits[0].table) {
			if _, err := q.rows(ctx, "SELECT 1 FROM "+lockWaits[0].table+" LIMIT 0"); err != nil && !q.lack(lockWaits[0].table, err) {
				return "", err
			}
		}
		if q.lacking(lockWaits[0].table) {
			which, all[lockWaits[1].table] = "a row lock or a metadata lock", true
		}
	}
	q.server.hide(all)
	return which, nil
}

// blocks says how many wait for a session.
func blocks(others string) string {
	if others == "1" {
		return "blocks 1 other"
	}
	return "blocks " + others + " others"
}

// blockers marks the sessions for whose row locks others wait.
func (q *quick) blockers(ctx context.Context, sessions []watch.Session) error {
	for _, form := range lockWaits {
		if q.lacking(form.table) {
			continue
		}
		r, err := q.rows(ctx, form.text)
		if err != nil {
			if q.lack(form.table, err) {
				continue
			}
			return err
		}
		for row := range r.Rows {
			id, others := text(r.At(row, 0)), text(r.At(row, 1))
			for i := range sessions {
				if sessions[i].ID == id && sessions[i].Does == "transaction" {
					sessions[i].Does = blocks(others)
				}
			}
		}
		return nil
	}
	return nil
}

// metrics are counters that MySQL keeps beside its status, under the names that MariaDB has for them.
func (q *quick) metrics(ctx context.Context, now time.Time, r *watch.Reading) error {
	const what = "information_schema.INNODB_METRICS"
	if _, ok := q.counters.now["innodb_history_list_length"]; ok || q.lacking(what) {
		return nil
	}
	rows, err := q.rows(ctx, "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME IN ('trx_rseg_history_len', 'lock_deadlocks') AND STATUS = 'enabled'")
	if err != nil {
		if q.lack(what, err) {
			return nil
		}
		return err
	}
	for row := range rows.Rows {
		v, _ := number(rows.At(row, 1))
		switch text(rows.At(row, 0)) {
		case "trx_rseg_history_len":
			r.Add(now, "mysql_global_status_innodb_history_list_length", v)
		case "lock_deadlocks":
			r.Add(now, "mysql_global_status_innodb_deadlocks", v)
		}
	}
	return nil
}
