package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// reader answers questions about series, wherever they come from.
type reader struct {
	from   storage.Queryable
	engine *promql.Engine
	parser parser.Parser
}

func newReader(from storage.Queryable, log *slog.Logger) reader {
	p := parser.NewParser(parser.Options{})
	return reader{from: from, parser: p, engine: promql.NewEngine(promql.EngineOpts{
		Logger: log, MaxSamples: 50_000_000, Timeout: 2 * time.Minute, LookbackDelta: lookBack,
		EnableAtModifier: true, EnableNegativeOffset: true, Parser: p,
	})}
}

// Line is one series of an answer.
type Line struct {
	Labels map[string]string `json:"metric"` // the name under __name__, where it has one
	Points []Point           `json:"values"`
}

// Point is a value at a time. In JSON it is Prometheus' [seconds, "value"].
type Point struct {
	At    time.Time
	Value float64
}

// MarshalJSON implements json.Marshaler.
func (p Point) MarshalJSON() ([]byte, error) {
	b := append([]byte(nil), '[')
	b = strconv.AppendFloat(b, float64(p.At.UnixMilli())/1000, 'f', -1, 64)
	b = append(b, ',', '"')
	b = strconv.AppendFloat(b, p.Value, 'f', -1, 64)
	return append(b, '"', ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Point) UnmarshalJSON(data []byte) error {
	var pair [2]json.RawMessage
	var seconds float64
	var text string
	if err := errors.Join(json.Unmarshal(data, &pair), json.Unmarshal(pair[0], &seconds), json.Unmarshal(pair[1], &text)); err != nil {
		return err
	}
	v, err := strconv.ParseFloat(text, 64)
	p.At, p.Value = time.UnixMilli(int64(math.Round(seconds*1000))), v
	return err
}

// BadQuery is an expression that cannot be understood.
type BadQuery struct{ error }

func (b BadQuery) Unwrap() error { return b.error }

// Query evaluates an expression at every step between two times. No step: the expression's own samples need Select.
func (s *reader) Query(ctx context.Context, expr string, from, to time.Time, step time.Duration) ([]Line, error) {
	q, err := s.engine.NewRangeQuery(ctx, s.from, nil, expr, from, to, step)
	if err != nil {
		return nil, BadQuery{fmt.Errorf("query %s: %w", expr, err)}
	}
	defer q.Close()
	r := q.Exec(ctx)
	if r.Err != nil {
		return nil, fmt.Errorf("query %s: %w", expr, r.Err)
	}
	matrix, err := r.Matrix()
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", expr, err)
	}
	lines := make([]Line, 0, len(matrix))
	for _, series := range matrix {
		line := Line{Labels: series.Metric.Map(), Points: make([]Point, len(series.Floats))}
		for i, p := range series.Floats {
			line.Points[i] = Point{time.UnixMilli(p.T), p.F}
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// Value is what an expression comes to at one time.
type Value struct {
	Type  string // vector, matrix, scalar, string
	Lines []Line // of a vector each with one point; of a scalar one, without labels
	Text  string // of a string
}

// Instant evaluates an expression at one time.
func (s *reader) Instant(ctx context.Context, expr string, at time.Time) (Value, error) {
	q, err := s.engine.NewInstantQuery(ctx, s.from, nil, expr, at)
	if err != nil {
		return Value{}, BadQuery{fmt.Errorf("query %s: %w", expr, err)}
	}
	defer q.Close()
	r := q.Exec(ctx)
	if r.Err != nil {
		return Value{}, fmt.Errorf("query %s: %w", expr, r.Err)
	}
	v := Value{Type: string(r.Value.Type()), Lines: []Line{}}
	switch got := r.Value.(type) {
	case promql.Vector:
		for _, sample := range got {
			v.Lines = append(v.Lines, Line{sample.Metric.Map(), []Point{{time.UnixMilli(sample.T), sample.F}}})
		}
	case promql.Matrix:
		for _, series := range got {
			line := Line{Labels: series.Metric.Map()}
			for _, p := range series.Floats {
				line.Points = append(line.Points, Point{time.UnixMilli(p.T), p.F})
			}
			v.Lines = append(v.Lines, line)
		}
	case promql.Scalar:
		v.Lines = append(v.Lines, Line{nil, []Point{{time.UnixMilli(got.T), got.V}}})
	case promql.String:
		v.Text = got.V
	}
	return v, nil
}

// Select returns the samples themselves of the series that a selector names, such as plimsoll_aas{instance="orders/n1"}.
func (s *reader) Select(ctx context.Context, selector string, from, to time.Time) ([]Line, error) {
	lines := []Line{}
	err := s.each(ctx, []string{selector}, from, to, func(series storage.Series) error {
		line := Line{Labels: series.Labels().Map()}
		it := series.Iterator(nil)
		for kind := it.Next(); kind != chunkenc.ValNone; kind = it.Next() {
			if kind == chunkenc.ValFloat {
				t, v := it.At()
				line.Points = append(line.Points, Point{time.UnixMilli(t), v})
			}
		}
		lines = append(lines, line)
		return it.Err()
	})
	return lines, err
}

// Stream passes the samples themselves of the series that a selector names, without keeping them: begin is called with the labels of each series,
// and what it returns with each of its samples from a moment on until another, in order, at times in milliseconds.
func (s *reader) Stream(ctx context.Context, selector string, from, to time.Time, begin func(labels map[string]string) func(at int64, v float64)) error {
	first, last := from.UnixMilli(), to.UnixMilli()
	return s.each(ctx, []string{selector}, from, to, func(series storage.Series) error {
		take := begin(series.Labels().Map())
		it := series.Iterator(nil)
		for kind := it.Seek(first); kind != chunkenc.ValNone; kind = it.Next() {
			if kind != chunkenc.ValFloat {
				continue
			}
			t, v := it.At()
			if t > last {
				break
			}
			take(t, v)
		}
		return it.Err()
	})
}

// Series returns the labels of the series that any of the selectors names and that have samples in that time; of all without one.
func (s *reader) Series(ctx context.Context, selectors []string, from, to time.Time) ([]map[string]string, error) {
	all := []map[string]string{}
	if len(selectors) == 0 {
		selectors = []string{`{__name__!=""}`}
	}
	err := s.each(ctx, selectors, from, to, func(series storage.Series) error {
		all = append(all, series.Labels().Map())
		return nil
	})
	return all, err
}

// each calls f with every series once that a selector names.
func (s *reader) each(ctx context.Context, selectors []string, from, to time.Time, f func(storage.Series) error) error {
	sets, err := s.parser.ParseMetricSelectors(selectors)
	if err != nil {
		return BadQuery{fmt.Errorf("selector %q: %w", selectors, err)}
	}
	q, err := s.from.Querier(from.UnixMilli(), to.UnixMilli())
	if err != nil {
		return fmt.Errorf("open series to read: %w", err)
	}
	defer func() { _ = q.Close() }() // it was only read
	seen := map[uint64]bool{}
	for _, matchers := range sets {
		got := q.Select(ctx, true, nil, matchers...)
		for got.Next() {
			series := got.At()
			if hash := series.Labels().Hash(); !seen[hash] {
				seen[hash] = true
				if err := f(series); err != nil {
					return fmt.Errorf("read series: %w", err)
				}
			}
		}
		if err := got.Err(); err != nil {
			return fmt.Errorf("read series: %w", err)
		}
	}
	return nil
}

// LabelNames returns the names of labels, LabelValues the values of one, of series that the selectors name.
func (s *reader) LabelNames(ctx context.Context, selectors []string, from, to time.Time) ([]string, error) {
	return s.labels(ctx, selectors, from, to, func(q storage.Querier, m []*labels.Matcher) ([]string, error) {
		names, _, err := q.LabelNames(ctx, nil, m...)
		return names, err
	})
}

// LabelValues is described at LabelNames.
func (s *reader) LabelValues(ctx context.Context, label string, selectors []string, from, to time.Time) ([]string, error) {
	return s.labels(ctx, selectors, from, to, func(q storage.Querier, m []*labels.Matcher) ([]string, error) {
		values, _, err := q.LabelValues(ctx, label, nil, m...)
		return values, err
	})
}

func (s *reader) labels(ctx context.Context, selectors []string, from, to time.Time, ask func(storage.Querier, []*labels.Matcher) ([]string, error)) ([]string, error) {
	sets, err := s.parser.ParseMetricSelectors(selectors)
	if err != nil {
		return nil, BadQuery{fmt.Errorf("selector %q: %w", selectors, err)}
	}
	if len(sets) == 0 {
		sets = append(sets, nil)
	}
	q, err := s.from.Querier(from.UnixMilli(), to.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("open series to read: %w", err)
	}
	defer func() { _ = q.Close() }() // it was only read
	all := []string{}
	for _, matchers := range sets {
		got, err := ask(q, matchers)
		if err != nil {
			return nil, fmt.Errorf("read labels: %w", err)
		}
		all = append(all, slices.Collect(cloned(got))...)
	}
	slices.Sort(all)
	return slices.Compact(all), ctx.Err()
}

// cloned yields copies of texts that lie in memory of the store, which may be unmapped.
func cloned(all []string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, s := range all {
			if !yield(string([]byte(s))) {
				return
			}
		}
	}
}

// Size is how much is kept.
type Size struct {
	Series uint64    `json:"series"` // written lately
	Bytes  int64     `json:"bytes"`  // of blocks on disk
	Oldest time.Time `json:"oldest,omitzero"`
}

// Size asks what is kept.
func (s *Store) Size() Size {
	size := Size{Series: s.db.Head().NumSeries()}
	oldest := s.db.Head().MinTime()
	for _, b := range s.db.Blocks() {
		size.Bytes += b.Size()
		oldest = min(oldest, b.MinTime())
	}
	if oldest < math.MaxInt64 {
		size.Oldest = time.UnixMilli(oldest)
	}
	return size
}

// Duration reads a duration as Prometheus writes it: 90s, 1d, 1h30m.
func Duration(text string) (time.Duration, error) {
	d, err := model.ParseDuration(text)
	return time.Duration(d), err
}

// Check tells what is wrong with an expression.
func Check(expr string) error {
	if _, err := parser.NewParser(parser.Options{}).ParseExpr(expr); err != nil {
		return BadQuery{fmt.Errorf("query %s: %w", expr, err)}
	}
	return nil
}
