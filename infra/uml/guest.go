//go:build linux

package uml

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/infra/local"
	"plimsoll/infra/remote"
)

// The addresses of the way between a machine and us, which no cut of its network takes.
var (
	adminHere  = netip.MustParseAddr("169.254.1.1")
	adminGuest = netip.MustParseAddrPort("169.254.1.2:1")
)

// begin is the first program of a machine: it makes of the bare kernel what a server expects, starts the program that answers us, and
// takes care of processes that lost their parent.
func begin(folder string) error {
	if os.Getpid() != 1 {
		return errors.New("this command only runs as the first program of a machine")
	}
	data, err := os.ReadFile(filepath.Join(folder, specFile))
	if err != nil {
		return fmt.Errorf("read this machine's description: %w", err)
	}
	var s Spec
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("read this machine's description: %w", err)
	}
	for _, step := range []func(Spec) error{loadModules, mountAll, name, networkUp} { // modules may lie where mountAll puts something else
		if err := step(s); err != nil {
			return err
		}
	}
	child := exec.Command("/proc/self/exe", append(s.Program[1:], "answer")...)
	child.Args[0] = s.Program[0] // by which a program may tell what it is to be
	child.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/run/root", "LANG=C.UTF-8"}
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		return fmt.Errorf("start the program that answers: %w", err)
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, unix.SIGTERM)
	var halting atomic.Bool
	go func() { // until the machine ends
		<-asked
		halting.Store(true)
		halt()
	}()
	for {
		id, err := unix.Wait4(-1, nil, 0, nil)
		switch {
		case halting.Load():
			select {} // it ends any moment
		case err != nil && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("wait for a process: %w", err)
		case id == child.Process.Pid:
			return errors.New("the program that answers has ended")
		}
	}
}

// halt ends the machine cleanly: all that was written is on its volumes.
func halt() {
	_ = unix.Kill(-1, unix.SIGTERM)
	time.Sleep(200 * time.Millisecond)
	_ = unix.Kill(-1, unix.SIGKILL)
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// mountAll gives the machine the folders that it has for itself, and shows it those of the host that lie below them.
func mountAll(s Spec) error {
	for _, m := range []struct{ kind, at, options string }{
		{"proc", "/proc", ""}, {"sysfs", "/sys", ""}, {"devtmpfs", "/dev", ""}, {"devpts", "/dev/pts", ""},
	} {
		if m.at == "/dev/pts" {
			_ = os.Mkdir(m.at, 0o755) // the mount says if it is not there
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, m.options); err != nil && !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	for _, at := range own {
		if strings.HasPrefix(at, "/dev/") {
			_ = os.Mkdir(at, 0o1777) // the mount says if it is not there
		}
		if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID, "mode=1777"); err != nil {
			return fmt.Errorf("mount %s: %w", at, err)
		}
	}
	for _, at := range s.Shared {
		if err := os.MkdirAll(at, 0o755); err != nil && !errors.Is(err, unix.EROFS) {
			return fmt.Errorf("show %s: %w", at, err)
		}
		if err := unix.Mount("none", at, "hostfs", unix.MS_RDONLY, at); err != nil {
			return fmt.Errorf("show %s: %w", at, err)
		}
	}
	return os.MkdirAll("/run/root", 0o700)
}

func name(s Spec) error {
	if err := unix.Sethostname([]byte(s.Name)); err != nil {
		return fmt.Errorf("name the machine: %w", err)
	}
	return nil
}

func loadModules(s Spec) error {
	files, err := modules(s.Kernel.Modules, wanted)
	if err != nil {
		return err
	}
	for _, path := range files {
		image, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("load a module: %w", err)
		}
		err = unix.FinitModule(int(image.Fd()), "", 0)
		_ = image.Close() // nothing was written
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("load the module %s: %w", filepath.Base(path), err)
		}
	}
	return nil
}

// networkUp gives the cards their addresses. The machine keeps 127.0.0.1 for itself, and all other loopback addresses are out on its
// network, its own among them: so it is reached by the same address from within and from without.
func networkUp(s Spec) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("set up the network: %w", err)
	}
	defer func() { _ = unix.Close(socket) }() // it was only asked
	if err := os.WriteFile("/proc/sys/net/ipv4/conf/all/route_localnet", []byte("1"), 0); err != nil {
		return fmt.Errorf("set up the network: %w", err)
	}
	for _, c := range []struct {
		name          string
		address, mask netip.Addr
	}{
		{"lo", netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("255.255.255.255")},
		{"vec0", s.Address, netip.MustParseAddr("255.0.0.0")},
		{"vec1", adminGuest.Addr(), netip.MustParseAddr("255.255.255.252")},
	} {
		if err := raise(socket, c.name, c.address, c.mask); err != nil {
			return fmt.Errorf("set up the network card %s: %w", c.name, err)
		}
	}
	return nil
}

func raise(socket int, name string, address, mask netip.Addr) error {
	ask := func(what uint, fill func(*unix.Ifreq) error) error {
		r, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		if err := fill(r); err != nil {
			return err
		}
		return unix.IoctlIfreq(socket, what, r)
	}
	up := func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }
	is := func(a netip.Addr) func(*unix.Ifreq) error {
		return func(r *unix.Ifreq) error { return r.SetInet4Addr(a.AsSlice()) }
	}
	return errors.Join(ask(unix.SIOCSIFFLAGS, up), ask(unix.SIOCSIFADDR, is(address)), ask(unix.SIOCSIFNETMASK, is(mask)))
}

// answer is the program in a machine that does what is asked of it, on as many connections as there are.
func answer() error {
	m, err := local.New()
	if err != nil {
		return err
	}
	l, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(adminGuest))
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	var all sync.WaitGroup
	defer all.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			return fmt.Errorf("answer: %w", err)
		}
		all.Go(func() {
			if err := remote.Serve(context.Background(), m, c); err != nil {
				fmt.Fprintln(os.Stderr, "answer:", err)
			}
		})
	}
}
