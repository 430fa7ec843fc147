package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/price"
	"plimsoll/watch/storage"
)

// incident is the case of the burst bucket: m5.2xlarge with 32 GB, 24 of them for pages, on gp2.
func incident(t *testing.T, reads float64) Input {
	t.Helper()
	catalogue, err := price.Load("")
	if err != nil {
		t.Fatal(err)
	}
	m := &advise.Memory{Bytes: 24 << 30, PageSize: 16 << 10, Data: 170 << 30, Reads: reads, IOPS: reads + 200, Writes: 200, Peak: 1.1 * (reads + 200)}
	for g := int64(8); g <= 120; g += 2 {
		r := reads * max(1-float64(g-24)/70, 0.02)
		m.Line = append(m.Line, advise.Point{Bytes: g << 30, Times: float64(g) / 24, Reads: r, Low: 0.9 * r, High: 1.1 * r, Source: advise.FromHistory})
	}
	m.Curve.Now = advise.Point{Bytes: 24 << 30, Times: 1, Reads: reads, Low: 0.95 * reads, High: 1.05 * reads}
	return Input{
		Cluster: "users", Node: "n1", At: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), Memory: m, Class: "db.m5.2xlarge",
		Volume: &storage.Volume{Type: "gp2", GiB: 200, Managed: true}, Balance: 0.05,
		Prices: price.Of{Catalogue: catalogue, Region: "us-east-1", Now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)},
	}
}

func finding(t *testing.T, r *advise.Report, about string) advise.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.About == about {
			return f
		}
	}
	t.Fatalf("there is no finding about %s", about)
	return advise.Finding{}
}

func option(t *testing.T, f advise.Finding, name string) advise.Option {
	t.Helper()
	for _, o := range f.Options {
		if strings.HasPrefix(o.Name, name) {
			return o
		}
	}
	t.Fatalf("there is no option %q of %q", name, f.Title)
	return advise.Option{}
}

func TestABurstThatEnds(t *testing.T) {
	r := Report(incident(t, 1800))
	f := finding(t, r, "storage")
	leave := option(t, f, "leave it")
	// 5.4 M × 5 % / (2000 − 600)
	if got := leave.Effects[1].Now; math.Abs(got-192.86) > 0.1 || !f.Urgent || !strings.Contains(f.Title, "in 3 minutes (3 minutes to 4 minutes), and") {
		t.Errorf("%q, %+v", f.Title, leave.Effects)
	}
	if r.Findings[0].About != "storage" {
		t.Errorf("what is urgent stands first: %s", r.Findings[0].About)
	}
	grown := option(t, f, "grow it to 400 GiB")
	if !strings.Contains(grown.Risk, "copied to four volumes") || !strings.Contains(grown.Undo, "cannot shrink") {
		t.Errorf("from one volume to four: %s; %s", grown.Risk, grown.Undo)
	}
	gp3 := option(t, f, "gp3 of 200 GiB")
	if gp3.Effects[0].Then < 3000 || gp3.Effects[1].Then < advise.Forever {
		t.Errorf("gp3 has no bucket: %+v", gp3.Effects)
	}
	if want := 684e-3*730 + 0.115*200; math.Abs(leave.Price.Month-want) > 0.01 || leave.Change.Month != 0 {
		t.Errorf("leaving it costs %+v, want %.2f", leave.Price, want)
	}
	advised := 0
	for _, o := range f.Options {
		if o.Advised {
			advised++
			if o.Effects[0].Then < 2200/headroom-1 {
				t.Errorf("%s is advised and gives %.0f", o.Name, o.Effects[0].Then)
			}
		}
		if o.Risk == "" || o.Undo == "" {
			t.Errorf("%s has no risk or no way back", o.Name)
		}
	}
	if advised != 1 {
		t.Errorf("%d options are advised", advised)
	}
}

