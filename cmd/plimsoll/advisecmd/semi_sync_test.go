package advisecmd

import (
	"io"
	"slices"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/watch"
)

// On a real pair whose primary waits for its replica, the lever that ends that wait is offered, and ends it: commits take less time then.
func TestTheLeverOfARealSemiSynchronousPair(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	servers := labtest.Cluster(t, lab.Spec{Name: "acknowledged", Product: "mariadb", Nodes: 2, Config: map[string]string{
		"performance_schema": "ON", "innodb_flush_log_at_trx_commit": "2", "sync_binlog": "0", // the wait for the replica is most of a commit
	}})
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	on := labtest.AsAWS(servers, here)
	t.Cleanup(func() { _ = on.Close() })
	do := func(node string, texts ...string) {
		t.Helper()
		if err := on.Execute(t.Context(), node, texts, func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
	const name = "rpl_semi_sync_master_enabled"
	do("n1", "CREATE DATABASE test", "CREATE TABLE test.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)", "SET GLOBAL "+name+" = ON")
	do("n2", "SET GLOBAL rpl_semi_sync_slave_enabled = ON", "STOP SLAVE", "START SLAVE")
	node, err := on.Node(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	target := node.Target
	target.Namespace = "test"
	db, err := catalog.Products()["mariadb"].Engine.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	look := func() *advise.CommitUse {
		t.Helper()
		const span = 8 * time.Second
		source, err := catalog.WatchSource(watch.Instance{Name: "acknowledged/n1", Cluster: "acknowledged", Node: "n1"}, node.Target, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			for _, c := range source.Collectors {
				_ = c.Close() // it only reads
			}
		}()
		wait := committing(t, labtest.Server{Database: db}, 1, span)
		seen, err := follow(t.Context(), source, span, console.NewProgress(console.Streams{Out: io.Discard, Err: io.Discard}, "observe"))
		wait()
		if err != nil {
			t.Fatal(err)
		}
		if seen.Commit == nil || seen.Commit.Total == nil {
			t.Fatalf("%+v", seen.Commit)
		}
		if seen.Commit.Settings, err = commitSettings(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		return seen.Commit
	}
	offered := func(c *advise.CommitUse) (advise.Option, bool) {
		f := findings.Report(findings.Input{Cluster: "acknowledged", Node: "n1", At: time.Now(), Replicas: true, Seen: &advise.Seen{Product: "MariaDB", Commit: c}}).Findings[0]
		at := slices.IndexFunc(f.Options, func(o advise.Option) bool { return o.Name == name+"=OFF" })
		if at < 0 {
			return advise.Option{}, false
		}
		return f.Options[at], true
	}
	before := look()
	o, is := offered(before)
	if before.SemiSync == nil || !is {
		t.Fatalf("commits that wait for a replica, and no lever: %+v", before)
	}
	e := o.Effects[0]
	t.Logf("a commit takes %.3f ms, of which the replica's acknowledgement %.3f; predicted without %.3f (%.3f to %.3f)", 1000*before.Total.Mean, 1000*before.SemiSync.Mean, 1000*e.Then, 1000*e.Low, 1000*e.High)
	do("n1", "SET GLOBAL "+name+" = OFF")
	after := look()
	t.Logf("it takes %.3f ms (%.3f to %.3f) without", 1000*after.Total.Mean, 1000*after.Total.Low, 1000*after.Total.High)
	if after.Total.Mean >= before.Total.Mean-0.5*before.SemiSync.Mean || e.Then >= e.Now {
		t.Errorf("without the wait of %.3g s a commit takes %.3g s, before %.3g s; predicted %+v", before.SemiSync.Mean, after.Total.Mean, before.Total.Mean, e)
	}
	if _, is := offered(after); is {
		t.Error("the lever is offered where it was pulled")
	}
}
