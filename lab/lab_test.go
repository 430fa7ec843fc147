package lab_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/lab"
)

func states(c *lab.Cluster) string {
	var all []string
	for _, n := range c.Nodes() {
		all = append(all, n.Name+" "+string(n.State))
		if (n.PID != 0) != (n.State != lab.Stopped) {
			all = append(all, fmt.Sprintf("with process %d", n.PID))
		}
	}
	return strings.Join(all, ", ")
}

func TestLifeOfACluster(t *testing.T) {
	d, ctx := deps(t, toys{}), t.Context()
	c := up(t, d, lab.Spec{Name: "demo", Product: "toy", Nodes: 3, Config: map[string]string{"color": "red"}})
	equal(t, "nodes", states(c), "n1 running, n2 running, n3 running")
	equal(t, "version", c.Distribution().Exact, "1.0.7")
	first := c.Nodes()[0]
	read(t, first.Run(), "joined-n2")
	read(t, first.Run(), "joined-n3")

	all, err := c.Target()
	must(t, err)
	network, _, _ := strings.Cut(first.Address, ".1")
	equal(t, "addresses", len(all.Addresses), 3)
	if !strings.HasPrefix(all.Addresses[2], "127.20.") || !strings.HasSuffix(all.Addresses[2], ".3") || all.Password == "" {
		t.Errorf("target %v in %s", all, network)
	}
	second, err := c.Target("n2")
	must(t, err)
	equal(t, "address of n2", second.Addresses[0], all.Addresses[1])
	if _, err := c.Target("n4"); err == nil {
		t.Error("a target of no node")
	} else {
		refused(t, err, `no node "n4"`, "it has n1, n2, n3")
	}

	must(t, c.Stop(ctx, "n2"))
	equal(t, "after Stop", states(c), "n1 running, n2 stopped, n3 running")
	equal(t, "end of n2", read(t, c.Nodes()[1].Data(), "ends"), "clean")
	must(t, c.Stop(ctx, "n2")) // again is fine
	must(t, c.Start(ctx))
	must(t, c.Server("n3").Kill(ctx))
	equal(t, "after Kill", states(c), "n1 running, n2 running, n3 stopped")
	if _, err := os.Stat(filepath.Join(c.Nodes()[2].Data(), "ends")); err == nil {
		t.Error("n3 was killed and ended cleanly")
	}
	refused(t, c.Server("n3").Freeze(ctx), "n3 is not running", "")
	must(t, c.Start(ctx, "n3"))

	must(t, c.Server("n1").Freeze(ctx))
	equal(t, "after Freeze", states(c), "n1 frozen, n2 running, n3 running")
	must(t, c.Server("n1").Thaw(ctx))
	equal(t, "after Thaw", states(c), "n1 running, n2 running, n3 running")
	must(t, c.Server("n1").Freeze(ctx))
	must(t, c.Stop(ctx, "n1")) // a frozen one ends cleanly too
	equal(t, "end of n1", read(t, first.Data(), "ends"), "clean")
	must(t, c.Start(ctx, "n1"))

	before := c.Nodes()[1].PID
	must(t, c.Server("n2").Restart(ctx))
	if now := c.Nodes()[1].PID; now == before || now == 0 {
		t.Errorf("n2 was process %d before and is %d after a restart", before, now)
	}
	select {
	case death := <-c.Died():
		t.Errorf("what was asked for is reported as a death: %+v", death)
	default:
	}
}

