package series

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// logged is a log of three seconds of two operations, and what stands in it.
func logged(t testing.TB, random *rand.Rand) (string, []Logged) {
	t.Helper()
	started := time.UnixMilli(1763671234567).UTC()
	var file bytes.Buffer
	log, err := NewLatencyLog(&file, started)
	if err != nil {
		t.Fatal(err)
	}
	var entries []Logged
	for second := range 3 {
		for _, operation := range []string{"read", "write, slow"} {
			h := NewHistogram()
			for range random.IntN(3000) * second {
				h.Record(time.Duration(random.ExpFloat64() * float64(2*time.Millisecond)))
			}
			e := Logged{
				Tag:       Tag("binlog off/16", "baseline", operation),
				Start:     started.Add(time.Duration(second) * time.Second),
				Length:    time.Second,
				Durations: h.Snapshot(),
			}
			if err := log.Write(e.Tag, e.Start, e.Length, e.Durations); err != nil {
				t.Fatal(err)
			}
			entries = append(entries, e)
		}
	}
	return file.String(), entries
}

func readLog(text string) ([]Logged, error) {
	var entries []Logged
	for e, err := range ReadLatencyLog(strings.NewReader(text)) {
		if err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func TestLatencyLogRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	text, want := logged(t, rand.New(rand.NewPCG(seed, 0)))
	got, err := readLog(text)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("read back %v, %v", got, err)
	}
	if parts := TagParts(got[1].Tag); !reflect.DeepEqual(parts, []string{"binlog off/16", "baseline", "write, slow"}) {
		t.Fatalf("tag parts %q", parts)
	}

	// Cut anywhere, as a killed process leaves it: the whole lines are there.
	for cut := 0; cut < len(text); cut += 1 + cut/200 {
		got, err := readLog(text[:cut])
		if err != nil || len(got) > len(want) || len(got) > 0 && !reflect.DeepEqual(got, want[:len(got)]) {
			t.Fatalf("cut at %d: %d intervals, %v", cut, len(got), err)
		}
	}
}

func TestLibraryReadsLatencyLog(t *testing.T) {
	text, want := logged(t, rand.New(rand.NewPCG(1, 2)))
	reader := hdrhistogram.NewHistogramLogReader(strings.NewReader(text))
	for _, e := range want {
		h, err := reader.NextIntervalHistogram()
		if err != nil || h == nil {
			t.Fatalf("%v, %v", h, err)
		}
		if h.Tag() != e.Tag || h.TotalCount() != e.Durations.Count() || h.Max() != int64(e.Durations.Max()) ||
			h.ValueAtQuantile(99) != int64(e.Durations.Quantile(0.99)) {
			t.Fatalf("the library reads %s with %d values, wrote %s with %d", h.Tag(), h.TotalCount(), e.Tag, e.Durations.Count())
		}
	}
}

func TestReadLatencyLogRefusesDamage(t *testing.T) {
	text, _ := logged(t, rand.New(rand.NewPCG(3, 4)))
	for name, damaged := range map[string]string{
		"fields":    text + "1.000,2.000\n",
		"tag":       text + "Tag=x\n",
		"start":     text + "one,1.000,0.000,HISTF\n",
		"histogram": text[:len(text)-20] + "\n",
	} {
		if _, err := readLog(damaged); err == nil || !strings.Contains(err.Error(), "latency log line") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLatencyLogRefusesTag(t *testing.T) {
	log, err := NewLatencyLog(new(bytes.Buffer), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Write("a b", time.Now(), time.Second, Snapshot{}); err == nil {
		t.Fatal("a tag with a blank was written")
	}
}

func FuzzReadLatencyLog(f *testing.F) {
	text, _ := logged(f, rand.New(rand.NewPCG(5, 6)))
	f.Add(text)
	f.Add("Tag=,1,1,1,HISTFAAAAB142pNpmSzMwMDAxQABzFCaEUzOv2n/B8JmZBJkkgAA2lUDGA==\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := readLog(text)
		if err != nil {
			return
		}
		var again bytes.Buffer
		log, err := NewLatencyLog(&again, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		for i := range entries {
			e := &entries[i]
			e.Start, e.Length = e.Start.Truncate(time.Millisecond), e.Length.Round(time.Millisecond)
			if strings.ContainsAny(e.Tag, ", \t\r\n") {
				return
			}
			if err := log.Write(e.Tag, e.Start, e.Length, e.Durations); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := readLog(again.String()); err != nil || !reflect.DeepEqual(got, entries) {
			t.Fatalf("written again: %v, %v", got, err)
		}
	})
}

func BenchmarkLatencyLogWrite(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	h := NewHistogram()
	for range 20_000 {
		h.Record(time.Duration(200_000 + random.ExpFloat64()*50_000))
	}
	s := h.Snapshot()
	var file bytes.Buffer
	log, err := NewLatencyLog(&file, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		file.Reset()
		if err := log.Write("read", time.Now(), time.Second, s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(file.Len()), "bytes/line")
}

func BenchmarkDecode(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	h := NewHistogram()
	for range 20_000 {
		h.Record(time.Duration(200_000 + random.ExpFloat64()*50_000))
	}
	text := newEncoder().encode(nil, h.Snapshot())
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			if _, err := decode(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			if _, err := decodeForeign(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestForeignLayout(t *testing.T) {
	hdr := hdrhistogram.New(1000, int64(10*time.Second), 2)
	for _, v := range []int64{1500, 2_000_000, 9_000_000_000} {
		if err := hdr.RecordValues(v, 3); err != nil {
			t.Fatal(err)
		}
	}
	text, err := hdr.EncodeV2()
	if err != nil {
		t.Fatal(err)
	}
	s, err := decode(text)
	if err != nil || s.Count() != 9 {
		t.Fatalf("%d, %v", s.Count(), err)
	}
	for _, q := range []float64{0.1, 0.5, 1} {
		got, want := float64(s.Quantile(q)), float64(hdr.ValueAtQuantile(q*100))
		if got < want || got > want*1.001 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}
