package lab_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/lab"
)

func TestGrow(t *testing.T) {
	d, ctx := deps(t, copiedToys{}), t.Context()
	c := up(t, d, lab.Spec{Name: "demo", Product: "toy", Nodes: 2, Config: map[string]string{"color": "red", "the-size": "1"}})
	grown, err := c.Growth().Grow(ctx, "token", map[string]string{"the_size": "2"})
	must(t, err)
	equal(t, "made and not started", states(c), "n1 running, n2 running, n3 stopped")
	equal(t, "its data", read(t, c.Nodes()[2].Data(), "value"), "new")
	again, err := c.Growth().Grow(ctx, "token", nil)
	must(t, err)
	equal(t, "grown again", again, grown)

	must(t, c.Server("n3").Launch(ctx))
	must(t, c.Stop(ctx, "n3"))
	must(t, c.Start(ctx))
	equal(t, "settings of its own", read(t, c.Nodes()[2].Run(), "seen"), "color=red\nthe_size=2")
	if _, err := os.Stat(filepath.Join(c.Nodes()[0].Run(), "joined-n3")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lab made a grown node a part of the cluster: %v", err)
	}
	must(t, c.Server("n3").Assign(ctx, map[string]string{"color": "blue"}))
	own, err := c.Server("n3").Assigned(ctx)
	must(t, err)
	equal(t, "assigned", own["color"], "blue")
	equal(t, "what runs goes on", read(t, c.Nodes()[2].Run(), "seen"), "color=red\nthe_size=2")
	must(t, c.Server("n3").Restart(ctx))
	equal(t, "after a restart", read(t, c.Nodes()[2].Run(), "seen"), "color=blue\nthe-size=1")

	// Numbers have gaps, and a number that was the last is free again.
	must(t, c.Growth().Remove(ctx, "n2"))
	equal(t, "token of a removed node", c.Growth().Grown("other"), "")
	next, err := c.Growth().Grow(ctx, "other", nil)
	must(t, err)
	equal(t, "the next", next, "n4")
	equal(t, "seeds", strings.Join(c.Nodes()[2].Seeds, " "), c.Nodes()[0].Address+" "+c.Nodes()[1].Address)
	must(t, c.Close())
	c, err = lab.Open(ctx, "demo", d)
	must(t, err)
	defer func() { must(t, c.Down(ctx)) }()
	equal(t, "found by its token", c.Growth().Grown("other"), "n4")
	equal(t, "opened again", states(c), "n1 running, n3 running, n4 stopped")
}

// Whatever a Plimsoll that was killed began, of growing or of removing, the next one finds the node whole or gone.
func TestGrowAndRemoveCutOff(t *testing.T) {
	d, ctx := deps(t, toys{}), t.Context()
	killed := errors.New("killed here")
	at := ""
	d.Say = func(s string) {
		if at != "" && strings.HasPrefix(s, at) {
			panic(killed)
		}
	}
	c, err := lab.Up(ctx, lab.Spec{Name: "demo", Product: "toy", Nodes: 2}, d)
	must(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(ctx)
		must(t, lab.Down(ctx, "demo", d))
		nothingLeft(ctx, t, d, "demo")
	})
	reopen := func(f func()) {
		t.Helper()
		func() {
			defer func() { equal(t, "stopped by", recover(), any(killed)) }()
			f()
		}()
		at = ""
		must(t, c.Close())
		c, err = lab.Open(ctx, "demo", d)
		must(t, err)
	}
	at = "n3: make"
	reopen(func() { _, _ = c.Growth().Grow(ctx, "token", nil) })
	equal(t, "cut off while it grew", states(c), "n1 running, n2 running")
	equal(t, "its token", c.Growth().Grown("token"), "")
	name, err := c.Growth().Grow(ctx, "token", nil)
	must(t, err)
	must(t, c.Start(ctx, name))
	at = "n3: remove"
	reopen(func() { _ = c.Growth().Remove(ctx, name) })
	equal(t, "cut off while it was removed", states(c), "n1 running, n2 running")
	must(t, c.Close())
}
