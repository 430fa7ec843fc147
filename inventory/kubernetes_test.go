package inventory

import (
	"strings"
	"testing"

	"plimsoll/infra/kube"
)

const inPods = `
machines:
  shop-0: {pod: db/shop-0, container: mariadb}
  shop-2: {pod: db/shop-2, context: other}
clusters:
  shop:
    engine: mariadb
    environment: staging
    user: plimsoll
    kubernetes: {context: staging, namespace: db, operator: mariadb, name: shop}
    nodes:
      - {name: a, address: "10.1.0.1:3306", machine: shop-0}
      - {name: b, address: "10.1.0.2:3306", machine: "pod:db/shop-1"}
      - {name: c, address: "10.1.0.3:3306", machine: shop-2}
`

func TestPodsStandInTheirClustersKubernetes(t *testing.T) {
	inv, err := Parse("plimsoll.yaml", []byte(inPods))
	if err != nil {
		t.Fatal(err)
	}
	c := inv.Clusters["shop"]
	staging := kube.Access{Context: "staging"}
	for i, want := range []kube.Pod{
		{Access: staging, Namespace: "db", Name: "shop-0", Container: "mariadb"},
		{Access: staging, Namespace: "db", Name: "shop-1"},
		{Access: kube.Access{Context: "other"}, Namespace: "db", Name: "shop-2"},
	} {
		m, known := c.MachineOf(c.Nodes[i])
		if got, is := m.InPod(); !known || !is || got != want {
			t.Errorf("the pod of %s: %+v, want %+v", c.Nodes[i].Name, got, want)
		}
		m, known = inv.Machine(c.Nodes[i].Machine)
		if got, is := m.InPod(); !known || !is || got != want {
			t.Errorf("%s by its name: %+v, want %+v", c.Nodes[i].Machine, got, want)
		}
	}
}

func TestWhatIsWrongWithPods(t *testing.T) {
	for change, want := range map[string]string{
		"container: mariadb}|ssh: db-a}":                      "expected one of ssh and pod",
		"container: mariadb}|become: root}":                   "commands run as the container's user",
		"pod: db/shop-0, |ssh: db-a, ":                        "are for pods",
		"{pod: db/shop-0, container: mariadb}|{}":             "no host to reach by ssh",
		"{pod: db/shop-0, |{pod: shop-0, ":                    "expected NAMESPACE/POD",
		"pod:db/shop-1|pod:db":                                "unknown machine",
		"operator: mariadb|operator: maria":                   `unknown operator "maria"`,
		"operator: mariadb|operator: cass":                    "runs clusters of cql",
		"namespace: db|namespace: -db":                        "as Kubernetes has them",
		"{context: staging|{context: --all-contexts":          "that kubectl accepts",
		`"pod:db/shop-1"}|"pod:db/shop-1", service: mariadb}`: "no systemd runs",
	} {
		was, is, _ := strings.Cut(change, "|")
		if !strings.Contains(inPods, was) {
			t.Fatalf("%q is not there", was)
		}
		_, err := Parse("plimsoll.yaml", []byte(strings.Replace(inPods, was, is, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
}
