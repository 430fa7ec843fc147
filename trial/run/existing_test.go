package run_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/singlestore/singlestoretest"
	"plimsoll/infra"
	"plimsoll/internal/document"
	"plimsoll/internal/labtest"
	"plimsoll/inventory"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

// withInventory is the catalog with an inventory that stands in the text.
func withInventory(t *testing.T, text string) spec.Parts {
	t.Helper()
	parts := catalog.Parts()
	parts.Inventory = func() (*inventory.Inventory, error) { return inventory.Parse(inventory.File, []byte(text)) }
	return parts
}

// passwordFile is a file with a password: tests that run beside one another have one environment.
func passwordFile(t *testing.T, password engine.Secret) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// withStandIn is the catalog with an inventory of one cluster, stand-in.
func withStandIn(t *testing.T, clusterName *singlestoretest.Cluster) spec.Parts {
	t.Helper()
	parts := withInventory(t, `clusters:
  stand-in:
    engine: singlestore
    environment: staging
    user: `+singlestoretest.User+`
    password: {file: `+passwordFile(t, singlestoretest.Password)+`}
    database: db
    nodes: [{name: master, address: "`+clusterName.Target().Addresses[0]+`", machine: local}]
`)
	parts.OpenCluster = func(ctx context.Context, name string, here infra.Machine) (*cluster.Cluster, error) {
		inv, err := parts.Inventory()
		if err != nil {
			return nil, err
		}
		return catalog.OpenCluster(ctx, name, inv.Clusters[name], clusterName.Machine(here))
	}
	return parts
}

const clusters = `clusters:
  shop-staging:
    engine: mysql
    environment: staging
    user: app
    nodes: [{name: a, address: "db1:3306"}, {name: b, address: "db2:3306"}]
  shop:
    engine: mysql
    environment: production
    user: app
    nodes: [{name: a, address: "db1:3306"}]
`

