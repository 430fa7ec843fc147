package main

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/torturecmd"
	"plimsoll/durable"
	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
	"plimsoll/inventory"
	"plimsoll/runbook/faulttest"
)

var tortureResults = flag.String("torture-results", "", "keep what runbooks of RDS stood in this folder, for docs/torture.md")

// rdsTorture is a runbook of RDS or Aurora, and what is known of it beforehand.
type rdsTorture struct {
	Book   string   `json:"book"`
	Inputs []string `json:"inputs,omitempty"`
	Before []string `json:"before,omitempty"`

	standIn func(*testing.T) *rdsStandIn
	stays   []string // what stops an undo, as declared
	asks    []string // what stops for a person when it is cut off
	copies  bool     // the servers are brought back too, not their API alone
	idle    []string // steps that find nothing to do there
	open    bool     // it takes no lock, so that there is no owner to put to sleep
	makes   string   // what looks at the cluster find wrong and the runbook is for
}

func pairOfInstances(t *testing.T) *rdsStandIn { return pairOfRDS(t, false, 2) }
func auroraCluster(t *testing.T) *rdsStandIn   { return pairOfRDS(t, true, 2) }
func auroraToGrow(t *testing.T) *rdsStandIn    { return pairOfRDS(t, true, 3) }

// auroraWithAnExpiredClone has a clone that another Plimsoll made and that nobody needs any more.
func auroraWithAnExpiredClone(t *testing.T) *rdsStandIn {
	s := auroraCluster(t)
	fill, tags := s.fill, aws.CloneTags("shop", "copy", "of-another", time.Now().Add(-time.Hour))
	s.fill = func() {
		fill()
		s.api.Instances.Add(awstest.Instance{ID: "copy-1", Class: "db.r6g.large", Engine: "aurora-mysql", Tags: tags})
		s.api.Clusters.Add("copy", "aurora-mysql", "copy-1")
		for key, value := range tags {
			s.api.Clusters.Tag("copy", key, value)
		}
		s.api.Clusters.Share("copy", "shop")
	}
	s.fill()
	return s
}

var rdsTortures = []rdsTorture{
	{Book: "rds/resize", Inputs: []string{"node=db2", "class=db.r6g.large"}, standIn: pairOfInstances},
	{Book: "rds/grow-storage", Inputs: []string{"node=db1", "gib=400", "type=gp3"}, standIn: pairOfInstances, stays: []string{"grow"}},
	{Book: "rds/set-parameter", Inputs: []string{"node=db1", "name=max_connections", "value=300"}, standIn: pairOfInstances},
	{Book: "rds/reboot", Inputs: []string{"node=db2"}, standIn: pairOfInstances, stays: []string{"reboot"}},
	{Book: "rds/add-replica", Inputs: []string{"node=db1", "name=new"}, standIn: pairOfInstances},
	{Book: "rds/promote", Inputs: []string{"node=db2"}, standIn: pairOfInstances, stays: []string{"promote"}, copies: true, makes: "2 servers take writes: db1, db2"},
	{Book: "rds/blue-green", Inputs: []string{"node=db", "old=old", "name=next", "version=9.7.4"}, standIn: blueGreenOfRDS, stays: []string{"switch"}, copies: true},
	{Book: "rds/blue-green-back", Inputs: []string{"node=db", "old=old"}, Before: []string{"rds/blue-green node=db old=old name=next version=9.7.4"}, standIn: blueGreenOfRDS, stays: []string{"back", "open"}, copies: true},
	{Book: "aurora/failover", Inputs: []string{"node=db2"}, standIn: auroraCluster},
	{Book: "aurora/add-reader", Inputs: []string{"node=db3", "class=db.r6g.large", "tables=app.t", "share=0"}, standIn: auroraToGrow},
	{Book: "aurora/clone", Inputs: []string{"name=copy", "class=db.r6g.large"}, standIn: auroraCluster, idle: []string{"sweep"}},
	{Book: "aurora/delete-clone", Inputs: []string{"name=copy"}, Before: []string{"aurora/clone name=copy class=db.r6g.large"}, standIn: auroraCluster, stays: []string{"delete"}},
	{Book: "aurora/delete-expired-clones", standIn: auroraWithAnExpiredClone, stays: []string{"delete"}, open: true},
}

