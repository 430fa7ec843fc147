package main

import (
	"fmt"
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

// The Price List answers in pages, some of them late, twice or not at all: what is written is all of it, each figure once, or nothing.
func TestPricesAreUpdatedThroughTrouble(t *testing.T) {
	const classes = 23 // eight pages of three
	cloud := awstest.New(t)
	for n := range classes {
		cloud.Prices.Add("2026-11-20T08:00:00Z", awstest.PriceEntry{Service: "AmazonRDS", Family: "Database Instance", Unit: "Hrs", USD: fmt.Sprintf("0.%02d00000000", n+1), Reserved: "Hrs", Attributes: map[string]string{
			"regionCode": "eu-central-1", "instanceType": fmt.Sprintf("db.r%dg.large", n+1), "databaseEngine": "MySQL", "deploymentOption": "Single-AZ", "usagetype": "EUC1-InstanceUsage:x",
		}})
	}
	cloud.Prices.Add("2026-11-20T08:00:00Z", awstest.PriceEntry{Service: "AmazonRDS", Family: "Database Storage", Unit: "GB-Mo", USD: "0.1370000000", Attributes: map[string]string{
		"regionCode": "eu-central-1", "databaseEngine": "Any", "usagetype": "EUC1-RDS:GP2-Storage",
	}})
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	file := filepath.Join(os.Getenv("PLIMSOLL_HOME"), "prices.yaml")
	update := func() (string, int) {
		var out, err strings.Builder
		status := program(t.Context(), []string{"prices", "update", "--region", "eu-central-1", "--endpoint", cloud.URL}, console.Streams{In: strings.NewReader(""), Out: &out, Err: &err})
		return out.String() + err.String(), status
	}
	// In the middle of the pages of the first question.
	cloud.Fail("GetProducts", "", "", awstest.Lost, "", awstest.Broken, "", awstest.Throttled)
	if text, status := update(); status != 0 || !strings.Contains(text, "23 classes, 1 kinds of RDS volumes") {
		t.Fatalf("status %d: %s", status, text)
	}
	c, err := price.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range classes {
		name, want := fmt.Sprintf("db.r%dg.large", n+1), float64(n+1)/100
		if got := c.Regions["eu-central-1"].Classes[name].Hour; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s costs %g an hour, want %g", name, got, want)
		}
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for fault, hint := range map[awstest.Fault]string{
		awstest.Denied:  "hint: the credentials lack the permission pricing:GetProducts",
		awstest.Expired: "hint: the credentials have expired: log in again",
		awstest.Unknown: "hint: AWS does not accept the credentials",
		awstest.Broken:  "InternalErrorException",
	} {
		cloud.Fail("GetProducts", "", "", "", fault, fault, fault) // as often as it is asked again
		if text, status := update(); status != console.ExitTrouble || !strings.Contains(text, hint) {
			t.Errorf("%s: status %d: %s", fault, status, text)
		}
		if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
			t.Errorf("%s: the file was changed, %v", fault, err)
		}
		cloud.Heal("GetProducts")
	}
}

// Where there are no credentials, it is said how to have some.
func TestPricesWithoutCredentials(t *testing.T) {
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "PLIMSOLL_HOME": t.TempDir(), "AWS_EC2_METADATA_DISABLED": "true", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": filepath.Join(t.TempDir(), "config"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(t.TempDir(), "credentials"),
	} {
		t.Setenv(name, value)
	}
	var out, err strings.Builder
	if status := program(t.Context(), []string{"prices", "update"}, console.Streams{In: strings.NewReader(""), Out: &out, Err: &err}); status != console.ExitTrouble || !strings.Contains(err.String(), "hint: Plimsoll uses the credentials of the AWS command line: log in") {
		t.Errorf("status %d: %s", status, err.String())
	}
}

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
