package series

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func collect[T any](items iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for item, err := range items {
		if err != nil {
			return all, err
		}
		all = append(all, item)
	}
	return all, nil
}

// randomRows are rows whose names need quoting and whose figures have every size.
func randomRows(random *rand.Rand) []Row {
	names := []string{"", "all", "binlog off, 16", `a "quoted" one`, "바이너리 로그", " blank "}
	name := func() string { return names[random.IntN(len(names))] }
	latency := func() Latency {
		d := func() time.Duration { return time.Duration(math.Exp(random.Float64() * 29)) }
		return Latency{d(), d(), d(), d(), d(), d()}
	}
	rows := make([]Row, random.IntN(20))
	for i := range rows {
		rows[i] = Row{
			Time: time.UnixMicro(random.Int64N(4e15)).UTC(), Cell: name(), Round: random.IntN(5), Phase: name(), Operation: name(),
			Tally:    Tally{random.Int64N(1e6), random.Int64(), random.Int64N(10), 0, 1},
			Response: latency(), Service: latency(), Wait: latency(),
			Length: time.Duration(random.Int64N(2e9)),
		}
	}
	return rows
}

func TestRowsRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		var file bytes.Buffer
		w, err := NewRowWriter(&file)
		if err != nil {
			t.Fatal(err)
		}
		var want []Row
		for range random.IntN(3) {
			rows := randomRows(random)
			if err := w.Write(rows...); err != nil {
				t.Fatal(err)
			}
			want = append(want, rows...)
		}
		got, err := collect(ReadRows(iotest.HalfReader(&file)))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\nread back\n%v\nwrote\n%v", err, got, want)
		}
	}
}

func TestRowHeader(t *testing.T) {
	var file bytes.Buffer
	w, err := NewRowWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	h := NewHistogram()
	h.Record(1234567)
	i := Interval{
		Start: time.Date(2025, 11, 20, 20, 28, 0, 123456789, time.UTC), Length: time.Second, Operation: "read",
		Tally:    Tally{Scheduled: 5, Done: 1, Errors: 1, Late: 2, Skipped: 1},
		Response: h.Snapshot(),
	}
	if err := w.Write(i.Row()); err != nil {
		t.Fatal(err)
	}
	const want = "time,cell,phase,operation,scheduled,done,errors,late,skipped," +
		"response_p50_ms,response_p95_ms,response_p99_ms,response_p999_ms,response_max_ms," +
		"service_p50_ms,service_p95_ms,service_p99_ms,service_p999_ms,service_max_ms," +
		"wait_p50_ms,wait_p95_ms,wait_p99_ms,wait_p999_ms,wait_max_ms," +
		"response_mean_ms,service_mean_ms,wait_mean_ms,round,seconds\n" +
		"2025-11-20T20:28:00.123456Z,,,read,5,1,1,2,1," +
		"1.234943,1.234943,1.234943,1.234943,1.234943,0,0,0,0,0,0,0,0,0,0,1.234432,0,0,0,1\n"
	if file.String() != want {
		t.Errorf("wrote\n%s\nwant\n%s", file.String(), want)
	}
}

func TestPointsRoundTrip(t *testing.T) {
	var file bytes.Buffer
	w, err := NewPointWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	want := []Point{
		{time.Unix(1, 0).UTC(), "host.cpu", "n1", 0.1},
		{time.Unix(2, 5000).UTC(), "mysql.history, list", "", 1e300},
		{time.Unix(3, 0).UTC(), "", "n2", math.Inf(-1)},
	}
	if err := w.Write(want...); err != nil {
		t.Fatal(err)
	}
	got, err := collect(ReadPoints(&file))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, %v", got, err)
	}
}

