package advisecmd

import (
	"math"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/cluster"
	"plimsoll/inventory"
	"plimsoll/watch/storage"
)

// A database is priced in the region that it runs in, and not at all where the catalogue does not have that region.
func TestPricesAreOfTheRegionOfTheCluster(t *testing.T) {
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	zurich := &cluster.AWS{Region: "eu-central-2"}
	for _, c := range []struct {
		name, flag, environment string
		at                      *cluster.AWS
		want                    string
	}{
		{"of the inventory", "", "", zurich, "eu-central-2"},
		{"the flag comes first", "eu-west-1", "", zurich, "eu-west-1"},
		{"not at AWS", "", "", nil, "us-east-1"},
		{"of the person's configuration", "", "eu-central-1", &cluster.AWS{}, "eu-central-1"},
		{"nobody says which", "", "", &cluster.AWS{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("AWS_REGION", c.environment)
			o := Options{Region: c.flag}
			if got := o.region(t.Context(), c.at); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	o := Options{}
	in, err := o.input(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	in.Class, in.Volume, in.Balance = "db.m5.2xlarge", &storage.Volume{Type: "gp2", GiB: 80, Managed: true}, math.NaN()
	in.Seen = &advise.Seen{Disk: &advise.DiskUse{IOPS: advise.Figure{Mean: 300, Low: 290, High: 310}, Peak: 320}}
	in.Prices.Region = o.region(t.Context(), zurich)
	r := findings.Report(in)
	for _, option := range r.Findings[0].Options {
		if option.Price.Known() || option.Change.Known() && option.Name != "leave it" || option.Advised || option.Price.Unknown != "the catalogue has no prices of eu-central-2" {
			t.Errorf("%s: %+v, %+v, advised %v", option.Name, option.Price, option.Change, option.Advised)
		}
	}
	at := (&instanceOptions{}).places(t.Context(), &inventory.Inventory{Clusters: map[string]inventory.Cluster{"shop": {AWS: &inventory.AWS{Region: "eu-central-2"}}}}, map[string]string{"shop": "db.m5.2xlarge"})
	if p := at("shop", "n1"); p.Region != "eu-central-2" || p.Class != "db.m5.2xlarge" {
		t.Errorf("advise instance: %+v", p)
	}
	if p := at("blog", "n1"); p.Region != "us-east-1" || p.Class != "" {
		t.Errorf("advise instance: %+v", p)
	}
}
