package watchcmd

import (
	"bytes"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/trialcmd"
	"plimsoll/result"
	"plimsoll/watch"
	"plimsoll/watch/store"
)

// Two periods of what a watch keeps, which goes on writing, are exported and compared: what differs is said, and what does not is not.
func TestWatchedStretchesAreCompared(t *testing.T) {
	home := t.TempDir()
	t.Setenv("PLIMSOLL_HOME", home)
	t.Setenv("PLIMSOLL_CACHE", filepath.Join(home, "cache"))
	t.Chdir(home)
	kept, err := store.Open(filepath.Join(home, "watch", "series"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = kept.Close() }()
	now := time.Now().Truncate(time.Second)
	begin := now.Add(-40 * time.Minute)
	questions := 0.0
	for n := range 40 * 60 {
		at := begin.Add(time.Duration(n) * time.Second)
		wobble, busy := math.Sin(float64(n)*1.7), 1.0
		if n >= 20*60 {
			busy = 0.7
		}
		questions += math.Round(1000*busy + 100*wobble)
		var r watch.Reading
		r.Add(at, "up", 1)
		r.Add(at, "mysql_global_status_questions", questions)
		r.Add(at, "mysql_global_status_threads_running", 5+wobble)
		r.Add(at, "plimsoll_aas", (2+wobble/2)*busy, "wait", "row lock")
		r.Add(at, "plimsoll_statement_aas", 1, "digest", "abc")
		r.Add(at, "plimsoll_watch_paused", 2*busy+wobble/10)
		r.Add(at, "sql_open_orders_n", 40*busy+wobble, "status", "paid")
		for i := range r.Samples {
			r.Samples[i].Labels = append(r.Samples[i].Labels, watch.Label{Name: "cluster", Value: "orders"}, watch.Label{Name: "instance", Value: "orders/n1"}, watch.Label{Name: "job", Value: "mysql"})
		}
		if err := kept.Append(t.Context(), r.Samples); err != nil {
			t.Fatal(err)
		}
	}
	change := watch.Change{At: begin.Add(20 * time.Minute), Instance: "orders/n1", Kind: "setting", What: "sync_binlog", From: "0", To: "1"}
	if err := watch.OpenChanges(filepath.Join(home, "watch", "changes.jsonl")).Add(change); err != nil {
		t.Fatal(err)
	}
	c := console.Streams{Out: io.Discard, Err: io.Discard}
	clock := func(after time.Duration) string { return begin.Add(after).Local().Format("2006-01-02T15:04:05") }
	for name, from := range map[string]time.Duration{"before": 0, "again": 9 * time.Minute, "after": 20*time.Minute - time.Second} {
		o := exportOptions{from: clock(from), to: clock(from + 8*time.Minute), out: name, series: []string{"busy=sum by (instance) (mysql_global_status_threads_running)"}}
		if err := runWatchExport(t.Context(), c, "orders", o); err != nil {
			t.Fatal(err)
		}
	}
	r, err := result.Open("after")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Events) != 1 || r.Events[0].Detail["what"] != "sync_binlog" || r.Environment.Engine["engine"] != "mysql" || len(r.Verdict.Cells) != 1 {
		t.Errorf("%+v, %+v, %+v", r.Events, r.Environment, r.Verdict.Cells)
	}
	if got := r.Verdict.Cells[0].Figures[0].Estimate.Value; math.Abs(got-700) > 7 {
		t.Errorf("%g statements a second", got)
	}
	if w := r.Verdict.Watched; w == nil || w.Cluster != "orders" || len(w.Instances) != 1 {
		t.Errorf("it is not said to be recorded: %+v", w)
	}
	if all, err := result.List("."); err != nil || len(all) != 3 || all[0].Says() != result.Recorded {
		t.Errorf("the results are listed as %+v, %v", all, err)
	}
	compare := func(a, b string) string {
		var out bytes.Buffer
		cmd := trialcmd.NewCompare(console.Streams{Out: &out, Err: io.Discard})
		cmd.SetArgs([]string{a, b})
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	differ := compare("before", "after")
	for _, want := range []string{"throughput", "−30", "mysql.aas.row lock", "mysql.threads running", "busy", "mysql.watch paused", "mysql.sql open orders n.paid"} {
		if !strings.Contains(differ, want) {
			t.Errorf("the comparison lacks %s:\n%s", want, differ)
		}
	}
	if strings.Contains(differ, "abc") || strings.Contains(differ, "p99") {
		t.Errorf("what cannot be compared is:\n%s", differ)
	}
	if same := compare("before", "again"); !strings.Contains(same, "The data shows no difference") {
		t.Errorf("of one load differs:\n%s", same)
	}
	err = runWatchExport(t.Context(), c, "order", exportOptions{from: "30m", out: "none"})
	if err == nil || !strings.Contains(err.Error(), "there is no record of order") {
		t.Errorf("a cluster that is not there: %v", err)
	}
}
