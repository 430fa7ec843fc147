package findings

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/price"
	"plimsoll/watch/storage"
)

// No smaller class is listed before there are two weeks of history: not from a look at the server, which is none, and not by advise instance.
func TestNoSmallerClassWithoutHistory(t *testing.T) {
	in := incident(t, 100)
	in.Class = "db.r5.4xlarge"
	was := in.Prices.Classes[in.Class]
	f := finding(t, Report(in), "memory")
	if said := strings.Join(f.Evidence, " "); !strings.Contains(said, "No smaller class is listed: one is judged by its server's history. When plimsoll watch has recorded 14 days of it, ask plimsoll advise instance users/n1 --class db.r5.4xlarge.") {
		t.Errorf("%s", said)
	}
	listed := f.Options
	h := kept(t, "db.r5.4xlarge", 13, 13)
	h.Pool, h.IOPS = 2<<30, nil
	h.From, h.CPU = h.To.Add(-48*time.Hour), h.CPU[:576]
	for i := range h.CPU {
		h.CPU[i] = 13
	}
	// A class with more processors and less memory, as a price file of one's own may have it.
	h.Prices.Classes["db.c5.9xlarge"] = price.Class{Cores: 36, GiB: 72, Processor: "x86_64", IOPS: 20000}
	h.Prices.Regions["us-east-1"].Classes["db.c5.9xlarge"] = price.ClassPrice{Hour: 1.5, Source: "several"}
	in.Prices = h.Prices
	short, _ := Instance(h)
	if !short.Urgent || len(short.Options) < 2 {
		t.Fatalf("%+v", short)
	}
	for _, o := range append(listed, short.Options...) {
		if c, known := in.Prices.Classes[cmp.Or(o.Class, o.Name)]; known && (c.Cores < was.Cores || c.GiB < was.GiB) {
			t.Errorf("%s is smaller than db.r5.4xlarge", o.Name)
		}
	}
}

// gp2 that has room is answered by gp3 of the same size that gives no less, and by one with less throughput that costs less still.
func TestAVolumeWithRoomMayCostLess(t *testing.T) {
	in := scanning(t, storage.Volume{Type: "gp2", GiB: 800}, "", 4)
	f := finding(t, Report(in), "storage")
	if !strings.Contains(f.Title, "has headroom") || f.Options[0].Advised {
		t.Fatalf("%+v", f)
	}
	// 20 % of USD 80, less the 125 MiB/s beyond those that are included, at USD 0.04 each
	if o := option(t, f, "gp3 of 800 GiB with 3000 operations a second and 250 MiB a second"); math.Abs(o.Change.Month+11) > 0.01 || !o.Advised || o.Volume != "gp3:800GiB:3000:250" {
		t.Errorf("%+v", o)
	}
	o := f.Options[len(f.Options)-1]
	if e := effectOf(t, o, throughput); o.Name != "gp3 of 800 GiB with 3000 operations a second" || math.Abs(o.Change.Month+16) > 0.01 || o.Advised || e.Now != 250<<20 || e.Then != 125<<20 || !strings.Contains(o.Risk, "125 MiB per second at most, and not 250") {
		t.Errorf("%+v", o)
	}
	for _, g := range []float64{30, 200, 400, 900, 2000, 5000} {
		for _, managed := range []bool{true, false} {
			v := storage.Volume{Type: "gp2", GiB: g, Managed: managed}
			t.Run(fmt.Sprint(g, managed), func(t *testing.T) {
				in := incident(t, 1800)
				in.Memory, in.Balance, in.Volume, in.Class = nil, 1, &v, ""
				in.Seen = &advise.Seen{Disk: &advise.DiskUse{IOPS: advise.Figure{Mean: 4, Low: 3, High: 5}, Peak: 6, Bytes: 4 * 16384, PeakBytes: 6 * 16384}}
				for _, o := range finding(t, Report(in), "storage").Options[1:] {
					if o.Change.Month > 0.5 || o.Advised && (o.Change.Month > -0.5 || o.Effects[0].Then < v.Burst() || effectOf(t, o, throughput).Then < v.Throughput()) {
						t.Errorf("%s: %+v", o.Name, o)
					}
				}
			})
		}
	}
	for _, v := range []storage.Volume{{Type: "gp3", GiB: 800}, {Type: "io1", GiB: 800, IOPS: 3000}} {
		if f := finding(t, Report(scanning(t, v, "", 4)), "storage"); len(f.Options) != 1 {
			t.Errorf("%+v: %+v", v, f.Options)
		}
	}
}