// From the reads that fill a cache after a start no volume follows; of a server that only writes they do not matter.
func TestNoVolumeFollowsFromAWarmUp(t *testing.T) {
	for reads, warming := range map[float64]bool{1500: true, 20: false} {
		in := incident(t, 1800)
		in.Memory, in.Class = nil, ""
		in.Seen = &advise.Seen{
			Disk:   &advise.DiskUse{IOPS: advise.Figure{Mean: 1900, Low: 1800, High: 2000}, Peak: 2100},
			WarmUp: &advise.WarmUp{Uptime: 7 * time.Second, Held: 35 << 20, Room: 64 << 20, Reads: reads},
		}
		r := Report(in)
		if slices.Contains(r.Observed, "storage") == warming {
			t.Errorf("with %.0f reads a second that fill the pool the load's storage is observed: %q", reads, r.Observed)
		}
		f := finding(t, r, "storage")
		said := strings.HasPrefix(f.Title, "No volume follows from a warm-up: the server started 7s ago, and its reads still fill its buffer pool")
		if said != warming || (len(f.Options) == 1) != warming || slices.ContainsFunc(f.Options, func(o advise.Option) bool { return o.Advised }) == warming {
			t.Errorf("with %.0f reads a second that fill the pool: %q, %d options, %q", reads, f.Title, len(f.Options), f.Evidence)
		}
		if !f.Urgent || warming && !slices.ContainsFunc(f.Evidence, func(e string) bool {
			return strings.HasPrefix(e, "As long as the warm-up goes on: The burst ends in ")
		}) {
			t.Errorf("that the burst ends meanwhile is not said: %q", f.Evidence)
		}
	}
}

