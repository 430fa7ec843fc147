package findings

import (
	"math"
	"strings"
	"testing"

	"plimsoll/advise"
)

// onAurora is the incident's load on an Aurora cluster of two instances with 800 GiB.
func onAurora(t *testing.T, billed float64) Input {
	t.Helper()
	in := incident(t, 1800)
	in.Volume, in.Class = nil, "db.r6g.2xlarge"
	in.RDS, in.Aurora = true, &Aurora{Name: "users", Named: true, Configuration: Standard, Classes: []string{"db.r6g.2xlarge", "db.r6g.2xlarge"}, GiB: 800, Days: 14}
	half := func(v float64) *advise.Figure {
		return &advise.Figure{Mean: v / 2, Low: 0.9 * v / 2, High: 1.2 * v / 2}
	}
	if billed > 0 {
		in.Aurora.Reads, in.Aurora.Writes = half(billed), half(billed)
	}
	return in
}

// Of AWS's own example: 1,200 million requests a month are 456.6 a second, at which I/O-Optimized costs USD 315 more; it pays from 1,055 a second on.
func TestAuroraIsPricedByItsRequests(t *testing.T) {
	for name, c := range map[string]struct {
		billed float64
		title  string
		best   string
	}{
		"few requests":  {456.6, "Standard is the cheaper configuration, by USD 315 a month", "leave it"},
		"many":          {3000, "I/O-Optimized would cost USD 1022 a month less than Standard", "I/O-Optimized"},
		"just as many":  {1055, "cost about the same", "leave it"},
		"none is known": {0, "the cost of its requests is not known", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := Report(onAurora(t, c.billed))
			f := finding(t, r, "storage")
			if !strings.Contains(f.Title, c.title) {
				t.Errorf("%q, want %q", f.Title, c.title)
			}
			if text := strings.Join(r.Unknown, " ") + strings.Join(f.Evidence, " "); strings.Contains(text, "--volume") || !strings.Contains(text, "no volume, no burst bucket") || !strings.Contains(text, "cheaper from 1055 billed requests per second") {
				t.Errorf("what is said of Aurora: %s", text)
			}
			for _, o := range f.Options {
				if want := c.best != "" && strings.HasPrefix(o.Name, c.best); o.Advised != want {
					t.Errorf("%s: advised %v, want %v", o.Name, o.Advised, want)
				}
			}
			leave, other := option(t, f, "leave it"), option(t, f, "I/O-Optimized")
			if c.billed == 0 {
				if leave.Price.Known() || !strings.Contains(leave.Price.Unknown, "requests") || !other.Price.Known() {
					t.Errorf("%+v, %+v", leave.Price, other.Price)
				}
				return
			}
			if want := c.billed * 2.628e6 / 1e6 * 0.2; math.Abs(leave.Price.Month-1515.48-80-want) > 0.1 || leave.Price.Low >= leave.Price.Month || leave.Price.High <= leave.Price.Month {
				t.Errorf("Standard costs %+v", leave.Price)
			}
			if e := effectOf(t, other, "billed requests per second"); e.Then != 0 || math.Abs(e.Now-c.billed) > 1e-6 || math.Abs(other.Price.Month-2150.1) > 0.1 {
				t.Errorf("%+v, %+v", e, other.Price)
			}
			if !strings.Contains(other.Risk, "--db-cluster-identifier users --storage-type aurora-iopt1") || !strings.Contains(other.Undo, "at any time") {
				t.Errorf("%s; %s", other.Risk, other.Undo)
			}
		})
	}
	in := onAurora(t, 456.6)
	in.Aurora.Configuration = IOOptimized
	f := finding(t, Report(in), "storage")
	if back := option(t, f, "Standard"); !back.Advised || !strings.Contains(back.Risk, "--storage-type aurora ") || back.Change.Month > -300 {
		t.Errorf("back to Standard: %+v", back)
	}
}

// What Plimsoll is not told of a cluster is named, and no price is made up for it.
func TestWhatIsNotKnownOfAnAuroraCluster(t *testing.T) {
	in := onAurora(t, 500)
	in.Aurora.Classes, in.Aurora.Configuration = nil, ""
	f := finding(t, Report(in), "storage")
	if o := option(t, f, "leave it"); o.Price.Known() || !strings.Contains(o.Price.Unknown, "classes") || !strings.Contains(strings.Join(f.Evidence, " "), "assumed to be Standard") {
		t.Errorf("without classes: %+v, %q", o.Price, f.Evidence)
	}
	if said := strings.Join(f.Evidence, " "); !strings.Contains(said, "depends on the classes of the instances: --class") {
		t.Errorf("what would tell from when on I/O-Optimized is cheaper is not said: %s", said)
	}
	in = onAurora(t, 500)
	in.Aurora.GiB, in.Memory.Data = 0, 0
	f = finding(t, Report(in), "storage")
	if o := option(t, f, "leave it"); o.Price.Known() || !strings.Contains(o.Price.Unknown, "size") || !strings.Contains(strings.Join(f.Evidence, " "), "depends on the size of the data") {
		t.Errorf("without the size of its data: %+v, %q", o.Price, f.Evidence)
	}
}

// Memory on Aurora is that of classes, at Aurora's prices, and each read less is a request less that is billed.
func TestMemoryOnAurora(t *testing.T) {
	f := finding(t, Report(onAurora(t, 500)), "memory")
	o := option(t, f, "db.r6g.4xlarge")
	if want := 2.076 * 730; math.Abs(o.Price.Month-want) > 0.01 || !strings.Contains(o.Copy, "aurora/add-reader") {
		t.Errorf("%+v, %s", o.Price, o.Copy)
	}
	if said := strings.Join(f.Evidence, " "); !strings.Contains(said, "a read per second less saves USD 0.53 a month") {
		t.Errorf("%s", said)
	}
	in := onAurora(t, 500)
	in.Class = ""
	if f := finding(t, Report(in), "memory"); len(f.Options) != 1 {
		t.Errorf("a pool cannot be resized by itself there: %+v", f.Options)
	}
}
