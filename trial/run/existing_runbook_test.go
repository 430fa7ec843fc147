package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/engine/singlestore/singlestoretest"
	"plimsoll/inventory"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

// Runbooks are run on targets that stand in the inventory, and not on those in production.
func TestRunbooksOnTargets(t *testing.T) {
	const load, timeline = "load: {workload: oltp_point_select, rate: 10}\n", "timeline: [{baseline: 5s}, {run: mysql/set-variable, with: {name: sync_binlog, value: '1'}}]\n"
	parts := withInventory(t, clusters)
	for target, want := range map[string]string{
		"shop-staging":                       "",
		"shop":                               "which is in production, for a trial (plimsoll runbook rehearse mysql/set-variable --cluster shop -i name=sync_binlog -i value=1, then: ",
		"'mysql://root@127.0.0.1:3306/shop'": "needs a cluster that plimsoll.yaml lists",
	} {
		_, err := spec.Parse("trial.yaml", []byte("trial: t\ncluster: {target: "+target+"}\n"+load+timeline), spec.Options{}, parts)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", target, err, want)
		}
	}
}

func TestTheSingleStoreExampleIsValid(t *testing.T) {
	folder := filepath.Join("..", "..", "examples", "singlestore-scale-out")
	text, err := os.ReadFile(filepath.Join(folder, inventory.File))
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile(filepath.Join(folder, "trial.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spec.Parse("trial.yaml", example, spec.Options{}, withInventory(t, string(text))); err != nil {
		t.Error(err)
	}
}

// A leaf comes under load, and the phases of the rebalance are dated. No SingleStore can be had here: this is played on a
// stand-in for one, whose answers are as SingleStore's documentation prints them.
func TestALeafComesUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes fifteen seconds")
	}
	t.Parallel()
	cluster := singlestoretest.New(t, singlestoretest.Spec{Leaves: 2, Partitions: 6, Shown: 6})
	parts := withStandIn(t, cluster)
	file := filepath.Join(t.TempDir(), "look.yaml")
	err := os.WriteFile(file, []byte("workload: look\noperations:\n  look: {with: {id: uniform 1..9}, run: 'SELECT value FROM t WHERE id = :id'}\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := spec.Parse("trial.yaml", []byte(`trial: leaf
cluster: {target: stand-in}
load: {workload: `+file+`, rate: 50, connections: 4, timeout: 50s}
timeline:
  - baseline: 4s
  - {run: singlestore/add-leaf, with: {leaf: "10.0.0.9:3306"}}
  - recovery: 2s
phases: {warmup: 1s, rounds: 1}
expect: [errors == 0]
`), spec.Options{}, parts)
	if err != nil {
		t.Fatal(err)
	}
	s := bareOptions(t, nil)
	result, err := run.Run(t.Context(), tr, parts, s)
	if err != nil {
		t.Fatal(err)
	}
	var dated, steps []string
	for _, e := range result.Events {
		switch e.Kind {
		case "stream.start":
			dated = append(dated, e.Name)
		case "step.start":
			steps = append(steps, e.Name)
		}
	}
	if !slices.Equal(dated, []string{"copy", "promote"}) || !slices.Equal(steps, []string{"whole", "create", "add", "rebalance"}) {
		t.Errorf("dated %q, steps %q", dated, steps)
	}
	if !strings.Contains(cluster.String(), "on 10.0.0.9:3306") || cluster.Statements.Load() == 0 {
		t.Errorf("%d statements, at the end\n%s", cluster.Statements.Load(), cluster)
	}
	if len(result.Signals) == 0 || result.Environment.Engine["product"] != "SingleStore" {
		t.Errorf("%d signals of %v", len(result.Signals), result.Environment.Engine)
	}
	if runs, err := os.ReadDir(filepath.Join(s.Dir, "runs")); err != nil || len(runs) != 1 {
		t.Errorf("evidence of runs: %v, %v", runs, err)
	}
}