// TestRDSRunbooksStandTheTorture tortures the runbooks of RDS and Aurora on a stand-in of the API in front of real servers: by the
// command's own torture, with processes of plimsoll that are killed and put to sleep. All thirteen take two hours: make torture-rds.
func TestRDSRunbooksStandTheTorture(t *testing.T) {
	if *tortureResults == "" {
		t.Skip("kills processes for two hours: make torture-rds")
	}
	kept, err := filepath.Abs(*tortureResults) // each test has another working folder
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range rdsTortures {
		t.Run(c.Book, func(t *testing.T) {
			s := c.standIn(t)
			o, err := s.torture(t, c)
			if err != nil {
				t.Fatalf("%v; until then %+v", err, o.Troubles)
			}
			t.Logf("%d tries in %s, brought back %d times; who took it back killed %d times; going on within %s; asleep for %s; stays %q",
				o.Tries, o.Took.Round(time.Second), o.Restored, o.Undos, o.Resumed.Round(time.Millisecond), o.Slept, o.Stays)
			found := len(o.Troubles)
			o.Troubles = slices.DeleteFunc(o.Troubles, func(trouble faulttest.Trouble) bool { return trouble.Text == c.makes })
			if made := found > len(o.Troubles); made != (c.makes != "") {
				t.Errorf("it makes what it is for: %t, want %q", made, c.makes)
			}
			for _, trouble := range o.Troubles {
				t.Errorf("%s: %s %s", trouble.Test, trouble.Step, trouble.Text)
			}
			if !slices.Equal(slices.Sorted(slices.Values(o.Stays)), c.stays) || !slices.Equal(slices.Sorted(slices.Values(o.Asks)), c.asks) {
				t.Errorf("stays %q, want %q; asks %q, want %q", o.Stays, c.stays, o.Asks, c.asks)
			}
			if o.Tries < 10 || o.Undos == 0 || (o.Slept == 0) != c.open || !slices.Equal(o.Untried, c.idle) {
				t.Errorf("%d tries, %d killed while it was undone, asleep for %s, untried %q", o.Tries, o.Undos, o.Slept, o.Untried)
			}
			keepReport(t, kept, c, o)
		})
	}
}

// keepReport writes a result as internal/torture reads it.
func keepReport(t *testing.T, folder string, c rdsTorture, o faulttest.Report) {
	t.Helper()
	data, err := json.MarshalIndent(struct {
		Case    rdsTorture       `json:"case"`
		Product string           `json:"product"`
		Report  faulttest.Report `json:"ordeal"`
	}{c, "rds", o}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, strings.ReplaceAll(c.Book, "/", "-")+".json"), append(data, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// torture does what the command does to a lab.
func (s *rdsStandIn) torture(t *testing.T, c rdsTorture) (faulttest.Report, error) {
	t.Helper()
	program, err := exec.LookPath("plimsoll") // TestMain has put it there
	if err != nil {
		return faulttest.Report{}, err
	}
	inv, err := inventory.Open()
	if err != nil {
		return faulttest.Report{}, err
	}
	deps, err := home.LabDeps()
	if err != nil {
		return faulttest.Report{}, err
	}
	requests, err := torturecmd.Firsts(append(slices.Clone(c.Before), strings.Join(append([]string{c.Book}, c.Inputs...), " ")), "orders")
	if err != nil {
		return faulttest.Report{}, err
	}
	v := torturecmd.Victim{Program: program, Runbook: c.Book, Cluster: "orders", Inputs: c.Inputs, Pause: torturecmd.ShortestLease + time.Second}
	open := func(ctx context.Context, name string) (*cluster.Cluster, error) {
		return home.OpenCluster(ctx, name, inv, deps)
	}
	tt := faulttest.Torture{
		Request: requests[len(c.Before)], Before: requests[:len(c.Before)], Folder: t.TempDir(), Actions: catalog.Actions(), Pause: v.Pause, Settle: time.Minute,
		Open: open, ClusterLock: catalog.ClusterLock,
		Elsewhere: func(ctx context.Context) (*cluster.Cluster, error) { return open(ctx, "orders") },
		Save: func(ctx context.Context) error {
			if !c.copies {
				return nil // its API knows how it began
			}
			return s.servers.Save(ctx)
		},
		Restore: func(ctx context.Context) error { return s.restore(ctx, c.copies) },
		Child: func(ctx context.Context, store string, at durable.Moment, asleep func(context.Context) error) (faulttest.Fate, error) {
			return torturecmd.RunChild(ctx, v, store, at, asleep)
		},
		Cancel: func(ctx context.Context, store, run string, at durable.Moment) (faulttest.Fate, error) {
			canceller := v
			canceller.Cancels = run
			return torturecmd.RunChild(ctx, canceller, store, at, nil)
		},
		Say: func(text string) { t.Log(text) },
	}
	return tt.Run(t.Context())
}

// restore brings back the API, and the servers too where a runbook changes who follows whom.
func (s *rdsStandIn) restore(ctx context.Context, servers bool) error {
	if servers {
		if err := s.servers.Restore(ctx); err != nil {
			return err
		}
	}
	s.api.Reset()
	s.fill()
	return nil
}
