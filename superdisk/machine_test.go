package superdisk_test

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/uml"
	"plimsoll/internal/machinetest"
	"plimsoll/superdisk"
)

func TestMain(m *testing.M) { machinetest.Main(m) }

// TestSuperDiskOnMachines makes an array on one machine, loses the machine, serves from the network leg on another, and brings a new
// local leg into step while files are written; then takes the guards one by one.
func TestSuperDiskOnMachines(t *testing.T) {
	t.Parallel()
	host := machinetest.New(t, 31)
	one := guest{host.Boot(t, "one"), t}
	local, network := host.Volume(t, 512<<20, "one"), host.Volume(t, 512<<20, "one")
	a := one.create(local, network)
	one.sh(`for i in 1 2 3; do dd if=/dev/urandom of=/run/data/f$i bs=1M count=8 2>/dev/null; done; sync`)
	sums := one.sh(`cd /run/data && sha256sum f*`)
	if !a.Whole() || !one.find("superdisk").Whole() {
		t.Fatalf("not whole: %+v", a)
	}
	must(t, one.Kill(t.Context()))
	two := guest{host.Boot(t, "two"), t}
	must(t, host.ForceDetach(t.Context(), network, "one"))
	must(t, host.Attach(t.Context(), network, "two"))
	fresh := host.Volume(t, 520<<20, "two")
	for _, step := range []struct {
		name string
		do   func(guest)
	}{
		{"serves at once", func(g guest) { g.servesAlone(network, sums) }},
		{"seeds", func(g guest) { g.seeds(fresh, network, sums) }},
		{"compares", func(g guest) { g.compares(network) }},
		{"goes on where it was cut off", func(g guest) { g.cutOff(fresh, network) }},
		{"begins again on another disk", func(g guest) { g.swapped(fresh, network) }},
		{"has no room", func(g guest) { g.hasNoRoom(fresh, network) }},
		{"refuses", func(g guest) { g.refuses(host, fresh, network) }},
		{"hangs", func(g guest) { g.hangs(host, network) }},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.do(two.with(t)) }) {
			return // the next builds on it
		}
	}
}

