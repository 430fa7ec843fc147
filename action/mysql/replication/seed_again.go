package replication

import (
	"fmt"

	"plimsoll/cluster"
)

// seedAgain is how a server that has data of its own gets those of the cluster: mysql/add-replica takes an empty, spare server only, and of a MariaDB whose
// files Plimsoll does not know it can copy nothing.
func seedAgain(s *server) string {
	_, ours := cluster.As[cluster.Assignable](s.node.Server)
	switch {
	case ours:
		return fmt.Sprintf("mysql/remove-replica -i node=%s removes the server, and mysql/add-replica -i node=new makes another", s.name())
	case s.mariadb:
		return fmt.Sprintf("fill %[1]s with the data of another server by other means, such as mariadb-backup; then mysql/rejoin -i node=%[1]s", s.name())
	}
	return fmt.Sprintf("empty %[1]s by hand and write spare: true at it in plimsoll.yaml; then mysql/add-replica -i node=%[1]s", s.name())
}
