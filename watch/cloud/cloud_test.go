package cloud_test

import (
	"testing"
	"time"

	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
	"plimsoll/watch"
	"plimsoll/watch/cloud"
)

// All tests here ask a stand-in for AWS, with AWS' own SDK.
func region(t *testing.T) (*awstest.Server, *aws.RDS, *cloud.Region) {
	t.Helper()
	s := awstest.New(t)
	at := aws.Options{Region: "eu-west-1", Endpoint: s.URL}
	rds, err := aws.OpenRDS(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := aws.OpenMetrics(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	return s, rds, cloud.NewRegion(metrics)
}

func TestInstancesAreFoundByTheirTags(t *testing.T) {
	s, rds, _ := region(t)
	mine := map[string]string{"team": "tax"}
	s.Instances.Add(awstest.Instance{ID: "orders", Engine: "mysql", Type: "gp2", GiB: 100, Address: "10.0.0.1:3306", Tags: mine})
	s.Instances.Add(awstest.Instance{ID: "orders-r1", Engine: "mysql", Type: "gp3", GiB: 500, IOPS: 12000, Address: "10.0.0.2:3306", Source: "orders", Tags: mine})
	s.Instances.Add(awstest.Instance{ID: "orders-r2", Engine: "mysql", Type: "gp2", GiB: 100, Address: "10.0.0.3:3306", Source: "orders-r1", Tags: mine})
	s.Instances.Add(awstest.Instance{ID: "pay-1", Engine: "aurora-mysql", Type: "aurora", Address: "10.0.0.4:3306", Cluster: "pay", Tags: mine})
	s.Instances.Add(awstest.Instance{ID: "wiki", Engine: "postgres", Address: "10.0.0.5:5432", Tags: mine})
	s.Instances.Add(awstest.Instance{ID: "others", Engine: "mysql", Address: "10.0.0.6:3306", Tags: map[string]string{"team": "ads"}})
	found, err := cloud.Discover(t.Context(), rds, mine, "production")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Name)
	}
	want := []string{"orders/orders", "orders/orders-r1", "orders/orders-r2", "pay/pay-1"}
	if len(names) != len(want) {
		t.Fatalf("found %v, want %v", names, want)
	}
	for n := range want {
		if names[n] != want[n] {
			t.Errorf("found %v, want %v", names, want)
		}
	}
	if f := found[1]; f.Address != "10.0.0.2:3306" || f.Environment != "production" || f.Volume == nil || f.Volume.Type != "gp3" || f.Volume.IOPS != 12000 || !f.Volume.Managed {
		t.Errorf("%+v, %+v", f.Instance, f.Volume)
	}
	if found[3].Volume != nil {
		t.Errorf("Aurora has a volume: %+v", found[3].Volume)
	}
}

// What AWS shows of two instances is asked for together, handed on once at its own time, and stands in the picture.
func TestWhatTheCloudShowsIsReadOnce(t *testing.T) {
	s, _, r := region(t)
	now := time.Now().Truncate(time.Minute)
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	for n, v := range map[int]float64{-4: 62, -3: 61, -2: 60} {
		s.Metrics.Put("a", "BurstBalance", at(n), v)
	}
	s.Metrics.Put("a", "FreeStorageSpace", at(-3), 20<<30)
	s.Metrics.Put("b", "CPUUtilization", at(-2), 80)
	s.Waits.Put("a", "io/redo_log_flush", at(-3), 2)
	s.Waits.Put("a", "CPU", at(-3), 1)
	a := r.Collector(aws.Instance{ID: "a", ResourceID: "db-A", Storage: aws.Storage{GiB: 100}})
	b := r.Collector(aws.Instance{ID: "b", ResourceID: "db-B"})
	read := func(c watch.Collector, level watch.Level, now time.Time) watch.Reading {
		t.Helper()
		got, err := c.Collect(t.Context(), level, now)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := read(a, watch.TenSeconds, now); len(got.Samples) > 0 || s.Asked("GetMetricData") > 0 {
		t.Error("it is asked more often than once a minute")
	}
	first := read(a, watch.TenMinutes, now)
	other := read(b, watch.TenMinutes, now)
	if asked := s.Asked("GetMetricData"); asked != 1 {
		t.Errorf("two instances took %d requests", asked)
	}
	counts := map[string]int{}
	for _, sample := range first.Samples {
		counts[sample.Name]++
		if sample.Name == "aws_rds_burst_balance_average" && sample.At.After(at(-2)) {
			t.Errorf("it stands at %s", sample.At)
		}
		if sample.Name == "plimsoll_insights_aas" && sample.Value == 2 && (sample.Labels[0].Value != "io/redo_log_flush" || sample.Labels[1].Value != "redo") {
			t.Errorf("%+v", sample)
		}
	}
	if counts["aws_rds_burst_balance_average"] != 3 || counts["aws_rds_free_storage_space_average"] != 1 || counts["plimsoll_insights_aas"] != 2 {
		t.Errorf("%v", counts)
	}
	if len(other.Samples) != 1 || other.Samples[0].Name != "aws_rds_cpuutilization_average" {
		t.Errorf("of the other: %+v", other.Samples)
	}
	i := watch.Instance{IO: &watch.IO{IOPS: new(float64)}}
	first.Show(&i)
	if i.IO.Bucket == nil || *i.IO.Bucket != 0.6 || i.IO.BucketBasis != "cloud" || i.IO.IOPS == nil || *i.Disk.Free != 20<<30 || *i.Disk.Total != 100<<30 {
		t.Errorf("%+v, %+v", i.IO, i.Disk)
	}
	// A minute later only what is new is handed on, and what has no Performance Insights is not asked for them again.
	s.Metrics.Put("a", "BurstBalance", at(-1), 59)
	asked := s.Asked("GetResourceMetrics")
	if again := read(a, watch.Minute, now.Add(time.Minute)); len(again.Samples) != 1 || again.Samples[0].Value != 59 {
		t.Errorf("a minute later: %+v", again.Samples)
	}
	read(b, watch.Minute, now.Add(time.Minute))
	if more := s.Asked("GetResourceMetrics") - asked; more != 1 {
		t.Errorf("Performance Insights was asked %d times", more)
	}
	s.Fail("GetMetricData", awstest.Broken, awstest.Broken, awstest.Broken)
	if _, err := a.Collect(t.Context(), watch.Minute, now.Add(3*time.Minute)); err == nil {
		t.Error("that AWS does not answer is not said")
	}
}