// guest is a machine with words for tests.
type guest struct {
	*uml.Machine
	t *testing.T
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (g guest) with(t *testing.T) guest { return guest{g.Machine, t} }

func (g guest) sh(script string) string {
	g.t.Helper()
	out, err := g.Run(g.t.Context(), infra.Command{Path: "sh", Args: []string{"-c", script}})
	if err != nil {
		g.t.Fatalf("%s: %v\n%s", script, err, out.Stderr)
	}
	return strings.TrimSpace(string(out.Stdout))
}

func (g guest) device(volume string) string {
	g.t.Helper()
	at, err := superdisk.Resolve(g.t.Context(), g, volume)
	must(g.t, err)
	return at
}

func (g guest) find(name string) superdisk.Array {
	g.t.Helper()
	s, err := superdisk.Inspect(g.t.Context(), g)
	must(g.t, err)
	a, there := s.Find(name)
	if !there {
		g.t.Fatalf("no array %s in %+v", name, s)
	}
	return a
}

func (g guest) create(local, network string) superdisk.Array {
	g.t.Helper()
	ctx := g.t.Context()
	must(g.t, superdisk.Create(ctx, g, superdisk.Design{Name: "superdisk", Local: g.device(local), Network: g.device(network), Chunk: 1 << 20, Reserve: 1 << 20}))
	must(g.t, superdisk.FormatBlank(ctx, g, superdisk.Path("superdisk")))
	must(g.t, superdisk.Mount(ctx, g, superdisk.Path("superdisk"), "/run/data"))
	a := g.find("superdisk")
	if l, _ := a.Leg(superdisk.Network); l.Volume == "" || infra.VolumeSerial(l.Volume) != infra.VolumeSerial(network) {
		g.t.Errorf("the network leg is %q, want %s", l.Volume, network)
	}
	return a
}

func (g guest) servesAlone(network, sums string) {
	g.t.Helper()
	ctx := g.t.Context()
	begun := time.Now()
	must(g.t, superdisk.StartAlone(ctx, g, "superdisk", g.device(network), 1<<20))
	must(g.t, superdisk.Mount(ctx, g, superdisk.Path("superdisk"), "/run/data"))
	defer g.lacksItsBitmap()
	g.t.Logf("serves %s after the attach", time.Since(begun).Round(time.Millisecond))
	if got := g.sh("cd /run/data && sha256sum f*"); got != sums {
		g.t.Errorf("files\n%s\nwant\n%s", got, sums)
	}
	if a := g.find("superdisk"); a.Degraded != 1 || a.Whole() {
		g.t.Errorf("array %+v", a)
	}
}

// lacksItsBitmap has the start of an array be cut off while its bitmap was made anew: it is made all the same.
func (g guest) lacksItsBitmap() {
	g.t.Helper()
	ctx := g.t.Context()
	must(g.t, superdisk.Unmount(ctx, g, "/run/data"))
	g.sh("mdadm -q --grow --bitmap=none /dev/md/superdisk")
	if a := g.find("superdisk"); a.Chunk != 0 {
		g.t.Errorf("it has a bitmap: %+v", a)
	}
	must(g.t, superdisk.FreshBitmap(ctx, g, superdisk.Path("superdisk"), 1<<20))
	if a := g.find("superdisk"); a.Chunk != 1<<20 {
		g.t.Errorf("its bitmap has chunks of %d bytes", a.Chunk)
	}
	must(g.t, superdisk.Mount(ctx, g, superdisk.Path("superdisk"), "/run/data"))
}

func (g guest) rebuild(target string) superdisk.Rebuild {
	return superdisk.Rebuild{Machine: g, Array: "superdisk", Target: target, Role: superdisk.Local, Program: superdisk.Program, Rate: 20 << 20, Mark: "/superdisk"}
}

func (g guest) seeds(fresh, network, sums string) {
	ctx := g.t.Context()
	target := g.device(fresh)
	g.sh("dd if=/dev/urandom of=" + target + " bs=1M count=48 oflag=direct 2>/dev/null || true") // it was another's disk
	must(g.t, superdisk.Erase(ctx, g, target))
	writing, err := g.Start(ctx, infra.Command{Path: "sh", Log: "/run/writer.log", Mark: "/writer", Args: []string{"-c",
		`for i in $(seq 60); do dd if=/dev/urandom of=/run/data/w$i bs=16k count=4 conv=fsync 2>/dev/null; sleep 0.05; done`}})
	must(g.t, err)
	var shown superdisk.Seed
	done, err := g.rebuild(target).Run(ctx, func(share float64, _ string) {
		if shown.Rate > 0 || share < 0.5 {
			return
		}
		s, err := superdisk.Inspect(ctx, g)
		must(g.t, err)
		if a, _ := s.Find("superdisk"); a.Seed != nil {
			shown = *a.Seed
		}
	})
	must(g.t, err)
	must(g.t, writing.Wait(ctx))
	g.t.Logf("meanwhile a look shows %+v", shown)
	if shown.Target != target || shown.Total != done.Used || shown.Done <= 0 || shown.Rate <= 0 || shown.Limit != 20<<20 || shown.Left <= 0 || shown.Interrupted() {
		g.t.Errorf("meanwhile a look shows %+v", shown)
	}
	if a := g.find("superdisk"); a.Seed != nil {
		g.t.Errorf("when it is done, a look shows %+v", *a.Seed)
	}
	g.t.Logf("%s: %s; used %d KiB, seeded %d KiB, then %d KiB, in %s", done.Method, done.Why, done.Used>>10, done.Seeded>>10, done.Tail>>10, done.Took)
	if done.Method != superdisk.Seeding || float64(done.Seeded) > 1.1*float64(done.Used) || done.Tail > 64<<20 {
		g.t.Errorf("rebuilt by %s: %+v", done.Method, done)
	}
	all := g.sh("cd /run/data && sha256sum f* w*")
	g.onLocalAlone(network, func() {
		if got := g.sh("cd /run/data && sha256sum f* w*"); got != all || !strings.HasPrefix(got, sums) {
			g.t.Errorf("on the new leg alone\n%s\nwant\n%s", got, all)
		}
	})
}

// compares tells what differs where nothing was ever written, as after a seeding, from what differs in a file.
func (g guest) compares(network string) {
	ctx := g.t.Context()
	compare := func() superdisk.Compared {
		c, err := superdisk.CompareFully(ctx, g, "superdisk", 200<<20, superdisk.Program, "/superdisk", nil)
		must(g.t, err)
		g.t.Logf("%s: %+v", c, c)
		return c
	}
	if c := compare(); c.Differ == 0 || !c.Clean() || c.Unknown != "" {
		g.t.Errorf("after a seeding: %+v", c)
	}
	g.sh("cat /run/data/f2 >/run/f2")
	spoiled := g.sh(`d=$(xfs_bmap /run/data/f2 | sed -n 's/.*: \([0-9]*\)\.\.[0-9]*$/\1/p' | head -1); dd if=/dev/urandom of=` + g.device(network) +
		` bs=4096 count=2 seek=$((d / 8 + 1024)) oflag=direct conv=notrunc 2>/dev/null; echo $d`) // 4 MiB are before the data
	if c := compare(); c.Clean() || c.InFiles != 8192 || !slices.Equal(c.Files, []string{"f2"}) || c.Other != 0 {
		g.t.Errorf("two pages of f2, which lies at sector %s, are not the same on both legs: %+v", spoiled, c)
	}
	g.sh("dd if=/run/f2 of=/run/data/f2 bs=1M conv=notrunc,fsync 2>/dev/null")
	writing, err := g.Start(ctx, infra.Command{Path: "sh", Log: "/run/compared.log", Mark: "/writer", Args: []string{"-c",
		`while [ ! -e /run/compared ]; do dd if=/dev/urandom of=/run/data/w1 bs=4k count=1 conv=notrunc,fsync 2>/dev/null; done`}})
	must(g.t, err)
	if c := compare(); !c.Clean() {
		g.t.Errorf("f2 was written again, and another file is written meanwhile: %+v", c)
	}
	g.sh("touch /run/compared")
	must(g.t, writing.Wait(ctx))
}

// onLocalAlone has a look at the local leg with the network leg out, and brings that back.
func (g guest) onLocalAlone(network string, look func()) {
	g.t.Helper()
	ctx := g.t.Context()
	must(g.t, superdisk.Fail(ctx, g, superdisk.Path("superdisk"), g.device(network)))
	must(g.t, superdisk.Remove(ctx, g, superdisk.Path("superdisk"), g.device(network)))
	g.sh("echo 3 > /proc/sys/vm/drop_caches")
	look()
	back, err := superdisk.Rebuild{Machine: g, Array: "superdisk", Target: g.device(network), Role: superdisk.Network}.Run(ctx, nil)
	must(g.t, err)
	if back.Method != superdisk.Rejoin {
		g.t.Errorf("the network leg came back by %s: %s", back.Method, back.Why)
	}
}

// cutOff ends a seeding in the middle, twice, and has it go on.
func (g guest) cutOff(fresh, network string) {
	ctx := g.t.Context()
	target := g.device(fresh)
	all := g.sh("cd /run/data && sha256sum f* w*")
	must(g.t, superdisk.Fail(ctx, g, superdisk.Path("superdisk"), target))
	must(g.t, superdisk.Remove(ctx, g, superdisk.Path("superdisk"), target))
	must(g.t, superdisk.Wipe(ctx, g, target))
	g.sh("dd if=/dev/urandom of=" + target + " bs=1M count=32 seek=8 oflag=direct 2>/dev/null")
	job := g.rebuild(target)
	for range 2 {
		cut, cancel := context.WithCancel(ctx)
		seen := 0
		_, err := job.Run(cut, func(float64, string) {
			if seen++; seen == 10 {
				cancel()
			}
		})
		cancel()
		if err == nil {
			g.t.Fatal("it was cut off, and says that it is done")
		}
		if _, err := superdisk.ReadSuperblock(ctx, g, target); err == nil {
			g.t.Error("a leg full of holes carries a superblock")
		}
		g.sh("dd if=/dev/urandom of=/run/data/f1 bs=1M count=4 conv=fsync,notrunc 2>/dev/null") // below what is copied already, perhaps
	}
	all = g.sh("cd /run/data && sha256sum f* w*")
	done, err := job.Run(ctx, nil)
	must(g.t, err)
	if done.Seeded >= done.Used {
		g.t.Errorf("it began again: %d KiB of %d KiB", done.Seeded>>10, done.Used>>10)
	}
	g.onLocalAlone(network, func() {
		if got := g.sh("cd /run/data && sha256sum f* w*"); got != all {
			g.t.Errorf("on the new leg alone\n%s\nwant\n%s", got, all)
		}
	})
}

// swapped cuts a seeding off, and has another disk in the place of the one that was being filled.
func (g guest) swapped(fresh, network string) {
	ctx := g.t.Context()
	target := g.device(fresh)
	must(g.t, superdisk.Fail(ctx, g, superdisk.Path("superdisk"), target))
	must(g.t, superdisk.Remove(ctx, g, superdisk.Path("superdisk"), target))
	must(g.t, superdisk.Wipe(ctx, g, target))
	job := g.rebuild(target)
	cut, cancel := context.WithCancel(ctx)
	seen := 0
	_, err := job.Run(cut, func(float64, string) {
		if seen++; seen == 10 {
			cancel()
		}
	})
	cancel()
	if err == nil {
		g.t.Fatal("it was cut off, and says that it is done")
	}
	g.sh("dd if=/dev/zero of=" + target + " bs=1M oflag=direct 2>/dev/null || true")
	all := g.sh("cd /run/data && sha256sum f* w*")
	done, err := job.Run(ctx, nil)
	must(g.t, err)
	if done.Seeded < done.Used {
		g.t.Errorf("it went on in the middle of a disk that it never filled: %d KiB of %d KiB", done.Seeded>>10, done.Used>>10)
	}
	g.onLocalAlone(network, func() {
		if got := g.sh("cd /run/data && sha256sum f* w*"); got != all {
			g.t.Errorf("on the new leg alone\n%s\nwant\n%s", got, all)
		}
	})
}

// hasNoRoom has a disk of the machine be full, so that nothing can be kept of the seeding: it is refused, and the new disk is no leg.
func (g guest) hasNoRoom(fresh, network string) {
	ctx := g.t.Context()
	target := g.device(fresh)
	must(g.t, superdisk.Fail(ctx, g, superdisk.Path("superdisk"), target))
	must(g.t, superdisk.Remove(ctx, g, superdisk.Path("superdisk"), target))
	must(g.t, superdisk.Wipe(ctx, g, target))
	g.sh("mount -t tmpfs -o size=4k tmpfs /run/plimsoll-superdisk")
	_, err := g.rebuild(target).Run(ctx, nil)
	var advised interface{ Hint() string }
	if !errors.As(err, &advised) || !strings.Contains(advised.Hint(), "the file system of /run/plimsoll-superdisk on two is full") {
		g.t.Errorf("a full disk: %v, want a hint that says which", err)
	}
	if _, err := superdisk.ReadSuperblock(ctx, g, target); err == nil {
		g.t.Error("a leg that holds nothing carries a superblock")
	}
	g.sh("umount /run/plimsoll-superdisk")
	all := g.sh("cd /run/data && sha256sum f* w*")
	done, err := g.rebuild(target).Run(ctx, nil)
	must(g.t, err)
	if done.Method != superdisk.Seeding {
		g.t.Errorf("by %s: %s", done.Method, done.Why)
	}
	g.onLocalAlone(network, func() {
		if got := g.sh("cd /run/data && sha256sum f* w*"); got != all {
			g.t.Errorf("on the new leg alone\n%s\nwant\n%s", got, all)
		}
	})
}

// refuses shows what is turned down.
func (g guest) refuses(host *machinetest.Host, fresh, network string) {
	ctx := g.t.Context()
	_, err := superdisk.Resolve(ctx, g, "vol-that-is-not-there")
	g.refused(err, "is not on", "attach it first")
	err = superdisk.Create(ctx, g, superdisk.Design{Name: "other", Local: g.device(fresh), Network: g.device(network), Chunk: 1 << 20})
	g.refused(err, "in use by md", "use a blank disk")
	small := g.device(host.Volume(g.t, 64<<20, "two"))
	must(g.t, superdisk.Fail(ctx, g, superdisk.Path("superdisk"), g.device(fresh)))
	must(g.t, superdisk.Remove(ctx, g, superdisk.Path("superdisk"), g.device(fresh)))
	_, err = g.rebuild(small).Choose(ctx)
	g.refused(err, "and a leg of superdisk needs", "name a larger disk")
	holds := g.device(host.Volume(g.t, 520<<20, "two"))
	g.sh("mkfs.xfs -q -K " + holds)
	_, err = g.rebuild(holds).Choose(ctx)
	g.refused(err, "it holds xfs", "use a blank disk")

	// Both legs serve alone, one after the other: md itself would mix them.
	must(g.t, superdisk.Unmount(ctx, g, "/run/data"))
	must(g.t, superdisk.Stop(ctx, g, superdisk.Path("superdisk")))
	for _, leg := range []string{fresh, network} {
		must(g.t, superdisk.StartAlone(ctx, g, "superdisk", g.device(leg), 1<<20))
		must(g.t, superdisk.Mount(ctx, g, superdisk.Path("superdisk"), "/run/data"))
		g.sh("date > /run/data/who; sync")
		if leg == fresh {
			must(g.t, superdisk.Unmount(ctx, g, "/run/data"))
			must(g.t, superdisk.Stop(ctx, g, superdisk.Path("superdisk")))
		}
	}
	_, err = g.rebuild(g.device(fresh)).Choose(ctx)
	g.refused(err, "has served without the other leg", "decide which one is right")
	g.refused(superdisk.Together(ctx, g, g.device(network), g.device(fresh)), "has served without the other leg", "superdisk/emergency-start")
	must(g.t, superdisk.Wipe(ctx, g, g.device(fresh)))
	done, err := g.rebuild(g.device(fresh)).Run(ctx, nil)
	must(g.t, err)
	if done.Method != superdisk.Seeding {
		g.t.Errorf("by %s: %s", done.Method, done.Why)
	}
}

// refused is an error that says why, and what to do.
func (g guest) refused(err error, why, advice string) {
	g.t.Helper()
	var advised interface{ Hint() string }
	if err == nil || !strings.Contains(err.Error(), why) || !errors.As(err, &advised) || !strings.Contains(advised.Hint(), advice) {
		g.t.Errorf("got %v (%v), want a refusal: %s, with a hint at %q", err, advised, why, advice)
	}
}

// noProcess is a machine that starts none.
type noProcess struct {
	infra.Machine
	t *testing.T
}

func (m noProcess) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	m.t.Errorf("it ran %s %q", c.Path, c.Args)
	return infra.Output{}, infra.ErrNoProgram
}

