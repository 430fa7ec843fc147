package kube

import (
	"maps"
	"slices"
	"testing"

	"plimsoll/infra/kube"
	"plimsoll/infra/kube/kubetest"
)

// What an operator is described with are fields of its published schema. The API would not tell of cass-operator and Percona's for XtraDB
// Cluster: their schemas keep unknown fields.
func TestOperatorsAreDescribedByTheirSchemas(t *testing.T) {
	racks := kube.Object{"spec": map[string]any{"datacenter": map[string]any{"racks": []any{map[string]any{"name": "a"}}}}}
	for _, name := range slices.Sorted(maps.Keys(operators)) {
		o := operators[name]
		published := kubetest.Published(o.kind.Plural, "")
		if published.Kind != o.kind {
			t.Errorf("%s: %+v, and its schema is of %+v", name, o.kind, published.Kind)
		}
		var paths []kube.Path
		for _, field := range o.size(racks) {
			paths = append(paths, field.path)
		}
		if o.restart != nil {
			paths = append(paths, o.restart.field)
		}
		if o.configuration != nil && name != "cass" { // its spec.config is left out of the schema, which keeps unknown fields for it
			paths = append(paths, o.configuration.field)
		}
		if o.suspend != nil {
			paths = append(paths, o.suspend)
		}
		for _, dotted := range reads[name] {
			paths = append(paths, kube.At(dotted))
		}
		for _, p := range paths {
			if len(p) == 0 || !published.Has(p) {
				t.Errorf("%s: the published schema has no %s", name, p)
			}
		}
		if published.Has(kube.At("spec.no-such-field")) {
			t.Errorf("%s: a field that nobody has is found", name)
		}
		for _, action := range []string{"kube.pause", "kube.switchover", "kube.set-parameter", "kube.replace-node", "kube.enter-maintenance"} {
			can := map[string]bool{
				"kube.pause": o.suspend != nil, "kube.switchover": o.primary != nil, "kube.set-parameter": o.configuration != nil,
				"kube.replace-node": o.replaces != nil, "kube.enter-maintenance": o.maintenance != "",
			}[action]
			if can == (o.instead[action] != "") {
				t.Errorf("%s: %s is possible: %v; advice for where it is not: %q", name, action, can, o.instead[action])
			}
		}
	}
}

// reads are the fields that the functions of an operator read.
var reads = map[string][]string{
	"cass":        {"spec.stopped", "spec.racks", "spec.configSecret", "spec.datacenterName", "status.observedGeneration", "status.conditions", "status.cassandraOperatorProgress", "status.nodeStatuses.pod.hostID"},
	"scylla":      {"spec.datacenter.name", "spec.automaticOrphanedNodeCleanup", "status.observedGeneration", "status.conditions"},
	"mariadb":     {"spec.updateStrategy.type", "spec.replication.enabled", "spec.replication.primary.podIndex", "spec.galera.primary.podIndex", "spec.maxScaleRef", "status.replicas", "status.currentPrimaryPodIndex", "status.conditions"},
	"percona-pxc": {"spec.pause", "spec.updateStrategy", "spec.unsafeFlags.pxcSize", "status.observedGeneration", "status.state", "status.message"},
	"percona-ps":  {"spec.pause", "spec.updateStrategy", "spec.mysql.clusterType", "status.state", "status.mysql.size"},
}
