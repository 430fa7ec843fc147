package watchcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/engine"
	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
	"plimsoll/internal/labtest"
	"plimsoll/internal/poll"
	"plimsoll/lab"
	"plimsoll/watch"
	"plimsoll/watch/cloud"
	"plimsoll/watch/collect"
	"plimsoll/watch/settings"
	"plimsoll/watch/storage"
)

// panelTarget is one expression of a dashboard for Grafana.
type panelTarget struct {
	panel, expr string
	instant     bool
}

// dashboard are the expressions of one.
func dashboard(t *testing.T, name string) (all []panelTarget) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "examples/dashboards/grafana", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct {
				Expr    string
				Instant bool
			}
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			// A number that stands where there is no data would be taken for data.
			all = append(all, panelTarget{p.Title, strings.TrimSuffix(target.Expr, " or vector(0)"), target.Instant})
		}
	}
	if len(all) < 8 {
		t.Fatalf("%s has only %d expressions", name, len(all))
	}
	return all
}

// asked asks the API as Grafana would for the last ten minutes, and tells whether there is anything to be drawn.
func asked(t *testing.T, handler http.Handler, target panelTarget, instance string) bool {
	t.Helper()
	expr := strings.NewReplacer("$__rate_interval", "1m", "$instance", instance, "$cluster", "shop|.*").Replace(target.expr)
	now := time.Now()
	path, form := "/api/v1/query_range", url.Values{"query": {expr}, "start": {fmt.Sprint(now.Add(-10 * time.Minute).Unix())}, "end": {fmt.Sprint(now.Unix())}, "step": {"5"}}
	if target.instant {
		path, form = "/api/v1/query", url.Values{"query": {expr}, "time": {fmt.Sprint(now.Unix())}}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: %s is answered %s, %v", target.panel, expr, w.Body, err)
	}
	return len(answer.Data.Result) > 0
}

// repository is the folder of the whole.
var repository = func() string {
	folder, err := filepath.Abs("../../..")
	if err != nil {
		panic(err)
	}
	return folder
}()

// watchedLab has a service watch real servers, with what an inventory would say of them, and another that is down.
type watchedLab struct {
	*testing.T
	sources []watch.Source
}

func (l *watchedLab) add(node string, target engine.Target, volume *storage.Volume, more ...watch.Collector) {
	l.Helper()
	source, err := catalog.WatchSource(watch.Instance{Name: "shop/" + node, Cluster: "shop", Node: node, Environment: "lab", Cores: 2}, target, nil)
	if err != nil {
		l.Fatal(err)
	}
	machine, err := catalog.Machine()
	if err != nil {
		l.Fatal(err)
	}
	if c := collect.Disk(source.Collectors, machine); c != nil {
		more = append(more, c)
	}
	source.Collectors, source.Volume = append(source.Collectors, more...), volume
	l.sources = append(l.sources, source)
}

// run watches until the test ends, and answers as plimsoll watch --listen does.
func (l *watchedLab) run() http.Handler {
	l.Helper()
	l.Setenv("PLIMSOLL_HOME", l.TempDir())
	deps, err := home.LabDeps()
	if err != nil {
		l.Fatal(err)
	}
	set, err := settings.Parse("watch.yaml", []byte("keep: {age: 1d}\n"))
	if err != nil {
		l.Fatal(err)
	}
	s, err := OpenService(l.Context(), l.sources, set, deps, slog.New(slog.DiscardHandler))
	if err != nil {
		l.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background()) // it is stopped before the servers are
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) }) // it ends with ctx
	l.Cleanup(func() {
		stop()
		running.Wait()
		_ = s.Close() // the test has ended
	})
	return s.Handler()
}

// shows waits until every expression of a dashboard has data of some instance; those of the list need not.
func (l *watchedLab) shows(handler http.Handler, name string, instances []string, mayLack ...string) {
	l.Helper()
	left := slices.DeleteFunc(dashboard(l.T, name), func(target panelTarget) bool { return slices.Contains(mayLack, target.expr) })
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for end := time.Now().Add(45 * time.Second); len(left) > 0 && time.Now().Before(end); <-tick.C {
		left = slices.DeleteFunc(left, func(target panelTarget) bool {
			return slices.ContainsFunc(instances, func(i string) bool { return asked(l.T, handler, target, i) })
		})
	}
	for _, target := range left {
		l.Errorf("%s, %s: nothing to draw of %s", name, target.panel, target.expr)
	}
}

