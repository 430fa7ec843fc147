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

// HdrHistogram's own log processor must open latency.hlog and find in it what was written.
func TestJavaLogProcessorReadsLatencyLog(t *testing.T) {
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
	path := filepath.Join(dir, "latency.hlog")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}

	process := func(arguments ...string) string {
		t.Helper()
		arguments = append([]string{"-cp", filepath.Join(dir, "HdrHistogram-2.2.2.jar"), "org.HdrHistogram.HistogramLogProcessor", "-i", path}, arguments...)
		out, err := exec.CommandContext(t.Context(), "java", arguments...).CombinedOutput()
		if err != nil {
			t.Fatalf("log processor: %v\n%s", err, out)
		}
		return string(out)
	}
	figure := func(out, pattern string) float64 {
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

	out := process("-tag", tag)
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
		if got := figure(out, c.pattern); math.Abs(got-c.want) > c.tolerance {
			t.Errorf("%s: the log processor says %v, we %v", c.pattern, got, c.want)
		}
	}

	// Absolute times: the processor puts the second interval one second after the start of the log.
	if part := process("-tag", tag, "-start", "0.5", "-end", "2.5"); figure(part, `Total count\s+=\s+(\d+)`) != 10_000 {
		t.Errorf("between 0.5 and 2.5 s of the log there are not two seconds:\n%s", part)
	}
}
