//go:build linux

package uml_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/infra"
	"plimsoll/infra/disk"
	"plimsoll/infra/disk/pace"
	"plimsoll/infra/infratest"
	"plimsoll/infra/local"
	"plimsoll/infra/uml"
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

// A machine boots, is all that is expected of one, reaches others and is reached by its own address, and takes faults.
func TestMachine(t *testing.T) {
	one := boot(t, "one", "127.21.9.1")
	t.Run("one processor", func(t *testing.T) { oneProcessor(t, one) })
	t.Run("conformance", func(t *testing.T) { infratest.Run(t, one.Machine, "/mnt/test") })
	t.Run("network", func(t *testing.T) { network(t, one) })
	t.Run("clock", func(t *testing.T) { clock(t, one) })
	two := boot(t, "two", "127.21.9.2")
	three := boot(t, "three", "127.21.9.3")
	v := volumes(t, one, two, three)
	t.Run("volumes", func(t *testing.T) {
		infratest.RunVolumes(t, v, infra.VolumeSpec{Size: 512 << 20},
			infratest.Attachable{Name: "three", Inside: three.Machine, Stop: func(t *testing.T) { must(t, three.Kill(t.Context())) }},
			infratest.Attachable{Name: "two", Inside: two.Machine})
	})
	t.Run("half attached", func(t *testing.T) { halfAttached(t, v, two) })
	t.Run("array", func(t *testing.T) { array(t, v, two) })
	t.Run("loss", func(t *testing.T) { loss(t, v, one, two) })
}

// machine is a booted machine and where it stands.
type machine struct {
	*uml.Machine
	host   infra.Machine
	folder string
}

func boot(t *testing.T, name, address string) machine {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a machine")
	}
	host, err := local.New()
	must(t, err)
	cache, err := os.UserCacheDir()
	must(t, err)
	kernel, err := uml.Fetch(t.Context(), host, filepath.Join(cache, "plimsoll"), func(s string) { t.Log(s) })
	must(t, err)
	program, err := os.Executable()
	must(t, err)
	folder := t.TempDir()
	began := time.Now()
	m, err := uml.Boot(t.Context(), host, folder, uml.Spec{
		Name: name, Address: netip.MustParseAddr(address), Kernel: kernel, Program: []string{program, "machine"}, Mark: folder,
	})
	must(t, err)
	t.Logf("%s booted in %v", name, time.Since(began))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if t.Failed() {
			said, _ := os.ReadFile(filepath.Join(folder, "console.log")) // for whoever reads the failure
			t.Logf("console of %s:\n%s", name, said)
		}
		must(t, errors.Join(m.Close(), uml.End(ctx, host, folder)))
		left, err := host.Find(ctx, folder)
		must(t, err)
		if len(left) > 0 {
			t.Errorf("%d processes are left of %s", len(left), name)
		}
	})
	return machine{m, host, folder}
}

// oneProcessor expects the kernel and all that runs in the machine on one processor of the host.
func oneProcessor(t *testing.T, m machine) {
	found, err := m.host.Find(t.Context(), m.folder)
	must(t, err)
	kernels := 0
	for _, p := range found {
		said, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.ID()))
		if err != nil || !strings.Contains(string(said), "linux.uml") {
			continue // the monitor
		}
		kernels++
		var on unix.CPUSet
		must(t, unix.SchedGetaffinity(p.ID(), &on))
		if on.Count() != 1 {
			t.Errorf("process %d may run on %d processors", p.ID(), on.Count())
		}
	}
	if kernels == 0 {
		t.Error("no process of the kernel was found")
	}
}

func volumes(t *testing.T, machines ...machine) *uml.Volumes {
	return &uml.Volumes{Host: machines[0].host, Folder: t.TempDir(), Machine: func(ctx context.Context, name string) (*uml.Machine, error) {
		for _, m := range machines {
			if m.Name() == name {
				return uml.Open(ctx, m.host, m.folder)
			}
		}
		return nil, fmt.Errorf("no machine %s", name)
	}}
}

