package run_test

import (
	"strings"
	"testing"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/trial/foresee"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

func trialOf(t *testing.T, text string) *spec.Trial {
	t.Helper()
	tr, err := spec.Parse("trial.yaml", []byte("trial: t\n"+text), spec.Options{}, catalog.Parts())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestDataThatDoesNotFitIsRefusedBeforeTheLoad asks for more than any disk of today has.
func TestDataThatDoesNotFitIsRefusedBeforeTheLoad(t *testing.T) {
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	const expect = "\nexpect: [errors == 0]\n"
	for _, c := range []struct {
		trial, of, why string
		must           bool
	}{
		{"cluster: {engine: mariadb}\nload: {workload: tpcc, scale: 1}", "", "", false},
		{"cluster: {engine: mariadb, nodes: 16}\nload: {workload: tpcc, scale: 100000}", "disk", "the rows of this trial alone take about", true},
		{"cluster: {engine: cassandra}\nload: {workload: ycsb-a, records: 100000000000}", "disk", "the data of this trial may take up to", false},
		{"cluster: {engine: mariadb, machines: {volumes: {local: 2G}}}\nload: {workload: tpcc, scale: 50}", "volume local", "and the volume has 2048 MiB", true},
	} {
		found := foresee.RoomForData(t.Context(), trialOf(t, c.trial+expect), machine, t.TempDir())
		if c.of == "" && len(found) > 0 {
			t.Errorf("%s: %v", c.trial, found)
		}
		if c.of != "" && (len(found) != 1 || found[0].Of != c.of || found[0].Must != c.must || !strings.Contains(found[0].Why, c.why) || found[0].Do == "") {
			t.Errorf("%s: %+v", c.trial, found)
		}
	}
}

// TestTheRowsOfADataSetAreEstimated compares what workloads say of their data with what a real server stores. It must not be more: by it
// trials are refused.
func TestTheRowsOfADataSetAreEstimated(t *testing.T) {
	t.Parallel()
	server := labtest.Up(t, "mariadb")
	for _, load := range []string{"{workload: tpcc, scale: 1}", "{workload: oltp_read_write, table_size: 50000}", "{workload: ycsb-a, records: 20000}"} {
		w := trialOf(t, "cluster: {engine: mariadb}\nload: "+load+"\nexpect: [errors == 0]\n").Cells[0].Workload
		if err := w.Prepare(t.Context(), server.Database, nil); err != nil {
			t.Fatal(err)
		}
		var stored int64
		for _, table := range labtest.Query(t, server, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()") {
			labtest.Ask(t, server, "ANALYZE TABLE `"+table+"`")
			bytes, _, err := server.Database.(engine.Sized).TableSize(t.Context(), server.Target.Namespace, table)
			if err != nil {
				t.Fatal(err)
			}
			stored += bytes
		}
		said := w.(workload.Tables).DataBytes()
		t.Logf("%s: said %d, stored %d: %.2f", load, said, stored, float64(said)/float64(stored))
		if said > stored || said < stored/2 {
			t.Errorf("%s: said to be %d bytes, and stored are %d", load, said, stored)
		}
		if err := w.Cleanup(t.Context(), server.Database); err != nil {
			t.Fatal(err)
		}
	}
}
