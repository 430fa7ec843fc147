package cluster

import "context"

// Kubernetes says which object of which operator a cluster is, and how kubectl reaches it.
type Kubernetes struct {
	Context   string // of the kubeconfig; "": the current one
	Config    string // a kubeconfig file; "": the person's own
	Namespace string
	Operator  string // one of the operators
	Name      string // of the object
	// Paused tells whether the operator leaves the cluster alone, because a person wants it so; nil: it never does.
	Paused func(ctx context.Context) (bool, error)
}

// The operators whose clusters can be changed, as the inventory calls them.
const (
	CassOperator          = "cass"        // cass-operator, of K8ssandra: CassandraDatacenter
	MariaDBOperator       = "mariadb"     // mariadb-operator: MariaDB
	ScyllaOperator        = "scylla"      // scylla-operator: ScyllaCluster
	PerconaXtraDBOperator = "percona-pxc" // percona-xtradb-cluster-operator: PerconaXtraDBCluster
	PerconaServerOperator = "percona-ps"  // percona-server-mysql-operator: PerconaServerMySQL
)
