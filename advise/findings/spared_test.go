package findings

import (
	"math"
	"slices"
	"strings"
	"testing"

	"plimsoll/advise"
	"plimsoll/watch/storage"
)

// fullScan is the incident, whose reads are nearly all of one statement that an index would spare.
func fullScan(t *testing.T) Input {
	in := incident(t, 1800)
	in.Statements = &advise.Statements{Source: "counters", All: []advise.Statement{{
		Digest: "d", Text: "SELECT plan FROM users WHERE handle = ?", Database: "app", Table: "app.users", Calls: 1, Examined: 800_000, Returned: 1, Plain: true,
		Reads: advise.Figure{Mean: 1795, Low: 1790, High: 1800}, Access: "ALL", Equal: []string{"handle"}, Asked: []string{"plan"},
		Shape: &advise.TableSize{
			Rows: 20e6, Pages: 800_000, CachedRows: 150_000, PageSize: 16 << 10,
			Columns: map[string]int64{"id": 8, "handle": 8, "plan": 32}, Indexes: map[string][]string{"PRIMARY": {"id"}},
		},
	}}}
	return in
}

// An index that ends the incident stands beside the volumes that would, and is advised instead of them, since it costs nothing. It is checked by its
// reads alone.
func TestAnIndexStandsBesideTheVolumes(t *testing.T) {
	r := Report(fullScan(t))
	f := finding(t, r, "storage")
	index := option(t, f, "an index on app.users (handle)")
	if e := effectOf(t, index, "disk operations per second"); math.Abs(e.Then-205) > 1 || !(e.Low < e.Then && e.Then < e.High) {
		t.Errorf("1,795 of 2,000 operations are gone: %+v", e)
	}
	if e := effectOf(t, index, ended); e.Then != advise.Forever || e.Low != advise.Forever || e.Now > 200 {
		t.Errorf("205 of 600 operations a second leave the bucket full: %+v", e)
	}
	if index.Index != nil || index.When != nil || index.Rehearse == "" || index.Change.Month != 0 {
		t.Errorf("%+v", index)
	}
	for _, about := range []string{"storage", "memory"} {
		f := finding(t, r, about)
		if !option(t, f, "an index on app.users (handle)").Advised {
			t.Errorf("%s: the index is not marked", about)
		}
		if n := len(slices.DeleteFunc(slices.Clone(f.Options), func(o advise.Option) bool { return !o.Advised })); n != 1 {
			t.Errorf("%s: %d options are marked", about, n)
		}
		if slices.Contains(f.Evidence, unmarkedReads) {
			t.Errorf("%s: one is marked, and it is said that none is", about)
		}
	}
	// One that may leave too much is shown and not advised.
	in := fullScan(t)
	in.Statements.All[0].Reads.Low = 1700
	f = finding(t, Report(in), "storage")
	if o := option(t, f, "an index"); o.Advised {
		t.Errorf("500 operations may be left of 600, over the headroom: %+v", o.Effects)
	}
	if !slices.ContainsFunc(f.Options, func(o advise.Option) bool { return o.Advised && strings.HasPrefix(o.Volume, "gp3:") }) {
		t.Error("no volume is advised instead")
	}
}

// A disk at its limit of MiB per second is not relieved by an index that leaves most of its bytes; by one that spares them it is.
func TestAnIndexIsJudgedByTheThroughputThatItLeaves(t *testing.T) {
	for mibs, advised := range map[float64]bool{124: false, 100: true} {
		in := fullScan(t)
		in.Volume, in.Class, in.Memory.PageSize = &storage.Volume{Type: "gp3", GiB: 800}, "", 16<<10
		in.Seen = &advise.Seen{Product: "MySQL", Disk: &advise.DiskUse{IOPS: advise.Figure{Mean: 2000, Low: 1900, High: 2100}, Peak: 2050, Bytes: 20 << 20, PeakBytes: mibs * (1 << 20)}}
		if o := option(t, finding(t, Report(in), "storage"), "an index on app.users (handle)"); o.Advised != advised || effectOf(t, o, throughput).Then != 125<<20 {
			t.Errorf("%.0f MiB per second are asked for, of which 26 are spared, of 125: the index is advised: %v; %+v", mibs, o.Advised, o.Effects)
		}
	}
}

