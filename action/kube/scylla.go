package kube

import (
	"fmt"
	"strconv"

	"plimsoll/infra/kube"
)

// scyllaOperator runs ScyllaClusters (scylla.scylladb.com/v1), each of which is a data centre.
var scyllaOperator = operator{
	name:     "scylla-operator",
	kind:     kube.Kind{Group: "scylla.scylladb.com", Version: "v1", Kind: "ScyllaCluster", Plural: "scyllaclusters"},
	selector: func(o kube.Object) string { return labelled("scylla/cluster=" + o.Name()) },
	stopped:  func(kube.Object) string { return "" },
	busy:     scyllaBusy,
	counts:   ringCounts(func(o kube.Object) string { return o.Text(kube.At("spec.datacenter.name")) }),
	size: func(o kube.Object) (all []sizeField) {
		for i, rack := range o.List(kube.At("spec.datacenter.racks")) {
			all = append(all, sizeField{rack.Text(kube.At("name")), kube.Path{"spec", "datacenter", "racks", strconv.Itoa(i), "members"}})
		}
		return all
	},
	restart:     &restartField{field: kube.At("spec.forceRedeploymentReason"), shown: "scylla-operator.scylladb.com/force-redeployment-reason"},
	replaces:    replaceLabel{},
	maintenance: "scylla/node-maintenance",
	instead: map[string]string{
		"kube.pause":         "stop the work that it would interfere with, or scale the operator's own Deployment down by hand; kube/enter-maintenance takes one node out of service",
		"kube.set-parameter": "change scylla.yaml in the ConfigMap that scyllaConfig of the rack names, then run kube/rolling-restart",
		"kube.switchover":    "all of its nodes have the same role",
	},
}

// scyllaBusy is what the documentation of scylla-operator says that a finished change is told by.
func scyllaBusy(o kube.Object) string {
	if unseen := unseen(o); unseen != "" {
		return unseen
	}
	for _, c := range []struct{ kind, want string }{{"Progressing", "False"}, {"Degraded", "False"}, {"Available", "True"}} {
		if status, reason := o.Condition(c.kind); status != c.want {
			return fmt.Sprintf("the condition %s to be %s (%s)", c.kind, c.want, reason)
		}
	}
	return ""
}