func TestReconfigure(t *testing.T) {
	d, ctx := deps(t, toys{}), t.Context()
	c := up(t, d, lab.Spec{Name: "demo", Product: "toy", Nodes: 2, Config: map[string]string{"color": "red"}})
	seen := func(node int) string { return read(t, c.Nodes()[node].Run(), "seen") }

	must(t, c.Reconfigure(ctx, map[string]string{"color": "blue", "size": "9"}, "n2"))
	equal(t, "n1", seen(0), "color=red")
	equal(t, "n2", seen(1), "color=blue\nsize=9")

	must(t, c.Stop(ctx))
	must(t, c.Reconfigure(ctx, map[string]string{"color": "green"}))
	equal(t, "still stopped", states(c), "n1 stopped, n2 stopped")
	must(t, c.Start(ctx))
	equal(t, "n1 later", seen(0), "color=green")

	// What cannot start says why and leaves the node stopped; the next settings help.
	err := c.Reconfigure(ctx, map[string]string{"says": "no such variable"}, "n1")
	refused(t, err, "n1 ended: no such variable", "")
	equal(t, "after a failure", states(c), "n1 stopped, n2 running")
	must(t, c.Reconfigure(ctx, nil))
	must(t, c.Start(ctx))
	equal(t, "at last", states(c), "n1 running, n2 running")
}

func TestSaveAndRestore(t *testing.T) {
	for name, l := range map[string]engine.Launcher{"empty nodes": toys{}, "copied nodes": copiedToys{}} {
		t.Run(name, func(t *testing.T) {
			d, ctx := deps(t, l), t.Context()
			c := up(t, d, lab.Spec{Name: "demo", Product: "toy", Nodes: 2})
			value := func(node int) []string { return []string{c.Nodes()[node].Data(), "value"} }
			refused(t, c.Restore(ctx), "there is no copy", "")

			write(t, "one", value(0)...)
			must(t, c.Save(ctx))
			equal(t, "after Save", states(c), "n1 running, n2 running")
			equal(t, "kept after a clean end", read(t, c.Nodes()[0].Data(), "ends"), "clean")

			// A node that comes later begins with a copy of the one before it, where nodes can.
			write(t, "two", value(0)...)
			write(t, "two", value(1)...)
			added, err := c.Growth().Add(ctx)
			must(t, err)
			equal(t, "name", added, "n3")
			equal(t, "after Add", states(c), "n1 running, n2 running, n3 running")
			equal(t, "data of n3", read(t, value(2)...), map[string]string{"empty nodes": "new", "copied nodes": "two"}[name])

			gone := c.Nodes()[2].Dir
			must(t, c.Restore(ctx))
			equal(t, "after Restore", states(c), "n1 running, n2 running")
			equal(t, "data of n1", read(t, value(0)...), "one")
			if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder of n3 is still there: %v", err)
			}

			// Stopped nodes stay so, and a second Restore finds the copy as the first did.
			must(t, c.Stop(ctx))
			write(t, "three", value(0)...)
			must(t, c.Restore(ctx))
			equal(t, "after Restore of stopped nodes", states(c), "n1 stopped, n2 stopped")
			equal(t, "data of n1 again", read(t, value(0)...), "one")
			added, err = c.Growth().Add(ctx)
			must(t, err)
			equal(t, "added to stopped nodes", states(c), "n1 stopped, n2 stopped, "+added+" stopped")
			must(t, c.Start(ctx))
			must(t, c.Growth().Remove(ctx, "n2"))
			equal(t, "after Remove", states(c), "n1 running, "+added+" running")

			// Any node can go but the last, and what was kept comes back with Restore.
			must(t, c.Growth().Remove(ctx, "n1"))
			equal(t, "after Remove of the first", states(c), added+" running")
			refused(t, c.Growth().Remove(ctx, added), "last node", "")
			must(t, c.Restore(ctx))
			equal(t, "removed nodes restored", states(c), "n1 running, n2 running")
			equal(t, "data of n1 once more", read(t, value(0)...), "one")
		})
	}
}

// stopped waits until a node is known not to run.
func stopped(t *testing.T, c *lab.Cluster, node int) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(time.Minute); c.Nodes()[node].State != lab.Stopped; <-again.C {
		if time.Now().After(end) {
			t.Fatal("its end was not noticed")
		}
	}
}

