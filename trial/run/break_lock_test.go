package run_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/infra"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/trial/foresee"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

// TestTheLockOfATrialThatDied leaves in a real server what a trial that was killed leaves. The next one is refused before its load, with
// the way out; --break-lock takes it when its owner prolongs it no more, and not before.
func TestTheLockOfATrialThatDied(t *testing.T) {
	t.Parallel()
	servers := labtest.Cluster(t, lab.Spec{Name: "locked", Product: "mariadb", Nodes: 1, Config: map[string]string{"innodb_buffer_pool_size": "32M"}})
	target, err := servers.Target()
	if err != nil {
		t.Fatal(err)
	}
	parts := withInventory(t, `clusters:
  held:
    engine: mysql
    environment: staging
    user: `+target.User+`
    password: {file: `+passwordFile(t, target.Password)+`}
    nodes: [{name: a, address: "`+target.Addresses[0]+`"}]
`)
	parts.OpenCluster = func(ctx context.Context, name string, here infra.Machine) (*cluster.Cluster, error) {
		inv, err := parts.Inventory()
		if err != nil {
			return nil, err
		}
		return catalog.OpenCluster(ctx, name, inv.Clusters[name], here)
	}
	s := optionsAnywhere(t)
	on, err := parts.OpenCluster(t.Context(), "held", s.Lab.Machine)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = on.Close() }()
	claim := action.Claim{Cluster: "held", Run: "set-variable-dead", Holder: "trial earlier", Epoch: 1, For: time.Hour}
	if err := parts.ClusterLock(on).Claim(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	tr, err := spec.Parse("trial.yaml", []byte(`trial: next
cluster: {target: held}
load: {workload: oltp_point_select, rate: 10}
timeline: [{baseline: 2s}, {run: mysql/set-variable, with: {name: max_connections, value: "600"}}]
phases: {warmup: 1s}
`), spec.Options{}, parts)
	if err != nil {
		t.Fatal(err)
	}
	found, err := foresee.Foresee(t.Context(), tr, parts, on, nil) // as trial validate --cluster does
	if at := slices.IndexFunc(found, func(f foresee.Foreseen) bool { return f.Of == "lock" }); err != nil || at < 0 || found[at].Must || found[at].Do == "" ||
		!strings.HasPrefix(found[at].Why, "a trial would be refused now: cluster held is being changed by run set-variable-dead of trial earlier") {
		t.Errorf("before the trial: %+v, %v", found, err)
	}
	try := func(folder, reason string) string {
		t.Helper()
		options := s
		options.Dir, options.BreakLock = s.Dir+folder, reason
		r, _ := run.Run(t.Context(), tr, parts, options)
		if r == nil || r.Verdict.Ended == nil {
			t.Fatalf("%s: it ran without its data: %+v", folder, r)
		}
		return r.Verdict.Ended.Why + "; " + r.Verdict.Ended.Do
	}
	const locked = "cluster held is being changed by run set-variable-dead of trial earlier"
	for folder, reason := range map[string]string{"alive": "", "alive-broken": "it looks dead"} {
		if why := try(folder, reason); !strings.Contains(why, locked) {
			t.Errorf("%s: %s", folder, why)
		}
	}
	if err := on.Execute(t.Context(), "", []string{"UPDATE plimsoll.claim SET expires = NOW(6) - INTERVAL 1 MINUTE"}, func(int) {}); err != nil {
		t.Fatal(err)
	}
	if why := try("dead", ""); !strings.Contains(why, locked) || !strings.Contains(why, "plimsoll trial run trial.yaml --break-lock REASON") {
		t.Errorf("%s", why)
	}
	if why := try("broken", "its machine burned"); strings.Contains(why, locked) {
		t.Errorf("%s", why)
	}
	if found, err := foresee.Foresee(t.Context(), tr, parts, on, nil); err != nil || slices.ContainsFunc(found, func(f foresee.Foreseen) bool { return f.Of == "lock" }) {
		t.Errorf("without a lock: %+v, %v", found, err)
	}
	if run, err := on.Value(t.Context(), "", "SELECT run FROM plimsoll.claim"); err != nil || run != "" {
		t.Errorf("the claim that was taken stays: %q %v", run, err)
	}
}
