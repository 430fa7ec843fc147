package run_test

import (
	"strings"
	"testing"

	"plimsoll/analyze"
	"plimsoll/catalog"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

// A lab's disk runs dry under a load, holds the server to its base then, and becomes another while it serves.
func TestADiskWithLimitsIsFeltAndChanged(t *testing.T) {
	s := quietOptions(t)
	got, err := run.Run(t.Context(), read(t, `trial: dry
cluster:
  engine: mariadb
  config: {innodb_buffer_pool_size: 8M}
  disk: {type: gp2, size: 800G, balance: 0.05 %, scale: 1/10}
load: {workload: oltp_point_select, table_size: 100000, rand_type: uniform, connections: 32}
timeline:
  - baseline: 10s
  - run: lab/disk
    with: {type: io2, size: 800G, iops: 10000, scale: 1/10}
  - recovery: 10s
phases: {warmup: 2s, rounds: 1}
expect:
  - lowest("disk.balance_share").baseline < 0.01
  - last("disk.limit_per_second").baseline < 241
  - last("disk.limit_per_second").recovery > 999
  - throughput.recovery > throughput.baseline
`), catalog.Parts(), s)
	if err != nil && (strings.Contains(err.Error(), "/dev/fuse") || strings.Contains(err.Error(), "fusermount3") || strings.Contains(err.Error(), "not permitted")) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range got.Verdict.Claims { // the verdict may be INVALID where the machine is busy
		if claim.Verdict != analyze.Pass {
			t.Errorf("%+v", claim)
		}
	}
}

// What cannot be a disk is refused with its place.
func TestDisksThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"{type: gp4, size: 1G}":                   "gp4",
		"{type: io2, size: 1G}":                   "provisioned",
		"{type: gp2, size: 100G, scale: 1/1000}":  "too few",
		"{type: gp2, size: 100G, balance: often}": "share",
		"{type: gp2}":                             "size",
	} {
		_, err := spec.Parse("trial.yaml", []byte("trial: x\ncluster: {engine: mariadb, disk: "+text+"}\nload: {workload: oltp_point_select}\n"), spec.Options{}, catalog.Parts())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
