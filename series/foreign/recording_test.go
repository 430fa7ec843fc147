package foreign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/series"
)

// figuresOf adds a log's intervals up.
func figuresOf(t *testing.T, path string, o Options) (About, series.Snapshot) {
	t.Helper()
	about, all, err := periods(t, Hdr, path, o)
	if err != nil {
		t.Fatal(err)
	}
	h := series.NewHistogram()
	for _, i := range all {
		h.Add(i.Response)
	}
	return about, h.Snapshot()
}

// The log was written by HdrHistogram's own writer: tags, times counted from a base time, two digits, microseconds. What its own
// processor says of it is written here; the test of package series that has Java asks it anew.
func TestHdrAsItsOwnToolReadsIt(t *testing.T) {
	path := filepath.Join("testdata", "java.hlog")
	for _, c := range []struct {
		tag                     string
		n                       int64
		p50, p75, p984375, most int // µs
	}{
		{"read", 2400, 1319, 2383, 6495, 14975},
		{"write", 2400, 3087, 5887, 18047, 28927},
		{"", 9, 2287, 2703, 4543, 4543},
	} {
		about, s := figuresOf(t, path, Options{Unit: time.Microsecond, Tags: []string{c.tag}})
		if s.Count() != c.n || about.Done != c.n || !about.From.Truncate(time.Second).Equal(time.Unix(began, 0)) {
			t.Errorf("tag %q: %d values from %v, want %d", c.tag, s.Count(), about.From, c.n)
		}
		for q, want := range map[float64]int{0.5: c.p50, 0.75: c.p75, 0.984375: c.p984375, 1: c.most} {
			if got := float64(s.Quantile(q)) / 1000; got < float64(want) || got > 1.001*float64(want) {
				t.Errorf("tag %q: quantile %v is %v µs, its own tool says %d", c.tag, q, got, want)
			}
		}
	}
	_, all, err := periods(t, Hdr, path, Options{Unit: time.Microsecond})
	if err != nil || len(all) != 6 || all[0].Operation != "3" || all[1].Operation != "2" || all[5].Done != 800 {
		t.Errorf("tags of one interval are not together: %d periods, %v", len(all), err)
	}
}

func TestHdrRefuses(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "java.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		o    Options
		want string
	}{
		"damage":   {string(text) + "6.000,1.000,0.1,HISTFAAAA\n", Options{}, "a.hlog:21:1: "},
		"tag":      {string(text), Options{Tags: []string{"reads"}}, `no interval has one of these tags (the file's tags: "", "read", "write")`},
		"nothing":  {"#[Histogram log format version 1.3]\n", Options{}, "there is no interval in it"},
		"our own":  {strings.ReplaceAll(string(text), "Tag=read", "Tag="+series.Tag("", "1", "measure", "read", "service")), Options{}, "name its result folder instead"},
		"baseTime": {"#[BaseTime: soon (seconds since epoch)]\n" + string(text), Options{}, "a.hlog:1:1: BaseTime: "},
	} {
		if _, _, err := periods(t, Hdr, write(t, "a.hlog", c.text), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A file, and the folder that it was imported to, lie beside a trial in the same way.
func TestFileAndFolderAreTheSame(t *testing.T) {
	k6 := write(t, "run.csv", k6Sample(unixStamp))
	for path, read := range map[string]Reader{k6: K6, filepath.Join("testdata", "java.hlog"): Hdr} {
		dir := filepath.Join(t.TempDir(), "folder")
		o := Options{Unit: time.Microsecond}
		about, err := Import(t.Context(), dir, read, path, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Import(t.Context(), dir, read, path, o); err == nil || !strings.Contains(err.Error(), "the folder is not empty") {
			t.Errorf("imported over it: %v", err)
		}
		at := Beside{From: time.Unix(began+100, 0), To: time.Unix(began+200, 0), Offset: 100 * time.Second}
		file, err := Open(t.Context(), path, at, o)
		if err != nil {
			t.Fatal(err)
		}
		folder, err := Open(t.Context(), dir, at, o)
		if err != nil {
			t.Fatal(err)
		}
		if folder.Name != "folder" || folder.About.Tally != about.Tally || len(folder.Seconds) != len(file.Seconds) || len(file.Seconds) < 3 {
			t.Fatalf("%s: %d seconds of the folder, %d of the file; %+v", path, len(folder.Seconds), len(file.Seconds), folder.About)
		}
		for i, a := range file.Seconds {
			b := folder.Seconds[i]
			if !a.Time.Equal(b.Time) || a.Tally != b.Tally || file.Latency(a) != folder.Latency(b) ||
				a.Times.Count() != b.Times.Count() || a.Times.Quantile(0.9) != b.Times.Quantile(0.9) {
				t.Errorf("%s: second %d: %+v, %+v", path, i, a, b)
			}
		}
	}
}

// The seconds of a load begin at any moment; a latency log keeps milliseconds of it, and a series microseconds.
func TestHistogramsFindTheirSeconds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "result")
	out, err := newFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(began, 201_671_999).UTC()
	h := series.NewHistogram()
	h.RecordN(5*time.Millisecond, 7)
	about := About{Basis: Response}
	for s := range 3 {
		at := start.Add(time.Duration(s) * time.Second)
		if err := out.write(at, time.Second, []series.Interval{
			about.interval(at, time.Second, "read", h.Snapshot(), nil), about.interval(at, time.Second, "write", h.Snapshot(), nil),
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), dir, Beside{From: start.Add(-time.Second), To: start.Add(time.Minute)}, Options{}) // there is no import.json: a result
	if err != nil || r.About.Tool != "plimsoll" || len(r.Seconds) != 3 || r.About.Done != 42 {
		t.Fatalf("%+v, %v", r.About, err)
	}
	for _, s := range r.Seconds {
		if s.Times.Count() != 14 || r.Latency(s).P99 != s.Times.Quantile(0.99) {
			t.Errorf("%v: %d times", s.Time, s.Times.Count())
		}
	}
}

func TestClocks(t *testing.T) {
	path := write(t, "run.csv", k6Sample(unixStamp))
	far := Beside{From: time.Unix(2_000_000_000, 0), To: time.Unix(2_000_000_002, 0)}
	if _, err := Open(t.Context(), path, far, Options{}); err == nil || !strings.Contains(err.Error(), "it covers 2025-11-20 20:40:30 to 2025-11-20 20:40:33, but the load of the trial ran from 2033-05-18 03:33:20") {
		t.Errorf("%v", err)
	}
	far.Align = true
	r, err := Open(t.Context(), path, far, Options{})
	if err != nil || len(r.Seconds) != 2 || !r.Seconds[0].Time.Equal(far.From) || r.Offset != (2_000_000_000-began)*time.Second || r.Name != "run" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Open(t.Context(), write(t, "notes.txt", "nothing of the kind"), far, Options{}); err == nil || !strings.Contains(err.Error(), "notes.txt:1:1: this is neither a CSV of k6 nor an HdrHistogram log") {
		t.Errorf("%v", err)
	}
	if _, err := Open(t.Context(), t.TempDir(), far, Options{}); err == nil || !strings.Contains(err.Error(), "neither an imported series nor a result folder") {
		t.Errorf("%v", err)
	}
}
