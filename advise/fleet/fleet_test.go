package fleet

import (
	"testing"
	"time"

	"plimsoll/advise/price"
	"plimsoll/watch"
	"plimsoll/watch/store"
)

// What was kept of two instances becomes advice about each: one has room for three weeks, the other has been seen for two days.
func TestAdviceFromWhatWasKept(t *testing.T) {
	series, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := series.Close(); err != nil {
			t.Error(err)
		}
	}()
	to := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	from := to.Add(-21 * 24 * time.Hour)
	for at := from; at.Before(to); at = at.Add(5 * time.Minute) {
		var batch []watch.Sample
		for _, name := range []string{"shop/n1", "blog/n1"} {
			if name == "blog/n1" && at.Before(to.Add(-48*time.Hour)) {
				continue
			}
			add := func(metric string, v float64, more ...watch.Label) {
				batch = append(batch, watch.Sample{Name: metric, Labels: append(more, watch.Label{Name: "instance", Value: name}), At: at, Value: v})
			}
			add("plimsoll_aas", 0.5, watch.Label{Name: "wait", Value: "cpu"})
			add("plimsoll_iops", 150)
			add("mysql_global_variables_innodb_buffer_pool_size", 20<<30)
		}
		if err := series.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	catalogue, err := price.Load("")
	if err != nil {
		t.Fatal(err)
	}
	all, err := Advise(t.Context(), series, Span{From: from, To: to, Every: 5 * time.Minute},
		price.Of{Catalogue: catalogue, Region: "us-east-1", Now: to}, map[string]string{"": "db.r5.4xlarge", "blog": "db.r5.2xlarge"})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].Cluster != "shop" || all[1].Cluster != "blog" {
		t.Fatalf("%+v", all)
	}
	if f := all[0].Findings[0]; len(f.Options) < 2 || f.Options[0].Name != "leave it" {
		t.Errorf("three weeks with room: %+v", f)
	}
	if f := all[1].Findings[0]; len(f.Options) != 1 || len(all[1].Unknown) != 1 {
		t.Errorf("two days: %+v, %v", f, all[1].Unknown)
	}
}
