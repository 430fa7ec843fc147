package kube

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// cassOperator runs CassandraDatacenters (cassandra.datastax.com/v1beta1).
var cassOperator = operator{
	name: "cass-operator",
	kind: kube.Kind{Group: "cassandra.datastax.com", Version: "v1beta1", Kind: "CassandraDatacenter", Plural: "cassandradatacenters"},
	size: kube.At("spec.size"),
	selector: func(o kube.Object) string {
		return "cassandra.datastax.com/datacenter=" + o.Name() + ",statefulset.kubernetes.io/pod-name"
	},
	paused: func(o kube.Object) string {
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
	busy:      cassBusy,
	parameter: cassandraYAML,
	shrinks: func(o kube.Object, to int64) error {
		if racks := int64(len(o.List(kube.At("spec.racks")))); to < racks {
			return &hint.PermanentError{Reason: fmt.Sprintf("%d nodes are fewer than the %d racks", to, racks), Advice: "keep at least one node in each rack"}
		}
		return nil
	},
	counts: cassCounts,
}

// cassActions are the conditions that say that something is being done.
var cassActions = []string{"ScalingUp", "ScalingDown", "Updating", "RollingRestart", "ReplacingNodes", "Resuming", "ResizingVolumes", "Decommission"}

func cassBusy(o kube.Object) string {
	if seen, _ := o.Int(kube.At("status.observedGeneration")); seen != o.Generation() {
		return fmt.Sprintf("the operator to see generation %d (it has seen %d)", o.Generation(), seen)
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

// datacentre is what Cassandra calls it.
func datacentre(o kube.Object) string {
	if name := o.Text(kube.At("spec.datacenterName")); name != "" {
		return name
	}
	return o.Name()
}

// ring is the ring as one of the nodes sees it.
func ring(ctx context.Context, on *cluster.Cluster) (engine.Ring, error) {
	db, err := on.Database(ctx, "")
	if err != nil {
		return engine.Ring{}, err
	}
	ringed, ok := engine.As[engine.Ringed](db)
	if !ok {
		return engine.Ring{}, fmt.Errorf("cluster %s shows no ring", on.Name)
	}
	return ringed.Ring(ctx, "")
}

// cassCounts asks the ring.
func cassCounts(ctx context.Context, on *cluster.Cluster, o kube.Object, want int64) (string, error) {
	seen, err := ring(ctx, on)
	if err != nil {
		return "", err
	}
	well, all := int64(0), int64(0)
	for _, m := range seen.Members {
		if m.DataCentre != datacentre(o) {
			continue
		}
		all++
		if m.Up && m.Part == engine.Normal {
			well++
		}
	}
	if well != want || all != want {
		return fmt.Sprintf("the ring: %d nodes are up and normal of %d members, expected %d", well, all, want), nil
	}
	return "", nil
}
