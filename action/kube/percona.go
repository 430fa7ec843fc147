package kube

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// perconaXtraDBOperator runs PerconaXtraDBClusters (pxc.percona.com/v1): Galera.
var perconaXtraDBOperator = operator{
	name: "percona-xtradb-cluster-operator",
	kind: kube.Kind{Group: "pxc.percona.com", Version: "v1", Kind: "PerconaXtraDBCluster", Plural: "perconaxtradbclusters"},
	selector: func(o kube.Object) string {
		return labelled("app.kubernetes.io/instance="+o.Name(), "app.kubernetes.io/component=pxc")
	},
	stopped: perconaPaused,
	resume:  "set spec.pause to false first",
	busy: func(o kube.Object) string {
		if unseen := unseen(o); unseen != "" {
			return unseen
		}
		return perconaBusy(o)
	},
	counts: func(ctx context.Context, on *cluster.Cluster, _ kube.Object, want int64) (string, error) {
		return counted(ctx, on, "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'wsrep_cluster_size'", "members of the Galera cluster", want)
	},
	size: one("spec.pxc.size"),
	fits: func(r resource, to int64) error {
		if !r.Is(kube.At("spec.unsafeFlags.pxcSize")) && (to < 3 || to > 5 || to%2 == 0) {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("the operator refuses a cluster of %d: it takes 3 or 5 members", to),
				Advice: "choose one of them; spec.unsafeFlags.pxcSize takes its check away",
			}
		}
		return nil
	},
	restart:       &restartField{field: kube.Path{"spec", "pxc", "annotations", restartMark}, shown: restartMark, can: perconaRestarts},
	configuration: optionFile(kube.At("spec.pxc.configuration"), "mysqld", perconaConfigured("spec.pxc.configuration", "-pxc")),
	instead: map[string]string{
		"kube.pause":             perconaNoPause,
		"kube.switchover":        "all of its members take writes; HAProxy or ProxySQL choose which one gets them",
		"kube.replace-node":      "a member that starts without data gets it from another: delete its volume claim and its pod as the operator's documentation describes",
		"kube.enter-maintenance": perconaNoMaintenance,
	},
}

// perconaServerOperator runs PerconaServerMySQLs (ps.percona.com/v1): group replication, or replicas that Orchestrator leads. Its objects have
// no observedGeneration: a change counts as done only when pods and the database show it.
var perconaServerOperator = operator{
	name: "percona-server-mysql-operator",
	kind: kube.Kind{Group: "ps.percona.com", Version: "v1", Kind: "PerconaServerMySQL", Plural: "perconaservermysqls"},
	selector: func(o kube.Object) string {
		return labelled("app.kubernetes.io/instance="+o.Name(), "app.kubernetes.io/component=database")
	},
	stopped: perconaPaused,
	resume:  "set spec.pause to false first",
	busy: func(o kube.Object) string {
		want, _ := o.Int(kube.At("spec.mysql.size"))
		if has, _ := o.Int(kube.At("status.mysql.size")); has != want {
			return fmt.Sprintf("%d members in its status; now there are %d", want, has)
		}
		return perconaBusy(o)
	},
	counts: func(ctx context.Context, on *cluster.Cluster, o kube.Object, want int64) (string, error) {
		if o.Text(kube.At("spec.mysql.clusterType")) == "async" {
			return followersCounted(ctx, on, want-1)
		}
		return counted(ctx, on, "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'", "members of the group that are online", want)
	},
	size:          one("spec.mysql.size"), // rules of the schema say which are possible
	restart:       &restartField{field: kube.Path{"spec", "mysql", "annotations", restartMark}, shown: restartMark, can: perconaRestarts},
	configuration: optionFile(kube.At("spec.mysql.configuration"), "mysqld", perconaConfigured("spec.mysql.configuration", "-mysql")),
	instead: map[string]string{
		"kube.pause":             perconaNoPause,
		"kube.switchover":        "choose it in the database: SELECT group_replication_set_as_primary('SERVER_UUID') on a member of the group, or graceful-master-takeover of Orchestrator; the operator follows",
		"kube.replace-node":      "a member that starts without data gets it from another: delete its volume claim and its pod as the operator's documentation describes",
		"kube.enter-maintenance": perconaNoMaintenance,
	},
}

const (
	perconaNoPause       = "its spec.pause stops all servers, which is not meant; stop the work that it would interfere with, or scale the operator's own Deployment down by hand"
	perconaNoMaintenance = "a file sleep-forever in the data folder keeps a pod from starting its server, as the operator's documentation describes"
)

// perconaPaused tells of spec.pause, which stops every server.
func perconaPaused(o kube.Object) string {
	if o.Is(kube.At("spec.pause")) {
		return "spec.pause is true: all of its servers are stopped"
	}
	return ""
}

// perconaBusy is what a cluster waits for by its state, which is error for as long as the operator fails at something.
func perconaBusy(o kube.Object) string {
	state := o.Text(kube.At("status.state"))
	if state == "ready" {
		return ""
	}
	why := ""
	if list, _ := o.Get(kube.At("status.message")).([]any); len(list) > 0 {
		why = fmt.Sprintf(" (%v)", list[len(list)-1])
	}
	return "the state ready; now it is " + state + why
}

// perconaRestarts refuses where the operator would restart nothing by itself.
func perconaRestarts(o kube.Object) error {
	if o.Text(kube.At("spec.updateStrategy")) == "OnDelete" {
		return &hint.PermanentError{Reason: "spec.updateStrategy is OnDelete: the operator does not restart servers by itself", Advice: "set spec.updateStrategy to SmartUpdate or RollingUpdate"}
	}
	return nil
}

// perconaConfigured refuses a configuration that may be elsewhere: in the ConfigMap or the Secret that the operator takes when the object has
// none, and leaves aside when it has.
func perconaConfigured(field, suffix string) func(o kube.Object) error {
	return func(o kube.Object) error {
		if o.Text(kube.At(field)) == "" {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("%s is empty: the configuration may be in the ConfigMap or the Secret %s%s, which the operator leaves aside as soon as the field is set", field, o.Name(), suffix),
				Advice: "put the whole configuration into the field first",
			}
		}
		return perconaRestarts(o)
	}
}
