package watchcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
	"plimsoll/inventory"
	"plimsoll/watch"
	"plimsoll/watch/settings"
)

// The command finds instances by their tags at a stand-in for AWS, and asks CloudWatch of those that are named.
func TestWatchFindsInstancesAtAWS(t *testing.T) {
	s := awstest.New(t)
	for name, value := range map[string]string{"PLIMSOLL_HOME": t.TempDir(), "AWS_ENDPOINT_URL": s.URL, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "eu-west-1", "AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none"} {
		t.Setenv(name, value)
	}
	t.Chdir(t.TempDir())
	for _, id := range []string{"orders", "billing"} {
		s.Instances.Add(awstest.Instance{ID: id, Engine: "mysql", Class: "db.m5.large", Type: "gp2", GiB: 100, Address: "127.0.0.1:1", Tags: map[string]string{"team": "tax"}})
	}
	s.Metrics.Put("orders", "FreeStorageSpace", time.Now().Truncate(time.Minute).Add(-3*time.Minute), 5<<30)
	if err := os.WriteFile("watch.yaml", []byte("aws: [{tags: {team: tax}, environment: production, user: nobody}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := Command(console.Streams{Out: &out, Err: io.Discard})
	cmd.SetArgs([]string{"orders", "--once", "--json"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	var fleet watch.Fleet
	if err := json.Unmarshal(out.Bytes(), &fleet); err != nil {
		t.Fatal(err)
	}
	if len(fleet.Instances) != 1 || fleet.Instances[0].Name != "orders/orders" || fleet.Instances[0].State != watch.Down || fleet.Instances[0].Environment != "production" {
		t.Errorf("%+v", fleet.Instances)
	}
	if s.Asked("GetMetricData") != 1 {
		t.Errorf("CloudWatch was asked %d times", s.Asked("GetMetricData"))
	}
}

// A watch that runs takes up an instance that got its tags later.
func TestAWatchLooksForInstancesAgain(t *testing.T) {
	s := awstest.New(t)
	for name, value := range map[string]string{"PLIMSOLL_HOME": t.TempDir(), "AWS_ENDPOINT_URL": s.URL, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "eu-west-1", "AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none", "AWS_MAX_ATTEMPTS": "1"} {
		t.Setenv(name, value)
	}
	t.Chdir(t.TempDir())
	orders := awstest.Instance{ID: "orders", Engine: "mysql", Address: "127.0.0.1:1", Type: "gp2", GiB: 100, Tags: map[string]string{"team": "tax"}}
	s.Instances.Add(orders)
	deps, err := home.LabDeps()
	if err != nil {
		t.Fatal(err)
	}
	set, err := settings.Parse("watch.yaml", []byte("aws: [{tags: {team: tax}, environment: production, user: nobody}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	find := &Finder{Deps: deps, Set: set, Log: slog.New(slog.DiscardHandler)}
	sources, err := find.Find(t.Context(), &inventory.Inventory{})
	if err != nil {
		t.Fatal(err)
	}
	service, err := OpenService(t.Context(), sources, set, deps, find.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = service.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	var looking sync.WaitGroup
	defer looking.Wait()
	defer cancel()
	looking.Go(func() { find.Rediscover(ctx, 20*time.Millisecond, service.Follow) })
	shows := func(want ...string) {
		t.Helper()
		var names []string
		for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
			names = nil
			for _, i := range service.Watcher.Fleet().Instances {
				names = append(names, i.Name)
			}
			slices.Sort(names)
			if slices.Equal(names, want) {
				return
			}
		}
		t.Fatalf("it watches %v, want %v", names, want)
	}
	shows("orders/orders")
	s.Instances.Add(awstest.Instance{ID: "billing", Engine: "mysql", Address: "127.0.0.1:2", Type: "gp2", GiB: 100, Tags: map[string]string{"team": "tax"}})
	shows("billing/billing", "orders/orders")
	for _, id := range []string{"orders", "billing"} { // they are another team's now
		s.Instances.Add(awstest.Instance{ID: id, Engine: "mysql", Address: "127.0.0.1:1", Type: "gp2", GiB: 100})
	}
	shows()
	if len(find.regions) != 1 {
		t.Errorf("%d regions ask for the same instances", len(find.regions))
	}
}

// On the stand-in for AWS: clones end by their tags, which a watch reads and does not act upon.
func TestAWatchTellsOfClonesThatNobodyNeeds(t *testing.T) {
	s := awstest.New(t)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": s.URL, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "eu-west-1", "AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none"} {
		t.Setenv(name, value)
	}
	s.Instances.Add(awstest.Instance{ID: "shop-a", Engine: "aurora-mysql", Address: "127.0.0.1:1"})
	s.Clusters.Add("shop", "aurora-mysql", "shop-a")
	api, err := aws.OpenRDS(t.Context(), aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for id, needed := range map[string]time.Duration{"over": -time.Hour, "needed": time.Hour} {
		if err := api.Clone(t.Context(), "shop", id, "token", time.Now().Add(needed)); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	f := &Finder{Log: slog.New(slog.NewTextHandler(&said, nil))}
	c := inventory.Cluster{AWS: &inventory.AWS{Aurora: "shop"}, Nodes: []inventory.Node{{Name: "a", Instance: "shop-a"}}}
	for range 2 {
		f.beside(t.Context(), nil, "shop", c)
	}
	if text := said.String(); strings.Count(text, "no longer needed") != 1 || !strings.Contains(text, "clone=over of=shop") || !strings.Contains(text, "aurora/delete-expired-clones --cluster shop") {
		t.Errorf("it says %q", text)
	}
	if !s.Clusters.Has("over") {
		t.Error("a watch has deleted a clone")
	}
}
