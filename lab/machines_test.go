package lab_test

import (
	"context"
	"errors"
	"testing"

	"plimsoll/infra"
	"plimsoll/infra/uml"
	"plimsoll/lab"
)

// Servers on machines of their own are a cluster like any other; the loss of a machine ends its server and nothing that it had synced.
func TestMachines(t *testing.T) {
	d := realDeps(t)
	c, err := lab.Up(t.Context(), lab.Spec{
		Name: "demo", Product: "mariadb", Version: "10.11", Nodes: 2,
		Config:   map[string]string{"innodb_log_file_size": "8M", "innodb_buffer_pool_size": "32M", "sync_binlog": "1"},
		Machines: &lab.Machines{Memory: 768 << 20, Volumes: map[string]infra.VolumeSpec{"local": {Size: 1 << 30}, "network": {Size: 512 << 20, IOPS: 3000}}},
	}, d)
	must(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		must(t, errors.Join(c.Close(), lab.Down(ctx, "demo", d)))
		nothingLeft(ctx, t, d, "demo")
	})
	primary, replica := database{t, c, "n1"}, database{t, c, "n2"}
	primary.says("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)")
	replica.comes("SELECT a FROM d.t", "1")

	// What is done on a node's machine is done there, and on its volumes.
	n1 := c.Server("n1").Host()
	all, err := c.Volumes().List(t.Context(), map[string]string{"node": "n1", "volume": "network"})
	must(t, err)
	if len(all) != 1 || all[0].Machine != "n1" || all[0].IOPS != 3000 {
		t.Fatalf("the network volume of n1: %+v", all)
	}
	_, err = infra.Device(t.Context(), c.Server("n1").Machine(), all[0].Serial())
	must(t, err)

	must(t, n1.Kill(t.Context()))
	if n := c.Nodes()[0]; n.State != lab.Stopped {
		t.Errorf("the server of a machine that was killed is %s", n.State)
	}
	if running, err := n1.Running(t.Context()); running || err != nil {
		t.Errorf("the machine that was killed runs: %v, %v", running, err)
	}
	must(t, c.Close())
	c, err = lab.Open(t.Context(), "demo", d) // as another Plimsoll finds it
	must(t, err)
	if _, err := c.Volumes().Conditions(t.Context(), all[0].ID); !errors.Is(err, uml.ErrNotRunning) {
		t.Errorf("ask for a volume of a machine that does not run: %v, want ErrNotRunning", err)
	}
	must(t, c.Start(t.Context(), "n1"))
	primary = database{t, c, "n1"}
	primary.comes("SELECT a FROM d.t", "1")
	primary.says("INSERT INTO d.t VALUES (2)")
	database{t, c, "n2"}.comes("SELECT max(a) FROM d.t", "2")
	states, err := lab.List(t.Context(), d)
	must(t, err)
	for _, n := range states[0].Nodes {
		if n.State != lab.Running || n.Machine != lab.Running {
			t.Errorf("%s is %s, its machine %s", n.Name, n.State, n.Machine)
		}
	}
}

func TestMachinesRefused(t *testing.T) {
	for what, s := range map[string]lab.Spec{
		"too little memory":    {Machines: &lab.Machines{Memory: 1 << 20}},
		"a volume of nothing":  {Machines: &lab.Machines{Volumes: map[string]infra.VolumeSpec{"network": {}}}},
		"a name like a folder": {Machines: &lab.Machines{Volumes: map[string]infra.VolumeSpec{"../x": {Size: 1 << 30}}}},
		"of no node":           {Machines: &lab.Machines{On: []string{"db"}}},
		"forgetful":            {Machines: &lab.Machines{}, Forgetful: true},
		"more than there is":   {Machines: &lab.Machines{Memory: 1 << 50}},
	} {
		s.Name, s.Product, s.Version = "demo", "toy", "1.0"
		if c, err := lab.Up(t.Context(), s, deps(t, toys{})); err == nil {
			t.Errorf("%s: was made", what)
			must(t, c.Down(t.Context()))
		}
	}
}
