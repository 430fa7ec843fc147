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
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"plimsoll/infra"
)

// monitor runs a machine's kernel, and serves it its disks and its network.
type monitor struct {
	spec    Spec
	ctx     context.Context
	around  *sync.WaitGroup
	process *os.Process // of the kernel
	outside *network    // of the machine's own card
	admin   *network    // of the card between it and us
	disks   disks

	mu      sync.Mutex
	exposed map[netip.AddrPort]net.Listener
}

// watch is the monitor's whole life: it ends when the kernel does.
func watch(folder string) (err error) {
	if err := os.Chdir(folder); err != nil { // sockets have short names from here
		return err
	}
	data, err := os.ReadFile(specFile)
	if err != nil {
		return fmt.Errorf("read the machine's description: %w", err)
	}
	var s Spec
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("read the machine's description: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
	var around sync.WaitGroup
	defer around.Wait()
	defer stop()
	m := &monitor{spec: s, ctx: ctx, around: &around, exposed: map[netip.AddrPort]net.Listener{}}
	m.disks.monitor = m
	frames, err := listen("unixpacket", frameFile)
	if err != nil {
		return err
	}
	adminFrames, err := listen("unixpacket", adminFile)
	if err != nil {
		return err
	}
	ended, err := m.boot(folder)
	if err != nil {
		return err
	}
	around.Go(func() { // nothing is left when the kernel has gone, and it goes when we are told to
		select {
		case <-ended:
			stop()
		case <-ctx.Done():
			m.kill()
		}
	})
	if err := m.connect(frames, adminFrames); err != nil {
		m.kill()
		<-ended
		return err
	}
	if err := m.serve(); err != nil {
		m.kill()
		<-ended
		return err
	}
	<-ended
	return nil
}

func listen(network, name string) (*net.UnixListener, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return net.ListenUnix(network, &net.UnixAddr{Name: name, Net: network})
}

// boot starts the kernel, which dies with this process.
func (m *monitor) boot(folder string) (ended <-chan struct{}, err error) {
	console, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the console's log: %w", err)
	}
	s := m.spec
	arguments := []string{
		"mem=" + strconv.FormatInt(s.Memory>>20, 10) + "M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
		"init=" + s.Program[0], "umid=plimsoll", "uml_dir=" + ".", "con=null", "con0=null,fd:1", "quiet", "panic=-1",
		"vec0:transport=bess,dst=" + frameFile + ",depth=128,gro=0,mac=02:70:6c:69:6d:01",
		"vec1:transport=bess,dst=" + adminFile + ",depth=64,gro=0,mac=02:70:6c:69:6d:02",
	}
	for i := range slots {
		arguments = append(arguments, fmt.Sprintf("virtio_uml.device=%s:2:%d", slotFile(i), i)) // 2: a block device
	}
	arguments = append(append(append(arguments, "--"), s.Program[1:]...), "begin", folder)
	kernel := exec.Command(s.Kernel.Program, arguments...)
	kernel.Stdout, kernel.Stderr = console, console
	kernel.Env = []string{"HOME=" + folder, "TMPDIR=/dev/shm", "PATH=/usr/bin:/bin", infra.MarkVariable + "=" + s.Mark}
	kernel.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	started, over := make(chan error), make(chan struct{})
	go func() { // a thread that starts a process must outlive it, or the process is told that its parent died
		defer close(over)
		runtime.LockOSThread()
		stayOnOneProcessor(s.Address) // the kernel inherits it from this thread, which has nothing else to do
		err := kernel.Start()
		_ = console.Close() // the kernel has its own
		started <- err
		if err == nil {
			_ = kernel.Wait()                                // how it ended stands in its log
			_ = unix.Kill(-kernel.Process.Pid, unix.SIGKILL) // what it ran in processes of its own
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the kernel: %w", err)
	}
	m.process = kernel.Process
	return over, nil
}

// kill ends the machine as the loss of its host would.
func (m *monitor) kill() { _ = unix.Kill(-m.process.Pid, unix.SIGKILL) }

// connect waits for the kernel's network cards, and opens the ways through them.
func (m *monitor) connect(frames, adminFrames *net.UnixListener) error {
	outside, err := acceptFrames(m.ctx, frames)
	if err != nil {
		return err
	}
	admin, err := acceptFrames(m.ctx, adminFrames)
	if err != nil {
		return err
	}
	here := m.spec.Address.As4()
	here[3] = 254
	if m.outside, err = newNetwork(outside, netip.AddrFrom4(here)); err != nil {
		return err
	}
	if err := m.outside.reach(m.ctx, m.spec.Address, m.around); err != nil {
		return err
	}
	if m.admin, err = newNetwork(admin, adminHere); err != nil {
		return err
	}
	guest, err := listen("unix", guestFile)
	if err != nil {
		return err
	}
	m.keep(guest)
	m.around.Go(func() { m.admin.forward(m.ctx, guest, adminGuest, m.around) })
	return nil
}

// keep closes a listener when the machine has gone.
func (m *monitor) keep(l net.Listener) {
	context.AfterFunc(m.ctx, func() { _ = l.Close() })
}

// expose forwards a port of this host to the same of the machine.
func (m *monitor) expose(at netip.AddrPort) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.exposed[at] != nil {
		return nil
	}
	l, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(at))
	if err != nil {
		return fmt.Errorf("forward %s: %w", at, err)
	}
	m.exposed[at] = l
	m.keep(l)
	m.around.Go(func() { m.outside.forward(m.ctx, l, netip.AddrPortFrom(m.spec.Address, at.Port()), m.around) })
	return nil
}

// Run is the program beside Plimsoll that a machine needs: arguments are "watch FOLDER" on this host, and "begin FOLDER" or "answer"
// in the machine.
func Run(arguments []string) error {
	switch {
	case len(arguments) >= 2 && arguments[0] == "watch" && filepath.IsAbs(arguments[1]):
		return watch(arguments[1])
	case len(arguments) >= 2 && arguments[0] == "begin": // the kernel may add words of its own
		return begin(arguments[1])
	case len(arguments) >= 1 && arguments[0] == "answer":
		return answer()
	}
	return errors.New("expected watch FOLDER, begin FOLDER or answer")
}
