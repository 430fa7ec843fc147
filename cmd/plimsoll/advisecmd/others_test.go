package advisecmd

import (
	"strings"
	"testing"

	"plimsoll/advise"
	"plimsoll/cluster"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

// What a replica is asked for while the primary is observed is counted on a real pair, and told.
func TestWhatOtherServersAreAskedForIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	servers := labtest.Cluster(t, lab.Spec{Name: "others", Product: "mariadb", Nodes: 2})
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	on := labtest.AsAWS(servers, here)
	t.Cleanup(func() { _ = on.Close() })
	first := countOthers(t.Context(), on, cluster.Node{Name: "n1"})
	for range 50 {
		if _, err := on.Value(t.Context(), "n2", "SELECT COUNT(*) FROM mysql.innodb_table_stats, mysql.innodb_index_stats"); err != nil {
			t.Fatal(err)
		}
	}
	others := first.since(t.Context(), on)
	if len(others) != 1 || others[0].Node != "n2" || others[0].Requests < 1 {
		t.Fatalf("%+v", others)
	}
	told := advise.OtherServers("n1", &advise.Memory{Requests: 10_000, Others: []advise.OtherLoad{{Node: "n2", Requests: 1200, Reads: 300}}})
	if !strings.HasSuffix(told, "While n1 was asked for 10000 pages a second, n2 for 1200, of which it read 300 from disk.") {
		t.Error(told)
	}
}