// end kills what carries a mark.
func end(ctx context.Context, t *testing.T, d lab.Deps, mark string) {
	t.Helper()
	found, err := d.Machine.Find(ctx, mark)
	must(t, err)
	for _, p := range found {
		if err := p.Signal(ctx, "KILL"); err != nil && !errors.Is(err, infra.ErrGone) { // its sleep may have ended
			t.Fatal(err)
		}
	}
}

func TestDied(t *testing.T) {
	d, ctx := deps(t, toys{}), t.Context()
	clock := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	d.Now = func() time.Time { return clock }
	c := up(t, d, lab.Spec{Name: "demo", Product: "toy", Nodes: 2})
	n := c.Nodes()[1]
	write(t, "first line\ncomplaint: out of steam\n", n.Log())
	end(ctx, t, d, n.Dir)
	select {
	case death := <-c.Died():
		equal(t, "node", death.Node, "n2")
		equal(t, "time", death.At, clock)
		equal(t, "cause", fmt.Sprint(death.Cause), "out of steam")
		if !slices.Equal(death.Log, []string{"first line", "complaint: out of steam"}) {
			t.Errorf("log: %q", death.Log)
		}
	case <-time.After(time.Minute):
		t.Fatal("no word of a death")
	}
	equal(t, "afterwards", states(c), "n1 running, n2 stopped")
	write(t, "", n.Log())
	must(t, c.Start(ctx, "n2"))
	equal(t, "started again", states(c), "n1 running, n2 running")

	// One that was expected to end is no news; the next time it is.
	for _, expected := range []bool{true, false} {
		if expected {
			must(t, c.Server("n2").ExpectEnd(ctx))
		}
		end(ctx, t, d, n.Dir)
		stopped(t, c, 1)
		if !expected {
			equal(t, "the next", (<-c.Died()).Node, "n2")
			break
		}
		must(t, c.Start(ctx, "n2"))
		equal(t, "deaths told", len(c.Died()), 0)
	}
}

func TestAServerThatDoesNotEndSaysWhatItIsBusyWith(t *testing.T) {
	t.Parallel()
	d := deps(t, toys{})
	d.Patience = 5 * time.Second
	c := up(t, d, lab.Spec{Name: "deaf", Product: "toy", Version: "1.0", Config: map[string]string{"deaf": "1"}})
	err := c.Stop(t.Context())
	if err == nil || !strings.Contains(err.Error(), "has not ended within 5s") || !strings.Contains(err.Error(), "still flushing") {
		t.Errorf("stopped a server that does not end: %v", err)
	}
	if nodes := c.Nodes(); nodes[0].State != lab.Running {
		t.Errorf("it is taken for %s", nodes[0].State)
	}
	if err := c.Kill(t.Context()); err != nil {
		t.Error(err)
	}
}

// Whoever tidies up by force does not ask who has a cluster in hand.
func TestAClusterInHandIsTakenDownByForce(t *testing.T) {
	d, ctx := deps(t, toys{}), t.Context()
	up(t, d, lab.Spec{Name: "held", Product: "toy"})
	if err := lab.Down(ctx, "held", d); !errors.Is(err, infra.ErrLocked) {
		t.Errorf("taken down in another's hands: %v", err)
	}
	must(t, lab.DownByForce(ctx, "held", d))
	if all, err := lab.List(ctx, d); err != nil || len(all) > 0 {
		t.Errorf("left: %+v, %v", all, err)
	}
}

