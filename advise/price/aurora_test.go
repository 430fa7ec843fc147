package price

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/advise"
)

// The example is of a public tool of AWS: two db.r6g.2xlarge, 800 GiB and 1,200 million requests a month are USD 1,835 in Standard and 2,150 in
// I/O-Optimized.
func TestAurorasTwoConfigurations(t *testing.T) {
	c, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	of := Of{Catalogue: c, Region: "us-east-1", Now: today}
	rate := 1200e6 / Hours / 3600
	classes := func(optimized bool) float64 { return 2 * of.AuroraClass("db.r6g.2xlarge", optimized).Month }
	standard := classes(false) + of.AuroraStorage(800, false).Month + of.AuroraRequests(advise.Figure{Mean: rate}).Month
	optimized := classes(true) + of.AuroraStorage(800, true).Month
	if math.Abs(standard-1835) > 1 || math.Abs(optimized-2150) > 1 {
		t.Errorf("%.0f in Standard and %.0f in I/O-Optimized", standard, optimized)
	}
	if p := of.AuroraRequests(advise.Figure{Mean: 100, Low: 50, High: 200}); !p.Known() || p.High != 4*p.Low || p.Date == "" {
		t.Errorf("requests at an interval of rates: %+v", p)
	}
	elsewhere := Of{Catalogue: c, Region: "moon-1", Now: today}
	for name, p := range map[string]advise.Price{
		"a class": of.AuroraClass("db.x9.large", false), "a class of I/O-Optimized": of.AuroraClass("db.x9.large", true), "a class elsewhere": elsewhere.AuroraClass("db.r6g.large", false),
		"storage": elsewhere.AuroraStorage(1, true), "requests": elsewhere.AuroraRequests(advise.Figure{Mean: 1}), "without a catalogue": Of{}.AuroraClass("db.r6g.large", false),
	} {
		if p.Known() || p.Unknown == "" {
			t.Errorf("%s that is not in the catalogue: %+v", name, p)
		}
	}
}

func TestAFilesPricesOfAuroraStandOverTheCatalogues(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ours.yaml")
	if err := os.WriteFile(file, []byte(`
sources: {contract: {date: 2026-11-01, text: our contract}}
regions:
  us-east-1: {aurora: {classes: {db.r6g.large: {hour: 0.2, source: contract}}, optimized: {db.r6g.large: {hour: 0.25, source: contract}}}}
  eu-central-1: {aurora: {storage: {gib_month: 0.11, million_requests: 0.22, optimized_gib_month: 0.25, source: contract}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	us, eu := Of{Catalogue: c, Region: "us-east-1", Now: today}, Of{Catalogue: c, Region: "eu-central-1", Now: today}
	for name, want := range map[string]struct{ got, want float64 }{
		"a class that it says": {us.AuroraClass("db.r6g.large", false).Month, 146}, "in I/O-Optimized": {us.AuroraClass("db.r6g.large", true).Month, 182.5},
		"one that it does not": {us.AuroraClass("db.r6g.xlarge", false).Month, 0.519 * 730}, "the catalogue's storage": {us.AuroraStorage(100, false).Month, 10},
		"storage of a region": {eu.AuroraStorage(100, true).Month, 25},
	} {
		if math.Abs(want.got-want.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, want.got, want.want)
		}
	}
}
