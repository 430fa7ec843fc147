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
	"plimsoll/internal/machinetest"
	"plimsoll/superdisk"
)

// stage is a machine with two blank disks, as a cluster of one node.
type stage struct {
	infra.Machine
	host           *machinetest.Host
	local, network string
	devices        map[string]string // of volumes, which stay where they were attached
	cluster        *cluster.Cluster
}

// device is where the machine has a volume.
func (s *stage) device(t *testing.T, volume string) string {
	t.Helper()
	if s.devices[volume] == "" {
		device, err := superdisk.Resolve(t.Context(), s, volume)
		if err != nil {
			t.Fatal(err)
		}
		s.devices[volume] = device
	}
	return s.devices[volume]
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
		device := s.device(t, volume)
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
	s := newStage(t, 32)
	node := "node: n1\n"
	legs := fmt.Sprintf("local: %s\nnetwork: %s\nmount: /run/data\nreserve: 1048576\n", s.local, s.network)
	run := func(a action.Action, with string, more ...func(*actiontest.Subject)) {
		t.Run(a.Name, func(t *testing.T) {
			subject := actiontest.Subject{Action: a, With: node + with, Cluster: s.cluster, Snapshot: s.snapshot, Cuts: []time.Duration{20 * time.Millisecond}}
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
	if bounds := s.sh(t, "cat /sys/block/md*/md/sync_speed_min /sys/block/md*/md/sync_speed_max"); strings.Count(bounds, "(system)") != 2 {
		t.Errorf("the rebuild left its rate to every later copy: %q", bounds)
	}
	s.must(t, "superdisk.stop", "node: n1", "mount: /run/data")
	run(startAction, fmt.Sprintf("uuid: %s\nmount: /run/data", made["array"]))
	run(startAloneAction, fmt.Sprintf("uuid: %s\nvolume: %s\nmount: /run/data", made["array"], s.network))
	run(wipeAction, fmt.Sprintf("uuid: %s\nvolume: %s", made["array"], s.local), func(a *actiontest.Subject) {
		a.Again = func(t *testing.T) {
			s.sh(t, fmt.Sprintf("dd if=%s of=%s bs=4096 skip=1 seek=1 count=1 iflag=direct oflag=direct 2>/dev/null",
				s.device(t, s.network), s.device(t, s.local)))
		}
	})
}

// TestAHungLegIsGivenUp has the network leg hang under writes: it is taken away after its time-out, and given back.
func TestAHungLegIsGivenUp(t *testing.T) {
	s, ctx := newStage(t, 34), t.Context()
	s.must(t, "superdisk.create", "node: n1", "local: "+s.local, "network: "+s.network, "mount: /run/data", "reserve: 1048576")
	if out := s.must(t, "superdisk.give-up", "node: n1", "after: 1s", "for: 1s"); out["hung"] != false {
		t.Errorf("nothing hangs: %v", out)
	}
	writing, err := s.Start(ctx, infra.Command{Path: "dd", Args: []string{"if=/dev/zero", "of=/run/data/f", "bs=1M", "count=4", "conv=fsync"}, Log: "/run/dd.log", Mark: "/dd"})
	if err != nil {
		t.Fatal(err)
	}
	s.host.Hang(t, s.network, true)
	task := s.task(t, "superdisk.give-up", "node: n1", "after: 2s", "for: 1m")
	before, err := task.Check(ctx, s.cluster.ReadOnly())
	if err != nil {
		t.Fatal(err)
	}
	out, err := task.Act(ctx, s.cluster, call())
	if err != nil || out["hung"] != true {
		t.Fatalf("%v, %v", out, err)
	}
	if err := writing.Wait(ctx); err != nil { // it goes on
		t.Fatal(err)
	}
	seen, err := superdisk.Inspect(ctx, s)
	if a, _ := seen.Find("superdisk"); err != nil || a.Degraded != 1 || len(a.Legs) != 1 {
		t.Errorf("the leg is still there: %+v, %v", a, err)
	}
	c := call()
	c.Before = before.Observed
	if err := task.(action.Undoer).Undo(ctx, s.cluster, c); err != nil {
		t.Fatal(err)
	}
	if seen := s.snapshot(t); !strings.Contains(seen, "missing 0") {
		t.Errorf("the leg has not come back:\n%s", seen)
	}
	// Nor is one that md gave up when its undo was cut off, and that md still holds.
	device, err := superdisk.Resolve(ctx, s, s.network)
	if err != nil {
		t.Fatal(err)
	}
	s.sh(t, "mdadm -q /dev/md/superdisk --fail "+device)
	if err := task.(action.Undoer).Undo(ctx, s.cluster, c); err != nil {
		t.Fatal(err)
	}
	if seen := s.snapshot(t); !strings.Contains(seen, "missing 0") {
		t.Errorf("the leg that md had given up has not come back:\n%s", seen)
	}
}

// TestAMigrationGoesOnAfterItsDeath has one cut off at its worst moment: the old disk is unmounted, and the array not yet in its place,
// with half a copy on it.
func TestAMigrationGoesOnAfterItsDeath(t *testing.T) {
	s := newStage(t, 35)
	ctx := t.Context()
	local, err := superdisk.Resolve(ctx, s, s.local)
	if err != nil {
		t.Fatal(err)
	}
	network, err := superdisk.Resolve(ctx, s, s.network)
	if err != nil {
		t.Fatal(err)
	}
	s.sh(t, "mkfs.xfs -q "+local+" && mkdir -p /run/data && mount "+local+" /run/data && dd if=/dev/urandom of=/run/data/a bs=1M count=4 status=none && echo b >/run/data/b")
	sums := s.sh(t, "cd /run/data && sha256sum a b")
	if err := superdisk.CreateAlone(ctx, s, superdisk.Design{Name: "superdisk", Local: local, Network: network, Chunk: 1 << 20, Reserve: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	s.sh(t, "mkfs.xfs -q -K /dev/md/superdisk && mkdir -p /run/half && mount /dev/md/superdisk /run/half && head -c 1000000 /run/data/a >/run/half/a && echo filling >/run/half/.plimsoll-filling && umount /run/half /run/data")
	s.must(t, "superdisk.migrate", "node: n1", "local: "+s.local, "network: "+s.network, "mount: /run/data", "reserve: 1048576")
	if got := s.sh(t, "cd /run/data && sha256sum a b"); got != sums {
		t.Errorf("files\n%s\nwant\n%s", got, sums)
	}
	if seen := s.snapshot(t); !strings.Contains(seen, `missing 1 mounted "/run/data"`) {
		t.Errorf("the array is not in the place of the old disk:\n%s", seen)
	}
	if _, err := s.perform(t, "superdisk.create", "node: n1", "local: "+s.local, "network: "+s.network, "mount: /run/data"); err == nil {
		t.Error("an array of the same name and other legs was taken for the one that is meant")
	}
	if _, err := s.perform(t, "superdisk.start-alone", "node: n1", "volume: "+s.local, "mount: /run/data"); err == nil || !strings.Contains(err.Error(), "is not a leg of it") {
		t.Errorf("the array that runs was taken for one of the local leg: %v", err)
	}
}
