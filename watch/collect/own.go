package collect

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// Query is a person's own SQL that becomes series and documents. It is asked over the connection that is there anyway.
type Query struct {
	Name    string        `yaml:"name,required" doc:"The name; the series are called sql_NAME_VALUE."`
	SQL     string        `yaml:"sql,required" doc:"One statement that only reads."`
	Every   time.Duration `yaml:"every,nonzero" doc:"How often it runs. Default: 1m."`
	Labels  []string      `yaml:"labels" doc:"Columns that distinguish rows."`
	Values  []string      `yaml:"values" doc:"Columns with numbers. Default: all numeric columns that are not labels."`
	Only    []string      `yaml:"only_on" doc:"Clusters, or instances CLUSTER/NODE. Default: all."`
	Timeout time.Duration `yaml:"timeout,nonzero" doc:"Timeout in the server. Default: 2s, at most 20s."`
}

var validSeries = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// The limits of own queries.
const (
	usualEvery   = time.Minute
	usualTimeout = 2 * time.Second
	mostTimeout  = 20 * time.Second
	mostRows     = 1000
)

// Check refuses what cannot be.
func (q Query) Check() error {
	switch {
	case !validSeries.MatchString(q.Name):
		return fmt.Errorf("name %q, expected lower-case letters, digits and _", q.Name)
	case q.Every != 0 && q.Every < time.Second:
		return fmt.Errorf("every %v, expected 1s or more", q.Every)
	case q.Timeout > mostTimeout:
		return fmt.Errorf("timeout %v, expected at most %v", q.Timeout, mostTimeout)
	}
	return nil
}

func (q Query) timeout() time.Duration { return cmp.Or(q.Timeout, usualTimeout) }

// OwnPrefix begins the name of every series that own SQL makes: sql_NAME_VALUE.
const OwnPrefix = "sql_"

// Series lists the series that the query makes; where it does not name its values, the one entry ends in *.
func (q Query) Series() (all []string) {
	if len(q.Values) == 0 {
		return []string{OwnPrefix + q.Name + "_*"}
	}
	for _, column := range q.Values {
		all = append(all, q.series(column))
	}
	return all
}

// Makes tells whether the query can make a series of that name.
func (q Query) Makes(series string) bool {
	return slices.ContainsFunc(q.Series(), func(own string) bool {
		family, open := strings.CutSuffix(own, "*")
		return own == series || open && strings.HasPrefix(series, family)
	})
}

// series is the one that holds a column.
func (q Query) series(column string) string {
	return OwnPrefix + q.Name + "_" + seriesName(strings.ToLower(column))
}

// On tells whether the query is asked of an instance.
func (q Query) On(i watch.Instance) bool {
	return len(q.Only) == 0 || slices.Contains(q.Only, i.Cluster) || slices.Contains(q.Only, i.Name)
}

// own runs a person's queries when they are due.
type own struct {
	queries []Query
	next    []time.Time
	failed  map[string]error // why, by name, of those that failed the last time
}

// ended books how a query ended.
func (o *own) ended(q Query, err error) {
	if err == nil {
		delete(o.failed, q.Name)
		return
	}
	if o.failed == nil {
		o.failed = map[string]error{}
	}
	o.failed[q.Name] = err
}

// findings tell of the queries that failed the last time.
func (o *own) findings() (all []watch.Finding) {
	for _, q := range o.queries {
		if why, failed := o.failed[q.Name]; failed {
			all = append(all, watch.Finding{
				Code: "own-query-failed", Text: "Query " + q.Name + " of watch.yaml failed on this instance: " + why.Error(),
				Do: q.remedy(why),
			})
		}
	}
	return all
}

