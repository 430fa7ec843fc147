package foreign

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// k6Columns are the columns that every CSV of k6 begins with.
var k6Columns = [...]string{"metric_name", "timestamp", "metric_value"}

// Metrics of k6.
const (
	k6Duration = "http_req_duration" // ms, stamped with the request's end
	k6Requests = "http_reqs"
	k6Failed   = "http_req_failed"
	k6Dropped  = "dropped_iterations"
)

// K6 reads what k6 run --out csv=FILE writes, gzipped or not: https://grafana.com/docs/k6/latest/results-output/real-time/csv/.
// Each value of the metric is an operation that ended. k6 counts from the moment in which it sends a request.
func K6(ctx context.Context, path string, o Options, into sink) (About, error) {
	about := About{Tool: "k6", Source: path, Basis: cmp.Or(o.Basis, Service)}
	f, err := openFile(ctx, path, o.Progress)
	if err != nil {
		return about, err
	}
	defer f.close() //nolint:errcheck // it was only read
	r := &k6{file: f, metric: cmp.Or(o.Metric, k6Duration), others: map[string]bool{}}
	r.csv = csv.NewReader(f.text)
	r.csv.ReuseRecord = true
	if err := r.header(cmp.Or(o.By, "name")); err != nil {
		return about, err
	}
	r.seconds = newSeconds(&about, about.ledger(into))
	if err := r.lines(&about); err != nil {
		return about, err
	}
	if err := r.seconds.finish(); err != nil {
		return about, err
	}
	return about, r.judge(&about)
}

// k6 is a file of k6 on its way through.
type k6 struct {
	*file
	csv     *csv.Reader
	seconds *seconds
	metric  string

	by, expected, status, code, text int // columns; -1 is none

	values            int64           // of the metric
	requests, dropped float64         // as k6 counted them
	failed            float64         // likewise
	others            map[string]bool // metrics that the file has besides
}