// A report names what it could observe, so that what it says nothing about is not taken for well.
func TestWhatWasObservedIsNamed(t *testing.T) {
	whole := incident(t, 1800)
	commit := &advise.Seen{Disk: &advise.DiskUse{IOPS: advise.Figure{Mean: 100, Low: 90, High: 110}, Peak: 120}, Commit: &advise.CommitUse{Rate: advise.Figure{Mean: 10, Low: 9, High: 11}, Sessions: advise.Figure{Mean: 10}, Total: &advise.Figure{Mean: 0.01}}}
	for name, c := range map[string]struct {
		with func(*Input)
		want []string
	}{
		"all":                     {func(in *Input) { in.Seen, in.Whole = commit, true }, []string{"commit", "memory", "storage"}},
		"no list of pages":        {func(in *Input) { in.Memory, in.NoMemory, in.Seen = nil, "sampling has stopped", commit }, []string{"commit", "storage"}},
		"no volume, no counters":  {func(in *Input) { in.Volume = nil }, []string{"memory"}},
		"nothing":                 {func(in *Input) { in.Memory, in.NoMemory = nil, "sampling has stopped" }, []string{}},
		"nothing, without commit": {func(in *Input) { in.Memory, in.Volume, in.Seen = nil, nil, &advise.Seen{} }, []string{}},
	} {
		in := whole
		c.with(&in)
		got := Report(in).Observed
		if slices.Sort(got); !slices.Equal(got, c.want) || got == nil {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Where no option can be marked, the finding says why.
func TestThatNothingIsMarkedIsSaid(t *testing.T) {
	const said = "No option is marked as advised: of those with a known price, none sustains the busiest ten seconds at 70 % of its limits."
	for _, priced := range []bool{true, false} {
		in := incident(t, 1800)
		if !priced {
			in.Prices.Region = "mars-1"
		}
		f := finding(t, Report(in), "storage")
		marked := slices.ContainsFunc(f.Options, func(o advise.Option) bool { return o.Advised })
		if marked != priced || slices.Contains(f.Evidence, said) == marked {
			t.Errorf("priced %t: marked %t, %q", priced, marked, f.Evidence)
		}
	}
}

func TestALargerInstance(t *testing.T) {
	f := finding(t, Report(incident(t, 1800)), "memory")
	o := option(t, f, "db.r6i.2xlarge")
	if got := o.Effects[0]; math.Abs(got.Then-1800*(1-24.0/70)) > 1 || got.Low >= got.Then || got.High <= got.Then {
		t.Errorf("48 GiB for pages: %+v", got)
	}
	if want := (0.96 - 0.684) * 730; math.Abs(o.Change.Month-want) > 0.01 || o.Change.High <= o.Change.Low {
		t.Errorf("it costs %+v more, want %.0f", o.Change, want)
	}
	if o := option(t, f, "db.r6g.2xlarge"); !strings.Contains(o.Risk, "arm64") {
		t.Errorf("other processors: %s", o.Risk)
	}
	if o := option(t, f, "db.m7g.4xlarge"); o.Price.Known() {
		t.Errorf("a price that nobody gave: %+v", o.Price)
	}
	if said := strings.Join(f.Evidence, " "); !strings.Contains(said, "costs no more: db.m6i.2xlarge, db.r5.2xlarge, db.r7g.2xlarge") || !strings.Contains(said, "no price for them: db.m7g.2xlarge") {
		t.Errorf("classes that are not listed are not named: %q", said)
	}
	kinds := map[string]bool{}
	for _, o := range f.Options[1:] {
		c := incident(t, 1).Prices.Classes[o.Class]
		k := fmt.Sprint(c.GiB, c.Cores, c.Processor)
		if kinds[k] {
			t.Errorf("%s stands beside one like it", o.Name)
		}
		kinds[k] = true
	}
}

// Memory in one's own machine has a price once a price file says it; a smaller pool is risky for its own reasons.
func TestMemoryInAMachineOfOnesOwn(t *testing.T) {
	in := incident(t, 1800)
	in.Class, in.Volume = "", nil
	in.Memory.Curve.Points = []advise.Point{
		{Bytes: 12 << 30, Reads: 2400, Low: 2300, High: 2500}, {Bytes: 24 << 30, Reads: 1800, Low: 1700, High: 1900}, {Bytes: 48 << 30, Reads: 900, Low: 800, High: 1000},
	}
	f := finding(t, Report(in), "memory")
	if o := option(t, f, "leave it"); o.Price.Known() || !strings.Contains(o.Price.Unknown, "gib_month") {
		t.Errorf("a price that nobody gave: %+v", o.Price)
	}
	in.Prices.Regions["us-east-1"] = price.Region{Memory: &price.MemoryPrice{GiB: 3, Source: "guide"}}
	f = finding(t, Report(in), "memory")
	leave, larger, smaller := option(t, f, "leave it"), option(t, f, "a buffer pool of 48 GiB"), option(t, f, "a buffer pool of 12 GiB")
	if leave.Price.Month != 72 || larger.Price.Month != 144 || larger.Change.Month != 72 || smaller.Change.Month != -36 || larger.Price.Date == "" {
		t.Errorf("%+v\n%+v\n%+v", leave.Price, larger, smaller)
	}
	if strings.Contains(smaller.Risk, "memory free") || !strings.Contains(smaller.Risk, "reads from disk increase") || !strings.Contains(larger.Risk, "memory free") {
		t.Errorf("%s; %s", smaller.Risk, larger.Risk)
	}
}

func TestWhatIsNotKnownIsSaid(t *testing.T) {
	in := incident(t, 1800)
	in.Class, in.Volume = "", nil
	r := Report(in)
	if len(r.Unknown) != 2 || len(r.Findings) != 1 {
		t.Errorf("%q", r.Unknown)
	}
	in.Memory, in.NoMemory = nil, "the server was just started."
	if r := Report(in); len(r.Findings) != 0 || !strings.Contains(r.Unknown[0], "just started") {
		t.Errorf("%+v", r)
	}
}

// What one server reads says nothing about its replicas, whose readers are others.
func TestAPredictionIsOfOneServer(t *testing.T) {
	in := incident(t, 1800)
	said := func() string { return strings.Join(Report(in).Unknown, " ") }
	if alone := said(); strings.Contains(alone, "Other servers") {
		t.Errorf("of a single server: %s", alone)
	}
	in.Replicas = true
	if text := said(); !strings.Contains(text, "the curve of n1 says nothing about them. Observe each: --node") {
		t.Errorf("of one with replicas: %s", text)
	}
}

func TestAReadingThatIsCutOff(t *testing.T) {
	in := incident(t, 2800)
	in.Volume = &storage.Volume{Type: "gp3", GiB: 200, Managed: true}
	if f := finding(t, Report(in), "storage"); !f.Urgent || !strings.Contains(strings.Join(f.Evidence, " "), "cut off") {
		t.Errorf("%q %q", f.Title, f.Evidence)
	}
}
