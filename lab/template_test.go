package lab_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/lab"
)

// alikeToys begin with a copy of an empty data folder that was made once for each size that a setting says. It counts what is made.
type alikeToys struct {
	copiedToys
	made *atomic.Int32
}

func (a alikeToys) Init(ctx context.Context, m infra.Machine, n engine.Node) error {
	a.made.Add(1)
	return a.copiedToys.Init(ctx, m, n)
}

func (alikeToys) Template(n engine.Node) string {
	if n.Config["size"] == "any" {
		return ""
	}
	return "toy-" + n.Config["size"]
}

func TestAnEmptyDataFolderIsMadeOnce(t *testing.T) {
	var made atomic.Int32
	d := deps(t, alikeToys{made: &made})
	for _, c := range []struct {
		size string
		made int32
	}{{"1", 1}, {"1", 0}, {"2", 1}, {"any", 1}, {"any", 1}} {
		made.Store(0)
		cluster := up(t, d, lab.Spec{Name: fmt.Sprint("demo", len(kept(t, d)), "-", c.made), Product: "toy", Config: map[string]string{"size": c.size}})
		equal(t, "made for size "+c.size, made.Load(), c.made)
		equal(t, "data for size "+c.size, read(t, cluster.Nodes()[0].Data(), "value"), "new")
		must(t, cluster.Down(t.Context()))
	}
	equal(t, "kept", fmt.Sprint(kept(t, d)), "[toy-1 toy-2]")

	for size := range 20 {
		c := up(t, d, lab.Spec{Name: "demo", Product: "toy", Config: map[string]string{"size": fmt.Sprint(10 + size)}})
		equal(t, "data", read(t, c.Nodes()[0].Data(), "value"), "new")
		must(t, c.Down(t.Context()))
	}
	equal(t, "kept of 22", len(kept(t, d)), 16)
}

// What a server wrote is no part of what the next begins with, and servers of their own each begin with a copy.
func TestATemplateStaysEmpty(t *testing.T) {
	var made atomic.Int32
	d := deps(t, alikeToys{made: &made})
	for _, name := range []string{"first", "second"} {
		c := up(t, d, lab.Spec{Name: name, Product: "toy", Nodes: 3, Separate: true})
		for _, n := range c.Nodes() {
			equal(t, name+" "+n.Name, read(t, n.Data(), "value"), "new")
			write(t, "old", n.Data(), "value")
		}
	}
	equal(t, "made", made.Load(), 1)
}

func TestLabsThatBeginTogetherShareATemplate(t *testing.T) {
	var made atomic.Int32
	d := deps(t, alikeToys{made: &made})
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			c, err := lab.Up(t.Context(), lab.Spec{Name: fmt.Sprint("demo", i), Product: "toy"}, d)
			if err != nil {
				t.Error(err)
				return
			}
			if err := c.Down(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	equal(t, "made", made.Load(), 1)
}

// kept are the templates in the cache of a lab.
func kept(t *testing.T, d lab.Deps) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(d.Cache, "empty-data", "*", "data"))
	must(t, err)
	for i := range all {
		all[i] = filepath.Base(filepath.Dir(all[i]))
	}
	slices.Sort(all)
	return all
}