func (r *k6) header(by string) error {
	header, err := r.csv.Read()
	switch {
	case errors.Is(err, io.EOF):
		return r.problem(1, 1, "the file is empty").WithHint("k6 run --out csv=FILE writes its header first")
	case err != nil:
		return r.broken(err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	for i, name := range k6Columns {
		if i >= len(header) || header[i] != name {
			return r.problem(1, 1, "this is not a CSV of k6").WithHint("expected the header %s,…", strings.Join(k6Columns[:], ","))
		}
	}
	at := func(name string) int { return slices.Index(header, name) }
	r.expected, r.status, r.code, r.text = at("expected_response"), at("status"), at("error_code"), at("error")
	if r.by = at(by); r.by < 0 && by != "name" || r.by >= 0 && r.by < len(k6Columns) {
		return r.problem(1, 1, "there is no column %q, which should name the operations", by).WithHint("the columns are: %s", strings.Join(header[len(k6Columns):], ", "))
	}
	return nil
}

func (r *k6) lines(about *About) error {
	for {
		record, err := r.csv.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case cutOff(err):
			about.Notes = append(about.Notes, fmt.Sprintf("the file is truncated after %d values, which were read", r.values))
			return nil
		case err != nil:
			if line, torn := r.torn(err); torn {
				about.Notes = append(about.Notes, fmt.Sprintf("the last line, %d, is truncated and was left out", line))
				return nil
			}
			return r.broken(err)
		}
		if err := r.line(record); err != nil {
			return err
		}
	}
}

// torn tells an error of the last line, which a tool that was killed has not written to its end.
func (r *k6) torn(err error) (line int, torn bool) {
	var wrong *csv.ParseError
	if !errors.As(err, &wrong) {
		return 0, false
	}
	_, next := r.csv.Read()
	return wrong.StartLine, errors.Is(next, io.EOF)
}

func (r *k6) line(record []string) error {
	switch record[0] {
	case r.metric:
	case k6Requests, k6Failed, k6Dropped:
		value, err := strconv.ParseFloat(record[2], 64)
		if err != nil {
			return r.wrong(2, "%q is not a number", record[2])
		}
		r.count(record[0], value)
		return nil
	default:
		if !r.others[record[0]] {
			r.others[strings.Clone(record[0])] = true
		}
		return nil
	}
	at, err := k6Second(record[1])
	if err != nil {
		return r.wrong(1, "%v", err)
	}
	ms, err := strconv.ParseFloat(record[2], 64)
	if err != nil || math.IsNaN(ms) || ms < 0 {
		return r.wrong(2, "%q is not a duration in milliseconds", record[2])
	}
	r.values++
	took := time.Duration(math.Round(min(ms, float64(time.Hour/time.Millisecond)) * float64(time.Millisecond)))
	if err := r.seconds.add(at, cell(record, r.by), r.class(record), took); err != nil {
		if r.ctx.Err() != nil {
			return err
		}
		line, column := r.csv.FieldPos(1)
		return r.problem(line, column, "%v", err).WithHint("sort the lines by their second column, or import files of several runs one by one")
	}
	return nil
}

func (r *k6) count(metric string, value float64) {
	switch metric {
	case k6Requests:
		r.requests += value
	case k6Failed:
		r.failed += value
	case k6Dropped:
		r.dropped += value
	}
}

// class is what kind of error an operation was, "" for none. k6 says whether a response was the expected one; where it was
// told not to, what it calls an error counts.
func (r *k6) class(record []string) string {
	code, status := cell(record, r.code), cell(record, r.status)
	if expected := cell(record, r.expected); expected == "true" || expected == "" && code == "" && cell(record, r.text) == "" {
		return ""
	}
	switch {
	case status != "" && status != "0":
		return "status " + status
	case code != "":
		return "k6 error " + code
	}
	return "not expected"
}

func cell(record []string, column int) string {
	if column < 0 {
		return ""
	}
	return record[column]
}

// k6Second is the second in which a moment lies, by any of the formats that K6_CSV_TIME_FORMAT names. Which of them it is
// shows: in this century numbers of seconds, milliseconds, microseconds and nanoseconds do not overlap.
func k6Second(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil || at.Unix() <= 0 {
			return 0, fmt.Errorf("%q is not a time: expected a number since 1970, or RFC 3339", text)
		}
		return at.Unix(), nil
	}
	switch {
	case n <= 0:
		return 0, fmt.Errorf("%q is not a time after 1970", text)
	case n < 1e11:
		return n, nil
	case n < 1e14:
		return n / 1e3, nil
	case n < 1e17:
		return n / 1e6, nil
	}
	return n / 1e9, nil
}

// judge says what does not add up.
func (r *k6) judge(about *About) error {
	if r.values == 0 {
		have := slices.Sorted(maps.Keys(r.others))
		if len(have) == 0 {
			return r.problem(1, 1, "the file does not contain the metric %s", r.metric).WithHint("it contains no metric at all")
		}
		return r.problem(1, 1, "the file does not contain the metric %s", r.metric).WithHint("name a metric whose values are milliseconds with --metric; the file contains %s", strings.Join(have, ", "))
	}
	note := func(format string, args ...any) { about.Notes = append(about.Notes, fmt.Sprintf(format, args...)) }
	if r.metric == k6Duration && r.requests > 0 && int64(r.requests) != r.values {
		note("k6 counted %.0f requests (%s), but the file contains %d durations", r.requests, k6Requests, r.values)
	}
	if r.metric == k6Duration && int64(r.failed) != about.Errors {
		note("k6 counted %.0f failed requests (%s), but %d durations are marked as failed", r.failed, k6Failed, about.Errors)
	}
	if r.dropped > 0 {
		note("k6 dropped %.0f iterations: it did not reach the configured rate", r.dropped)
	}
	return nil
}

// wrong is a problem of a column of the line at hand.
func (r *k6) wrong(column int, format string, args ...any) error {
	line, at := r.csv.FieldPos(column)
	return r.problem(line, at, k6Columns[column]+": "+format, args...)
}

// broken is an error of the CSV itself.
func (r *k6) broken(err error) error {
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		return r.problem(wrong.Line, wrong.Column, "%v", wrong.Err)
	}
	return fmt.Errorf("read %s: %w", r.path, err)
}