func TestOpen(t *testing.T) {
	d, ctx := deps(t, toys{}), t.Context()
	_, err := lab.Open(ctx, "demo", d)
	if !errors.Is(err, lab.ErrNoCluster) {
		t.Errorf("open nothing: %v", err)
	}
	c, err := lab.Up(ctx, lab.Spec{Name: "demo", Product: "toy", Nodes: 2, Config: map[string]string{"color": "red"}}, d)
	must(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(ctx)
		must(t, lab.Down(ctx, "demo", d))
		nothingLeft(ctx, t, d, "demo")
	})
	target, err := c.Target()
	must(t, err)

	// While one has it, no other gets it.
	_, err = lab.Open(ctx, "demo", d)
	refused(t, err, "demo is in use", "wait until it ends")
	refused(t, lab.Down(ctx, "demo", d), "demo is in use", "")
	_, err = lab.Up(ctx, lab.Spec{Name: "demo", Product: "toy"}, d)
	refused(t, err, "demo is in use", "")

	// But it can be looked at, and no more.
	seen, err := lab.Look(ctx, "demo", d)
	must(t, err)
	equal(t, "seen", states(seen), "n1 running, n2 running")
	reached, err := seen.Target()
	must(t, err)
	equal(t, "how to reach it", fmt.Sprint(reached.Addresses, reached.Password == target.Password), fmt.Sprint(target.Addresses, true))
	refused(t, seen.Stop(ctx, "n1"), "demo was opened for reading only", "")
	refused(t, seen.Start(ctx), "demo was opened for reading only", "")
	must(t, seen.Down(ctx))
	must(t, seen.Close())
	equal(t, "after the look", states(c), "n1 running, n2 running")
	if _, err := lab.Look(ctx, "none", d); !errors.Is(err, lab.ErrNoCluster) {
		t.Errorf("look at nothing: %v", err)
	}

	must(t, c.Server("n2").Kill(ctx))
	must(t, c.Close())
	must(t, c.Close())
	if err := c.Start(ctx); err == nil {
		t.Error("started what was given back")
	}

	_, err = lab.Up(ctx, lab.Spec{Name: "demo", Product: "toy"}, d)
	refused(t, err, "demo exists already", "lab down demo")

	c, err = lab.Open(ctx, "demo", d)
	must(t, err)
	defer func() { must(t, c.Close()) }()
	equal(t, "found as it is", states(c), "n1 running, n2 stopped")
	again, err := c.Target()
	must(t, err)
	equal(t, "password", again.Password, target.Password)
	must(t, c.Start(ctx))
	must(t, c.Restart(ctx))
	equal(t, "settings", read(t, c.Nodes()[1].Run(), "seen"), "color=red")
}

