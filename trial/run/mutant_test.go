package run_test

import (
	"testing"

	"plimsoll/catalog"
	"plimsoll/internal/document/documenttest"
	"plimsoll/trial/spec"
)

const compared = `
trial: compared
question: What does it cost?
cluster: {engine: mariadb, nodes: 1, config: {innodb_buffer_pool_size: 512M}}
load: {workload: tpcc, scale: 4, connections: 8}
compare:
  connections: [4, 8]
  variant:
    off: {config: {log_bin: off}}
    on: {config: {log_bin: on}, prepare: mysql/attach-replica}
phases: {warmup: steady, measure: 60s, rounds: 3}
expect:
  - throughput["on"] > 0.9 * throughput["off"]
quick: {phases: {rounds: 1}}
`

const disturbed = `
trial: disturbed
question: How much is felt?
cluster: {engine: mariadb, nodes: 3}
load: {workload: ycsb-a, records: 1000, rate: 50% of max, reads_from: replicas, max_behind: 5s, ledger: {rate: 50}}
timeline:
  - baseline: 60s
  - run: mysql/switchover
    with: {to: n2}
    approve: true
  - wait: 5s
  - recovery: 120s
expect:
  - throughput.during("mysql/switchover") > 0.8 * throughput.baseline
  - lost_writes == 0
`

func TestNoTrialPanics(t *testing.T) {
	parts := catalog.Parts()
	for name, text := range map[string]string{"compared": compared, "disturbed": disturbed} {
		t.Run(name, func(t *testing.T) {
			if _, err := spec.Parse("whole.yaml", []byte(text), spec.Options{}, parts); err != nil {
				t.Fatal(err)
			}
			documenttest.EachMutant(t, text, func(text []byte) {
				_, _ = spec.Parse("mutant.yaml", text, spec.Options{}, parts)
				_, _ = spec.Parse("mutant.yaml", text, spec.Options{Quick: true}, parts)
			})
		})
	}
}
