package superdisk

import (
	"testing"

	"plimsoll/cluster"
)

// Under an operator of Kubernetes nothing takes an array away or puts one there, whatever the array is like; looking and rebuilding go on.
func TestAnArrayUnderAPodIsLeftWhereItIs(t *testing.T) {
	for name, with := range map[string][]string{
		"superdisk.stop":        {"mount: /run/mnt"},
		"superdisk.start-alone": {"mount: /run/mnt", "volume: /dev/loop1"},
		"superdisk.create":      {"mount: /run/mnt", "local: /dev/loop0", "network: /dev/loop1"},
		"superdisk.migrate":     {"mount: /run/mnt", "local: /dev/loop0", "network: /dev/loop1"},
	} {
		m := pretends(t, "whole")
		on := m.cluster(nil)
		on.Kubernetes = &cluster.Kubernetes{Namespace: "db", Operator: cluster.ScyllaOperator, Name: "shop"}
		_, err := m.task(name, with...).Check(t.Context(), on)
		refused(t, err, "an operator of Kubernetes runs cluster")
		if len(m.ran) > 0 {
			t.Errorf("%s ran %q", name, m.ran)
		}
		if _, err := m.task("superdisk.wait-whole").Check(t.Context(), on); err != nil {
			t.Errorf("looking: %v", err)
		}
	}
}
