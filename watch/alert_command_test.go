package watch

import "testing"

func TestAnAlertNamesTheCommandThatDoesSomething(t *testing.T) {
	labels := map[string]string{"cluster": "orders"}
	for want, a := range map[string]Alert{
		"plimsoll runbook plan mysql/failover --cluster orders":  {Runbook: "mysql/failover", Labels: labels},
		"plimsoll runbook plan mysql/failover --cluster billing": {Runbook: "mysql/failover", Instance: "billing/n1"},
		"plimsoll runbook plan mysql/failover":                   {Runbook: "mysql/failover"},
		"plimsoll trial run examples/burst-bucket/incident.yaml": {Runbook: "examples/burst-bucket/incident.yaml", Labels: labels},
		"": {Runbook: "https://wiki.example/what-to-do", Labels: labels},
	} {
		if got := a.Command(); got != want {
			t.Errorf("%s: %q, want %q", a.Runbook, got, want)
		}
	}
}
