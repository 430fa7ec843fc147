package collect

import (
	"context"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/internal/sqltext"
	"plimsoll/watch"
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
func (q *quick) sessions(ctx context.Context, level watch.Level) ([]session, error) {
	switch {
	case !q.shape.performs:
		return q.plain(ctx, level)
	case q.shape.timesMore:
		return q.listed(ctx, timedList)
	}
	return q.listed(ctx, instrumentedList)
}

// plain lists them where nothing counts their time. MariaDB writes information_schema.PROCESSLIST to a temporary table on disk each time that it
// is asked for it, and SHOW PROCESSLIST to none; but that has only the beginning of a statement. So the table is asked only while some statement
// is longer, or sessions are many; every ten seconds that is tried again.
func (q *quick) plain(ctx context.Context, level watch.Level) ([]session, error) {
	if level >= watch.TenSeconds || !q.long {
		r, err := q.rows(ctx, "SHOW PROCESSLIST")
		if err != nil {
			return nil, err
		}
		var all []session
		if all, q.long = q.shortList(r); !q.long {
			return all, nil
		}
	}
	return q.listed(ctx, plainList)
}

const (
	// leastCut is how many bytes a statement has at least of which SHOW PROCESSLIST shows the beginning: MariaDB's 100 bytes or MySQL's 100
	// characters, the last of which may be cut.
	leastCut = 97
	// mostShown are the sessions up to which all are shown, those among them that do nothing.
	mostShown = 1000
)

// shortList are the sessions of SHOW PROCESSLIST, and whether the longer list has more to tell.
func (q *quick) shortList(r *engine.Result) (all []session, long bool) {
	for row := range r.Rows {
		at := func(column int) string { return text(r.At(row, column)) }
		user, does := at(1), at(4)
		if q.ours(at(0)) || strings.Contains(idle, "'"+does+"'") || user == "system user" || user == "event_scheduler" {
			continue
		}
		s := session{id: at(0), user: user, host: hostOf(at(2)), database: at(3), class: classOfState(at(6)), text: at(7)}
		if len(s.text) >= leastCut {
			return nil, true
		}
		all = append(all, s.normalized())
	}
	return all, r.Rows > mostShown
}

func (q *quick) listed(ctx context.Context, list string) ([]session, error) {
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
	return s.normalized()
}

// normalized has the digest of its text, where the server told none.
func (s session) normalized() session {
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