// network shows that the machine's address is the same within and without, and that a cut is silent.
func network(t *testing.T, m machine) {
	ctx := t.Context()
	must(t, m.Expose(ctx, 7000))
	p, err := m.Start(ctx, infra.Command{
		Path: "python3", Args: []string{"-c", `import socket
s = socket.create_server(("127.21.9.1", 7000))
while True:
    c, who = s.accept()
    c.sendall(who[0].encode())
    c.close()`}, Log: "/run/server.log", Mark: "/server",
	})
	must(t, err)
	defer func() { _ = p.Signal(ctx, "KILL") }() // the machine goes soon
	ask := func(local string, limit time.Duration) (string, error) {
		dialer := net.Dialer{Timeout: limit, LocalAddr: &net.TCPAddr{IP: net.ParseIP(local)}}
		c, err := dialer.DialContext(ctx, "tcp", "127.21.9.1:7000")
		if err != nil {
			return "", err
		}
		defer func() { _ = c.Close() }()
		must(t, c.SetReadDeadline(time.Now().Add(limit)))
		said, err := io.ReadAll(c)
		return string(said), err
	}
	var who string
	for deadline := time.Now().Add(time.Minute); who == "" && time.Now().Before(deadline); {
		who, _ = ask("127.21.9.77", time.Second) // until the server listens
	}
	equal(t, "whom the server sees", who, "127.21.9.77")
	who, err = ask("127.0.0.1", time.Minute)
	must(t, err)
	equal(t, "whom it sees of the host itself", who, "127.21.9.254")

	// And the other way.
	l, err := net.Listen("tcp", "127.21.9.88:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	seen := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			seen <- err.Error()
			return
		}
		_ = c.Close()
		seen <- c.RemoteAddr().(*net.TCPAddr).IP.String()
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	connect := func() error {
		_, err := m.Run(ctx, infra.Command{Path: "timeout", Args: []string{"5", "bash", "-c", "</dev/tcp/127.21.9.88/" + port}})
		return err
	}
	must(t, connect())
	equal(t, "whom others see of the machine", <-seen, "127.21.9.1")

	must(t, m.CutNetwork(ctx))
	if said, err := ask("127.21.9.77", 500*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("through a cut network: %q, %v, want no answer at all", said, err)
	}
	var exit *infra.ExitError
	if err := connect(); !errors.As(err, &exit) || exit.Status != 124 {
		t.Errorf("out of a cut network: %v, want no answer at all", err)
	}
	must(t, m.MendNetwork(ctx))
	who, err = ask("127.21.9.77", time.Minute)
	must(t, err)
	equal(t, "whom it sees when the network is mended", who, "127.21.9.77")
}

func clock(t *testing.T, m machine) {
	must(t, m.SkewClock(t.Context(), time.Hour))
	now, err := m.Clock(t.Context())
	must(t, err)
	if ahead := time.Until(now); ahead < 59*time.Minute || ahead > 61*time.Minute {
		t.Errorf("it is %v ahead, want an hour", ahead)
	}
	must(t, m.SkewClock(t.Context(), -time.Hour))
}

// halfAttached has an attach end when the machine is about to take the volume, as when Plimsoll is killed there: it is detached all the same.
func halfAttached(t *testing.T, v *uml.Volumes, m machine) {
	ctx := t.Context()
	volume, err := v.Create(ctx, infra.VolumeSpec{Size: 64 << 20})
	must(t, err)
	sh := func(script string) {
		t.Helper()
		out, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", script}})
		if err != nil {
			t.Fatalf("%s: %v: %s", script, err, out.Stderr)
		}
	}
	const bind = "/sys/bus/platform/drivers/virtio-uml/bind"
	sh("mount --bind /dev/full " + bind)
	if err := v.Attach(ctx, volume.ID, "two"); err == nil {
		t.Error("the machine cannot take it, and is said to have it")
	}
	sh("umount " + bind)
	must(t, v.Detach(ctx, volume.ID, "two"))
	must(t, v.Attach(ctx, volume.ID, "two"))
	must(t, v.Detach(ctx, volume.ID, "two"))
	must(t, v.Delete(ctx, volume.ID))
}