func TestTargetsAreLeftAsTheyAre(t *testing.T) {
	parts := withInventory(t, clusters)
	const load = "load: {workload: oltp_point_select, rate: 10}\n"
	for name, c := range map[string]struct{ text, want string }{ // want "": valid
		"by name":            {"cluster: {target: shop-staging}\n" + load, ""},
		"loopback":           {"cluster: {target: 'mysql://root@127.0.0.1:3306/test'}\n" + load, ""},
		"an address":         {"cluster: {target: 'mysql://root@db1:3306/test', environment: staging, password: {env: PW}}\n" + load, ""},
		"load varies":        {"cluster: {target: shop-staging}\n" + load + "compare: {connections: [2, 4], variant: {a: , b: {load: {rate: 20}}}}\n", ""},
		"only time passes":   {"cluster: {target: shop-staging}\n" + load + "timeline: [{baseline: 5s}, {wait: 5s}]\n", ""},
		"reads":              {"cluster: {target: shop-staging}\nload: {workload: oltp_point_select, rate: 10, reads_from: replicas}\n", ""},
		"reads from one":     {"cluster: {target: shop}\nload: {workload: oltp_point_select, rate: 10, reads_from: replicas}\n", "shop is one server"},
		"no environment":     {"cluster: {target: 'mysql://root@db1:3306/test'}\n" + load, `"environment" is missing`},
		"unknown name":       {"cluster: {target: shop-stagin}\n" + load, `unknown cluster "shop-stagin"`},
		"unknown scheme":     {"cluster: {target: 'mysq://root@db1:3306/test'}\n" + load, `unknown engine "mysq"`},
		"a password":         {"cluster: {target: 'mysql://root:pw@127.0.0.1/test'}\n" + load, "password: {env: NAME}"},
		"two places":         {"cluster: {target: 'mysql://root@127.0.0.1/test', password: {env: A, file: b}}\n" + load, "2 sources"},
		"said elsewhere":     {"cluster: {target: shop-staging, password: {env: PW}}\n" + load, "must be given there"},
		"nodes":              {"cluster: {target: shop-staging, nodes: 3}\n" + load, "nodes belongs to a cluster that is created"},
		"settings":           {"cluster: {target: shop-staging, config: {a: b}}\n" + load, "config belongs to a cluster that is created"},
		"a factor":           {"cluster: {target: shop-staging}\n" + load + "compare: {config.a: [1, 2]}\n", "config.a needs a cluster that is created"},
		"a variant":          {"cluster: {target: shop-staging}\n" + load + "compare: {variant: {a: , b: {nodes: 3}}}\n", "nodes needs a cluster that is created"},
		"a change":           {"cluster: {target: shop-staging}\n" + load + "timeline: [{baseline: 5s}, {run: lab/kill}]\n", "lab/kill needs a cluster that is created"},
		"all nodes":          {"cluster: {target: shop-staging}\nload: {workload: oltp_point_select, to: all}\n", "to: all needs"},
		"restored":           {"cluster: {target: shop-staging}\n" + load + "phases: {restore: each}\n", "restore: each needs"},
		"to its limit":       {"cluster: {target: shop}\nload: {workload: oltp_point_select, rate: 50% of max}\n", "in production give the rate as a number"},
		"to its limit, also": {"cluster: {target: shop}\nload: {workload: oltp_point_select}\ncompare: {rate: ['10', 50% of max]}\n", "in production give the rate as a number"},
		"neither":            {"cluster: {nodes: 1}\n" + load, `"engine" is missing`},
		"not of a lab":       {"cluster: {engine: mariadb, environment: lab}\n" + load, "environment belongs to a target"},
	} {
		tr, err := spec.Parse("trial.yaml", []byte("trial: t\n"+c.text), spec.Options{}, parts)
		if c.want != "" {
			if err == nil || !strings.Contains(describe(err), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if tr.Production() != "" || tr.Phases.Restore != spec.RestoreNever {
			t.Errorf("%s: production %q, restore %s", name, tr.Production(), tr.Phases.Restore)
		}
	}
}

// describe is an error with its hints.
func describe(err error) string {
	text := err.Error()
	if ps, is := err.(document.Problems); is { //nolint:errorlint // that is what Parse returns
		for _, p := range ps {
			text += " " + p.Hint
		}
	}
	return text
}

// A target in production is not touched unless a person agreed.
func TestProductionIsAskedFor(t *testing.T) {
	parts := withInventory(t, clusters)
	tr, err := spec.Parse("trial.yaml", []byte("trial: t\ncluster: {target: shop}\nload: {workload: oltp_point_select, rate: 10}\n"), spec.Options{}, parts)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Production() != "shop" {
		t.Errorf("production is %q", tr.Production())
	}
	s := bareOptions(t, nil)
	r, err := run.Run(t.Context(), tr, parts, s)
	if err == nil || !strings.Contains(err.Error(), "no person has agreed") {
		t.Errorf("%v", err)
	}
	saysThatNothingWasMeasured(t, r, "no person has agreed")
}

// A trial of a service over HTTP leaves a complete result.
func TestTrialOverHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "app" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/13") {
			http.Error(w, "busy", http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, `{"ok": true}`)
	}))
	defer server.Close()
	t.Setenv("SERVICE_PASSWORD", "secret")
	file := filepath.Join(t.TempDir(), "service.yaml")
	err := os.WriteFile(file, []byte(`workload: service
operations:
  look: {with: {id: uniform 1..13}, request: {path: /items/:id}}
  put: {with: {id: uniform 1..9, name: name}, request: {method: PUT, path: /items/:id, body: {name: ":name"}}}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s := bareOptions(t, nil)
	result, err := run.Run(t.Context(), read(t, `trial: service
cluster: {target: '`+strings.Replace(server.URL, "://", "://app@", 1)+`', password: {env: SERVICE_PASSWORD}}
load: {workload: `+file+`, rate: 100, arrivals: uniform, timeout: 50s}
phases: {warmup: 1s, measure: 3s, rounds: 1}
expect:
  - errors > 0
  - p99(response) < 60s
`), catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	v := result.Verdict
	if n := v.Cells[0].Tally; n.Done == 0 || n.Errors == 0 || !n.Balanced() || len(v.Claims) != 2 {
		t.Errorf("%+v, %+v", n, v.Claims)
	}
	classes := map[string]bool{}
	for _, e := range result.Events {
		if e.Kind == "load.errors" {
			for class := range e.Detail {
				classes[class] = true
			}
		}
	}
	if !classes["overloaded"] || len(classes) != 1 {
		t.Errorf("classes of errors: %v", classes)
	}
	if e := result.Environment.Engine; e["product"] != "HTTP" || !strings.Contains(e["origin"], "(lab)") {
		t.Errorf("%v", e)
	}
	if strings.Contains(result.Source, "secret") {
		t.Error("the password stands in the result")
	}
}

// A server that is there is put under load with the data that it has, and keeps on running.
func TestTrialOnATarget(t *testing.T) {
	s := options(t, nil)
	db := labtest.Up(t, "mariadb")
	tr := read(t, `trial: there
cluster: {target: 'mysql://`+db.Target.User+`@`+db.Target.Addresses[0]+`/test', password: {file: `+passwordFile(t, db.Target.Password)+`}}
load: {workload: oltp_point_select, table_size: 1000, connections: 2}
phases: {warmup: 1s, measure: 3s, rounds: 1}
`)
	if _, err := run.Run(t.Context(), tr, catalog.Parts(), s); err == nil || !strings.Contains(err.Error(), "there is no table") {
		t.Errorf("without data: %v", err)
	}
	w, err := catalog.Workload(&document.Node{Kind: document.Scalar, Text: "oltp_point_select"}, nil, db.Engine)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Prepare(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	s.Dir = filepath.Join(t.TempDir(), "with data") // the first left a result, which says that nothing was measured
	result, err := run.Run(t.Context(), tr, catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	if n := result.Verdict.Cells[0].Tally; n.Done == 0 || n.Errors > 0 {
		t.Errorf("%+v", n)
	}
	if len(result.Signals) == 0 {
		t.Error("no signals of the target")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := db.Facts(ctx); err != nil {
		t.Errorf("the target after the trial: %v", err)
	}
}
