package collect

import (
	"context"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/internal/sqltext"
)

// session is a connection that does something now.
type session struct {
	id, user, host, database string
	class                    string  // of its wait
	digest, text             string  // of its statement, normalized; "" if not known
	seconds                  float64 // its statement has lasted; 0 if not known
}

// idle are commands of connections that wait for their client, or that are no client's.
const idle = "('Sleep', 'Daemon', 'Binlog Dump', 'Binlog Dump GTID', 'Connect', 'Slave_IO', 'Slave_SQL', 'Slave_worker', 'Register Slave', 'Register Replica')"

// The lists of sessions: each column in its place, whatever the server calls it.
const (
	// MariaDB: with times in ms, and the text of the statement.
	timedList = `SELECT ID, USER, HOST, DB, STATE, TIME_MS, NULL, LEFT(INFO, 1024), NULL FROM information_schema.PROCESSLIST
WHERE COMMAND NOT IN ` + idle + ` AND USER NOT IN ('system user', 'event_scheduler')`
	// With the performance schema's digest, time and wait.
	instrumentedList = `SELECT t.PROCESSLIST_ID, t.PROCESSLIST_USER, t.PROCESSLIST_HOST, t.PROCESSLIST_DB, t.PROCESSLIST_STATE,
s.TIMER_WAIT / 1000000000, s.DIGEST, LEFT(COALESCE(s.DIGEST_TEXT, s.SQL_TEXT), 1024), w.EVENT_NAME
FROM performance_schema.threads t
LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID AND s.END_EVENT_ID IS NULL AND s.NESTING_EVENT_LEVEL = 0
LEFT JOIN performance_schema.events_waits_current w ON w.THREAD_ID = t.THREAD_ID AND w.END_EVENT_ID IS NULL
WHERE t.TYPE = 'FOREGROUND' AND t.PROCESSLIST_ID IS NOT NULL AND t.PROCESSLIST_COMMAND NOT IN ` + idle + ` AND t.PROCESSLIST_USER <> 'event_scheduler'`
	plainList = `SELECT ID, USER, HOST, DB, STATE, NULL, NULL, LEFT(INFO, 1024), NULL FROM information_schema.PROCESSLIST
WHERE COMMAND NOT IN ` + idle + ` AND USER NOT IN ('system user', 'event_scheduler')`
)

// sessions lists those that do something, without our own.
func (q *quick) sessions(ctx context.Context) ([]session, error) {
	list := plainList
	switch {
	case q.shape.timesMore:
		list = timedList
	case q.shape.performs:
		list = instrumentedList
	}
	r, err := q.rows(ctx, list)
	if err != nil {
		return nil, err
	}
	var all []session
	seen := map[string]bool{} // several waits nest in one session
	for row := range r.Rows {
		s := sessionOf(r, row)
		if !q.ours(s.id) && !seen[s.id] {
			all = append(all, s)
		}
		seen[s.id] = true
	}
	return all, nil
}

func sessionOf(r *engine.Result, row int) session {
	at := func(column int) string { return text(r.At(row, column)) }
	s := session{id: at(0), user: at(1), host: hostOf(at(2)), database: at(3), digest: at(6), text: at(7)}
	if ms, err := strconv.ParseFloat(at(5), 64); err == nil {
		s.seconds = ms / 1000
	}
	s.class = ClassOfEvent(at(8))
	if s.class == "" {
		s.class = classOfState(at(4))
	}
	if s.digest == "" && s.text != "" {
		s.text = sqltext.Normalize(s.text)
		s.digest = sqltext.Digest(s.text)
	}
	return s
}

// hostOf leaves out the port, which is another for each connection.
func hostOf(host string) string {
	if at := strings.LastIndexByte(host, ':'); at > 0 {
		return host[:at]
	}
	return host
}
