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
	at     time.Time
	before map[string]digest
	took   []time.Duration // the server, at the last readings
	most   time.Duration   // it may take to be read every ten seconds; 0: mostForDigests
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

type digest struct{ calls, seconds, rows, errors float64 }

const digestTable = "performance_schema.events_statements_summary_by_digest"

// statements asks for the counters by digest; nil where there are none, or none yet to compare with.
func (s *slow) statements(ctx context.Context, now time.Time, r *watch.Reading) ([]watch.Statement, error) {
	if s.lacking(digestTable) {
		return nil, nil
	}
	begun := time.Now()
	rows, err := s.rows(ctx, `SELECT COALESCE(SCHEMA_NAME, ''), DIGEST, LEFT(DIGEST_TEXT, 1024), COUNT_STAR, SUM_TIMER_WAIT / 1000000000000, SUM_ROWS_EXAMINED, SUM_ERRORS
FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NOT NULL ORDER BY SUM_TIMER_WAIT DESC LIMIT 500`)
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
	over := now.Sub(s.digests.at).Seconds()
	latest := make(map[string]digest, rows.Rows)
	by := map[string]*watch.Statement{}
	for row := range rows.Rows {
		at := func(column int) float64 { v, _ := number(rows.At(row, column)); return v }
		d := digest{calls: at(3), seconds: at(4), rows: at(5), errors: at(6)}
		key := text(rows.At(row, 0)) + "." + text(rows.At(row, 1))
		latest[key] = d
		was, seen := s.digests.before[key]
		if !seen && s.digests.before == nil || d.calls <= was.calls {
			continue
		}
		calls := d.calls - was.calls
		by[key] = &watch.Statement{
			Digest: text(rows.At(row, 1)), Text: text(rows.At(row, 2)), Database: text(rows.At(row, 0)), Source: "counters",
			AAS: (d.seconds - was.seconds) / over, Calls: known(calls / over), Average: known((d.seconds - was.seconds) / calls),
			RowsRead: known((d.rows - was.rows) / calls), Errors: known((d.errors - was.errors) / over),
		}
	}
	if s.digests.before != nil {
		r.Add(now, "plimsoll_statement_readings", 1)
	}
	s.digests.at, s.digests.before = now, latest
	top := largest(by)
	for _, st := range top {
		labels := []string{"digest", st.Digest, "schema", st.Database}
		r.Add(now, "plimsoll_statement_aas", st.AAS, labels...)
		r.Add(now, "plimsoll_statement_calls_per_second", *st.Calls, labels...)
		r.Add(now, "plimsoll_statement_average_seconds", *st.Average, labels...)
	}
	return top, nil
}
