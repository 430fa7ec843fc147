package lab_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/lab"
)

// forgetful is a cluster of toys on layers that forget. It skips where no file system can be mounted.
func forgetful(t *testing.T, nodes int) (*lab.Cluster, lab.Deps) {
	t.Helper()
	if _, err := exec.LookPath("fusermount3"); err != nil && os.Getuid() != 0 {
		t.Skip("neither root nor fusermount3")
	}
	d := deps(t, copiedToys{})
	c, err := lab.Up(t.Context(), lab.Spec{Name: "demo", Product: "toy", Nodes: nodes, Forgetful: true}, d)
	if err != nil && (strings.Contains(err.Error(), "/dev/fuse") || strings.Contains(err.Error(), "not permitted")) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		must(t, c.Down(ctx))
		nothingLeft(ctx, t, d, "demo")
		nothingMounted(ctx, t, d)
	})
	return c, d
}

func nothingMounted(ctx context.Context, t *testing.T, d lab.Deps) {
	t.Helper()
	mounts, err := infra.Mounts(ctx, d.Machine)
	must(t, err)
	for _, m := range mounts {
		if strings.HasPrefix(m.Path, d.Home) {
			t.Errorf("left mounted: %s", m.Path)
		}
	}
}

// leave writes a text into two files as a server would, and syncs one.
func leave(t *testing.T, folder, text string) {
	t.Helper()
	for _, name := range []string{"not-synced", "synced"} {
		f, err := os.Create(filepath.Join(folder, name))
		must(t, err)
		_, err = f.WriteString(text)
		must(t, err)
		if name == "synced" {
			must(t, f.Sync())
		}
		must(t, f.Close())
	}
}

func there(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	must(t, err)
	return string(data)
}

func TestAPowerFailureForgetsAndAKillDoesNot(t *testing.T) {
	ctx := t.Context()
	c, _ := forgetful(t, 2)
	data := c.Nodes()[1].Data()
	leave(t, data, "first")
	must(t, c.Server("n2").Kill(ctx))
	equal(t, "after a kill", there(t, data, "not-synced"), "first")
	must(t, c.Start(ctx, "n2"))
	equal(t, "after a kill and a start", there(t, data, "not-synced"), "first")

	leave(t, data, "second")
	lost, err := c.PowerFail(ctx, "n2")
	must(t, err)
	equal(t, "files forgotten", lost.Files, 1)
	equal(t, "after a power failure", there(t, data, "not-synced"), "first")
	equal(t, "after a power failure", there(t, data, "synced"), "second")
	if lost.Bytes < int64(len("second")) || lost.Names != 0 {
		t.Errorf("reported %+v", lost)
	}
	if _, err := c.PowerFail(ctx, "n2"); err == nil {
		t.Error("the power of what does not run failed")
	}
	must(t, c.Start(ctx, "n2"))
	equal(t, "after a start", there(t, data, "synced"), "second")

	must(t, c.Save(ctx))
	leave(t, data, "third")
	must(t, c.Restore(ctx))
	equal(t, "after the kept copy came back", there(t, data, "synced"), "second")
	equal(t, "nodes", len(c.Nodes()), 2)
}

func TestAForgetfulClusterIsFoundAgain(t *testing.T) {
	ctx := t.Context()
	c, d := forgetful(t, 1)
	data := c.Nodes()[0].Data()
	must(t, c.Close())
	again, err := lab.Open(ctx, "demo", d)
	must(t, err)
	t.Cleanup(func() { must(t, again.Down(context.WithoutCancel(ctx))) })
	leave(t, data, "first")
	if _, err := again.PowerFail(ctx, "n1"); err != nil {
		t.Fatal(err)
	}
	equal(t, "after a power failure", there(t, data, "not-synced"), "") // its name was durable by the other's sync
	must(t, again.Start(ctx))
	all, err := lab.List(ctx, d)
	must(t, err)
	if len(all) != 1 || len(all[0].Nodes) != 1 || all[0].Nodes[0].State != lab.Running {
		t.Errorf("listed %+v", all)
	}
}

// However little is left of it, and although what serves its files was killed, Down takes a cluster away.
func TestADeadLayerIsTakenDown(t *testing.T) {
	ctx := t.Context()
	c, d := forgetful(t, 1)
	n := c.Nodes()[0]
	layer, err := d.Machine.Find(ctx, filepath.Join(n.Dir, "layer"))
	must(t, err)
	equal(t, "layers", len(layer), 1)
	must(t, layer[0].Signal(ctx, "KILL"))
	must(t, layer[0].Wait(ctx))
	if _, err := os.ReadDir(n.Data()); err == nil {
		t.Error("the folder can still be read")
	}
	must(t, c.Restart(ctx))
	if _, err := os.ReadDir(n.Data()); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	must(t, c.Close())
	must(t, os.Remove(filepath.Join(d.Home, "lab", "demo", "cluster.json")))
	must(t, lab.Down(ctx, "demo", d))
	nothingMounted(ctx, t, d)
}

func TestAPowerFailureNeedsALayer(t *testing.T) {
	c := up(t, deps(t, toys{}), lab.Spec{Name: "plain", Product: "toy", Nodes: 1})
	_, err := c.PowerFail(t.Context(), "n1")
	refused(t, err, "unsynced writes", "forgetful: true")

	d := deps(t, toys{})
	d.Layer = nil
	_, err = lab.Up(t.Context(), lab.Spec{Name: "demo", Product: "toy", Nodes: 1, Forgetful: true}, d)
	refused(t, err, "without the program", "")
	d = deps(t, toys{})
	d.Machine = without{d.Machine.(local.Machine), "/dev/fuse"}
	_, err = lab.Up(t.Context(), lab.Spec{Name: "demo", Product: "toy", Nodes: 1, Forgetful: true}, d)
	refused(t, err, "no /dev/fuse", "modprobe fuse")
}

// without is a machine on which a file is said not to be there.
type without struct {
	local.Machine
	path string
}

func (w without) Run(ctx context.Context, c infra.Command) (infra.Output, error) {
	if c.Path == "test" && slices.Contains(c.Args, w.path) {
		return infra.Output{}, &infra.ExitError{Command: "test", Status: 1}
	}
	return w.Machine.Run(ctx, c)
}
