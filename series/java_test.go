package series

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// logProcessor fetches HdrHistogram's own and returns what runs it.
func logProcessor(t *testing.T) func(t *testing.T, path string, arguments ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs Java and Maven")
	}
	for _, program := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not on the PATH", program)
		}
	}
	dir := t.TempDir()
	fetch := exec.CommandContext(t.Context(), "mvn", "-q", "-B", "dependency:copy",
		"-Dartifact=org.hdrhistogram:HdrHistogram:2.2.2", "-DoutputDirectory="+dir)
	fetch.Dir = dir
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Fatalf("fetch HdrHistogram: %v\n%s", err, out)
	}
	return func(t *testing.T, path string, arguments ...string) string {
		t.Helper()
		arguments = append([]string{"-cp", filepath.Join(dir, "HdrHistogram-2.2.2.jar"), "org.HdrHistogram.HistogramLogProcessor", "-i", path}, arguments...)
		out, err := exec.CommandContext(t.Context(), "java", arguments...).CombinedOutput()
		if err != nil {
			t.Fatalf("log processor: %v\n%s", err, out)
		}
		return string(out)
	}
}

// figure finds a number in what the processor says.
func figure(t *testing.T, out, pattern string) float64 {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("the log processor prints no %s:\n%s", pattern, out)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestLogsAsTheJavaLogProcessorReadsThem(t *testing.T) {
	process := logProcessor(t)
	t.Run("ours", func(t *testing.T) { readOurs(t, process) })
	t.Run("its own", func(t *testing.T) { readItsOwn(t, process) })
}

// readItsOwn has both read a log that HdrHistogram's own writer wrote: with tags, a base time and two digits.
func readItsOwn(t *testing.T, process func(t *testing.T, path string, arguments ...string) string) {
	path := filepath.Join("foreign", "testdata", "java.hlog")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := readLog(string(text))
	if err != nil {
		t.Fatal(err)
	}
	h := NewHistogram()
	for _, e := range entries {
		if e.Tag == "write" {
			h.Add(e.Durations)
		}
	}
	out := process(t, path, "-tag", "write", "-outputValueUnitRatio", "1")
	for pattern, got := range map[string]float64{
		`Total count\s+=\s+(\d+)`:        float64(h.Count()),
		`#\[Max\s+=\s+([\d.]+)`:          float64(h.Max()),
		`\n\s+([\d.]+) 0\.500000000000 `: float64(h.Quantile(0.5)),
		`\n\s+([\d.]+) 0\.990625000000 `: float64(h.Quantile(0.990625)),
		`#\[StartTime: ([\d.]+) `:        float64(entries[0].Start.Unix()),
	} {
		if want := figure(t, out, pattern); got < want || got > want*1.001 {
			t.Errorf("%s: the log processor says %v, we %v", pattern, want, got)
		}
	}
}

// readOurs: it must open latency.hlog and find in it what was written.
func readOurs(t *testing.T, process func(t *testing.T, path string, arguments ...string) string) {
	random := rand.New(rand.NewPCG(7, 8))
	started := time.UnixMilli(1763671234567)
	var file bytes.Buffer
	log, err := NewLatencyLog(&file, started)
	if err != nil {
		t.Fatal(err)
	}
	tag := Tag("binlog off", "measure", "read")
	whole := NewHistogram()
	for second := range 10 {
		h := NewHistogram()
		for range 5000 {
			h.Record(time.Duration(random.ExpFloat64() * float64(3*time.Millisecond)))
		}
		at := started.Add(time.Duration(second) * time.Second)
		if err := log.Write(tag, at, time.Second, h.Snapshot()); err != nil {
			t.Fatal(err)
		}
		if err := log.Write(Tag("another"), at, time.Second, Snapshot{}); err != nil {
			t.Fatal(err)
		}
		whole.Merge(h)
	}
	path := filepath.Join(t.TempDir(), "latency.hlog")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}

	out := process(t, path, "-tag", tag)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	for _, c := range []struct {
		pattern   string
		want      float64
		tolerance float64
	}{
		{`Total count\s+=\s+(\d+)`, float64(whole.Count()), 0},
		{`#\[Max\s+=\s+([\d.]+)`, ms(whole.Max()), 0.001},
		{`#\[Mean\s+=\s+([\d.]+)`, ms(whole.Mean()), 0.001},
		{`\n\s+([\d.]+) 0\.500000000000 `, ms(whole.Quantile(0.5)), 0.001},
		{`\n\s+([\d.]+) 0\.990625000000 `, ms(whole.Quantile(0.990625)), 0.05}, // its rule may pick the next value
	} {
		if got := figure(t, out, c.pattern); math.Abs(got-c.want) > c.tolerance {
			t.Errorf("%s: the log processor says %v, we %v", c.pattern, got, c.want)
		}
	}

	// Absolute times: the processor puts the second interval one second after the start of the log.
	if part := process(t, path, "-tag", tag, "-start", "0.5", "-end", "2.5"); figure(t, part, `Total count\s+=\s+(\d+)`) != 10_000 {
		t.Errorf("between 0.5 and 2.5 s of the log there are not two seconds:\n%s", part)
	}
}
