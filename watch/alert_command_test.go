package watch

import "testing"

func TestAnAlertNamesTheCommandThatDoesSomething(t *testing.T) {
	labels := map[string]string{"cluster": "orders"}
	for want, a := range map[string]Alert{
		"plimsoll runbook plan mysql/failover --cluster orders":  {Runbook: "mysql/failover", Labels: labels},
		"plimsoll runbook plan mysql/failover --cluster billing": {Runbook: "mysql/failover", Instance: "billing/n1"},
		"plimsoll runbook plan mysql/failover --cluster FILL_IN": {Runbook: "mysql/failover"},
		"plimsoll runbook plan mysql/set-variable --cluster orders -i name=max_connections -i value=FILL_IN": {
			Runbook: "mysql/set-variable", Inputs: "name=max_connections value=FILL_IN", Labels: labels,
		},
		"plimsoll runbook plan './our own.yaml' --cluster orders -i 'table=`order`'": {Runbook: "./our own.yaml", Inputs: "table=`order`", Labels: labels},
		"plimsoll trial run examples/burst-bucket/incident.yaml":                     {Runbook: "examples/burst-bucket/incident.yaml", Labels: labels},
		"": {Runbook: "https://wiki.example/what-to-do", Labels: labels},
	} {
		if got := a.Command(); got != want {
			t.Errorf("%s: %q, want %q", a.Runbook, got, want)
		}
	}
}
