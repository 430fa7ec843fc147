package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runbookcmd"
	"plimsoll/infra/aws/awstest"
	"plimsoll/inventory"
	"plimsoll/runbook/journal"
)

// A change is rehearsed on a clone of the cluster in production that it is meant for, which has its data, with one command; the clone is
// deleted, also where the rehearsal came to nothing. The API is a stand-in's (awstest), for no account of AWS was there to be asked; the
// servers are real ones of MySQL, and what a clone has of its original is copied by hand.
func TestARehearsalOnAClone(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("starts real servers")
	}
	s := newRDS(t, 2, true)
	var clones []string
	ctx, interrupt := t.Context(), func() {}
	s.clones(func(clone string) {
		clones = append(clones, clone)
		interrupt()
	})
	said, err := os.ReadFile(inventory.File)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		inventory.File: strings.Replace(string(said), "environment: lab", "environment: production", 1),
		"change.yaml": `runbook: add-note
gate: {rehearsals: 1}
steps:
  - id: add
    uses: sql.execute
    with:
      statements: [ALTER TABLE app.t ADD COLUMN note INT]
      check: "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'app' AND table_name = 't' AND column_name = 'note'"
      want: "1"
`,
		"elsewhere.yaml": "trial: elsewhere\ncluster: {engine: mysql}\nload: {workload: oltp_point_select, table_size: 100, rate: 10}\ntimeline:\n  - baseline: 1s\n  - run: ./change.yaml\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rehearse := func(args ...string) (text string, status int) {
		var out, failed strings.Builder
		status = program(ctx, append([]string{"runbook", "rehearse", "change.yaml", "--cluster", "orders", "--on-clone"}, args...),
			console.Streams{In: strings.NewReader(""), Out: &out, Err: &failed})
		t.Log(failed.String())
		return out.String() + failed.String(), status
	}
	gone := func(times int) {
		t.Helper()
		if len(clones) != times {
			t.Fatalf("clones %q, want %d", clones, times)
		}
		if last := clones[times-1]; s.api.Clusters.Has(last) {
			t.Errorf("clone %s is still there", last)
		}
	}

	if _, said, status := typed(t, "runbook", "rehearse", "change.yaml", "--cluster", "orders", "--keep-clone"); status != console.ExitBadInput || !strings.Contains(said, "add --on-clone") {
		t.Errorf("no clone: status %d: %s", status, said)
	}
	if text, status := rehearse("--write"); status != 0 || len(clones) > 0 {
		t.Fatalf("status %d, clones %q: %s", status, clones, text)
	}
	const file = "rehearsals/add-note-orders/trial.yaml"
	trial, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(trial), "cluster: {target: orders-rehearsal}") {
		t.Fatalf("%s, %v", trial, err)
	}
	short := strings.NewReplacer("baseline: 20s", "baseline: 3s", "recovery: 20s", "recovery: 3s", "warmup: 10s", "warmup: 1s", "  - errors.recovery == 0\n", "", "20k", "1k").Replace(string(trial))
	if err := os.WriteFile(file, []byte(short), 0o600); err != nil {
		t.Fatal(err)
	}
	text, status := rehearse("--trial", file, "--yes")
	if status != 0 || !strings.Contains(text, "PASS  ") || !strings.Contains(text, "the gate is open: 1 of 1 rehearsals have passed") || !strings.Contains(text, "Next: plimsoll runbook run change.yaml --cluster orders") {
		t.Errorf("status %d: %s", status, text)
	}
	gone(1)
	columns := columnsOf(t, s, "n1") + " in production, " + columnsOf(t, s, "n2") + " in the clone"
	if columns != "1 in production, 2 in the clone" {
		t.Errorf("columns of app.t: %s", columns)
	}

	if text, status := rehearse("--trial", "elsewhere.yaml", "--yes"); status != console.ExitBadInput || !strings.Contains(text, "the trial does not run on the clone") {
		t.Errorf("status %d: %s", status, text)
	}
	gone(2)

	interrupted, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx, interrupt = interrupted, cancel // in the middle of its creation
	if text, status := rehearse("--trial", file, "--yes"); status != console.ExitInterrupted || !strings.Contains(text, "which was creating the clone") {
		t.Errorf("status %d: %s", status, text)
	}
	gone(3)
}

