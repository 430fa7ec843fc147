package lab_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// What a real server made once has nobody's account: the next lab, with a password of its own, begins with a copy and is logged in to, and is
// another server.
func TestRealTemplatesHaveNoAdministrator(t *testing.T) {
	d := realDeps(t)
	fetched, err := filepath.Glob(filepath.Join(d.Cache, "m*-*"))
	must(t, err)
	d.Cache, d.Patience = t.TempDir(), time.Minute
	for _, folder := range fetched {
		must(t, os.Symlink(folder, filepath.Join(d.Cache, filepath.Base(folder))))
	}
	for _, product := range []string{"mariadb", "mysql"} {
		servers := map[string]bool{}
		for _, name := range []string{"first", "second"} {
			c := up(t, d, lab.Spec{Name: name, Product: product, Config: map[string]string{"innodb_buffer_pool_size": "32M"}})
			identity := "@@server_uuid"
			if product == "mariadb" {
				identity = "'" + name + "'" // it has none
			}
			servers[database{t, c, "n1"}.says("SELECT "+identity)] = true
			must(t, c.Down(t.Context()))
		}
		equal(t, "different servers of "+product, len(servers), 2)
	}
	equal(t, "kept", len(kept(t, d)), 2)
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
