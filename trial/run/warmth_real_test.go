package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plimsoll/analyze"
	"plimsoll/catalog"
	"plimsoll/series"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

const warmRunbook = `
runbook: test/warm
inputs: {warm: {enum: [nothing, table], default: nothing}}
steps:
  - {id: read, if: inputs.warm == "table", uses: mysql.warm, with: {node: n2, indexes: plimsoll.sbtest1.PRIMARY}}
`

// TestARestartedReplicaIsCold puts a load over both nodes, restarts one and gives it another size: what is left in memory is
// told by node, and a variant's inputs reach the runbook.
func TestARestartedReplicaIsCold(t *testing.T) {
	s := options(t, nil)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "warm.yaml"), []byte(warmRunbook), 0o600); err != nil {
		t.Fatal(err)
	}
	cold, err := spec.Parse(filepath.Join(dir, "trial.yaml"), []byte(`trial: cold
cluster:
  engine: mariadb
  nodes: 2
  config: {innodb_buffer_pool_size: 64M, innodb_buffer_pool_dump_at_shutdown: off, innodb_buffer_pool_load_at_startup: off}
load: {workload: oltp_point_select, table_size: 30000, rand_type: uniform, rate: 40, connections: 4, to: all}
phases: {warmup: 1s, rounds: 1}
compare:
  variant:
    nothing: {}
    read: {inputs: {warm: table}}
timeline:
  - {run: warm.yaml, with: {warm: table}, as: before}
  - baseline: 3s
  - {run: lab/restart, with: {node: n2}, as: restarted}
  - {run: warm.yaml, as: restarted}
  - recovery: 2s
  - {run: lab/reconfigure, with: {node: n2, config: {innodb_buffer_pool_size: 96M}}, as: resized}
  - {run: lab/restore, as: restored}
expect:
  - warmth.on("primary").during("restarted") > 90%
  - warmth.on("n2").during("restarted") < 90%
  - warmth.on("primary").during("restored") < 90%
`), spec.Options{}, catalog.Parts())
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Run(t.Context(), cold, catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range result.Verdict.Claims {
		if c.Verdict != analyze.Pass {
			t.Errorf("%s: %s, found %v", c.Expect, c.Verdict, c.Estimate)
		}
	}
	count := func(cell, phase string) (n int, nodes []string) {
		for _, p := range result.Verdict.Phases {
			if p.Cell == cell && p.Name == phase {
				n++
				for _, w := range p.Warmth {
					nodes = append(nodes, w.Role+" "+w.Node)
				}
			}
		}
		return n, nodes
	}
	if n, nodes := count("nothing", "restarted"); n != 1 || !slices.Equal(nodes, []string{"primary n1", "replica n2"}) {
		t.Errorf("%d phases of one name, with the memory of %v", n, nodes)
	}
	read := map[string]int{}
	for _, e := range result.Events {
		if e.Kind == "step.start" && e.Name == "read" {
			read[e.Cell]++
		}
	}
	// Once before the baseline, by the timeline's own input; again where the variant says so.
	if read["nothing"] != 1 || read["read"] != 2 {
		t.Errorf("the table was read %v times", read)
	}
	if !slices.ContainsFunc(result.Signals, func(p series.Point) bool { return p.Signal == "mysql.pool_miss_share" && p.Node == "n2" }) {
		t.Error("nobody read from the replica")
	}
}
