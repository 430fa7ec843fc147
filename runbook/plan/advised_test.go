package plan

import (
	"testing"

	"plimsoll/runbook"
	"plimsoll/runbook/books"
	"plimsoll/runbook/journal"
)

// A runbook that an action advises is a command that can be typed: what it needs and the advice does not give is to be filled in.
func TestARunbookThatIsAdvisedIsAWholeCommand(t *testing.T) {
	t.Parallel()
	for advice, want := range map[string]string{
		"mysql/rejoin then makes the others replicate":                  "plimsoll runbook plan mysql/rejoin --cluster shop -i node=FILL_IN then makes the others replicate",
		"replace it (cql/replace-node), or cql/repair is next.":         "replace it (plimsoll runbook plan cql/replace-node --cluster shop -i dead=FILL_IN), or plimsoll runbook plan cql/repair --cluster shop is next.",
		"replace it (cql/replace-node -i dead=n2).":                     "replace it (plimsoll runbook plan cql/replace-node --cluster shop -i dead=n2).",
		"run superdisk/rebuild -i node=n1; then wait":                   "plimsoll runbook plan superdisk/rebuild --cluster shop -i local=FILL_IN -i node=n1; then wait",
		"plimsoll runbook run kube/pause --cluster shop":                "plimsoll runbook run kube/pause --cluster shop",
		"change the file, then run kube/rolling-restart":                "change the file, then plimsoll runbook plan kube/rolling-restart --cluster shop",
		"plimsoll superdisk status shows those it has":                  "plimsoll superdisk status shop shows those it has",
		"plimsoll superdisk status":                                     "plimsoll superdisk status shop",
		"plimsoll superdisk status, then plimsoll superdisk status.":    "plimsoll superdisk status shop, then plimsoll superdisk status shop.",
		"plimsoll runbook run mysql/failover helps":                     "plimsoll runbook run mysql/failover --cluster shop helps",
		"the files are in /var/lib/mysql/data and rds/external-replica": "the files are in /var/lib/mysql/data and plimsoll runbook plan rds/external-replica --cluster shop -i source=FILL_IN -i replica=FILL_IN",
	} {
		if got := OnCluster(advice, "shop"); got != want {
			t.Errorf("%q\nis   %q\nwant %q", advice, got, want)
		} else if again := OnCluster(got, "shop"); again != got {
			t.Errorf("made whole twice, %q\nis   %q", got, again)
		}
	}
}

// A run's own runbook is advised with the inputs of the run, but for those that the advice gives.
func TestTheRunsOwnRunbookIsAdvisedWithItsInputs(t *testing.T) {
	t.Parallel()
	text, err := books.Text("mysql/alter-table")
	if err != nil {
		t.Fatal(err)
	}
	b, err := runbook.ParseStored("alter-table.yaml", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := journal.Header{Runbook: "mysql/alter-table", Cluster: "shop", Inputs: map[string]any{
		"table": "shop.orders", "change": "MODIFY n BIGINT", "check": "SELECT 1", "want": "1", "algorithm": "INSTANT", "patience": 9, "max_lag": "2s",
	}}
	for advice, want := range map[string]string{
		"try: mysql/alter-table -i algorithm=COPY plans it":  "try: plimsoll runbook plan mysql/alter-table --cluster shop -i 'change=MODIFY n BIGINT' -i 'check=SELECT 1' -i patience=9 -i table=shop.orders -i algorithm=COPY plans it",
		"then mysql/rejoin -i node=n2":                       "then plimsoll runbook plan mysql/rejoin --cluster shop -i node=n2",
		"plimsoll runbook run mysql/alter-table --cluster a": "plimsoll runbook run mysql/alter-table --cluster a",
	} {
		if got := OfRun(advice, h, b); got != want {
			t.Errorf("%q\nis   %q\nwant %q", advice, got, want)
		}
	}
}