// A node that was being added when its Plimsoll was killed is not there when the cluster is opened again.
func TestOpenDropsUnmadeNode(t *testing.T) {
	d, ctx := deps(t, copiedToys{}), t.Context()
	killed := errors.New("killed here")
	d.Say = func(s string) {
		if strings.HasPrefix(s, "n3: copy") {
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
	func() {
		defer func() { equal(t, "stopped by", recover(), any(killed)) }()
		_, _ = c.Growth().Add(ctx)
	}()
	must(t, c.Close())
	unmade := filepath.Join(filepath.Dir(c.Nodes()[0].Dir), "n3")
	if _, err := os.Stat(unmade); err != nil {
		t.Fatalf("the test does not test: %v", err)
	}
	// What made its data goes on, and starts one more program when it is told to end.
	script, err := d.Machine.Start(ctx, infra.Command{Path: "sh", Args: []string{"-c", "trap 'sleep 600 & exit' TERM; echo ready; while :; do sleep 0.05; done"},
		Log: filepath.Join(unmade, "script"), Mark: unmade})
	must(t, err)
	for end := time.Now().Add(time.Minute); !strings.Contains(read(t, unmade, "script"), "ready") && time.Now().Before(end); {
		runtime.Gosched()
	}

	d.Say = nil
	c, err = lab.Open(ctx, "demo", d)
	must(t, err)
	defer func() { must(t, c.Close()) }()
	must(t, script.Wait(ctx))
	left, err := d.Machine.Find(ctx, unmade)
	must(t, err)
	equal(t, "processes of n3 that are left", len(left), 0)
	equal(t, "nodes", states(c), "n1 running, n2 stopped")
	if _, err := os.Stat(unmade); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of n3 is still there: %v", err)
	}
	must(t, c.Start(ctx))
	_, err = c.Growth().Add(ctx)
	must(t, err)
	equal(t, "added at last", states(c), "n1 running, n2 running, n3 running")
}

func TestList(t *testing.T) {
	d, ctx := deps(t, toys{}), t.Context()
	all, err := lab.List(ctx, d)
	must(t, err)
	equal(t, "at first", len(all), 0)

	up(t, d, lab.Spec{Name: "one", Product: "toy", Nodes: 2})
	two := up(t, d, lab.Spec{Name: "two", Product: "toy", Port: 17999})
	must(t, two.Stop(ctx))
	// One whose folder somebody removed; its server is still there.
	three := up(t, d, lab.Spec{Name: "three", Product: "toy"})
	must(t, os.RemoveAll(filepath.Dir(three.Nodes()[0].Dir)))

	all, err = lab.List(ctx, d)
	must(t, err)
	var text []string
	for _, s := range all {
		for _, n := range s.Nodes {
			text = append(text, fmt.Sprintf("%s %s %s %s %v", s.Name, n.Name, n.State, s.Product, s.Broken != ""))
		}
	}
	slices.Sort(text)
	want := []string{"one n1 running toy false", "one n2 running toy false", "three n1 running  true", "two n1 stopped toy false"}
	if !slices.Equal(text, want) {
		t.Errorf("got %q, want %q", text, want)
	}
	if all[0].Nodes[0].Address == all[2].Nodes[0].Address || !strings.HasSuffix(all[2].Nodes[0].Address, ":17999") {
		t.Errorf("addresses: %+v", all)
	}
}

func TestUpRefuses(t *testing.T) {
	d := deps(t, toys{})
	for name, c := range map[string]struct {
		spec        lab.Spec
		says, hints string
	}{
		"a name that is a path": {lab.Spec{Name: "../demo", Product: "toy"}, `cluster name "../demo", expected lower-case letters, digits and hyphens, at most 40`, ""},
		"no name":               {lab.Spec{Product: "toy"}, `cluster name ""`, ""},
		"an unknown product":    {lab.Spec{Name: "demo", Product: "tyo"}, `cannot run "tyo"`, "did you mean toy?"},
		"an unknown version":    {lab.Spec{Name: "demo", Product: "toy", Version: "3.1"}, "toy 3.1 is not installed", "2.0 or 1.0"},
		"a version too exact":   {lab.Spec{Name: "demo", Product: "toy", Version: "2.0.9"}, "the versions to download are 2.0.1", ""},
		"too many nodes":        {lab.Spec{Name: "demo", Product: "toy", Nodes: 100}, "100 nodes", ""},
		"too little memory": {lab.Spec{Name: "demo", Product: "toy", Nodes: 3, Config: map[string]string{"needs": "9000"}},
			"too little memory: 3 nodes would need 27000 GiB", "fewer nodes, or lower needs"},
		"a setting that cannot be": {lab.Spec{Name: "demo", Product: "toy", Config: map[string]string{"needs": "much"}}, `n1: `, ""},
		"a server that complains":  {lab.Spec{Name: "demo", Product: "toy", Config: map[string]string{"says": "no"}}, "n1 ended: no", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := lab.Up(t.Context(), c.spec, d)
			refused(t, err, c.says, c.hints)
			nothingLeft(t.Context(), t, d, "demo")
		})
	}
}

func TestFetchPicksReleases(t *testing.T) {
	d := deps(t, toys{})
	for asked, want := range map[string]string{"": "1.0.7", "1.0": "1.0.7", "2.0": "2.0.1", "2": "2.0.1", "2.0.1": "2.0.1"} {
		got, err := lab.Fetch(t.Context(), "toy", asked, d)
		if err != nil || got.Exact != want {
			t.Errorf("toy %q: %s, %v, want %s", asked, got.Exact, err, want)
		}
	}
}

