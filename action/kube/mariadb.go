package kube

import (
	"context"
	"fmt"
	"strconv"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// mariadbOperator runs MariaDBs (k8s.mariadb.com/v1alpha1). Its objects have no observedGeneration: a change counts as done only when pods
// and the database show it.
var mariadbOperator = operator{
	name: "mariadb-operator",
	kind: kube.Kind{Group: "k8s.mariadb.com", Version: "v1alpha1", Kind: "MariaDB", Plural: "mariadbs"},
	size: kube.At("spec.replicas"),
	selector: func(o kube.Object) string {
		return "app.kubernetes.io/instance=" + o.Name() + ",app.kubernetes.io/name=mariadb,statefulset.kubernetes.io/pod-name"
	},
	paused: func(o kube.Object) string {
		if o.Is(suspend) {
			return "spec.suspend is true: the operator ignores the cluster"
		}
		return ""
	},
	resume:    "plimsoll runbook run kube/resume",
	stuck:     func(kube.Object) string { return "" },
	busy:      mariadbBusy,
	parameter: myCnf,
	shrinks: func(o kube.Object, to int64) error {
		if primary, known := o.Int(currentPrimary); known && primary >= to {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("the primary is pod %s-%d, which would be removed", o.Name(), primary),
				Advice: "switch over first: plimsoll runbook run kube/switchover",
			}
		}
		return nil
	},
	grows: func(o kube.Object) error {
		if o.Is(kube.At("spec.replication.enabled")) && o.Get(kube.At("spec.replication.replica.bootstrapFrom")) == nil {
			return &hint.PermanentError{
				Reason: "spec.replication.replica.bootstrapFrom is empty, so mariadb-operator does not know where a new replica gets its data",
				Advice: "name a PhysicalBackup there first, as mariadb-operator's documentation of replication describes",
			}
		}
		return nil
	},
	counts: mariadbCounts,
}

var (
	suspend        = kube.At("spec.suspend")
	currentPrimary = kube.At("status.currentPrimaryPodIndex")
)

// canRestart refuses where the operator would restart nothing by itself.
func canRestart(o kube.Object) error {
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
		said, err := on.Value(ctx, "", "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'WSREP_CLUSTER_SIZE'")
		if err != nil {
			return "", err
		}
		if said != strconv.FormatInt(want, 10) {
			return fmt.Sprintf("a Galera cluster of %d nodes; now it has %s", want, said), nil
		}
	case o.Is(kube.At("spec.replication.enabled")):
		db, err := on.Database(ctx, "")
		if err != nil {
			return "", err
		}
		r, ok := engine.As[engine.Replicated](db)
		if !ok {
			return "", fmt.Errorf("cluster %s does not report its roles in replication", on.Name)
		}
		status, err := r.ReplicationStatus(ctx)
		if err != nil {
			return "", err
		}
		if int64(status.Followers) != want-1 {
			return fmt.Sprintf("%d replicas to replicate from the primary; now %d do", want-1, status.Followers), nil
		}
	}
	return "", nil
}
