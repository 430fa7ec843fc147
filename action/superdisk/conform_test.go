package superdisk

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

// stage is a machine with two blank disks, as a cluster of one node.
type stage struct {
	infra.Machine
	local, network string
	cluster        *cluster.Cluster
}

// sh runs a script on the machine.
func (s *stage) sh(t *testing.T, script string) string {
	t.Helper()
	out, err := s.Run(t.Context(), infra.Command{Path: "sh", Args: []string{"-c", script}})
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out.Stderr)
	}
	return strings.TrimSpace(string(out.Stdout))
}

// snapshot describes the arrays and what the disks say of themselves.
func (s *stage) snapshot(t *testing.T) string {
	t.Helper()
	seen, err := superdisk.Inspect(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, a := range seen.Arrays {
		fmt.Fprintf(&b, "%s missing %d mounted %q:", a.Name, a.Degraded, a.Mount)
		for _, l := range a.Legs {
			fmt.Fprintf(&b, " %s %s %s", l.Role, l.Device, strings.Join(l.State, "+"))
		}
		b.WriteString("\n")
	}
	for _, volume := range []string{s.local, s.network} {
		device, err := superdisk.Resolve(t.Context(), s, volume)
		if err != nil {
			t.Fatal(err)
		}
		super, err := superdisk.ReadSuperblock(t.Context(), s, device)
		fmt.Fprintf(&b, "%s: a leg %v %s\n", device, err == nil, super.Name())
	}
	return b.String()
}

// perform carries out one step as a runbook does.
func (s *stage) perform(t *testing.T, name string, with ...string) (action.Facts, error) {
	t.Helper()
	task := s.task(t, name, with...)
	if _, err := task.Check(t.Context(), s.cluster.ReadOnly()); err != nil {
		return nil, err
	}
	return task.Act(t.Context(), s.cluster, call())
}

func call() action.Call {
	return action.Call{Run: "test", Step: "s", Attempt: 1, Token: "test-token", Progress: func(float64, string) {}}
}

func (s *stage) must(t *testing.T, name string, with ...string) action.Facts {
	t.Helper()
	out, err := s.perform(t, name, with...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// TestActionsConform runs every action that leaves something behind through the conformance suite, on a real array.
func TestActionsConform(t *testing.T) {
	s := newStage(t)
	node := "node: n1\n"
	legs := fmt.Sprintf("local: %s\nnetwork: %s\nmount: /run/data\nreserve: 1048576\n", s.local, s.network)
	run := func(a action.Action, with string, more ...func(*actiontest.Subject)) {
		t.Run(a.Name, func(t *testing.T) {
			subject := actiontest.Subject{Action: a, With: node + with, Site: s.cluster, Snapshot: s.snapshot, Cuts: []time.Duration{20 * time.Millisecond}}
			for _, f := range more {
				f(&subject)
			}
			actiontest.Run(t, subject)
		})
	}
	run(createAction, legs)
	made := s.must(t, "superdisk.create", strings.Split(strings.TrimSpace(node+legs), "\n")...)
	s.sh(t, "dd if=/dev/urandom of=/run/data/f bs=1M count=8 conv=fsync 2>/dev/null")
	run(detachAction, "leg: network")
	run(stopAction, "mount: /run/data")
	s.must(t, "superdisk.detach", "node: n1")
	run(rebuildAction, "leg: network\nvolume: "+s.network)
	s.must(t, "superdisk.rebuild", "node: n1", "leg: network", "volume: "+s.network)
	s.must(t, "superdisk.stop", "node: n1", "mount: /run/data")
	run(startAction, fmt.Sprintf("uuid: %s\nmount: /run/data", made["array"]))
	run(startAloneAction, fmt.Sprintf("uuid: %s\nvolume: %s\nmount: /run/data", made["array"], s.network))
	run(wipeAction, fmt.Sprintf("uuid: %s\nvolume: %s", made["array"], s.local), func(a *actiontest.Subject) {
		a.Again = func(t *testing.T) {
			from, _ := superdisk.Resolve(t.Context(), s, s.network)
			to, _ := superdisk.Resolve(t.Context(), s, s.local)
			s.sh(t, fmt.Sprintf("dd if=%s of=%s bs=4096 skip=1 seek=1 count=1 iflag=direct oflag=direct 2>/dev/null", from, to))
		}
	})
}
