package kube

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// mariadbOperator runs MariaDBs (k8s.mariadb.com/v1alpha1). Its objects have no observedGeneration: a change counts as done only when pods
// and the database show it.
var mariadbOperator = operator{
	name: "mariadb-operator",
	kind: kube.Kind{Group: "k8s.mariadb.com", Version: "v1alpha1", Kind: "MariaDB", Plural: "mariadbs"},
	selector: func(o kube.Object) string {
		return labelled("app.kubernetes.io/instance="+o.Name(), "app.kubernetes.io/name=mariadb")
	},
	stopped: func(o kube.Object) string {
		if o.Is(kube.At("spec.suspend")) {
			return "spec.suspend is true: the operator ignores the cluster"
		}
		return ""
	},
	resume:        "resume it: kube/resume",
	busy:          mariadbBusy,
	counts:        mariadbCounts,
	size:          one("spec.replicas"),
	fits:          mariadbFits,
	restart:       &restartField{field: kube.Path{"spec", "podMetadata", "annotations", restartMark}, shown: restartMark, can: mariadbRestarts},
	configuration: myCnf,
	suspend:       kube.At("spec.suspend"),
	primary:       mariadbPrimary,
	instead: map[string]string{
		"kube.replace-node":      "delete the member's volume claim and pod as the operator's documentation describes",
		"kube.enter-maintenance": "pause the operator for the whole cluster: kube/pause",
	},
}

var currentPrimary = kube.At("status.currentPrimaryPodIndex")

func mariadbFits(r resource, to int64) error {
	has, _ := r.wanted()
	primary, known := r.Int(currentPrimary)
	switch {
	case to < has && known && primary >= to:
		return primaryGoes(fmt.Sprintf("%s-%d", r.Name(), primary))
	case to > has && r.Is(kube.At("spec.replication.enabled")) && r.Get(kube.At("spec.replication.replica.bootstrapFrom")) == nil:
		return &hint.PermanentError{
			Reason: "spec.replication.replica.bootstrapFrom is empty, so mariadb-operator does not know where a new replica gets its data",
			Advice: "name a PhysicalBackup there first, as mariadb-operator's documentation of replication describes",
		}
	}
	return nil
}

// primaryGoes refuses to take the primary away.
func primaryGoes(pod string) error {
	return &hint.PermanentError{Reason: fmt.Sprintf("the primary is pod %s, which would be removed", pod), Advice: "switch over first"}
}

// mariadbRestarts refuses where the operator would restart nothing by itself.
func mariadbRestarts(o kube.Object) error {
	if strategy := o.Text(kube.At("spec.updateStrategy.type")); strategy == "OnDelete" || strategy == "Never" {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("spec.updateStrategy.type is %s: the operator does not restart servers by itself", strategy),
			Advice: "set spec.updateStrategy.type to ReplicasFirstPrimaryLast or RollingUpdate",
		}
	}
	return nil
}

// primaryField is where the wanted primary is said; nil: the cluster has no primary to choose.
func primaryField(o kube.Object) kube.Path {
	switch {
	case o.Is(kube.At("spec.replication.enabled")):
		return kube.At("spec.replication.primary.podIndex")
	case o.Is(kube.At("spec.galera.enabled")):
		return kube.At("spec.galera.primary.podIndex")
	}
	return nil
}

// mariadbPrimary is that field, where mariadb-operator is who chooses.
func mariadbPrimary(o kube.Object) (kube.Path, error) {
	field := primaryField(o)
	switch {
	case field == nil:
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("MariaDB %s has neither replication nor Galera: there is no other primary", o.Name())}
	case o.Get(kube.At("spec.maxScaleRef")) != nil:
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("MaxScale chooses the primary of MariaDB %s", o.Name()), Advice: "switch over with spec.primaryServer of the MaxScale object"}
	}
	return field, nil
}

func mariadbBusy(o kube.Object) string {
	for _, doing := range []string{"Ready", "Updated", "PrimarySwitched", "StorageResized", "ScaledOut"} {
		if status, reason := o.Condition(doing); status == "False" || doing == "Ready" && status != "True" {
			return fmt.Sprintf("the condition %s (%s)", doing, reason)
		}
	}
	want, _ := o.Int(kube.At("spec.replicas"))
	if has, _ := o.Int(kube.At("status.replicas")); has != want {
		return fmt.Sprintf("%d replicas in its status; now there are %d", want, has)
	}
	if field := primaryField(o); field != nil {
		wanted, said := o.Int(field)
		if is, known := o.Int(currentPrimary); said && known && is != wanted {
			return fmt.Sprintf("pod %s-%d to become the primary; now it is %s-%d", o.Name(), wanted, o.Name(), is)
		}
	}
	return ""
}

// mariadbCounts asks the primary who follows it, or Galera for its size.
func mariadbCounts(ctx context.Context, on *cluster.Cluster, o kube.Object, want int64) (string, error) {
	switch {
	case o.Is(kube.At("spec.galera.enabled")):
		return counted(ctx, on, "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'WSREP_CLUSTER_SIZE'", "members of the Galera cluster", want)
	case o.Is(kube.At("spec.replication.enabled")):
		return followersCounted(ctx, on, want-1)
	}
	return "", nil
}
