package lab_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/launch"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/infra/uml"
	"plimsoll/lab"
	forgetting "plimsoll/lab/forgetful"
)

// TestMain is the test, the layer of a forgetful node, or a Plimsoll that brings a cluster up for a test that kills it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "layer" {
		if err := forgetting.Run(os.Args[2:]); err != nil {
			println(err.Error())
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "machine" {
		if err := uml.Run(os.Args[2:]); err != nil {
			println(err.Error())
			os.Exit(1)
		}
		return
	}
	if dir := os.Getenv("LAB_TEST_UP"); dir != "" {
		bringUp(dir)
		return
	}
	os.Exit(m.Run())
}

// bringUp makes a cluster in this folder, tells what it does, and keeps the cluster until it is killed.
func bringUp(dir string) {
	m, err := local.New()
	if err != nil {
		println(err.Error())
		return
	}
	launchers := map[string]engine.Launcher{"toy": copiedToys{}, "mariadb": launch.Servers{}}
	product := os.Getenv("LAB_TEST_PRODUCT")
	d := depsAt(dir, m, launchers[product])
	d.Say = func(s string) { println(s) }
	println("begin")
	spec := lab.Spec{Name: "demo", Product: product, Nodes: 3, Forgetful: os.Getenv("LAB_TEST_FORGETFUL") != ""}
	if product == "mariadb" {
		spec.Config = map[string]string{"innodb_log_file_size": "8M"}
	}
	if cache := os.Getenv("LAB_TEST_MACHINES"); cache != "" {
		d.Cache = cache // has the kernel
		spec.Nodes, spec.Version, spec.Config["innodb_buffer_pool_size"] = 2, "10.11", "32M"
		spec.Machines = &lab.Machines{Memory: 768 << 20, Volumes: map[string]infra.VolumeSpec{"local": {Size: 512 << 20}, "network": {Size: 320 << 20}}}
	}
	if _, err := lab.Up(context.Background(), spec, d); err != nil {
		println(err.Error())
		return
	}
	println("complete")
	select {}
}

// Whenever a Plimsoll is killed while it makes a cluster, Down takes away all that there is of it.
func TestKilledWhileBringingUp(t *testing.T) {
	moments := []string{"begin", "n1: make", "n2: copy", "n3: copy", "n1: start", "n2: start", "n3: start", "complete"}
	t.Run("toys", func(t *testing.T) {
		for _, moment := range moments {
			// At once, and a little later: inside what has just been announced.
			killAndTakeDown(t, "toy", moment, 0)
			if testing.Short() {
				continue
			}
			for _, later := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond} {
				killAndTakeDown(t, "toy", moment, later)
			}
		}
	})
	t.Run("forgetful toys", func(t *testing.T) {
		c, _ := forgetful(t, 1) // or skip
		must(t, c.Down(t.Context()))
		t.Setenv("LAB_TEST_FORGETFUL", "yes")
		for i, moment := range []string{"n1: start", "n2: start", "n3: start", "complete"} {
			killAndTakeDown(t, "toy", moment, []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond}[i%3])
		}
	})
	t.Run("servers", func(t *testing.T) {
		realDeps(t)
		for i, moment := range []string{"n1: make", "n2: copy", "n1: start", "n2: start", "complete"} {
			killAndTakeDown(t, "mariadb", moment, []time.Duration{150 * time.Millisecond, 0, 30 * time.Millisecond}[i%3])
		}
	})
	t.Run("machines", func(t *testing.T) {
		cache := "LAB_TEST_MACHINES=" + realDeps(t).Cache
		for _, c := range []struct {
			moment string
			later  time.Duration
		}{
			{"n1: boot its machine", 0}, {"n1: boot its machine", 700 * time.Millisecond}, {"n1: make a file system", 100 * time.Millisecond},
			{"n2: boot its machine", 200 * time.Millisecond}, {"complete", 0},
		} {
			killAndTakeDown(t, "mariadb", c.moment, c.later, cache)
		}
	})
}

func killAndTakeDown(t *testing.T, product, moment string, later time.Duration, more ...string) {
	d := deps(t, toys{})
	d.Say = nil
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), "LAB_TEST_UP="+filepath.Dir(d.Home), "LAB_TEST_PRODUCT="+product)
	child.Env = append(child.Env, more...)
	said, err := child.StderrPipe()
	must(t, err)
	must(t, child.Start())
	lines := bufio.NewScanner(said)
	for reached := false; !reached; {
		if !lines.Scan() {
			t.Fatalf("%s: the cluster was never at this point", moment)
		}
		reached = strings.HasPrefix(lines.Text(), moment)
	}
	<-time.After(later)
	must(t, child.Process.Kill())
	_ = child.Wait() // killed

	all, err := lab.List(t.Context(), d)
	must(t, err)
	if len(all) == 0 && moment != "begin" {
		t.Errorf("killed at %q: the cluster is not listed", moment)
	}
	err = lab.Down(t.Context(), "demo", d)
	for try := 0; errors.Is(err, infra.ErrLocked) && try < 60; try++ { // by what was just starting, which gets no turn
		err = lab.Down(t.Context(), "demo", d)
	}
	if len(all) == 0 {
		refused(t, err, "no such cluster", "lab list")
	} else {
		must(t, err)
	}
	nothingLeft(t.Context(), t, d, "demo")
	nothingMounted(t.Context(), t, d)
}