// clones makes n1 the writer of a cluster of Aurora of which n2 is each clone, with a copy of its data and of its claim.
func (s *rdsStandIn) clones(began func(clone string)) {
	s.api.Cloned = func(_, clone string) string {
		began(clone)
		claim, err := s.on.Value(context.Background(), "n1", "SELECT CONCAT_WS(\"','\", run, holder, epoch, since, expires) FROM plimsoll.claim")
		if err != nil || strings.HasPrefix(claim, "'") {
			s.t.Errorf("the run that clones has no claim to be copied: %s, %v", claim, err)
		}
		s.do("n2", "DROP DATABASE IF EXISTS app", "CREATE DATABASE app", "CREATE TABLE app.t (id INT PRIMARY KEY)", "INSERT INTO app.t VALUES (1)", "CREATE DATABASE IF NOT EXISTS plimsoll",
			"DROP TABLE IF EXISTS plimsoll.claim", "CREATE TABLE plimsoll.claim (id TINYINT PRIMARY KEY, run VARCHAR(100) NOT NULL, holder VARCHAR(200) NOT NULL, epoch BIGINT NOT NULL, since DATETIME(6) NOT NULL, expires DATETIME(6) NOT NULL)",
			"INSERT INTO plimsoll.claim VALUES (1, '"+claim+"')")
		return s.address["n2"]
	}
	s.api.Instances.Add(awstest.Instance{ID: "orders", Class: "db.r6g.large", Engine: "mysql", Version: "9.7.4", Type: "gp2", GiB: 100, Address: s.address["n1"], Group: "own"})
	s.api.Clusters.Add("shop", "aurora-mysql", "orders")
	s.describe(", aurora: shop", [3]string{"db1", "orders", s.address["n1"]})
}

// A run that makes a clone has a claim of which the clone has a copy. Killed while the clone's instance was being created, it releases that copy
// when it goes on: else every run on the clone would be refused until somebody broke its lock.
func TestACloneThatWasKilledInItsCreationReleasesTheCopiedClaim(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("starts real servers")
	}
	s := newRDS(t, 2, true)
	s.clones(func(string) {})
	plimsoll, err := exec.LookPath("plimsoll") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	cut := exec.CommandContext(t.Context(), plimsoll, "runbook", "run", "aurora/clone", "--cluster", "orders", "-i", "name=copy", "-i", "class=db.r6g.large", "--yes")
	s.api.Joined = func(string, string) string {
		if err := cut.Process.Kill(); err != nil {
			t.Error(err)
		}
		return s.address["n2"]
	}
	if said, err := cut.CombinedOutput(); err == nil {
		t.Fatalf("it was not killed: %s", said)
	}
	var all []runbookcmd.Status
	out, said, status := typed(t, "runbook", "status", "--json")
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 {
		t.Fatalf("status %d: %s%s", status, out, said)
	}
	claimed := func() string {
		t.Helper()
		run, err := s.on.Value(t.Context(), "n2", "SELECT run FROM plimsoll.claim")
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	if run := claimed(); run != all[0].Run {
		t.Fatalf("the clone has the claim of %q, and run %s was killed", run, all[0].Run)
	}
	if _, said, status := typed(t, "runbook", "resume", all[0].Run, "--yes"); status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	if run := claimed(); run != "" {
		t.Errorf("run %s still has the clone", run)
	}
	if s := statusByName(t, all[0].Run); s.Status != string(journal.RunDone) {
		t.Errorf("%+v", s)
	}
}

func columnsOf(t *testing.T, s *rdsStandIn, node string) string {
	t.Helper()
	v, err := s.on.Value(t.Context(), node, "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'app' AND table_name = 't'")
	if err != nil {
		t.Fatal(err)
	}
	return v
}
