package collect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/watch"
)

// mostStatements are kept of an instance, by load.
const mostStatements = 20

// samples are the sessions that were seen under way, look by look.
type samples []look

type look struct {
	at       time.Time
	sessions []session
}

// since are the samples that were not taken before a time.
func (s samples) since(at time.Time) samples {
	n := slices.IndexFunc(s, func(one look) bool { return !one.at.Before(at) })
	if n < 0 {
		return nil
	}
	return s[n:]
}

// sampled are the samples of the last minute, and those of which no series was written yet.
type sampled struct{ last, fresh samples }

// oldestSample is how old a sample may become of which no series was written: while a server is not polled for a while again and again, ten of them
// take some minutes. What is older is of another time than the reading that it would be written with.
const oldestSample = 5 * time.Minute

// dueSample is how old the oldest sample is when what there is gets written, be it few: after the next pause it could be too old.
const dueSample = oldestSample - 3*longestPause/2

// due tells whether a series is to be written of the samples.
func (s *sampled) due(now time.Time) bool {
	return len(s.fresh) >= samplesApart || len(s.fresh) > 0 && now.Sub(s.fresh[0].at) >= dueSample
}

func (s *sampled) turn(now time.Time, sessions []session) {
	one := look{now, sessions}
	s.last = append(s.last, one).since(now.Add(-time.Minute))
	s.fresh = append(s.fresh, one).since(now.Add(-oldestSample))
}

// written are the samples of which no series was written yet; from then on they are.
func (s *sampled) written() samples {
	fresh := s.fresh
	s.fresh = nil
	return fresh
}

// top are the statements that were seen under way, by how often.
func (s samples) top() []watch.Statement {
	by := map[string]*watch.Statement{}
	for _, look := range s {
		for _, one := range look.sessions {
			if one.digest == "" {
				continue
			}
			st := by[one.digest]
			if st == nil {
				st = &watch.Statement{Digest: one.digest, Text: one.text, Database: one.database, Source: "samples"}
				by[one.digest] = st
			}
			st.AAS += 1 / float64(len(s))
		}
	}
	return largest(by)
}

func largest(by map[string]*watch.Statement) []watch.Statement {
	var all []watch.Statement
	for _, st := range by {
		all = append(all, *st)
	}
	slices.SortFunc(all, func(a, b watch.Statement) int {
		return cmp.Or(cmp.Compare(b.AAS, a.AAS), cmp.Compare(a.Digest, b.Digest))
	})
	return all[:min(len(all), mostStatements)]
}

// digests follows the server's own counters of each normalized statement.
type digests struct {
	at       time.Time
	before   map[string]digest
	full     bool            // there may be others than those in before
	compared bool            // the last reading had one before it
	took     []time.Duration // the server, at the last readings
	most     time.Duration   // it may take to be read every ten seconds; 0: mostForDigests
}

// mostForDigests is a thousandth of ten seconds. The server goes through all digests that it keeps, up to 10,000 as it comes, at some 5 µs each.
const mostForDigests = 10 * time.Millisecond

// dear tells whether the server takes so long that it is asked every minute only. Three readings must agree: a busy machine makes some longer.
func (d *digests) dear() bool {
	return len(d.took) == 3 && slices.Min(d.took) > cmp.Or(d.most, mostForDigests)
}

func (d *digests) answered(after time.Duration) {
	d.took = append(d.took, after)
	d.took = d.took[max(len(d.took)-3, 0):]
}

// finding says that statements are read less often.
func (d *digests) finding() []watch.Finding {
	if !d.dear() {
		return nil
	}
	return []watch.Finding{{
		Code: "statements-every-minute",
		Text: fmt.Sprintf("The server takes %d ms to show its statements by digest, so Plimsoll reads them every minute, and not every ten seconds.", slices.Min(d.took).Milliseconds()),
		Do:   "TRUNCATE TABLE " + digestTable + " makes the server forget statements that nobody executes any more.",
	}}
}

// digest is what the server has counted of a normalized statement, with the time of those that are under way.
type digest struct {
	calls, seconds, rows, errors float64
	waits                        bool // it ended a moment ago, and the server has not counted it yet
}

const (
	digestTable  = "performance_schema.events_statements_summary_by_digest"
	currentTable = "performance_schema.events_statements_current"
	mostDigests  = 500 // are read
)

