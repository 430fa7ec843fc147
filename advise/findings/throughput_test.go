package findings

import (
	"math"
	"strings"
	"testing"

	"plimsoll/advise"
	"plimsoll/watch/storage"
)

// scanning is a server that reads much with few operations.
func scanning(t *testing.T, v storage.Volume, class string, mibs float64) Input {
	t.Helper()
	in := incident(t, 1800)
	in.Memory, in.Balance, in.Volume, in.Class, in.RDS = nil, math.NaN(), &v, class, v.Managed
	in.Seen = &advise.Seen{Product: "MySQL", Disk: &advise.DiskUse{IOPS: advise.Figure{Mean: 700, Low: 650, High: 750}, Peak: 800, Bytes: 0.9 * mibs * (1 << 20), PeakBytes: mibs * (1 << 20)}}
	return in
}

// At its throughput a volume holds a server back as it does at its operations: what was seen is cut off, and more of it has a price.
func TestThroughputAtItsLimit(t *testing.T) {
	own := storage.Volume{Type: "gp3", GiB: 800}
	f := finding(t, Report(scanning(t, own, "", 124)), "storage")
	if !f.Urgent || !strings.Contains(f.Title, "at its limit of 125 MiB per second, set by the volume: the real demand may be higher") || !strings.Contains(strings.Join(f.Evidence, " "), "cut off at the limit") {
		t.Errorf("%q: %q", f.Title, f.Evidence)
	}
	o := option(t, f, "gp3 of 800 GiB with 3000 operations a second and 200 MiB a second")
	// 124/0.7 is 177.1, sold by 25: 75 MiB/s more than the 125 that are included, at USD 0.04.
	if e := effectOf(t, o, throughput); e.Then != 200<<20 || e.Now != 125<<20 || math.Abs(o.Change.Month-75*0.04) > 1e-9 || !o.Advised || o.Volume != "gp3:800GiB:3000:200" {
		t.Errorf("%+v, %+v, %q, advised %v", e, o.Change, o.Volume, o.Advised)
	}
	if !strings.Contains(o.Rehearse, "throughput: 200") {
		t.Errorf("%s", o.Rehearse)
	}
	// io2 gives a quarter of a MiB/s for each operation.
	if o := option(t, f, "io2 of 800 GiB with 1200 operations"); effectOf(t, o, throughput).Then != 300<<20 {
		t.Errorf("%+v", o)
	}
	if f := finding(t, Report(scanning(t, own, "", 100)), "storage"); f.Urgent || !strings.Contains(f.Title, "80 % of the throughput that the volume sustains") || len(f.Options) < 2 {
		t.Errorf("%q, %d options", f.Title, len(f.Options))
	}
	if f := finding(t, Report(scanning(t, own, "", 50)), "storage"); !strings.Contains(f.Title, "has headroom") || len(f.Options) != 1 {
		t.Errorf("%q, %d options", f.Title, len(f.Options))
	}
}

// On RDS nothing can be bought for gp3 below 400 GiB, and the throughput of RDS's gp3 has no public price.
func TestThroughputOnRDS(t *testing.T) {
	f := finding(t, Report(scanning(t, storage.Volume{Type: "gp3", GiB: 200, Managed: true}, "db.r5.8xlarge", 124)), "storage")
	for _, o := range f.Options {
		if strings.HasPrefix(o.Name, "gp3 of 200 GiB") {
			t.Errorf("%s cannot be had", o.Name)
		}
	}
	if o := option(t, f, "gp3 of 400 GiB: 12,000 operations"); effectOf(t, o, throughput).Then != 500<<20 || !o.Advised {
		t.Errorf("four volumes: %+v", o)
	}
	f = finding(t, Report(scanning(t, storage.Volume{Type: "gp3", GiB: 800, Managed: true}, "db.r5.8xlarge", 495)), "storage")
	o := option(t, f, "gp3 of 800 GiB with 12000 operations a second and 725 MiB a second")
	if o.Price.Known() || !strings.Contains(o.Price.Unknown, "throughput of gp3") || !strings.Contains(o.Do, "-i throughput=725") {
		t.Errorf("%+v, %s", o.Price, o.Do)
	}
}

// A class may carry less than its volume: another volume changes nothing, and says so.
func TestTheClassLimitsThroughput(t *testing.T) {
	f := finding(t, Report(scanning(t, storage.Volume{Type: "gp3", GiB: 800, Managed: true}, "db.m5.large", 70)), "storage")
	if !strings.Contains(f.Title, "90 % of the throughput that the instance sustains") {
		t.Errorf("%q", f.Title)
	}
	for _, o := range f.Options {
		if e := effectOf(t, o, throughput); o.Advised || e.Then != 81.2e6 || e.Note != "the class allows no more" {
			t.Errorf("%s: advised %v, %+v", o.Name, o.Advised, e)
		}
	}
}
