package expect

import "testing"

func TestEveryMetricHasAUnitAndOneWayToBeMeasured(t *testing.T) {
	seen := map[string]bool{}
	for i, k := range kinds {
		switch {
		case k.about == "" && (i == 0 || k.unit != kinds[i-1].unit || k.ledger != kinds[i-1].ledger || k.argument != kinds[i-1].argument):
			t.Errorf("%s stands in the row of a metric of another sort on the page", k.name)
		case seen[k.name]:
			t.Errorf("%s has two rows", k.name)
		case k.unit == "":
			t.Errorf("%s has no unit", k.name)
		case k.statistic != nil && k.count != nil:
			t.Errorf("%s is both estimated and counted", k.name)
		case k.argument && k.statistic == nil:
			t.Errorf("%s is of latencies, and nothing estimates it", k.name)
		}
		seen[k.name] = true
		m := Metric{Name: k.name}
		if m.Unit() != k.unit || m.Counted() != (k.count != nil) || (m.Statistic() != nil) != (k.statistic != nil) {
			t.Errorf("%s is not what its row says: %s, counted %v", k.name, m.Unit(), m.Counted())
		}
	}
	if of := (Metric{Name: "max", Signal: "mysql.threads_running"}); of.Positive() || of.Statistic() != nil {
		t.Error("a statistic of a signal is taken for one of latencies")
	}
}
