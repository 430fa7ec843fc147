package kube

import (
	"fmt"

	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// cassOperator runs CassandraDatacenters (cassandra.datastax.com/v1beta1).
var cassOperator = operator{
	name:     "cass-operator",
	kind:     kube.Kind{Group: "cassandra.datastax.com", Version: "v1beta1", Kind: "CassandraDatacenter", Plural: "cassandradatacenters"},
	selector: func(o kube.Object) string { return labelled("cassandra.datastax.com/datacenter=" + o.Name()) },
	stopped: func(o kube.Object) string {
		if o.Is(kube.At("spec.stopped")) {
			return "spec.stopped is true: the data centre is stopped"
		}
		return ""
	},
	resume: "set spec.stopped to false first",
	stuck: func(o kube.Object) string {
		if status, reason := o.Condition("Valid"); status == "False" {
			return "the operator reports that it is invalid (" + reason + ")"
		}
		return ""
	},
	busy:   cassBusy,
	counts: ringCounts(cassDatacentre),
	size:   one("spec.size"),
	fits: func(r resource, to int64) error {
		if racks := int64(len(r.List(kube.At("spec.racks")))); to < racks {
			return &hint.PermanentError{Reason: fmt.Sprintf("%d nodes are fewer than the %d racks", to, racks), Advice: "keep at least one node in each rack"}
		}
		return nil
	},
	configuration: cassandraYAML,
	replaces:      replaceTask{},
	instead: map[string]string{
		"kube.pause":             "stop the work that it would interfere with, or scale the operator's own Deployment down by hand",
		"kube.switchover":        "all of its nodes have the same role",
		"kube.enter-maintenance": "it has spec.stopped, for the whole data centre only; docs/kubernetes.md says how to work on one node",
	},
}

// cassActions are the conditions that say that something is being done.
var cassActions = []string{"ScalingUp", "ScalingDown", "Updating", "RollingRestart", "ReplacingNodes", "Resuming", "ResizingVolumes", "Decommission"}

func cassBusy(o kube.Object) string {
	if unseen := unseen(o); unseen != "" {
		return unseen
	}
	for _, doing := range cassActions {
		if status, _ := o.Condition(doing); status == "True" {
			return "the end of " + doing
		}
	}
	if progress := o.Text(kube.At("status.cassandraOperatorProgress")); progress != "Ready" {
		return "progress Ready; now it is " + progress
	}
	if status, _ := o.Condition("Ready"); status != "True" {
		return "the condition Ready"
	}
	return ""
}

// cassDatacentre is what Cassandra calls it.
func cassDatacentre(o kube.Object) string {
	if name := o.Text(kube.At("spec.datacenterName")); name != "" {
		return name
	}
	return o.Name()
}