// array is a mirror with all that may befall one of its legs.
func array(t *testing.T, v *uml.Volumes, m machine) {
	ctx := t.Context()
	sh := func(line string) string {
		t.Helper()
		out, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", line}})
		must(t, err)
		return strings.TrimSpace(string(out.Stdout))
	}
	attach := func(spec infra.VolumeSpec) (infra.Volume, string) {
		t.Helper()
		volume, err := v.Create(ctx, spec)
		must(t, err)
		must(t, v.Attach(ctx, volume.ID, m.Name()))
		d, err := infra.Device(ctx, m, volume.Serial())
		must(t, err)
		return volume, d.Path
	}
	_, local := attach(infra.VolumeSpec{Size: 512 << 20})
	leg, network := attach(infra.VolumeSpec{Size: 512 << 20, IOPS: 200})
	sh("mdadm --create /dev/md0 --run -l1 -n2 --metadata=1.2 --homehost=any --bitmap=internal --assume-clean " + local +
		" --write-mostly " + network + " 2>&1 && mkfs.xfs -q -f /dev/md0 && mkdir -p /mnt/array && mount /dev/md0 /mnt/array")
	d, err := infra.Device(ctx, m, leg.Serial())
	must(t, err)
	equal(t, "what the leg is part of", strings.Join(d.Holders, " "), "md0")
	if err := v.Detach(ctx, leg.ID, m.Name()); !errors.Is(err, infra.ErrVolumeBusy) {
		t.Errorf("detach a leg of an array: %v, want ErrVolumeBusy", err)
	}

	// While one leg hangs, nothing that is written gets through, and the other leg is still read. Then it goes on.
	must(t, v.SetConditions(ctx, leg.ID, disk.Conditions{Hang: true}))
	short, cancel := context.WithTimeout(ctx, time.Second)
	_, err = m.Run(short, infra.Command{Path: "sh", Args: []string{"-c", "echo hung >/mnt/array/file && sync"}})
	cancel()
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("write while a leg hangs: %v, want no answer", err)
	}
	sh("dd if=" + local + " of=/dev/null bs=1M count=8 iflag=direct 2>&1")
	must(t, v.SetConditions(ctx, leg.ID, disk.Conditions{}))
	sh("sync")

	// A leg that is taken away fails, and the array goes on without it.
	began := time.Now()
	must(t, v.ForceDetach(ctx, leg.ID, m.Name()))
	t.Logf("detached by force in %v", time.Since(began))
	sh("echo on one leg >/mnt/array/file && sync")
	equal(t, "the array", sh("cat /sys/block/md0/md/degraded"), "1")

	// It comes back, at a limited rate, and only what was written since is copied.
	must(t, v.Attach(ctx, leg.ID, m.Name()))
	d, err = infra.Device(ctx, m, leg.Serial())
	must(t, err)
	sh("mdadm /dev/md0 --remove detached 2>&1; mdadm /dev/md0 --re-add " + d.Path + " 2>&1 && mdadm --wait /dev/md0; true")
	equal(t, "the array with its leg", sh("cat /sys/block/md0/md/degraded"), "0")
	t.Logf("back after %v", time.Since(began))
	began = time.Now()
	sh("dd if=" + d.Path + " of=/dev/null bs=4k count=400 iflag=direct 2>&1")
	if took := time.Since(began); took < 1900*time.Millisecond {
		t.Errorf("400 reads at 200 a second took %v", took)
	}
	must(t, v.Modify(ctx, leg.ID, infra.VolumeSpec{IOPS: 100000}))
	began = time.Now()
	sh("dd if=" + d.Path + " of=/dev/null bs=4k count=400 iflag=direct 2>&1")
	t.Logf("400 reads without a limit took %v", time.Since(began))

	// What is broken in a part of it is an error there and nowhere else.
	must(t, v.SetConditions(ctx, leg.ID, disk.Conditions{Limits: pace.Limits{}, Fail: []disk.Range{{From: 200 << 20, Reads: true}}}))
	sh("dd if=" + d.Path + " of=/dev/null bs=4k count=1 skip=1000 iflag=direct 2>&1 && ! dd if=" + d.Path + " of=/dev/null bs=4k count=1 skip=60000 iflag=direct 2>&1")
	must(t, v.Corrupt(ctx, leg.ID, 100<<20, []byte("this differs from what was written")))
	equal(t, "what it reads", sh("dd if="+d.Path+" bs=1M skip=100 count=1 iflag=direct 2>/dev/null | head -c 4"), "this")
	sh("umount /mnt/array && mdadm --stop /dev/md0 2>&1")

	// A detach by force that was cut off in its middle is over when the volume is attached again: it answers.
	must(t, v.SetConditions(ctx, leg.ID, disk.Conditions{Gone: true}))
	must(t, v.Attach(ctx, leg.ID, m.Name()))
	sh("dd if=" + d.Path + " of=/dev/null bs=4k count=1 iflag=direct 2>&1")
	must(t, v.Detach(ctx, leg.ID, m.Name()))
}

// loss ends a machine at once; its volume goes to another, with what had been synced.
func loss(t *testing.T, v *uml.Volumes, one, two machine) {
	ctx := t.Context()
	volume, err := v.Create(ctx, infra.VolumeSpec{Size: 512 << 20})
	must(t, err)
	must(t, v.Attach(ctx, volume.ID, "one"))
	d, err := infra.Device(ctx, one, volume.Serial())
	must(t, err)
	_, err = one.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", "mkfs.ext4 -q " + d.Path + " && mkdir -p /mnt/l && mount " + d.Path +
		" /mnt/l && echo synced >/mnt/l/a && sync && echo not synced >/mnt/l/b"}})
	must(t, err)
	again, err := uml.Open(ctx, one.host, one.folder) // as another Plimsoll finds it
	must(t, err)
	must(t, again.Kill(ctx))
	if _, err := uml.Open(ctx, one.host, one.folder); !errors.Is(err, uml.ErrNotRunning) {
		t.Errorf("open a machine that was killed: %v, want ErrNotRunning", err)
	}
	if err := v.Attach(ctx, volume.ID, "two"); !errors.Is(err, infra.ErrVolumeInUse) {
		t.Errorf("attach it before it was detached: %v, want ErrVolumeInUse", err)
	}
	must(t, v.Detach(ctx, volume.ID, "one"))
	must(t, v.Attach(ctx, volume.ID, "two"))
	d, err = infra.Device(ctx, two, volume.Serial())
	must(t, err)
	out, err := two.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", "mkdir -p /mnt/l && mount " + d.Path + " /mnt/l && cat /mnt/l/a; ls /mnt/l"}})
	must(t, err)
	equal(t, "what was synced", string(out.Stdout), "synced\na\nlost+found\n")
	must(t, two.Shutdown(ctx))
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
