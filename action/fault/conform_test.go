package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/action/fault"
	"plimsoll/action/volume"
	"plimsoll/cluster"
	"plimsoll/engine/mysql"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/uml"
	"plimsoll/internal/document"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

// TestMain is the tests, or the program that a machine needs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "machine" {
		if err := uml.Run(os.Args[2:]); err != nil {
			println(err.Error())
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Every action on volumes and machines does what it should, on a machine that runs.
func TestConformance(t *testing.T) {
	c := labtest.Cluster(t, lab.Spec{
		Name: "faults", Product: "mariadb", Config: map[string]string{"innodb_log_file_size": "8M", "innodb_buffer_pool_size": "32M"},
		Machines: &lab.Machines{Memory: 768 << 20, Volumes: map[string]infra.VolumeSpec{"local": {Size: 1 << 30}, "network": {Size: 512 << 20}}},
	})
	on := lab.AsCluster(c, mysql.Engine{}, c.Server("n1").Machine())
	defer func() { _ = on.Close() }()
	quick := []time.Duration{0, 20 * time.Millisecond}
	for _, s := range []actiontest.Subject{
		{Action: find(t, "fault.hang-volume"), With: `{node: n1, volume: network}`},
		{Action: find(t, "fault.slow-volume"), With: `{node: n1, volume: network, iops: 100, latency: 5ms}`},
		{Action: find(t, "fault.fail-volume"), With: `{node: n1, volume: network, from: 4096, reads: true}`},
		{Action: find(t, "fault.fill-volume"), With: `{node: n1, volume: network}`},
		{Action: find(t, "fault.corrupt-volume"), With: `{node: n1, volume: network, offset: 1000000}`, Always: true},
		{Action: find(t, "fault.cut-network"), With: `{node: n1}`},
		{Action: find(t, "fault.skew-clock"), With: `{node: n1, ahead: 1h}`},
		{Action: find(t, "volume.detach"), With: `{node: n1, volume: network}`},
		{Action: find(t, "volume.detach"), With: `{node: n1, volume: network, force: true}`},
		{Action: find(t, "volume.create"), With: `{node: n1, name: more, mib: 512}`},
		{Action: find(t, "fault.kill-machine"), With: `{node: n1}`, Cuts: []time.Duration{5 * time.Millisecond}},
	} {
		s.Cluster, s.Snapshot = on, func(t *testing.T) string { return everything(t, on) }
		if s.Cuts == nil {
			s.Cuts = quick
		}
		name := s.Action.Name
		if strings.Contains(s.With, "force") {
			name += " by force"
		}
		t.Run(name, func(t *testing.T) { actiontest.Run(t, s) })
	}
	t.Run("volume.attach", func(t *testing.T) {
		v, err := on.Volume(t.Context(), "n1", "network")
		must(t, err)
		must(t, on.Volumes.Detach(t.Context(), v.ID, "n1"))
		actiontest.Run(t, actiontest.Subject{Action: find(t, "volume.attach"), With: `{node: n1, volume: network}`, Cluster: on, Cuts: quick,
			Snapshot: func(t *testing.T) string { return everything(t, on) }})
		must(t, on.Volumes.Attach(t.Context(), v.ID, "n1"))
	})
	t.Run("machine.boot", func(t *testing.T) {
		kill := func(t *testing.T) { must(t, c.Server("n1").Host().Kill(t.Context())) }
		kill(t)
		actiontest.Run(t, actiontest.Subject{Action: find(t, "machine.boot"), With: `{node: n1}`, Cluster: on, Cuts: []time.Duration{time.Second},
			Snapshot: func(t *testing.T) string { return everything(t, on) }, Again: kill})
	})
}

// Nothing is broken in production, nor where there is nothing of the kind.
func TestRefused(t *testing.T) {
	production := &cluster.Cluster{Name: "shop", Environment: "production", List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "n1"}}, nil
	}}
	for _, a := range fault.Actions() {
		with := map[string]string{
			"fault.slow-volume": "{node: n1, volume: v, iops: 1}", "fault.fail-volume": "{node: n1, volume: v, reads: true}",
			"fault.corrupt-volume": "{node: n1, volume: v, offset: 0}", "fault.skew-clock": "{node: n1, ahead: 1h}",
			"fault.hang-volume": "{node: n1, volume: v}", "fault.fill-volume": "{node: n1, volume: v}",
			"fault.change-disk": "{node: n1, type: gp2, size: 100G}", "fault.restore": "{}",
		}[a.Name]
		if with == "" {
			with = "{node: n1}"
		}
		task := actiontest.Bind(t, a, with)
		var declined *hint.PermanentError
		if _, err := task.Act(t.Context(), production, action.Call{}); !errors.As(err, &declined) {
			t.Errorf("%s in production: %v, want it declined", a.Name, err)
		}
	}
	for name, with := range map[string]string{
		"fault.slow-volume": "{node: n1, volume: v}", "fault.fail-volume": "{node: n1, volume: v}",
		"fault.corrupt-volume": "{node: n1, volume: v, offset: -1}", "fault.skew-clock": "{node: n1}", "volume.create": "{node: n1, name: v, mib: 0}",
		"fault.change-disk": "{node: n1, type: gp9, size: 100G}",
	} {
		n, err := document.Parse("with", []byte(with))
		must(t, err)
		if _, err := find(t, name).Bind(n); err == nil {
			t.Errorf("%s accepts %s", name, with)
		}
	}
}

// everything is all that these actions can change.
func everything(t *testing.T, on *cluster.Cluster) string {
	t.Helper()
	ctx := t.Context()
	i, err := on.Host(ctx, "n1")
	must(t, err)
	running, err := i.Running(ctx)
	must(t, err)
	out := fmt.Sprintf("running %v\n", running)
	if running {
		cut, err := i.NetworkCut(ctx)
		must(t, err)
		skew, err := i.Skew(ctx)
		must(t, err)
		out += fmt.Sprintf("cut %v, clock %v\n", cut, skew.Round(time.Minute))
	}
	all, err := on.Volumes.List(ctx, nil)
	must(t, err)
	for _, v := range all {
		if v.Tags[cluster.VolumeTag] == "more" {
			v.ID = "another each time it is made"
		}
		out += fmt.Sprintf("%s %d %s %s %v", v.ID, v.Size, v.State, v.Machine, v.Tags)
		if running && v.Machine != "" {
			c, err := on.Volumes.(cluster.FaultProne).Conditions(ctx, v.ID)
			must(t, err)
			data, err := json.Marshal(c)
			must(t, err)
			out += " " + string(data)
		}
		out += "\n"
	}
	return out
}

func find(t *testing.T, name string) action.Action {
	t.Helper()
	return actiontest.Find(t, append(fault.Actions(), volume.Actions()...), name)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