func TestEventsRoundTrip(t *testing.T) {
	var file bytes.Buffer
	want := []Event{
		{Time: time.Unix(1, 5).UTC(), Kind: "phase.start", Name: "baseline", Cell: "a, b", Round: 2},
		{Time: time.Unix(2, 0).UTC(), Kind: "load.errors", Node: "n1", Detail: map[string]any{"pid": 12.0, "why": "line\nend"}},
	}
	w := NewEventWriter(&file)
	if err := w.Write(want...); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	got, err := collect(ReadEvents(strings.NewReader(text)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := collect(ReadEvents(strings.NewReader(text + "{\n"))); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Fatalf("a damaged line: %v", err)
	}
}

// A killed process leaves a file cut anywhere: what was whole is read, and nothing else.
func TestTornFiles(t *testing.T) {
	var file bytes.Buffer
	w, err := NewRowWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	header := file.Len()
	var want []Row
	for len(want) < 20 {
		rows := randomRows(rand.New(rand.NewPCG(1, uint64(len(want)))))
		if err := w.Write(rows...); err != nil {
			t.Fatal(err)
		}
		want = append(want, rows...)
	}
	for cut := header; cut <= file.Len(); cut += 1 + cut/100 {
		got, err := collect(ReadRows(bytes.NewReader(file.Bytes()[:cut])))
		whole := bytes.Count(file.Bytes()[header:cut], []byte("\n"))
		if err != nil || len(got) != whole || len(got) > 0 && !reflect.DeepEqual(got, want[:whole]) {
			t.Fatalf("cut at %d: %d rows of %d, %v", cut, len(got), whole, err)
		}
	}
	if _, err := collect(ReadRows(bytes.NewReader(file.Bytes()[:header-1]))); !errors.Is(err, io.EOF) {
		t.Fatalf("without a whole header: %v", err)
	}
}

func TestReadRowsSaysWhere(t *testing.T) {
	var file bytes.Buffer
	w, err := NewRowWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Row{}, Row{}); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	for _, c := range []struct{ old, new, want string }{
		{",done,", ",finished,", "there is no column done"},
		{"Z,,,,0,", "Z,,,,many,", "line 2: scheduled"},
		{"0001-01-01", "0001-13-01", "line 2: time"},
		{",0,0,0,0\n", ",0,0,0,0.x\n", "line 2: seconds"},
		{",0,0,0,0\n", ",0,0,0\n", "line 2"},
	} {
		damaged := strings.Replace(text, c.old, c.new, 1)
		if _, err := collect(ReadRows(strings.NewReader(damaged))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v", c.new, c.old, err)
		}
	}
}

// A failing disk is told to the one who writes.
func TestWritersReportErrors(t *testing.T) {
	full := errors.New("disk full")
	w := failing{full}
	if _, err := NewRowWriter(w); !errors.Is(err, full) {
		t.Errorf("rows: %v", err)
	}
	if _, err := NewPointWriter(w); !errors.Is(err, full) {
		t.Errorf("points: %v", err)
	}
	if err := NewEventWriter(w).Write(Event{}); !errors.Is(err, full) {
		t.Errorf("events: %v", err)
	}
	if _, err := NewLatencyLog(w, time.Now()); !errors.Is(err, full) {
		t.Errorf("latency log: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func FuzzReadRows(f *testing.F) {
	var file bytes.Buffer
	w, err := NewRowWriter(&file)
	if err != nil {
		f.Fatal(err)
	}
	header := file.String()
	if err := w.Write(randomRows(rand.New(rand.NewPCG(1, 1)))...); err != nil {
		f.Fatal(err)
	}
	f.Add(file.String()[len(header):])
	f.Fuzz(func(t *testing.T, lines string) {
		rows, err := collect(ReadRows(strings.NewReader(header + lines)))
		if err != nil {
			return
		}
		var file bytes.Buffer
		w, err := NewRowWriter(&file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if y := rows[i].Time.UTC().Year(); y < 0 || y > 9999 {
				return
			}
			rows[i].Time = rows[i].Time.UTC().Truncate(time.Microsecond)
		}
		if err := w.Write(rows...); err != nil {
			t.Fatal(err)
		}
		if again, err := collect(ReadRows(&file)); err != nil || !reflect.DeepEqual(again, rows) {
			t.Fatalf("written again: %v\n%v\n%v", err, again, rows)
		}
	})
}

func FuzzReadEvents(f *testing.F) {
	f.Add(`{"time":"2025-11-20T20:28:00Z","kind":"phase.start","detail":{"a":[1,null]}}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		events, err := collect(ReadEvents(strings.NewReader(text)))
		if err != nil {
			return
		}
		var file bytes.Buffer
		if err := NewEventWriter(&file).Write(events...); err != nil {
			return // a time that JSON cannot hold
		}
		if again, err := collect(ReadEvents(&file)); err != nil || len(again) != len(events) {
			t.Fatalf("written again: %v\n%v\n%v", err, again, events)
		}
	})
}