// commits has sessions read and commit for as long as the test lasts.
func commits(t *testing.T, db labtest.Server) {
	t.Helper()
	labtest.Ask(t, db, "CREATE TABLE test.t (id INT PRIMARY KEY, v INT, pad VARCHAR(200))", "INSERT INTO test.t VALUES (0, 0, ''), (1, 0, ''), (2, 0, ''), (3, 0, '')")
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for n := range 4 {
		session, err := db.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer session.Close()
			for poll.Rest(ctx, 5*time.Millisecond) == nil {
				for _, text := range []string{"BEGIN", fmt.Sprintf("UPDATE test.t SET v = v + 1, pad = REPEAT('x', 200) WHERE id = %d", n), "SELECT COUNT(*) FROM test.t", "COMMIT"} {
					if session.Exec(ctx, text, nil) != nil {
						return // it is cut off at the end
					}
				}
			}
		})
	}
	t.Cleanup(func() { stop(); all.Wait() })
}

// Every panel of the dashboards for Grafana has something to draw, when real servers are watched: a primary under a load, its replica, and one
// that is down. What only AWS knows of an instance comes from the stand-in.
func TestDashboardsShowRealServers(t *testing.T) {
	for _, product := range []string{"mysql", "mariadb"} {
		t.Run(product, func(t *testing.T) {
			db := labtest.UpSpec(t, lab.Spec{Name: "shop", Product: product, Nodes: 2, Config: map[string]string{"innodb_buffer_pool_size": "48M"}})
			l := &watchedLab{T: t}
			s := awstest.New(t)
			metrics, err := aws.OpenMetrics(t.Context(), aws.Options{Region: "eu-west-1", Endpoint: s.URL})
			if err != nil {
				t.Fatal(err)
			}
			at := time.Now().Truncate(time.Minute).Add(-3 * time.Minute)
			for _, name := range []string{"CPUUtilization", "ReadIOPS", "WriteIOPS", "ReadLatency", "WriteLatency", "BurstBalance", "EBSIOBalance%", "EBSByteBalance%", "FreeStorageSpace", "FreeLocalStorage",
				"FreeableMemory", "SwapUsage", "DiskQueueDepth", "ReplicaLag", "AuroraReplicaLag"} {
				s.Metrics.Put("shop-1", name, at, 42)
			}
			s.Waits.Put("shop-1", "CPU", at, 1)
			beside := cloud.NewRegion(metrics).Collector(aws.Instance{ID: "shop-1", ResourceID: "db-SHOP-1", Storage: aws.Storage{GiB: 100}})
			for _, node := range []string{"n1", "n2"} {
				target, err := db.Cluster.Target(node)
				if err != nil {
					t.Fatal(err)
				}
				if node == "n1" {
					l.add(node, target, &storage.Volume{Type: "gp2", GiB: 1, InstanceIOPS: 3000, InstanceBase: 1}, beside)
				} else {
					l.add(node, target, nil)
				}
			}
			down := db.Target
			down.Addresses = []string{"127.0.0.1:1"}
			l.add("n3", down, nil)
			commits(t, db)
			handler := l.run()
			both := []string{"shop/n1", "shop/n2"}
			var mayLack []string
			if product == "mariadb" { // it does not count the writes of its log among those of InnoDB: this load does not empty a bucket
				mayLack = []string{`min(plimsoll_bucket_empty_hours{cluster=~"$cluster"}) * 3600`}
			}
			l.shows(handler, "fleet", both, mayLack...)
			l.shows(handler, "instance", both)
			l.shows(handler, "rds", both)
		})
	}
	t.Run("cassandra", func(t *testing.T) {
		db := labtest.Up(t, "cassandra")
		labtest.Ask(t, db, "CREATE TABLE test.t (id int PRIMARY KEY, v int)")
		ctx, stop := context.WithCancel(context.Background())
		session, err := db.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		all.Go(func() {
			defer session.Close()
			for poll.Rest(ctx, 5*time.Millisecond) == nil && session.Exec(ctx, "INSERT INTO test.t (id, v) VALUES (1, 2)", nil) == nil && session.Exec(ctx, "SELECT v FROM test.t WHERE id = 1", nil) == nil {
				continue
			}
		})
		t.Cleanup(func() { stop(); all.Wait() })
		l := &watchedLab{T: t}
		l.add("n1", db.Target, nil)
		l.shows(l.run(), "cassandra", []string{"shop/n1"})
	})
}
