package rehearsal

import "testing"

func TestTheLoadOfARehearsal(t *testing.T) {
	for _, c := range []struct {
		plan          Plan
		product, want string
	}{
		{Plan{}, "mariadb", "{workload: oltp_read_write, table_size: 20k, rate: 60, connections: 60, timeout: 5s, retries: 10, ledger: {rate: 20}}"},
		{Plan{}, "cassandra", "{workload: ycsb-a, records: 20k, rate: 60, connections: 60, timeout: 5s, ledger: {rate: 20}}"},
		{Plan{Workload: "tpcc", Retries: true}, "mysql", `{workload: "tpcc", rate: 60, connections: 60, timeout: 5s, retries: 10}`},
		{Plan{Workload: "./mine.yaml"}, "mysql", `{workload: "./mine.yaml", rate: 60, connections: 60, timeout: 5s}`},
	} {
		if got := c.plan.load(venue{load: usualLoad(c.product)}); got != c.want {
			t.Errorf("%+v on %s: %s, want %s", c.plan, c.product, got, c.want)
		}
	}
}