// A read of a lab whose disk is a tenth of the volume stands for ten of the volume, whose price it is divided into.
func TestPricesPerReadAreOfTheWholeVolume(t *testing.T) {
	whole, lab := fullScan(t), fullScan(t)
	lab.Lab = &LabDisk{Name: "demo", Scale: 0.1}
	a, b := option(t, finding(t, Report(whole), "memory"), "db.r6g.2xlarge"), option(t, finding(t, Report(lab), "memory"), "db.r6g.2xlarge")
	if a.PerRead == nil || b.PerRead == nil || math.Abs(*b.PerRead-*a.PerRead/10) > 1e-9 || math.Abs(b.PerReadLow-a.PerReadLow/10) > 1e-9 || math.Abs(b.PerReadHigh-a.PerReadHigh/10) > 1e-9 {
		t.Errorf("%v of the whole, %v of the lab", a.PerRead, b.PerRead)
	}
	f := finding(t, Report(lab), "memory")
	if !strings.Contains(strings.Join(f.Evidence, " "), "1/10 of the volume's limits") {
		t.Errorf("%q", f.Evidence)
	}
	// The operations of the storage are those of the whole volume, and so is what an index takes from them.
	if e := effectOf(t, option(t, finding(t, Report(lab), "storage"), "an index"), "disk operations per second"); math.Abs(e.Now-20000) > 1 || math.Abs(e.Then-2050) > 10 {
		t.Errorf("%+v", e)
	}
}

func TestOfClassesAtOnePriceTheNewestIsListed(t *testing.T) {
	in := incident(t, 1800)
	listed, left := in.cheapest([]string{"db.r5.2xlarge", "db.r6i.2xlarge", "db.r7g.2xlarge", "db.r6g.2xlarge"})
	if !slices.Equal(listed, []string{"db.r6i.2xlarge", "db.r6g.2xlarge"}) || !strings.Contains(strings.Join(left, " "), "costs no more: db.r5.2xlarge, db.r7g.2xlarge.") {
		t.Errorf("%q; %q", listed, left)
	}
	if g := generation("db.m10gd.12xlarge"); g != 10 {
		t.Errorf("generation %d", g)
	}
}

// A class on CPU credits is known, and is not advised in the place of one that has its processors all the time.
func TestClassesOnCredits(t *testing.T) {
	in := incident(t, 1800)
	for _, o := range finding(t, Report(in), "memory").Options {
		if onCredits(o.Class) {
			t.Errorf("%s is advised instead of %s", o.Class, in.Class)
		}
	}
	in.Class = "db.t3.2xlarge"
	r := Report(in)
	if in.Prices.Classes[in.Class].IOPS != 4000 || !strings.Contains(strings.Join(r.Unknown, " "), "db.t3.2xlarge works on CPU credits") {
		t.Errorf("%+v; %q", in.Prices.Classes[in.Class], r.Unknown)
	}
}

// Nothing is said of the limits of a volume that is not known, and a provisioned volume is set back by its figures.
func TestAVolumeWithoutAKnownLimit(t *testing.T) {
	in := incident(t, 1800)
	in.Class, in.Volume = "", &storage.Volume{Type: "local", GiB: 80}
	f := finding(t, Report(in), "storage")
	if text := f.Title + strings.Join(f.Evidence, " "); strings.Contains(text, "0 operations per second sustained") || !strings.Contains(text, "is unknown") || len(f.Options[0].Effects) > 0 {
		t.Errorf("%s: %+v", text, f.Options[0])
	}
	gp3 := storage.Volume{Type: "gp3", GiB: 800, IOPS: 12000, Managed: true}
	in.Volume = &gp3
	more := gp3
	more.IOPS = 16000
	if _, undo := in.changing("", more); undo != "set operations and throughput back to what they were, six hours later" {
		t.Errorf("gp3 with more operations: %s", undo)
	}
	io2 := more
	io2.Type = "io2"
	if _, undo := in.changing("", io2); undo != "change the type back, six hours later" {
		t.Errorf("another type: %s", undo)
	}
}

// Where no option about reads is marked, it is said why.
func TestWhyNoOptionAboutReadsIsMarked(t *testing.T) {
	const said = "No option is marked as advised here"
	in := incident(t, 100)
	f := finding(t, Report(in), "memory")
	if evidence := strings.Join(f.Evidence, " "); len(f.Options) < 2 || !strings.Contains(evidence, said) {
		t.Errorf("%d options: %s", len(f.Options), evidence)
	}
}

// What the storage advises is marked about the reads by what it is, not by how it is called: a volume of the same name as an index is none.
func TestOptionsAreMarkedByWhatTheyAre(t *testing.T) {
	reads := []advise.Option{{Name: "leave it"}, {Name: "an index"}, {Name: "an index"}}
	marked([]advise.Option{{Name: "leave it", Advised: true}, {Name: "an index", Advised: true}, {Name: "called otherwise", Advised: true, Spares: &reads[2]}, {Name: "not advised", Spares: &reads[0]}})
	if reads[0].Advised || reads[1].Advised || !reads[2].Advised {
		t.Errorf("%+v", reads)
	}
}
