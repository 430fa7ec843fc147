package fleet

import (
	"math"
	"math/rand/v2"
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
		price.Of{Catalogue: catalogue, Now: to}, func(cluster, _ string) Place {
			if cluster == "blog" {
				return Place{Class: "db.r5.2xlarge", Region: "eu-central-2"}
			}
			return Place{Class: "db.r5.4xlarge", Region: "us-east-1"}
		})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].Cluster != "shop" || all[1].Cluster != "blog" {
		t.Fatalf("%+v", all)
	}
	if f := all[0].Findings[0]; len(f.Options) < 2 || f.Options[0].Name != "leave it" {
		t.Errorf("three weeks with room: %+v", f)
	}
	if p := all[1].Findings[0].Options[0].Price; p.Known() || all[1].Region != "eu-central-2" || !all[0].Findings[0].Options[0].Price.Known() {
		t.Errorf("in %s, of which the catalogue has no prices: %+v", all[1].Region, p)
	}
	if f := all[1].Findings[0]; len(f.Options) != 1 || len(all[1].Unknown) != 1 {
		t.Errorf("two days: %+v, %v", f, all[1].Unknown)
	}
}

// The same as Prometheus' own functions say of the same samples, with gaps, a counter that begins anew and several series of an instance.
func TestHistoriesAreWhatPromQLSays(t *testing.T) {
	series, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := series.Close(); err != nil {
			t.Error(err)
		}
	}()
	const seed = 3
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, seed))
	to := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	from := to.Add(-6 * time.Hour)
	sent := 0.0
	for at := from.Add(-time.Hour); !at.After(to); at = at.Add(time.Minute) {
		if at.Sub(from) > 2*time.Hour && at.Sub(from) < 3*time.Hour {
			continue // nothing was seen
		}
		var batch []watch.Sample
		add := func(metric, instance string, v float64, more ...watch.Label) {
			batch = append(batch, watch.Sample{Name: metric, Labels: append(more, watch.Label{Name: "instance", Value: instance}), At: at, Value: v})
		}
		if sent += 60 * 1000; at.Equal(from.Add(4 * time.Hour)) {
			sent = 1000 // the server was restarted
		}
		add("plimsoll_aas", "a/n1", random.Float64(), watch.Label{Name: "wait", Value: "cpu"}, watch.Label{Name: "part", Value: "one"})
		add("plimsoll_aas", "a/n1", random.Float64(), watch.Label{Name: "wait", Value: "cpu"}, watch.Label{Name: "part", Value: "two"})
		add("plimsoll_iops", "a/n1", 100*random.Float64())
		add("plimsoll_aas", "b/n1", 1, watch.Label{Name: "wait", Value: "cpu"})
		add("mysql_global_status_innodb_data_reads", "b/n1", 300*at.Sub(from).Seconds())
		add("mysql_global_status_innodb_data_writes", "b/n1", 50*at.Sub(from).Seconds())
		add("mysql_global_status_bytes_sent", "a/n1", sent)
		add("mysql_global_status_innodb_data_read", "a/n1", 3*sent)
		add("mysql_global_status_innodb_data_written", "a/n1", sent)
		add("mysql_global_status_threads_connected", "a/n1", math.Floor(100*random.Float64()))
		if err := series.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	span := Span{From: from, To: to, Every: 5 * time.Minute}
	all, err := Histories(t.Context(), series, span)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d histories, %v", len(all), err)
	}
	if all[1].IOPS != nil {
		t.Errorf("without the writes of the redo log the disk operations are unknown, and not %g", all[1].IOPS)
	}
	for _, c := range []struct {
		of     []float64
		expr   string
		within float64 // relative: rate() goes as far as the ends of its window
	}{
		{all[0].CPU, `sum(avg_over_time(plimsoll_aas{instance="a/n1",wait="cpu"}[5m]))`, 1e-9},
		{all[0].IOPS, `avg_over_time(plimsoll_iops[5m])`, 1e-9},
		{all[0].Connections, `max_over_time(mysql_global_status_threads_connected[5m])`, 1e-9},
		{all[0].Sent, `rate(mysql_global_status_bytes_sent[5m])`, 0.3},
		{all[0].Disk, `sum(rate(mysql_global_status_innodb_data_read[5m])) + sum(rate(mysql_global_status_innodb_data_written[5m]))`, 0.3},
	} {
		lines, err := series.Query(t.Context(), c.expr, from, to, span.Every)
		if err != nil || len(lines) != 1 {
			t.Fatalf("%s: %d lines, %v", c.expr, len(lines), err)
		}
		want := map[int]float64{}
		for _, p := range lines[0].Points {
			want[int(p.At.Sub(from)/span.Every)] = p.Value
		}
		for i, got := range c.of {
			w, there := want[i]
			if edge := i >= 23 && i <= 37; edge && math.IsNaN(got) != !there {
				continue // at the ends of the gap two samples are needed for a rate
			}
			if math.IsNaN(got) == there || there && math.Abs(got-w) > c.within*math.Abs(w) {
				t.Errorf("%s, part %d: %g, want %g (%v)", c.expr, i, got, w, there)
			}
		}
	}
}