// statements asks for the counters by digest; nil where there are none, or none yet to compare with.
func (s *slow) statements(ctx context.Context, now time.Time, r *watch.Reading) ([]watch.Statement, error) {
	if s.lacking(digestTable) {
		return nil, nil
	}
	begun := time.Now()
	rows, err := s.rows(ctx, fmt.Sprintf(`SELECT COALESCE(SCHEMA_NAME, ''), DIGEST, LEFT(DIGEST_TEXT, 1024), COUNT_STAR, SUM_TIMER_WAIT / 1000000000000, SUM_ROWS_EXAMINED, SUM_ERRORS
FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NOT NULL ORDER BY SUM_TIMER_WAIT DESC LIMIT %d`, mostDigests))
	if err != nil {
		if s.lack(digestTable, err) {
			return nil, nil
		}
		return nil, err
	}
	if rows.Rows == 0 {
		return nil, nil
	}
	s.digests.answered(time.Since(begun) - s.server.meter.least())
	s.found(s.findingsNow())
	latest, named := make(map[string]digest, rows.Rows), make(map[string]watch.Statement, rows.Rows)
	for row := range rows.Rows {
		at := func(column int) float64 { v, _ := number(rows.At(row, column)); return v }
		st := watch.Statement{Database: text(rows.At(row, 0)), Digest: text(rows.At(row, 1)), Text: text(rows.At(row, 2)), Source: "counters"}
		if s.asks.has(st.Text) {
			continue
		}
		latest[keyOf(st)], named[keyOf(st)] = digest{calls: at(3), seconds: at(4), rows: at(5), errors: at(6)}, st
	}
	full := rows.Rows == mostDigests
	if err := s.underWay(ctx, latest, named); err != nil {
		return nil, err
	}
	top := largest(s.digests.turn(now, latest, named, full))
	if s.digests.compared {
		r.Add(now, "plimsoll_statement_readings", 1)
	}
	for _, st := range top {
		labels := []string{"digest", st.Digest, "schema", st.Database}
		r.Add(now, "plimsoll_statement_aas", st.AAS, labels...)
		if st.Calls != nil {
			r.Add(now, "plimsoll_statement_calls_per_second", *st.Calls, labels...)
			r.Add(now, "plimsoll_statement_average_seconds", *st.Average, labels...)
		}
	}
	return top, nil
}

func keyOf(st watch.Statement) string { return st.Database + "." + st.Digest }

// underWay adds the time of the statements that are under way, which the server counts when they end: one that waits for a lock for minutes is
// the load of these minutes.
func (s *slow) underWay(ctx context.Context, latest map[string]digest, named map[string]watch.Statement) error {
	if s.lacking(currentTable) {
		return nil
	}
	rows, err := s.rows(ctx, `SELECT COALESCE(CURRENT_SCHEMA, ''), DIGEST, MAX(LEFT(DIGEST_TEXT, 1024)), SUM(TIMER_WAIT) / 1000000000000
FROM performance_schema.events_statements_current WHERE END_EVENT_ID IS NULL AND NESTING_EVENT_LEVEL = 0 AND DIGEST IS NOT NULL GROUP BY 1, 2`)
	if err != nil {
		if s.lack(currentTable, err) {
			return nil
		}
		return err
	}
	for row := range rows.Rows {
		st := watch.Statement{Database: text(rows.At(row, 0)), Digest: text(rows.At(row, 1)), Text: text(rows.At(row, 2)), Source: "counters"}
		if s.asks.has(st.Text) {
			continue
		}
		key := keyOf(st)
		if _, counted := named[key]; !counted {
			named[key] = st
		}
		seconds, _ := number(rows.At(row, 3))
		d := latest[key]
		d.seconds += seconds
		latest[key] = d
	}
	return nil
}

// turn takes the counters of now, and returns the load since those before. Of a digest that was not among those that were read before, since they were
// too many, nothing is known of before.
func (d *digests) turn(now time.Time, latest map[string]digest, named map[string]watch.Statement, full bool) map[string]*watch.Statement {
	over, before, all := now.Sub(d.at).Seconds(), d.before, !d.full
	d.compared = before != nil
	by := map[string]*watch.Statement{}
	for key, is := range latest {
		was, seen := before[key]
		switch {
		case !seen && (before == nil || !all), is.calls < was.calls: // truncated
			continue
		case is.seconds <= was.seconds:
			if is.calls == was.calls && !was.waits {
				was.waits = true
				latest[key] = was
			}
			continue
		}
		st := named[key]
		st.AAS, st.Errors = (is.seconds-was.seconds)/over, known((is.errors-was.errors)/over)
		if calls := is.calls - was.calls; calls > 0 {
			st.Calls, st.Average, st.RowsRead = known(calls/over), known((is.seconds-was.seconds)/calls), known((is.rows-was.rows)/calls)
		}
		by[key] = &st
	}
	for key, was := range before {
		if _, is := latest[key]; !is && was.calls == 0 && !was.waits { // it was executed for the first time, and has just ended
			was.waits = true
			latest[key] = was
		}
	}
	d.at, d.before, d.full = now, latest, full
	return by
}