// A port that is taken everywhere is refused if it was asked for; otherwise the next one is taken.
func TestPortTaken(t *testing.T) {
	everywhere, err := net.Listen("tcp", ":0")
	must(t, err)
	defer func() { must(t, everywhere.Close()) }()
	port := everywhere.Addr().(*net.TCPAddr).Port
	d := deps(t, portToys{port: port})

	_, err = lab.Up(t.Context(), lab.Spec{Name: "demo", Product: "toy", Port: port}, d)
	refused(t, err, fmt.Sprintf("port %d is taken", port), "ss -ltnp")
	nothingLeft(t.Context(), t, d, "demo")

	c := up(t, d, lab.Spec{Name: "demo", Product: "toy"})
	if got := c.Nodes()[0].Port; got <= port {
		t.Errorf("port %d although %d is taken", got, port)
	}
}

type portToys struct {
	toys
	port int
}

func (p portToys) Port() int { return p.port }

// Addresses that somebody listens on, of whatever lab and at whatever port, are not given away.
func TestAddressTaken(t *testing.T) {
	d := deps(t, toys{})
	one := up(t, d, lab.Spec{Name: "one", Product: "toy", Nodes: 2})
	other := deps(t, toys{}) // another state folder that knows nothing of the first
	two := up(t, other, lab.Spec{Name: "one", Product: "toy", Nodes: 2})
	if one.Nodes()[0].Address == two.Nodes()[0].Address {
		t.Errorf("both have %s", one.Nodes()[0].Address)
	}
	address := two.Nodes()[1].Address
	must(t, two.Down(t.Context()))
	foreign, err := net.Listen("tcp", net.JoinHostPort(address, "17001")) // another engine's
	must(t, err)
	defer func() { must(t, foreign.Close()) }()
	three := up(t, other, lab.Spec{Name: "three", Product: "toy", Nodes: 2})
	if got := three.Nodes()[1].Address; got == address {
		t.Errorf("%s was given away although somebody listens there", got)
	}
}

// A cluster that does not come to be is gone: when a later node fails, when it cannot join, when a person breaks it off.
func TestUpRollsBack(t *testing.T) {
	t.Run("a node does not join in time", func(t *testing.T) {
		d := deps(t, toys{})
		_, err := lab.Up(t.Context(), lab.Spec{Name: "demo", Product: "toy", Nodes: 2, Config: map[string]string{"joins": "never"}}, d)
		refused(t, err, "n2 did not join", "")
		nothingLeft(t.Context(), t, d, "demo")
	})
	t.Run("broken off", func(t *testing.T) {
		d := deps(t, toys{})
		ctx, cancel := context.WithCancel(t.Context())
		d.Say = func(s string) {
			if strings.HasPrefix(s, "n2: start") {
				cancel()
			}
		}
		_, err := lab.Up(ctx, lab.Spec{Name: "demo", Product: "toy", Nodes: 3}, d)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		nothingLeft(t.Context(), t, d, "demo")
	})
}

func TestHomeAndCache(t *testing.T) {
	for _, c := range []struct{ env, home, cache string }{
		{"HOME=/h", "/h/.local/state/plimsoll", "/h/.cache/plimsoll"},
		{"HOME=/h XDG_STATE_HOME=/s XDG_CACHE_HOME=/c", "/s/plimsoll", "/c/plimsoll"},
		{"HOME=/h XDG_STATE_HOME=relative", "/h/.local/state/plimsoll", "/h/.cache/plimsoll"},
		{"HOME=/h PLIMSOLL_HOME=/p PLIMSOLL_CACHE=/q XDG_STATE_HOME=/s", "/p", "/q"},
	} {
		getenv := func(name string) string {
			for pair := range strings.FieldsSeq(c.env) {
				if value, ok := strings.CutPrefix(pair, name+"="); ok {
					return value
				}
			}
			return ""
		}
		home, err := lab.Home(getenv)
		must(t, err)
		cache, err := lab.Cache(getenv)
		must(t, err)
		equal(t, "home with "+c.env, home, c.home)
		equal(t, "cache with "+c.env, cache, c.cache)
	}
	if _, err := lab.Home(func(string) string { return "" }); err == nil {
		t.Error("a home without any variable")
	}
}