// A look starts no process while both legs answer what is written, and shows what the machine's own files say. Then the network leg stops
// answering, which the next looks find.
func TestALookAtAMachineStartsNoProcess(t *testing.T) {
	t.Parallel()
	ctx, host := t.Context(), machinetest.New(t, 56)
	g := guest{host.Boot(t, "one"), t}
	local, network := host.Volume(t, 512<<20, "one"), host.Volume(t, 512<<20, "one")
	g.create(local, network)
	writing, err := g.Start(ctx, infra.Command{Path: "sh", Log: "/run/written.log", Mark: "/writer", Args: []string{"-c",
		`while [ ! -e /run/written ]; do dd if=/dev/zero of=/run/data/z bs=4k count=1 conv=fsync 2>/dev/null; sleep 0.02; done`}})
	must(t, err)
	var w superdisk.Watch
	look := func(m infra.Machine) superdisk.Array {
		s, err := superdisk.Inspect(ctx, m)
		must(t, err)
		w.See(&s)
		must(t, s.PingSilent(ctx, m))
		a, _ := s.Find("superdisk")
		return a
	}
	look(g) // the first asks each leg for a page
	time.Sleep(time.Second)
	a := look(noProcess{g, t})
	uuid := g.sh("tr -d '-' </sys/block/" + path.Base(a.Device) + "/md/uuid")
	if strings.ReplaceAll(a.UUID, ":", "") != uuid || a.Name != "superdisk" || a.Mount != "/run/data" || a.Files != "xfs" || a.Chunk != 1<<20 || !a.Whole() {
		t.Errorf("a look shows %+v, and its UUID is %s", a, uuid)
	}
	for _, l := range a.Legs {
		if l.Volume == "" || l.Size == 0 || l.IO.Writes == 0 || !l.InStep() {
			t.Errorf("a look shows the leg %+v", l)
		}
	}
	host.Hang(t, network, true)
	var hung time.Duration
	for deadline := time.Now().Add(time.Minute); hung < 2*time.Second && time.Now().Before(deadline); {
		time.Sleep(200 * time.Millisecond) // between two looks
		l, _ := look(g).Leg(superdisk.Network)
		hung = l.HungFor
	}
	if hung < 2*time.Second {
		t.Errorf("hung for %s", hung)
	}
	host.Hang(t, network, false)
	g.sh("touch /run/written")
	must(t, writing.Wait(ctx))
}

