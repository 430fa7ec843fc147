package run_test

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/analyze"
	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/internal/labtest"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/trial/foresee"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

// TestGrantsAreToldBeforeTheLoad puts load on a target by an account that has nothing: the server does not even let it into the database. What
// trial validate --cluster tells, and the trial before its load, is granted and no more, until the trial runs.
func TestGrantsAreToldBeforeTheLoad(t *testing.T) {
	labtest.Each(t, func(t *testing.T, db labtest.Server) {
		labtest.Ask(t, db, "CREATE DATABASE orders", "CREATE TABLE orders.other (id INT)", "CREATE USER bare@'%' IDENTIFIED BY 'x-bare'")
		parts := withInventory(t, `clusters:
  orders:
    engine: mysql
    environment: staging
    user: bare
    password: {file: `+passwordFile(t, "x-bare")+`}
    database: orders
    nodes: [{name: a, address: "`+db.Target.Addresses[0]+`"}]
`)
		parts.OpenCluster = func(ctx context.Context, name string, here infra.Machine) (*cluster.Cluster, error) {
			inv, err := parts.Inventory()
			if err != nil {
				return nil, err
			}
			return catalog.OpenCluster(ctx, name, inv.Clusters[name], here)
		}
		b := &bareAccount{T: t, parts: parts, options: bareOptions(t, nil)}
		store, err := durable.Open(t.Context(), durable.Options{Folder: t.TempDir(), Version: journal.Interpreter})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		b.runs = &execute.Service{Store: store, Actions: parts.Actions, User: "test", Holder: "test", ClusterLock: parts.ClusterLock,
			Open: func(ctx context.Context, name string) (*cluster.Cluster, error) {
				return parts.OpenCluster(ctx, name, b.options.Lab.Machine)
			}}
		at := db.Target
		at.Namespace = "orders"
		owner, err := db.Engine.Open(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = owner.Close() }()
		if err := b.trial().Cells[0].Workload.Prepare(t.Context(), owner, nil); err != nil {
			t.Fatal(err)
		}

		const all = "GRANT SELECT, INSERT, UPDATE, DELETE ON `orders`.* TO 'bare'@'%'"
		b.tells("nothing", all)
		b.plans("GRANT SELECT ON `orders`.* TO 'bare'@'%'")
		labtest.Ask(t, db, "GRANT SELECT ON orders.other TO bare@'%'")
		b.tells("a table beside those of the load, which are hidden from it", all)
		labtest.Ask(t, db, "GRANT SELECT ON orders.* TO bare@'%'")
		b.tells("read", "GRANT INSERT, UPDATE, DELETE ON `orders`.* TO 'bare'@'%'")
		labtest.Ask(t, db, "GRANT INSERT, UPDATE, DELETE ON orders.* TO bare@'%'")
		grants := b.tells("what the load needs, and not what the runbook does", "")
		if len(grants) < 2 || !slices.ContainsFunc(grants, func(g string) bool { return strings.Contains(g, "ON `plimsoll`.* TO") }) {
			t.Errorf("the runbook needs its claim and to set a variable, and told are %q", grants)
		}
		labtest.Ask(t, db, grants...)
		if lacks := b.validated(); len(lacks) > 0 {
			t.Errorf("after all grants: %v", lacks)
		}
		options := b.options
		options.Dir = filepath.Join(t.TempDir(), "granted")
		r, err := run.Run(t.Context(), b.trial(), parts, options)
		if err != nil || r.Verdict.Ended != nil || r.Verdict.Cells[0].Tally.Done == 0 || r.Verdict.ChangeFailed != "" {
			t.Errorf("with these grants alone: %v, %+v", err, r)
		}
	})
}

// bareAccount is a trial on a target that it reaches by an account which lacks much.
type bareAccount struct {
	*testing.T
	parts   spec.Parts
	options run.Options
	runs    *execute.Service
}

func (b *bareAccount) trial() *spec.Trial {
	b.Helper()
	tr, err := spec.Parse("trial.yaml", []byte(`trial: bare
cluster: {target: orders}
load: {workload: oltp_read_write, tables: 1, table_size: 1000, connections: 2}
timeline: [{baseline: 2s}, {run: mysql/set-variable, with: {name: max_connections, value: "600"}}, {recovery: 1s}]
phases: {warmup: 1s, rounds: 1}
expect: [errors == 0]
`), spec.Options{}, b.parts)
	if err != nil {
		b.Fatal(err)
	}
	return tr
}

// plans plans the trial's runbook alone: what that lacks has the grant that lets the account into the cluster's database.
func (b *bareAccount) plans(want string) {
	b.Helper()
	call := b.trial().Timeline[1].Call
	p, err := b.runs.Prepare(b.Context(), execute.Request{Book: call.Book, Cluster: "orders", Inputs: call.Said})
	if err == nil {
		err = p.Trouble()
	}
	if grants := grantStatement.FindAllString(hint.Of(err), -1); !slices.Contains(grants, want) {
		b.Errorf("the plan of a runbook tells %q (%v), not %q", grants, err, want)
	}
}

// validated is what trial validate --cluster refuses.
func (b *bareAccount) validated() (must []foresee.Foreseen) {
	b.Helper()
	on, err := b.parts.OpenCluster(b.Context(), "orders", b.options.Lab.Machine)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = on.Close() }()
	found, err := foresee.Foresee(b.Context(), b.trial(), b.parts, on, b.runs.Prepare)
	if err != nil {
		b.Fatal(err)
	}
	return slices.DeleteFunc(found, func(f foresee.Foreseen) bool { return !f.Must })
}

var grantStatement = regexp.MustCompile("GRANT [^;]+")

// tells returns the grants that both validate and the trial itself tell, before there is any load; want is one of them.
func (b *bareAccount) tells(has, want string) []string {
	b.Helper()
	var grants []string
	for _, f := range b.validated() {
		if f.Of == "data" {
			b.Errorf("an account that has %s is told to create the data, which is there: %s", has, f)
		}
		grants = append(grants, grantStatement.FindAllString(f.Do, -1)...)
	}
	options := b.options
	options.Dir = filepath.Join(b.TempDir(), "result")
	r, err := run.Run(b.Context(), b.trial(), b.parts, options)
	if r == nil || r.Verdict.Verdict != analyze.CouldNotRun || r.Verdict.Ended == nil || !r.Verdict.Ended.Unmeasured {
		b.Fatalf("an account that has %s: %v, %+v", has, err, r)
	}
	if before := grantStatement.FindAllString(r.Verdict.Ended.Do, -1); len(grants) == 0 || !slices.Equal(grants, before) {
		b.Errorf("an account that has %s: validate tells %q, and the trial %q (%s)", has, grants, before, r.Verdict.Ended.Why)
	}
	if want != "" && !slices.Contains(grants, want) {
		b.Errorf("an account that has %s: told are %q, not %q", has, grants, want)
	}
	return grants
}
