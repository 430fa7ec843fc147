// Package reads finds out which statements read from a server's disk: by the server's own counters of statements where it keeps them,
// else by samples of those that are under way.
package reads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/advise"
	"plimsoll/engine"
	"plimsoll/internal/sqltext"
)

// Options say how a server is looked at.
type Options struct {
	For   time.Duration // how long
	Every time.Duration // between two looks at what is under way; 0: 100 ms
	Say   func(done, total time.Duration)
}

// Look is what was seen. End asks for what is seen now.
type Look struct {
	began, ended  time.Time
	before, after map[string]engine.StatementCount
	texts         map[string]engine.StatementText // by their ID
}

// mostTexts are kept: more tell nothing more.
const mostTexts = 20_000

// Observe follows the statements of a server for a while. What the account may not see is left out, and Statements says so.
func Observe(ctx context.Context, db engine.StatementReading, o Options) (*Look, error) {
	l := &Look{began: time.Now(), texts: map[string]engine.StatementText{}}
	var err error
	if l.before, err = counts(ctx, db); err != nil {
		return nil, err
	}
	tick := time.NewTicker(cmp.Or(o.Every, 100*time.Millisecond))
	defer tick.Stop()
	for {
		seen, err := db.StatementTexts(ctx)
		if err != nil && engine.ClassOf(err) != engine.Denied {
			return nil, err
		}
		for _, t := range seen {
			if len(l.texts) < mostTexts {
				l.texts[t.ID+" "+t.Text] = t
			}
		}
		passed := time.Since(l.began)
		if o.Say != nil {
			o.Say(min(passed, o.For), o.For)
		}
		if passed >= o.For {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	l.ended = time.Now()
	l.after, err = counts(ctx, db)
	return l, err
}

// counts are the counters of statements by namespace and text; none where there are none.
func counts(ctx context.Context, db engine.StatementReading) (map[string]engine.StatementCount, error) {
	all, err := db.StatementCounts(ctx)
	if class := engine.ClassOf(err); class == engine.Denied || class == engine.Missing {
		return nil, nil //nolint:nilnil // it keeps none that may be seen
	}
	if err != nil {
		return nil, err
	}
	by := map[string]engine.StatementCount{}
	for _, c := range all {
		by[c.Namespace+" "+c.Digest] = c
	}
	return by, nil
}

// tally is a statement with what was seen of it.
type tally struct {
	advise.Statement

	example      string
	seconds      float64
	rows         float64
	texts, ended int
	values       map[string]int
}

// Statements says what was seen, with the reads of each table, a second, dealt out to the statements on it; of pages by table and index
// see advise.Memory.
func (l *Look) Statements(ctx context.Context, db engine.StatementReading, m *advise.Memory) (*advise.Statements, error) {
	out := &advise.Statements{For: l.ended.Sub(l.began), Source: "samples", Texts: len(l.texts)}
	all := l.counted()
	if l.uncounted(all) {
		clear(all)
	}
	if len(all) > 0 {
		out.Source = "counters"
	}
	l.sampled(all, len(all) == 0)
	var known []*tally
	for _, t := range all {
		if err := t.explain(ctx, db, m); err != nil {
			return nil, err
		}
		if t.Table != "" {
			known = append(known, t)
		}
	}
	deal(known, m)
	slices.SortFunc(known, func(a, b *tally) int {
		return cmp.Or(cmp.Compare(b.Reads.Mean, a.Reads.Mean), cmp.Compare(a.Text, b.Text))
	})
	for _, t := range known[:min(len(known), mostStatements)] {
		t.keys()
		out.All = append(out.All, t.Statement)
	}
	out.Unknown = l.unknown(out, len(all))
	return out, nil
}

// mostStatements are told of.
const mostStatements = 10

// counted are the statements that the server has counted in the meantime.
func (l *Look) counted() map[string]*tally {
	all := map[string]*tally{}
	over := l.ended.Sub(l.began).Seconds()
	for key, now := range l.after {
		was := l.before[key]
		calls := now.Calls - was.Calls
		if was.Calls > now.Calls { // they were reset
			was, calls = engine.StatementCount{}, now.Calls
		}
		if calls <= 0 || own(now.Text) {
			continue
		}
		t := &tally{example: cmp.Or(now.Sample, now.Text), seconds: now.Seconds - was.Seconds, rows: float64(now.Examined - was.Examined), values: map[string]int{}}
		t.Digest, t.Text, t.Database = now.Digest, now.Text, now.Namespace
		t.Calls = float64(calls) / over
		t.Examined, t.Returned = t.rows/float64(calls), float64(now.Sent-was.Sent)/float64(calls)
		all[now.Namespace+" "+folded(now.Text)] = t
	}
	return all
}

// folded is a statement as servers and we write it alike: without quotes of names and needless space.
func folded(normalized string) string {
	return strings.ToLower(strings.NewReplacer("`", "", " ", "", ";", "").Replace(strings.ReplaceAll(normalized, "(...)", "(?)")))
}

// own are statements that look at the server and not at data: also a pool of connections that asks SELECT 1, or for a variable.
func own(text string) bool {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 || words[0] == "select" && !slices.Contains(words, "from") {
		return true
	}
	low := strings.ToLower(text)
	return strings.Contains(low, "information_schema") || strings.Contains(low, "performance_schema") || !slices.Contains([]string{"select", "update", "delete"}, words[0])
}

// uncounted tells that statements were seen running of which none is counted: MariaDB counts prepared ones without their text. What it does
// count then are others, and none of those that matter.
func (l *Look) uncounted(all map[string]*tally) bool {
	running := 0
	for _, seen := range l.texts {
		if own(strings.TrimSpace(seen.Text)) {
			continue
		}
		if all[seen.Namespace+" "+folded(sqltext.Normalize(seen.Text))] != nil {
			return false
		}
		running++
	}
	return running > 0
}

// sampled adds the texts that were seen; with alone, statements that are counted nowhere too.
func (l *Look) sampled(all map[string]*tally, alone bool) {
	for _, id := range slices.Sorted(maps.Keys(l.texts)) {
		seen := l.texts[id]
		if own(strings.TrimSpace(seen.Text)) {
			continue
		}
		normalized := sqltext.Normalize(seen.Text)
		key := seen.Namespace + " " + folded(normalized)
		t := all[key]
		if t == nil && !alone {
			continue
		}
		if t == nil {
			t = &tally{example: seen.Text, values: map[string]int{}}
			t.Digest, t.Text, t.Database = sqltext.Digest(normalized), normalized, seen.Namespace
			all[key] = t
		}
		t.texts++
		if seen.Ended {
			t.ended++
		}
		if s, ok := sqltext.ShapeOf(seen.Text); ok && len(s.Values) > 0 && !slices.Contains(s.Values, "?") {
			t.values[strings.Join(s.Values, "\x00")]++
		}
	}
}

// explain asks the server how the statement reads its table, and how large that is.
func (t *tally) explain(ctx context.Context, db engine.StatementReading, m *advise.Memory) error {
	shape, ok := sqltext.ShapeOf(t.example)
	if !ok {
		return nil
	}
	database, table, qualified := strings.Cut(shape.Table, ".")
	if !qualified {
		database, table = t.Database, shape.Table
	}
	size, err := db.TableShape(ctx, database, table)
	if engine.ClassOf(err) == engine.Missing || engine.ClassOf(err) == engine.Denied {
		return nil
	}
	if err != nil {
		return err
	}
	t.Table, t.Equal, t.Range, t.Order, t.Asked = database+"."+table, shape.Equal, shape.Range, shape.Order, shape.Columns
	t.Plain = shape.Verb == "SELECT"
	t.Shape = &advise.TableSize{Rows: size.Rows, PageSize: m.PageSize, Pages: float64(size.Data) / float64(m.PageSize), Columns: size.Columns, Indexes: size.Indexes, Unique: size.Unique, Varying: size.Varying}
	for _, c := range m.Tables {
		if strings.EqualFold(c.Table, t.Table) {
			t.Shape.Cached = min(c.Of, 1)
			if t.Shape.CachedKeys == nil {
				t.Shape.CachedKeys = map[string]float64{}
			}
			t.Shape.CachedKeys[c.Index] = float64(c.Pages)
			if c.Index == "PRIMARY" || c.Index == "GEN_CLUST_INDEX" {
				t.Shape.CachedRows = float64(c.Pages)
			}
		}
	}
	plan, err := db.Explain(ctx, t.Database, t.example)
	var refused *engine.Error
	switch {
	case errors.As(err, &refused):
		return nil //nolint:nilerr // the server explains statements that it takes; that is another's, or its text was cut off
	case err != nil:
		return err
	case len(plan) == 1:
		t.Access, t.Key = plan[0].Access, plan[0].Key
	}
	return nil
}

// deal gives each statement its part of what its table reads: by the time that it took and by the rows that it read, which is the
// interval; of samples by how often it was under way.
func deal(all []*tally, m *advise.Memory) {
	reads := map[string]float64{}
	for _, c := range m.Tables {
		reads[strings.ToLower(c.Table)] += c.Reads
	}
	type sum struct{ seconds, rows, texts float64 }
	sums := map[string]*sum{}
	for _, t := range all {
		s := sums[strings.ToLower(t.Table)]
		if s == nil {
			s = &sum{}
			sums[strings.ToLower(t.Table)] = s
		}
		s.seconds, s.rows, s.texts = s.seconds+t.seconds, s.rows+t.rows, s.texts+float64(t.texts)
	}
	for _, t := range all {
		s, of := sums[strings.ToLower(t.Table)], reads[strings.ToLower(t.Table)]
		low, high := 0.0, 1.0
		switch {
		case s.seconds > 0 && s.rows > 0:
			low, high = min(t.seconds/s.seconds, t.rows/s.rows), max(t.seconds/s.seconds, t.rows/s.rows)
		case s.texts > 0:
			low, high = share(float64(t.texts), s.texts)
		}
		t.Reads = advise.Figure{Mean: of * (low + high) / 2, Low: of * low, High: of * high}
	}
}

func (l *Look) unknown(s *advise.Statements, several int) (out []string) {
	const estimated = " The share of each statement was estimated from how often it was running."
	switch {
	case s.Source != "samples":
	case len(l.after) > 0: // MariaDB counts prepared statements without their text
		out = append(out, "This server counts statements, but none of those that were seen running: MariaDB does not count prepared statements by their text, and how many rows they read is unknown."+estimated)
	default:
		out = append(out, "This server does not count executions and rows read by statement: set performance_schema=ON (needs a restart)."+estimated)
	}
	if len(s.All) == 0 {
		return append(out, "Plimsoll could not find out which statements read from disk: no statement was seen that reads a single table. Run this while the service is under load, with an account that has PROCESS and SELECT.")
	}
	seen := false
	for _, st := range s.All {
		seen = seen || st.Keys != nil
	}
	if !seen {
		out = append(out, "The values in statements are not visible, because prepared statements hide them. The text of statements (slow log or a proxy) would show them; until then, the hit ratio of a read cache is unknown.")
	}
	if left := several - len(s.All); left > 0 {
		out = append(out, fmt.Sprintf("%d more statements read little, or read several tables, and are left out.", left))
	}
	return append(out, "No server counts pages by statement: each statement is assigned its part of its table's reads.")
}
