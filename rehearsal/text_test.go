package rehearsal

import (
	"strings"
	"testing"

	"plimsoll/hint"
	"plimsoll/runbook/journal"
)

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

// Where no lab can be made, a trial of one's own is the way: the advice is two commands that can be typed.
func TestWithoutALabATrialIsWrittenByHand(t *testing.T) {
	p := Plan{Command: "plimsoll runbook rehearse own.yaml --cluster shop", Products: []Product{{Name: "mysql", Versions: []string{"8.4"}}}}
	for _, h := range []journal.Header{{Product: "MySQL", Version: "5.7.44"}, {Product: "Aurora MySQL", Version: "8.0.39"}} {
		_, _, err := p.release(h)
		advice := hint.Of(err)
		for _, command := range []string{"plimsoll init trial trial.yaml", "plimsoll runbook rehearse own.yaml --cluster shop --trial trial.yaml"} {
			if !strings.Contains(advice, command) {
				t.Errorf("%+v: %v: %q does not have %q", h, err, advice, command)
			}
		}
	}
}
