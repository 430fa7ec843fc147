package aws_test

import (
	"testing"
	"time"

	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
)

// On the stand-in: what is asked and read is the real SDK's; what a real account would answer is not shown here.
func TestMetricsAreReadMinuteByMinute(t *testing.T) {
	s := awstest.New(t)
	m, err := aws.OpenMetrics(t.Context(), aws.Options{Region: "eu-west-1", Endpoint: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	minute := time.Now().Truncate(time.Minute).Add(-3 * time.Minute)
	s.Metrics.Put("a", "CPUUtilization", minute, 12.5)
	s.Metrics.Put("a", "CPUUtilization", minute.Add(time.Minute), 99)
	s.Metrics.Put("b", "BurstBalance", minute, 40)
	found, err := m.Means(t.Context(), []string{"a", "b", "c"}, []string{"CPUUtilization", "BurstBalance"}, minute, minute.Add(time.Minute))
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if f := found[0]; f.Instance != "a" || f.Name != "CPUUtilization" || f.Value != 12.5 || !f.At.Equal(minute) {
		t.Errorf("%+v", f)
	}
	// More than one request's worth.
	var many []string
	for n := range 300 {
		many = append(many, "i"+string(rune('a'+n%26))+time.Duration(n).String())
	}
	s.Metrics.Put(many[299], "BurstBalance", minute, 7)
	before := s.Asked("GetMetricData")
	if found, err = m.Means(t.Context(), many, []string{"CPUUtilization", "BurstBalance"}, minute, minute.Add(time.Minute)); err != nil || len(found) != 1 || found[0].Instance != many[299] {
		t.Errorf("of 300 instances: %+v, %v", found, err)
	}
	if asked := s.Asked("GetMetricData") - before; asked != 2 {
		t.Errorf("600 metrics took %d requests", asked)
	}
	s.Waits.Put("a", "io/table/sql/handler", minute, 1.5)
	s.Waits.Put("a", "CPU", minute, 0.5)
	waits, err := m.Waits(t.Context(), "db-A", minute, minute.Add(time.Minute))
	if err != nil || len(waits) != 2 {
		t.Fatalf("%+v, %v", waits, err)
	}
	if _, err := m.Waits(t.Context(), "db-B", minute, minute.Add(time.Minute)); !aws.NoInsights(err) {
		t.Errorf("of an instance without Performance Insights: %v", err)
	}
}

// A cluster of Aurora has metrics of its own, and says how its storage is billed; the API leaves that out for the Standard configuration.
func TestAClusterOfAurora(t *testing.T) {
	s := awstest.New(t)
	s.Instances.Add(awstest.Instance{ID: "a", Class: "db.r6g.large", Engine: "aurora-mysql", Version: "8.0.mysql_aurora.3.08.0", Address: "127.0.0.1:3306"})
	s.Clusters.Add("shop", "aurora-mysql", "a")
	o := aws.Options{Region: "eu-west-1", Endpoint: s.URL}
	m, err := aws.OpenMetrics(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	hour := time.Now().Truncate(time.Hour).Add(-3 * time.Hour)
	s.Metrics.Put("shop", "VolumeReadIOPs", hour, 13686)
	found, err := m.ClusterMeans(t.Context(), "shop", []string{"VolumeReadIOPs", "VolumeWriteIOPs"}, hour, hour.Add(time.Hour))
	if err != nil || len(found) != 1 || found[0].Instance != "shop" || found[0].Value != 13686 || !found[0].At.Equal(hour) {
		t.Errorf("%+v, %v", found, err)
	}
	rds, err := aws.OpenRDS(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{"": "aurora", "aurora-iopt1": "aurora-iopt1"} {
		s.StorageOf = map[string]string{"shop": set}
		if c, err := rds.Aurora(t.Context(), "shop"); err != nil || c.Storage != want {
			t.Errorf("%+v, %v", c, err)
		}
	}
}