// hangs has the network volume answer nothing: the look answers nevertheless and says so, writes wait, and go on when the volume is taken
// away by force.
func (g guest) hangs(host *machinetest.Host, network string) {
	ctx := g.t.Context()
	writing, err := g.Start(ctx, infra.Command{Path: "sh", Log: "/run/gaps.log", Mark: "/writer", Args: []string{"-c",
		`while [ ! -e /run/enough ]; do dd if=/dev/zero of=/run/data/z bs=4k count=1 conv=fsync 2>/dev/null; cut -d' ' -f1 /proc/uptime; sleep 0.02; done`}})
	must(g.t, err)
	host.Hang(g.t, network, true)
	var hung time.Duration
	for deadline := time.Now().Add(time.Minute); hung < 2*time.Second && time.Now().Before(deadline); {
		s, err := superdisk.Inspect(ctx, g)
		must(g.t, err)
		must(g.t, s.Ping(ctx, g))
		a, _ := s.Find("superdisk")
		l, _ := a.Leg(superdisk.Network)
		hung = l.HungFor
		if o, _ := a.Leg(superdisk.Local); o.HungFor > time.Second {
			g.t.Errorf("the local leg counts as hung for %s", o.HungFor)
		}
		time.Sleep(200 * time.Millisecond) // between two looks
	}
	if hung < 2*time.Second {
		g.t.Errorf("hung for %s", hung)
	}
	// A clock that is set forward meanwhile makes no hour of these seconds: a leg would be given up for it.
	must(g.t, g.SkewClock(ctx, time.Hour))
	s, err := superdisk.Inspect(ctx, g)
	must(g.t, err)
	must(g.t, s.Ping(ctx, g))
	a, _ := s.Find("superdisk")
	if l, _ := a.Leg(superdisk.Network); l.HungFor < 2*time.Second || l.HungFor > 10*time.Minute {
		g.t.Errorf("the clock was set forward by an hour, and the leg has hung for %s", l.HungFor)
	}
	if s.ClockAhead < 59*time.Minute || s.ClockAhead > 61*time.Minute {
		g.t.Errorf("the machine's clock is said to be %s ahead, want an hour", s.ClockAhead)
	}
	must(g.t, g.SkewClock(ctx, -time.Hour))
	must(g.t, host.ForceDetach(ctx, network, "two"))
	g.sh("for i in $(seq 100); do n=$(wc -l < /run/gaps.log); sleep 0.2; [ $(wc -l < /run/gaps.log) -gt $n ] && break; done; touch /run/enough")
	must(g.t, writing.Wait(ctx))
	g.t.Logf("longest write gap %s s", g.sh(`awk 'NR>1 && $1-l>m {m=$1-l} {l=$1} END {print m}' /run/gaps.log`))
	if a := g.find("superdisk"); a.Degraded != 1 {
		g.t.Errorf("after the detach: %+v", a)
	}
	must(g.t, host.Attach(ctx, network, "two"))
	done, err := superdisk.Rebuild{Machine: g, Array: "superdisk", Target: g.device(network), Role: superdisk.Network}.Run(ctx, nil)
	must(g.t, err)
	if done.Method != superdisk.Rejoin || !g.find("superdisk").Whole() {
		g.t.Errorf("came back by %s: %s", done.Method, done.Why)
	}
}
