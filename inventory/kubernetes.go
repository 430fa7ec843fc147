package inventory

import (
	"regexp"

	"plimsoll/cluster"
	"plimsoll/infra/kube"
	"plimsoll/internal/document"
)

// Kubernetes says which object of which operator a cluster is.
type Kubernetes struct {
	Context    string `yaml:"context" doc:"The context of your kubeconfig. Default: the current one."`
	Kubeconfig string `yaml:"kubeconfig" doc:"A kubeconfig file, instead of your own."`
	Namespace  string `yaml:"namespace,required" doc:"The namespace of the object."`
	Operator   string `yaml:"operator,required" doc:"The operator that runs the cluster: cass (cass-operator, of K8ssandra), scylla (scylla-operator), mariadb (mariadb-operator), percona-pxc or percona-ps (Percona Operator for MySQL, with XtraDB Cluster or with Percona Server)."`
	Name       string `yaml:"name,required" doc:"The name of the object: of the CassandraDatacenter, ScyllaCluster, MariaDB, PerconaXtraDBCluster or PerconaServerMySQL."`
}

// operators are the operators that actions know, with the engine of their clusters.
var operators = map[string]string{
	cluster.CassOperator: "cql", cluster.ScyllaOperator: "cql",
	cluster.MariaDBOperator: "mysql", cluster.PerconaXtraDBOperator: "mysql", cluster.PerconaServerOperator: "mysql",
}

var validObject = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

func (k Kubernetes) check(engine string, n *document.Node, ps *document.Problems) {
	for key, value := range map[string]string{"namespace": k.Namespace, "name": k.Name} {
		if !validObject.MatchString(value) {
			ps.Add(n, n.Get(key).Errorf("%q, expected a name as Kubernetes has them: lower-case letters, digits, dots and hyphens", value))
		}
	}
	if err := (kube.Access{Config: k.Kubeconfig, Context: k.Context}).Check(); err != nil {
		ps.Add(n, n.Errorf("%v", err))
	}
	switch of, known := operators[k.Operator]; {
	case !known:
		ps.Add(n, document.UnknownName(n.Get("operator"), "operator", document.SortedKeys(operators)))
	case of != engine:
		ps.Add(n, n.Get("operator").Errorf("operator %s runs clusters of %s, and this cluster is %s", k.Operator, of, engine))
	}
}
