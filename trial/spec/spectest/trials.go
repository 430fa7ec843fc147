package spectest

import (
	"testing"

	"plimsoll/trial/spec"
)

// Comparing is a trial with a factor and two variants.
const Comparing = `trial: binlog-cost
question: What does the binary log cost?
cluster: {engine: mariadb, config: {innodb_buffer_pool_size: 512M}}
load: {workload: tpcc, scale: 4}
compare:
  connections: [4, 8]
  variant:
    binlog off: {config: {log_bin: off}}
    binlog row: {config: {log_bin: on}}
phases: {warmup: steady, measure: 60s, rounds: 3}
expect:
  - throughput["binlog row"] > 0.9 * throughput["binlog off"]
`

// Disturbing is a trial with a timeline.
const Disturbing = `trial: stall
cluster: {engine: mysql, nodes: 2}
load: {workload: oltp, rate: 50% of max, limit: 2s}
timeline:
  - baseline: 60s
  - run: lab/freeze
    with: {node: n1}
  - recovery: 30s
expect:
  - throughput.during("lab/freeze") > 0.8 * throughput.baseline
  - p99(response).recovery < 3 * p99(response).baseline
  - errors == 0
`

func Parse(t *testing.T, text string, o spec.Options) *spec.Trial {
	t.Helper()
	got, err := spec.Parse("trial.yaml", []byte(text), o, Parts())
	if err != nil {
		t.Fatal(err)
	}
	return got
}