// remedy is what to do about a query that failed: not every failure is a mistake in its SQL.
func (q Query) remedy(why error) string {
	switch engine.ClassOf(why) {
	case engine.Timeout:
		return fmt.Sprintf("It did not end within %v: make it read less, or raise its timeout in watch.yaml (at most %v). If it usually ends in that time, the server is slow now.", q.timeout(), mostTimeout)
	case engine.Denied:
		return "Give the account of the watch the privileges that the query needs, or say in watch.yaml under only_on which instances it is for."
	case engine.Deadlock, engine.LockTimeout, engine.Conflict, engine.Overloaded, engine.Unavailable, engine.Full:
		return "Look at the server: the query runs again when it is due. Nothing needs to be corrected in watch.yaml."
	}
	return "Correct it in watch.yaml, or say there under only_on which instances it is for."
}

func (o *own) due(now time.Time) (all []Query) {
	if o.next == nil {
		o.next = make([]time.Time, len(o.queries))
	}
	for n, q := range o.queries {
		if now.Before(o.next[n]) {
			continue
		}
		every := q.Every
		if every == 0 {
			every = usualEvery
		}
		o.next[n] = now.Add(every)
		all = append(all, q)
	}
	return all
}

// again has those asked at the next visit that this one did not come to.
func (o *own) again(missed []Query) {
	for n, q := range o.queries {
		if slices.ContainsFunc(missed, func(m Query) bool { return m.Name == q.Name }) {
			o.next[n] = time.Time{}
		}
	}
}

// run asks one. What is wrong with it is a finding of the instance, and the next goes on.
func (s *slow) run(ctx context.Context, q Query, now time.Time, r *watch.Reading) error {
	if err := s.limit(ctx, q.timeout()); err != nil {
		return err
	}
	begun := time.Now()
	rows, err := s.foreign(ctx, q.SQL)
	r.Add(now, "plimsoll_own_query_seconds", time.Since(begun).Seconds(), "query", q.Name)
	if lost(err) {
		return err
	}
	if err := s.limit(ctx, usualTimeout); lost(err) {
		return err
	}
	if err != nil {
		return err
	}
	for _, row := range rows[:min(len(rows), mostRows)] {
		q.add(now, row, r)
	}
	return nil
}

// limit sets how long the server may work at a statement; each server knows one of the two.
func (l *link) limit(ctx context.Context, d time.Duration) error {
	for _, text := range []string{
		fmt.Sprintf("SET SESSION max_statement_time = %g", d.Seconds()), fmt.Sprintf("SET SESSION max_execution_time = %d", d.Milliseconds()),
	} {
		if err := l.do(ctx, text); lost(err) {
			return err
		}
	}
	return nil
}

// add makes series and a document of a row.
func (q Query) add(now time.Time, row map[string]string, r *watch.Reading) {
	columns := map[string]string{}
	for name, value := range row {
		columns[strings.ToLower(name)] = value
	}
	fields := map[string]any{"query": q.Name}
	var labels []string
	for name, value := range columns {
		fields[name] = value
		if v, ok := numeric(value); ok {
			fields[name] = v
		}
	}
	for _, name := range q.Labels {
		labels = append(labels, strings.ToLower(name), columns[strings.ToLower(name)])
		fields[strings.ToLower(name)] = columns[strings.ToLower(name)] // a label stays a text, whatever it looks like
	}
	for name, value := range columns {
		isValue := slices.ContainsFunc(q.Values, func(v string) bool { return strings.EqualFold(v, name) })
		isLabel := slices.ContainsFunc(q.Labels, func(v string) bool { return strings.EqualFold(v, name) })
		if v, ok := numeric(value); ok && (isValue || len(q.Values) == 0 && !isLabel) {
			r.Add(now, q.series(name), v, labels...)
		}
	}
	r.Documents = append(r.Documents, watch.Document{At: now, Fields: fields})
}

var unfit = regexp.MustCompile(`[^a-z0-9_]+`)

// seriesName makes a column's name fit for a series: COUNT(*) is count.
func seriesName(column string) string {
	return strings.Trim(unfit.ReplaceAllString(column, "_"), "_")
}
