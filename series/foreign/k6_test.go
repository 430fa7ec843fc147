package foreign

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"plimsoll/series"
)

const k6Header = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata\n"

// k6Request is what k6 writes of one request that took some ms, at a moment as k6 was told to write it.
func k6Request(at string, ms float64, name string, status int) string {
	expected, failed, code := "true", 0, ""
	if status >= 400 {
		expected, failed, code = "false", 1, fmt.Sprint(1000+status)
	}
	tags := fmt.Sprintf(",,,%s,%s,,GET,%s,HTTP/1.1,default,,%d,,,http://127.0.0.1/,,\n", code, expected, name, status)
	return "http_reqs," + at + ",1.000000" + tags +
		fmt.Sprintf("http_req_duration,%s,%f%s", at, ms, tags) +
		"http_req_blocked," + at + ",0.005000" + tags +
		fmt.Sprintf("http_req_failed,%s,%d.000000%s", at, failed, tags)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// periods reads a file to its end.
func periods(t *testing.T, read Reader, path string, o Options) (About, []series.Interval, error) {
	t.Helper()
	var all []series.Interval
	about, err := read(t.Context(), path, o, func(start time.Time, length time.Duration, operations []series.Interval) error {
		all = append(all, series.Together(start, length, operations))
		all[len(all)-1].Operation = fmt.Sprint(len(operations))
		return nil
	})
	return about, all, err
}

const began = 1_763_671_230

// k6Sample is ten requests in three seconds, of which the second is empty; one fails.
func k6Sample(stamp func(second int64, ms int64) string) string {
	var b strings.Builder
	b.WriteString(k6Header)
	for i := range 10 {
		second, name, status := int64(began), "read", 200
		if i >= 6 {
			second, name = began+2, "write"
		}
		if i == 9 {
			status = 503
		}
		b.WriteString(k6Request(stamp(second, int64(i)*100), float64(i+1), name, status))
	}
	return b.String()
}

func unixStamp(second, _ int64) string { return fmt.Sprint(second) }

func TestK6(t *testing.T) {
	about, got, err := periods(t, K6, write(t, "run.csv", k6Sample(unixStamp)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 {
		t.Fatalf("%d seconds, want 3: the empty one too", len(got))
	}
	for i, want := range []struct {
		done, errors int64
		most         time.Duration
	}{{6, 0, 6 * time.Millisecond}, {0, 0, 0}, {3, 1, 9 * time.Millisecond}} {
		s := got[i]
		if s.Done != want.done || s.Errors != want.errors || !s.Balanced() || s.Start.Unix() != began+int64(i) || s.Length != time.Second {
			t.Errorf("second %d: %v %+v", i, s.Start, s.Tally)
		}
		if d := float64(s.Service.Max() - want.most); d < 0 || d > 0.001*float64(want.most) || s.Response.Count() != 0 {
			t.Errorf("second %d: the slowest took %v of service, want %v; %d response times", i, s.Service.Max(), want.most, s.Response.Count())
		}
	}
	if about.Done != 9 || about.Errors != 1 || about.ErrorClasses["status 503"] != 1 || about.Basis != Service || len(about.Notes) != 0 {
		t.Errorf("%+v", about)
	}
	if !about.From.Equal(time.Unix(began, 0)) || !about.To.Equal(time.Unix(began+3, 0)) {
		t.Errorf("from %v to %v", about.From, about.To)
	}
}

// The files were written by k6 1.8.1: 15 iterations a second of a read and a write, for 4 s, of a server that refused every twentieth
// request; in the first with timestamps in seconds, in the other in milliseconds. What k6's summary and the lines say is written here.
func TestK6AsItWrites(t *testing.T) {
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	for name, c := range map[string]struct {
		from            int64
		seconds         int
		done, errors    int64
		least, mid, top time.Duration // of the requests that succeeded
		note            string
	}{
		"k6-1.8.csv.gz":       {1795304301, 5, 113, 5, ms(4.744696), ms(50.156003), ms(237.828495), "k6 dropped 2 iterations"},
		"k6-1.8-milli.csv.gz": {1795304306, 5, 115, 7, ms(5.64655), ms(41.092815), ms(147.071921), ""},
	} {
		about, all, err := periods(t, K6, filepath.Join("testdata", name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		times := series.NewHistogram()
		for _, i := range all {
			times.Add(i.Service)
		}
		if about.Done != c.done || about.Errors != c.errors || about.ErrorClasses["status 503"] != c.errors || about.From.Unix() != c.from || len(all) != c.seconds {
			t.Errorf("%s: %+v in %d seconds", name, about, len(all))
		}
		if notes := strings.Join(about.Notes, "\n"); c.note != "" && !strings.Contains(notes, c.note) || strings.Contains(notes, "but the file contains") || strings.Contains(notes, "marked as failed") {
			t.Errorf("%s: notes %q", name, notes)
		}
		for got, want := range map[time.Duration]time.Duration{times.Min(): c.least, times.Quantile(0.5): c.mid, times.Max(): c.top} {
			if off := float64(got-want) / float64(want); off < -0.001 || off > 0.001 {
				t.Errorf("%s: %v, in the file %v", name, got, want)
			}
		}
	}
}

func TestK6Moments(t *testing.T) {
	_, want, err := periods(t, K6, write(t, "run.csv", k6Sample(unixStamp)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(second, ms int64) time.Time { return time.Unix(second, ms*1e6) }
	zone := time.FixedZone("", 2*3600)
	for name, stamp := range map[string]func(second, ms int64) string{
		"unix_milli":   func(s, ms int64) string { return fmt.Sprint(at(s, ms).UnixMilli()) },
		"unix_micro":   func(s, ms int64) string { return fmt.Sprint(at(s, ms).UnixMicro()) },
		"unix_nano":    func(s, ms int64) string { return fmt.Sprint(at(s, ms).UnixNano()) },
		"rfc3339":      func(s, ms int64) string { return at(s, ms).In(zone).Format(time.RFC3339) },
		"rfc3339_nano": func(s, ms int64) string { return at(s, ms).In(zone).Format(time.RFC3339Nano) },
	} {
		_, got, err := periods(t, K6, write(t, "run.csv", k6Sample(stamp)), Options{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func pack(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestK6PackedAndCutOff(t *testing.T) {
	text := k6Sample(unixStamp)
	_, want, err := periods(t, K6, write(t, "run.csv", text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	about, got, err := periods(t, K6, write(t, "run.csv.gz", string(pack(t, text))), Options{})
	if err != nil || !reflect.DeepEqual(got, want) || len(about.Notes) > 0 {
		t.Errorf("packed: %v, %v, %v", got, about.Notes, err)
	}

	// A tool that was killed leaves the last line, or the end of the packing, unwritten.
	long := k6Header + strings.Repeat(k6Request(fmt.Sprint(began), 7, "read", 200), 2000)
	half := pack(t, long)
	about, got, err = periods(t, K6, write(t, "run.gz", string(half[:len(half)-10])), Options{})
	if err != nil || len(about.Notes) == 0 || !strings.Contains(about.Notes[0], "truncated") || len(got) != 1 || got[0].Done < 1900 {
		t.Errorf("packing cut off: %d seconds, %v, %v", len(got), about.Notes, err)
	}
	about, got, err = periods(t, K6, write(t, "run.csv", text+"http_req_duration,17636"), Options{})
	if err != nil || !reflect.DeepEqual(got, want) || len(about.Notes) != 1 || !strings.Contains(about.Notes[0], "the last line, 42, is truncated") {
		t.Errorf("line cut off: %v, %v", about.Notes, err)
	}
}

func TestK6Refuses(t *testing.T) {
	good := k6Request(fmt.Sprint(began), 5, "read", 200)
	for name, c := range map[string]struct {
		text string
		o    Options
		want string
	}{
		"empty":        {"", Options{}, "run.csv:1:1: the file is empty"},
		"other CSV":    {"a,b,c\n1,2,3\n", Options{}, "run.csv:1:1: this is not a CSV of k6 (expected the header metric_name,timestamp,metric_value"},
		"value":        {k6Header + good + strings.Replace(good, "5.000000", "5,2", 1) + good, Options{}, "run.csv:7:1: wrong number of fields"},
		"number":       {k6Header + good + strings.Replace(good, "5.000000", "five", 1), Options{}, `run.csv:7:30: metric_value: "five" is not a duration`},
		"negative":     {k6Header + strings.Replace(good, "5.000000", "-5.0", 1), Options{}, "run.csv:3:30: metric_value"},
		"moment":       {k6Header + k6Request("yesterday", 5, "read", 200), Options{}, `run.csv:3:19: timestamp: "yesterday" is not a time`},
		"order":        {k6Header + k6Request(fmt.Sprint(began+60), 5, "read", 200) + k6Request(fmt.Sprint(began+90), 5, "read", 200) + good, Options{}, "run.csv:11:19: 2025-11-20T20:40:30Z comes after 2025-11-20T20:42:00Z: the file is not sorted by time"},
		"no requests":  {k6Header + "iteration_duration," + strings.TrimPrefix(good, "http_reqs,"), Options{Metric: "grpc_req_duration"}, "the file does not contain the metric grpc_req_duration (name a metric whose values are milliseconds with --metric; the file contains "},
		"no operation": {k6Header + good, Options{By: "verb"}, `there is no column "verb", which should name the operations (the columns are: check, error,`},
		"only a head":  {k6Header, Options{}, "it contains no metric at all"},
	} {
		_, _, err := periods(t, K6, write(t, "run.csv", c.text), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestK6SaysWhatDoesNotAddUp(t *testing.T) {
	text := k6Sample(unixStamp) + strings.SplitAfter(k6Request(fmt.Sprint(began+2), 1, "read", 200), "\n")[0] +
		fmt.Sprintf("dropped_iterations,%d,3.000000,,,,,,,,,default,,,,,,,\n", began+2)
	about, _, err := periods(t, K6, write(t, "run.csv", text), Options{})
	if notes := strings.Join(about.Notes, "\n"); err != nil || !strings.Contains(notes, "counted 11 requests (http_reqs), but the file contains 10") || !strings.Contains(notes, "dropped 3 iterations") {
		t.Errorf("%q, %v", notes, err)
	}
}

func TestK6ManyNames(t *testing.T) {
	var b strings.Builder
	b.WriteString(k6Header)
	for i := range 100 {
		b.WriteString(k6Request(fmt.Sprint(began), 5, fmt.Sprintf("http://127.0.0.1/%d", i), 200))
	}
	about, got, err := periods(t, K6, write(t, "run.csv", b.String()), Options{})
	if err != nil || got[0].Operation != fmt.Sprint(mostOperations+1) || got[0].Done != 100 || len(about.Notes) != 1 {
		t.Errorf("%v operations, %d done, %v, %v", got[0].Operation, got[0].Done, about.Notes, err)
	}
	if _, got, err = periods(t, K6, write(t, "run.csv", b.String()), Options{By: "method"}); err != nil || got[0].Operation != "1" {
		t.Errorf("by method: %v operations, %v", got[0].Operation, err)
	}
}

// What is kept does not grow with the file: an hour of requests, written up to some seconds late, needs no more histograms than fit
// the seconds that stay open.
func TestMemoryDoesNotGrow(t *testing.T) {
	about := About{Basis: Service}
	written, most := int64(0), 0
	var s *seconds
	s = newSeconds(&about, about.ledger(func(_ time.Time, _ time.Duration, operations []series.Interval) error {
		most = max(most, len(s.open)+len(s.free))
		for _, o := range operations {
			written += o.Done
		}
		return nil
	}))
	const n = 3600 * 50
	for i := range n {
		late := int64(i % 7)
		if err := s.add(began+max(int64(i)/50-late, 0), "read", "", time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.finish(); err != nil || written != n || most > window+3 {
		t.Errorf("%d of %d written with %d histograms, %v", written, n, most, err)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	path := write(t, "run.csv", k6Header+strings.Repeat(k6Request(fmt.Sprint(began), 5, "read", 200), 3000))
	told := 0
	o := Options{Progress: func(read, total int64) {
		if told++; told == 3 {
			cancel()
		}
		if read > total {
			t.Errorf("%d of %d bytes", read, total)
		}
	}}
	dir := filepath.Join(t.TempDir(), "series")
	if _, err := Import(ctx, dir, K6, path, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("what was begun is still there: %v", err)
	}
}

func FuzzK6(f *testing.F) {
	f.Add(k6Sample(unixStamp))
	f.Add(k6Header + "http_req_duration,1763671230,1e300,,,,,,,,,,,,,,,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		if about, all, err := periods(t, K6, write(t, "run.csv", text), Options{}); err == nil {
			var sum series.Tally
			for _, s := range all {
				sum = sum.Plus(s.Tally)
			}
			if sum != about.Tally || !sum.Balanced() {
				t.Errorf("%+v, in its seconds %+v", about.Tally, sum)
			}
		}
	})
}
