package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/machinecmd"
	"plimsoll/infra/kube"
	"plimsoll/infra/kube/kubetest"
	"plimsoll/infra/ssh/sshtest"
)

// The commands on machines work in a pod, by the real kubectl. The pod is a stand-in: processes of this machine behind what speaks as an API
// server does.
func TestMachinesInPods(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("builds the helper, and starts kubectl a few times")
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("kubectl is not here")
	}
	sshtest.Helper(t)
	c := kubetest.New()
	config := c.Config(t)
	c.Pod(t, "db", "shop-0", t.TempDir())
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	write(t, "plimsoll.yaml", fmt.Sprintf(`machines:
  shop-0: {pod: db/shop-0, container: main, context: stand-in, kubeconfig: %[1]s}
clusters:
  shop:
    engine: mariadb
    environment: lab
    user: root
    kubernetes: {context: stand-in, kubeconfig: %[1]s, namespace: db, operator: mariadb, name: shop}
    nodes:
      - {name: a, address: "127.0.0.1:3306", machine: shop-0}
      - {name: b, address: "127.0.0.1:3307", machine: "pod:db/shop-1"}
`, config), 0o600)

	out, said, code := typed(t, "machine", "check", "shop-0", "--json")
	var checked []machinecmd.Checked
	if code != 0 || json.Unmarshal([]byte(out), &checked) != nil || len(checked) != 1 || checked[0].Address != "pod db/shop-0" || checked[0].Via != "context stand-in" || checked[0].Cores == 0 {
		t.Fatalf("machine check: %d %s%s", code, out, said)
	}
	if out, said, code := typed(t, "machine", "run", "shop-0", "--", "sh", "-c", "echo here; echo aside >&2"); code != 0 || out != "here\n" || said != "aside\n" {
		t.Errorf("machine run: %d %q %q", code, out, said)
	}
	if _, said, code := typed(t, "machine", "run", "shop-0", "--", "sh", "-c", "echo why >&2; exit 7"); code != console.ExitTrouble || !strings.Contains(said, "exit status 7: why") {
		t.Errorf("a command that fails: %d %q", code, said)
	}
	if out, _, code := typed(t, "machine", "check"); code == 0 || !strings.Contains(out, "shop-0: pod db/shop-0 via context stand-in, commands run as") ||
		!strings.Contains(out, "cannot be used: reach pod:db/shop-1: Pod db/shop-1: not found") {
		t.Errorf("a pod that is not there: %d %s", code, out)
	}
	c.Pod(t, "db", "shop-1", t.TempDir())
	c.Set(kube.Pods("db"), "shop-1", "status.phase", "Pending")
	if out, _, code := typed(t, "machine", "check", "pod:db/shop-1"); code == 0 || !strings.Contains(out, "pod db/shop-1 is Pending, not Running") {
		t.Errorf("a pod that does not run yet: %d %s", code, out)
	}
}
