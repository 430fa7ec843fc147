package collect

import (
	"context"
	"slices"
	"strconv"

	"plimsoll/internal/sqltext"
	"plimsoll/watch"
)

// metadataTable is where a server shows who holds a metadata lock; MariaDB does when it is told to.
const metadataTable = "performance_schema.metadata_locks"

// holds says how many wait for a session's metadata lock.
func holds(others string) string {
	if others == "1" {
		return "holds a metadata lock that 1 other session waits for"
	}
	return "holds a metadata lock that " + others + " other sessions wait for"
}

// metadataLocks adds the sessions that wait for a metadata lock, such as an ALTER TABLE behind a transaction that is open and all that
// stand behind it, and marks who holds it, where the server shows that.
func (q *quick) metadataLocks(ctx context.Context, all []watch.Session) ([]watch.Session, error) {
	const list = "information_schema.PROCESSLIST"
	if q.lacking(list) {
		return all, nil
	}
	r, err := q.rows(ctx, `SELECT ID, USER, HOST, TIME, LEFT(COALESCE(INFO, ''), 512) FROM information_schema.PROCESSLIST
WHERE STATE LIKE 'Waiting for %metadata lock' ORDER BY TIME DESC LIMIT 20`)
	if err != nil {
		if q.lack(list, err) {
			return all, nil
		}
		return nil, err
	}
	waiting := 0
	for row := range r.Rows {
		at := func(column int) string { return text(r.At(row, column)) }
		seconds, _ := strconv.ParseFloat(at(3), 64)
		if q.ours(at(0)) {
			continue
		}
		waiting++
		all = slices.DeleteFunc(all, func(s watch.Session) bool { return s.ID == at(0) }) // its transaction
		all = append(all, watch.Session{ID: at(0), User: at(1), Host: hostOf(at(2)), Seconds: seconds, Does: "waits for a metadata lock", Text: sqltext.Normalize(at(4))})
	}
	if waiting == 0 || q.lacking(metadataTable) {
		return all, nil
	}
	r, err = q.rows(ctx, `SELECT t.PROCESSLIST_ID, COUNT(DISTINCT w.OWNER_THREAD_ID) FROM performance_schema.metadata_locks w
JOIN performance_schema.metadata_locks h ON h.OBJECT_TYPE = w.OBJECT_TYPE AND h.OBJECT_SCHEMA = w.OBJECT_SCHEMA AND h.OBJECT_NAME = w.OBJECT_NAME
JOIN performance_schema.threads t ON t.THREAD_ID = h.OWNER_THREAD_ID
WHERE w.LOCK_STATUS = 'PENDING' AND h.LOCK_STATUS = 'GRANTED' AND h.OWNER_THREAD_ID <> w.OWNER_THREAD_ID GROUP BY 1`)
	if err != nil {
		if q.lack(metadataTable, err) {
			return all, nil
		}
		return nil, err
	}
	for row := range r.Rows {
		id, others := text(r.At(row, 0)), text(r.At(row, 1))
		for i := range all {
			if all[i].ID == id && all[i].Does == "transaction" {
				all[i].Does = holds(others)
			}
		}
	}
	return all, nil
}
