package price

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var today = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

func TestEveryFigureHasItsSource(t *testing.T) {
	c, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for region, r := range c.Regions {
		for class, p := range r.Classes {
			if _, there := c.Sources[p.Source]; !there {
				t.Errorf("%s in %s: no source %q", class, region, p.Source)
			}
			if _, there := c.Classes[class]; !there {
				t.Errorf("%s has a price and no hardware", class)
			}
		}
		for node, p := range r.Caches {
			if _, there := c.Sources[p.Source]; !there || c.Caches[node].GiB <= 0 {
				t.Errorf("%s in %s has no source, or no memory", node, region)
			}
		}
		for kind, p := range r.RDS {
			if _, there := c.Sources[p.Source]; !there {
				t.Errorf("%s in %s: no source %q", kind, region, p.Source)
			}
		}
	}
	for name, s := range c.Sources {
		if _, err := time.Parse(time.DateOnly, s.Date); err != nil {
			t.Errorf("source %s: %v", name, err)
		}
	}
}

func TestPrices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ours.yaml")
	if err := os.WriteFile(file, []byte(`
sources: {contract: {date: 2025-01-01, text: our contract}}
regions:
  us-east-1: {classes: {db.m5.large: {hour: 0.1, source: contract}}}
  mars-1: {classes: {db.m5.large: {hour: 9, source: contract}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	of := Of{Catalogue: c, Region: "us-east-1", Discount: 0.5, Now: today}
	if p := of.Class("db.m5.large"); math.Abs(p.Month-36.5) > 1e-9 || !p.Old || p.Source != "our contract, read on 2025-01-01 (half a year old or more)" {
		t.Errorf("%+v", p)
	}
	if p := of.Class("db.m5.xlarge"); !p.Known() || p.Old || math.Abs(p.Month-0.342*730/2) > 1e-9 {
		t.Errorf("the file hides what it does not say: %+v", p)
	}
	if p := of.Volume("gp3", 400, 3000, 0, true); math.Abs(p.Month-(0.115*400+0.02*3000)/2) > 1e-9 {
		t.Errorf("%+v", p)
	}
	if p := of.Volume("gp3", 100, 1000, 375, false); math.Abs(p.Month-(8+5+15)/2.0) > 1e-9 {
		t.Errorf("throughput of one's own volume: %+v", p)
	}
	for name, p := range map[string]interface{ Known() bool }{
		"a class":           of.Class("db.x2.large"),
		"a volume":          of.Volume("gp2", 100, 500, 0, true),
		"throughput on RDS": of.Volume("gp3", 400, 0, 100, true),
		"a region":          Of{Catalogue: c, Region: "moon-1"}.Class("db.m5.large"),
	} {
		if p.Known() {
			t.Errorf("%s that is not in the catalogue has a price", name)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that is not there is read")
	}
}

// A sum has the sources of its parts, each with its date, and calls the old one old.
func TestTheSourcesOfASum(t *testing.T) {
	c, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	of := Of{Catalogue: c, Region: "us-east-1", Now: today.Add(30 * 24 * time.Hour)}
	p := of.Class("db.m5.2xlarge").Plus(of.Volume("gp2", 80, 0, 0, true))
	if want := c.Sources["several"].Text + ", read on 2026-11-23; " + c.Sources["guide"].Text + ", read on 2026-06-01 (half a year old or more)"; p.Source != want || p.Date != "2026-06-01" || !p.Old {
		t.Errorf("%q, %s", p.Source, p.Date)
	}
}

// Other regions than us-east-1 have the prices that could be read, with their interval and their age; what could not is unknown.
func TestPricesOfOtherRegions(t *testing.T) {
	c, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	of := Of{Catalogue: c, Region: "ap-northeast-2", Now: today}
	p := of.Class("db.r5.2xlarge")
	if math.Abs(p.Month-1.14*Hours) > 1e-9 || math.Abs(p.High/p.Month-1.02) > 1e-9 || !p.Old || !strings.HasSuffix(p.Source, ", read on 2021-03-30 (more than 5 years old)") {
		t.Errorf("%+v", p)
	}
	if p := of.Volume("gp3", 100, 0, 0, true); math.Abs(p.Month-13.1) > 1e-9 || p.Old {
		t.Errorf("%+v", p)
	}
	if p := of.Class("db.r8g.large"); p.Known() || p.Unknown != "the price of db.r8g.large in ap-northeast-2 is not in the catalogue" {
		t.Errorf("%+v", p)
	}
	of.Region = "us-west-2"
	if p := of.Class("db.m5.16xlarge"); p.Known() {
		t.Errorf("the table has the price of a Local Zone there: %+v", p)
	}
}

// A day that has not come yet is no date of a source.
func TestASourceOfTheFuture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ours.yaml")
	if err := os.WriteFile(file, []byte("sources: {contract: {date: 2027-11-01, text: our contract}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(today); err == nil || err.Error() != "the source contract of prices is dated 2027-11-01, which is in the future" {
		t.Errorf("%v", err)
	}
	if err := c.Check(time.Date(2027, 10, 31, 12, 0, 0, 0, time.UTC)); err != nil {
		t.Errorf("it is tomorrow somewhere: %v", err)
	}
}

func TestWrongPricesAreRefused(t *testing.T) {
	for _, text := range []string{"currency: EUR", "regions: {us-east-1: {classes: {x: {hour: -1, source: a}}}}", "region: {}", "sources: {a: {date: last week, text: b}}"} {
		file := filepath.Join(t.TempDir(), "ours.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
