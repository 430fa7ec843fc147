package run_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/result"
	"plimsoll/trial/run"

	"plimsoll/analyze"
	"plimsoll/catalog"
	"plimsoll/lab/forgetful"
)

// TestMain is the tests, or the layer beneath a server of theirs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "layer" {
		if err := forgetful.Run(os.Args[2:]); err != nil {
			println(err.Error())
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// A kill takes nothing that the server had written to its files, a power failure what it had not synced, and nothing of
// what it had. The log is flushed once a minute there, so that it cannot happen to have been a moment ago. The kill is by far the
// longest time without an acknowledgement until the power fails: what a busy machine does not acknowledge after it would pass for its end.
func TestWhatAPowerFailureTakesAndAKillDoesNot(t *testing.T) {
	s := options(t, nil)
	got, err := run.Run(t.Context(), read(t, `trial: durability
cluster: {engine: mariadb, config: {innodb_buffer_pool_size: 64M, innodb_log_file_size: 32M, innodb_flush_log_at_timeout: 60}}
load: {workload: ledger, connections: 4}
compare:
  variant:
    synced: {config: {innodb_flush_log_at_trx_commit: 1, log_bin: on, sync_binlog: 1}}
    written: {config: {innodb_flush_log_at_trx_commit: 2, log_bin: off}}
timeline:
  - baseline: 2s
  - run: lab/kill
    with: {for: 5s}
  - recovery: 2s
  - run: lab/power-fail
  - recovery: 2s
phases: {warmup: 1s, rounds: 1}
expect:
  - lost_writes["synced"] == 0
  - lost_writes["written"].during("lab/kill") == 0
  - lost_writes["written"].during("lab/power-fail") > 0
  - recovery_point["written"].during("lab/power-fail") > 0
  - duplicated_writes + corrupt_writes + stale_reads == 0
`), catalog.Parts(), s)
	if err != nil && (strings.Contains(err.Error(), "/dev/fuse") || strings.Contains(err.Error(), "fusermount3") || strings.Contains(err.Error(), "not permitted")) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range got.Verdict.Claims {
		if claim.Verdict != analyze.Pass {
			t.Errorf("%s: %s, %v", claim.Expect, claim.Verdict, claim.Estimate)
		}
	}
	for _, c := range got.Verdict.Cells {
		if c.Writes == nil || c.Writes.Acknowledged == 0 || c.Writes.Reads == 0 {
			t.Errorf("cell %q: %+v", c.Name, c.Writes)
		}
		if !slices.ContainsFunc(c.Figures, func(f result.Figure) bool { return f.Metric == "recovery_time" && f.Estimate.Value > 0 }) {
			t.Errorf("cell %q: no recovery time among its figures", c.Name)
		}
	}
	if notes := strings.Join(got.Verdict.Notes, " "); !strings.Contains(notes, "lab/kill kills the process") || !strings.Contains(notes, "lab/power-fail is a power failure") {
		t.Errorf("which of the two was tested is not said: %s", notes)
	}
}

// Beside another workload a ledger counts what is lost and dates when writes are taken again, and is nothing of what the other
// measures.
func TestALedgerBesideAnotherWorkload(t *testing.T) {
	s := options(t, nil)
	got, err := run.Run(t.Context(), read(t, `trial: beside
`+smallServer+`load: {workload: oltp_point_select, table_size: 1000, connections: 2, ledger: {rate: 100, connections: 4}}
timeline:
  - baseline: 2s
  - run: lab/freeze
    with: {for: 2s}
  - recovery: 2s
phases: {warmup: 1s, rounds: 1}
expect:
  - lost_writes == 0
  - recovery_time > 1.9s
`), catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range got.Verdict.Claims {
		if claim.Verdict != analyze.Pass {
			t.Errorf("%s: %s, %v", claim.Expect, claim.Verdict, claim.Estimate)
		}
	}
	if w := got.Verdict.Cells[0].Writes; w == nil || w.Acknowledged < 20 || w.Acknowledged > 10_000 {
		t.Errorf("%+v", w)
	}
	for _, row := range got.Seconds {
		if row.Operation == "write" || row.Operation == "update" {
			t.Fatalf("the ledger's operations are among those that are measured: %+v", row)
		}
	}
}
