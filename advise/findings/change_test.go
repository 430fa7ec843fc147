package findings

import (
	"math"
	"strings"
	"testing"

	"plimsoll/advise"
	"plimsoll/advise/price"
	"plimsoll/watch/storage"
)

// What an option changes is known where the price of what stays is not, and it can be advised.
func TestAChangeIsKnownThoughThePriceOfWhatStaysIsNot(t *testing.T) {
	in := incident(t, 1800)
	in.Class, in.Volume = "db.r8g.2xlarge", &storage.Volume{Type: "gp2", GiB: 80, Managed: true}
	f := finding(t, Report(in), "storage")
	advised := ""
	for _, o := range f.Options {
		if o.Price.Known() || !o.Change.Known() {
			t.Errorf("%s costs %+v, and changes %+v", o.Name, o.Price, o.Change)
		}
		if o.Advised {
			advised = o.Name
		}
	}
	if leave := option(t, f, "leave it"); leave.Change.Month != 0 || advised == "" {
		t.Errorf("%+v; %q is advised", leave.Change, advised)
	}
	if grown := option(t, f, "grow it to 400 GiB"); math.Abs(grown.Change.Month-0.115*320) > 0.01 {
		t.Errorf("%+v", grown.Change)
	}
	in = incident(t, 1800)
	in.Volume = &storage.Volume{Type: "io2", GiB: 200, IOPS: 2000} // EBS's io2 has no price in the catalogue
	if o := option(t, finding(t, Report(in), "memory"), "db.r6i.2xlarge"); o.Price.Known() || math.Abs(o.Change.Month-0.276*730) > 0.01 {
		t.Errorf("%+v, %+v", o.Price, o.Change)
	}
	in.MultiAZ = true
	if o := option(t, finding(t, Report(in), "memory"), "db.r6i.2xlarge"); math.Abs(o.Change.Month-2*0.276*730) > 0.01 {
		t.Errorf("with a standby: %+v", o.Change)
	}
}

// To leave it costs the same in each finding of a report, and an index costs nothing more.
func TestLeavingItHasOnePrice(t *testing.T) {
	for name, of := range map[string]func(Input) Input{
		"a machine of one's own": func(in Input) Input {
			in.Class, in.Volume = "", &storage.Volume{Type: "gp2", GiB: 800}
			return in
		},
		"with the price of its memory": func(in Input) Input {
			in.Class, in.Volume = "", &storage.Volume{Type: "gp2", GiB: 800}
			r := in.Prices.Regions["us-east-1"]
			r.Memory = &price.MemoryPrice{GiB: 3, Source: "guide"}
			in.Prices.Regions["us-east-1"] = r
			return in
		},
		"RDS": func(in Input) Input { return in },
	} {
		t.Run(name, func(t *testing.T) {
			st := lookup()
			st.Keys = nil
			in := of(with(t, st))
			in.Memory.Curve.Points = []advise.Point{{Bytes: 48 << 30, Reads: 900, Low: 800, High: 1000}}
			r := Report(in)
			want := finding(t, r, "storage").Options[0].Price
			for _, f := range r.Findings {
				if p := f.Options[0].Price; !p.Known() || p != want || f.Options[0].Change.Month != 0 || !f.Options[0].Change.Known() {
					t.Errorf("%s: leaving it costs %+v, and in the first finding %+v", f.About, p, want)
				}
				for _, o := range f.Options {
					if strings.HasPrefix(o.Name, "an index") && (o.Price != want || o.Change.Month != 0 || !o.Change.Known()) {
						t.Errorf("%s: %+v, %+v", o.Name, o.Price, o.Change)
					}
				}
			}
		})
	}
}
