package advisecmd

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/watch/storage"
)

// A class of RDS has volumes of RDS, with their limits and prices; a lab's disk that gives something else does not go with one.
func TestAClassOfRDSHasVolumesOfRDS(t *testing.T) {
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	p := running{class: "db.m5.2xlarge", volume: &storage.Volume{Type: "gp2", GiB: 800}}
	if err := p.managed(); err != nil || !p.volume.Managed || p.volume.Burst() != 12000 {
		t.Fatalf("%+v, %v", p.volume, err)
	}
	o := Options{}
	in, err := o.input(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	in.Class, in.Volume, in.Prices.Region, in.Balance = p.class, p.volume, "us-east-1", math.NaN()
	in.Seen = &advise.Seen{Disk: &advise.DiskUse{IOPS: advise.Figure{Mean: 2500, Low: 2400, High: 2600}, Peak: 2700, Bytes: 2500 * 16384, PeakBytes: 2700 * 16384}}
	f := findings.Report(in).Findings[0]
	if leave := f.Options[0]; math.Abs(leave.Price.Month-(0.684*730+0.115*800)) > 0.01 {
		t.Errorf("%+v", leave.Price)
	}
	for _, option := range f.Options {
		if strings.HasPrefix(option.Name, "gp3 of 800 GiB") && (math.Abs(option.Change.Month) > 0.01 || option.Effects[0].Then != 12000) {
			t.Errorf("gp3 costs as much as gp2 there, and gives 12,000: %+v", option)
		}
	}
	for _, c := range []struct {
		name string
		p    running
		want string
	}{
		{"limits differ", running{class: "db.m5.2xlarge", volume: &storage.Volume{Type: "gp2", GiB: 800}, lab: &findings.LabDisk{Name: "demo", Scale: 0.1}}, "plimsoll lab disk demo --set gp2:800GiB,managed,scale=1/10"},
		{"they are the same", running{class: "db.m5.2xlarge", volume: &storage.Volume{Type: "gp2", GiB: 80}, lab: &findings.LabDisk{Name: "demo", Scale: 1}}, ""},
	} {
		err := c.p.managed()
		var refused console.UsageError
		if is := errors.As(err, &refused); is != (c.want != "") || !strings.Contains(refused.Hint, c.want) || !is && !c.p.volume.Managed {
			t.Errorf("%s: %v, %q", c.name, err, refused.Hint)
		}
	}
	unclassed := running{rds: true, volume: &storage.Volume{Type: "gp2", GiB: 800}}
	if err := unclassed.managed(); err != nil || unclassed.volume.Burst() != 12000 {
		t.Errorf("an instance of RDS whose class nobody knows: %+v, %v", unclassed.volume, err)
	}
	own := running{class: "m5.2xlarge", volume: &storage.Volume{Type: "gp2", GiB: 800}}
	if err := own.managed(); err != nil || own.volume.Managed {
		t.Errorf("a class of a price file that is none of RDS's: %+v, %v", own.volume, err)
	}
}
