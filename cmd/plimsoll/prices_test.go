package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/advise/price"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/infra/aws/awstest"
)

// The Price List of this test is a stand-in, awstest, which speaks its format: no account of AWS was there to be asked.
func TestPricesAreUpdated(t *testing.T) {
	cloud := awstest.New(t)
	instance := func(region, class, engine, zones, usd string) awstest.PriceEntry {
		return awstest.PriceEntry{Service: "AmazonRDS", Family: "Database Instance", Unit: "Hrs", USD: usd, Reserved: "Hrs", Attributes: map[string]string{
			"regionCode": region, "instanceType": class, "databaseEngine": engine, "deploymentOption": zones, "usagetype": "EUC1-InstanceUsage:" + class,
		}}
	}
	storage := func(region, family, usage, unit, usd string) awstest.PriceEntry {
		return awstest.PriceEntry{Service: "AmazonRDS", Family: family, Unit: unit, USD: usd, Attributes: map[string]string{
			"regionCode": region, "databaseEngine": "Any", "deploymentOption": "Single-AZ", "usagetype": "EUC1-" + usage,
		}}
	}
	own := func(family, usage, unit, usd string) awstest.PriceEntry {
		return awstest.PriceEntry{Service: "AmazonEC2", Family: family, Unit: unit, USD: usd, Attributes: map[string]string{"regionCode": "eu-central-1", "usagetype": "EUC1-" + usage}}
	}
	cloud.Prices.Add("2026-11-20T08:00:00Z",
		instance("eu-central-1", "db.m5.2xlarge", "MySQL", "Single-AZ", "0.8120000000"), instance("eu-central-1", "db.m5.2xlarge", "MySQL", "Multi-AZ", "1.6240000000"),
		instance("eu-central-1", "db.m5.2xlarge", "Oracle", "Single-AZ", "3.0000000000"), instance("eu-central-1", "db.r6g.2xlarge", "MySQL", "Single-AZ", "1.0500000000"),
		instance("us-east-1", "db.m5.2xlarge", "MySQL", "Single-AZ", "0.6840000000"), instance("eu-central-1", "db.r6g.4xlarge", "MySQL", "Single-AZ", "2.1000000000"),
		instance("eu-central-1", "db.r6g.8xlarge", "MySQL", "Single-AZ", "4.2000000000"),
		storage("eu-central-1", "Database Storage", "RDS:GP2-Storage", "GB-Mo", "0.1370000000"), storage("eu-central-1", "Database Storage", "RDS:GP3-Storage", "GB-Mo", "0.1370000000"),
		storage("eu-central-1", "Provisioned IOPS", "RDS:GP3-PIOPS", "IOPS-Mo", "0.0240000000"), storage("us-east-1", "Database Storage", "RDS:GP2-Storage", "GB-Mo", "0.1150000000"),
		own("Storage", "EBS:VolumeUsage.gp3", "GB-Mo", "0.0952000000"), own("System Operation", "EBS:VolumeP-IOPS.gp3", "IOPS-Mo", "0.0060000000"),
		own("Provisioned Throughput", "EBS:VolumeP-Throughput.gp3", "GiBps-mo", "49.1520000000"), own("Storage", "EBS:VolumeUsage.io2", "GB-Mo", "0.1490000000"),
		own("System Operation", "EBS:VolumeP-IOPS.io2", "IOPS-Mo", "0.0780000000"), own("System Operation", "EBS:VolumeP-IOPS.io2.tier2", "IOPS-Mo", "0.0546000000"),
		own("Storage", "EBS:SnapshotUsage", "GB-Mo", "0.0540000000"),
		awstest.PriceEntry{Service: "AmazonElastiCache", Family: "Cache Instance", Unit: "Hrs", USD: "0.0528000000", Attributes: map[string]string{
			"regionCode": "eu-central-1", "instanceType": "cache.t4g.medium", "cacheEngine": "Valkey", "memory": "3.09 GiB", "usagetype": "EUC1-NodeUsage:cache.t4g.medium",
		}})
	cloud.Fail("GetProducts", awstest.Throttled)
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	say := func(args ...string) (string, int) {
		t.Helper()
		var out, err strings.Builder
		status := program(t.Context(), args, console.Streams{In: strings.NewReader(""), Out: &out, Err: &err})
		return out.String() + err.String(), status
	}
	if text, status := say("prices", "update", "--region", "eu-central-1", "--endpoint", cloud.URL); status != 0 || !strings.Contains(text, "4 classes, 2 kinds of RDS volumes and 2 of EBS, 1 nodes of caches") {
		t.Fatalf("status %d: %s", status, text)
	}
	if text, status := say("prices", "update", "--region", "us-east-1", "--endpoint", cloud.URL); status != 0 {
		t.Fatalf("status %d: %s", status, text)
	}
	file := filepath.Join(os.Getenv("PLIMSOLL_HOME"), "prices.yaml")
	c, err := price.Load(file)
	if err != nil {
		text, _ := os.ReadFile(file)
		t.Fatalf("%v\n%s", err, text)
	}
	now := time.Now()
	of := price.Of{Catalogue: c, Region: "eu-central-1", Now: now}
	for name, want := range map[string]struct{ got, want float64 }{
		"class":      {of.Class("db.m5.2xlarge").Month, 0.812 * 730},
		"gp3":        {of.Volume("gp3", 100, 1000, 0, true).Month, 13.7 + 24},
		"cache":      {of.Cache("cache.t4g.medium").Month, 0.0528 * 730},
		"us":         {price.Of{Catalogue: c, Region: "us-east-1", Now: now}.Class("db.m5.2xlarge").Month, 0.684 * 730},
		"own gp3":    {of.Volume("gp3", 100, 1000, 0, false).Month, 9.52 + 6},
		"throughput": {c.Regions["eu-central-1"].EBS["gp3"].MBps, 0.048},
		"own io2":    {of.Volume("io2", 100, 1000, 0, false).Month, 14.9 + 78},
		"memory":     {c.Caches["cache.t4g.medium"].GiB, 3.09},
	} {
		if math.Abs(want.got-want.want) > 1e-6 {
			t.Errorf("%s is %g, want %g", name, want.got, want.want)
		}
	}
	if p := of.Class("db.m5.2xlarge"); p.Date != now.UTC().Format(time.DateOnly) || !strings.Contains(p.Source, "published on 2026-11-20") || p.Old {
		t.Errorf("where it is from: %+v", p)
	}
	if p := (price.Of{Catalogue: c, Region: "us-east-1", Now: now}).Class("db.r5.large"); !p.Known() || strings.Contains(p.Source, "Price List") {
		t.Errorf("what the update did not say is the catalogue's: %+v", p)
	}
	for name, args := range map[string][]string{
		"no region of the cloud": {"prices", "update", "--region", "mars-1", "--endpoint", cloud.URL},
		"no address":             {"prices", "update", "--endpoint", "http://127.0.0.1:1"},
	} {
		before, _ := os.ReadFile(file)
		if text, status := say(args...); status == 0 {
			t.Errorf("%s: %s", name, text)
		}
		if after, _ := os.ReadFile(file); string(after) != string(before) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}
