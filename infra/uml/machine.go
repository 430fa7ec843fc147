package uml

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/remote"
)

// Machine is a machine that was booted. What a server in it needs of a machine, it does as any infra.Machine.
type Machine struct {
	*remote.Machine
	host    infra.Machine
	folder  string
	spec    Spec
	control *http.Client
}

var (
	_ infra.Machine    = &Machine{}
	_ infra.Conversing = &Machine{}
)

// ErrNotRunning says that a machine does not run.
var ErrNotRunning = infra.ErrNotRunning

// patience is how long a machine may take to boot on a busy host, and to be told something.
const patience = 2 * time.Minute

// Boot starts a machine in a folder of this host, which is made, and returns when it answers.
func Boot(ctx context.Context, host infra.Machine, folder string, s Spec) (_ *Machine, err error) {
	if s, err = s.withDefaults(); err != nil {
		return nil, fmt.Errorf("boot %s: %w", s.Name, err)
	}
	if err := host.MakeDir(ctx, folder); err != nil {
		return nil, fmt.Errorf("boot %s: %w", s.Name, err)
	}
	s.Shared = hidden(s.Shared)
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := host.WriteFile(ctx, path.Join(folder, specFile), data, 0o600); err != nil {
		return nil, fmt.Errorf("boot %s: %w", s.Name, err)
	}
	for _, left := range []string{controlFile, guestFile} {
		if err := host.Remove(ctx, path.Join(folder, left)); err != nil {
			return nil, fmt.Errorf("boot %s: %w", s.Name, err)
		}
	}
	monitor, err := host.Start(ctx, infra.Command{
		Path: s.Program[0], Args: append(s.Program[1:len(s.Program):len(s.Program)], "watch", folder),
		Dir: folder, Log: path.Join(folder, logFile), Mark: s.Mark, Title: "=== " + s.Name + " boots",
	})
	if err != nil {
		return nil, fmt.Errorf("boot %s: %w", s.Name, err)
	}
	m := newMachine(host, folder, s)
	if err := m.await(ctx, monitor); err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("boot %s: %w", s.Name, err), End(ctx, host, s.Mark), m.Close())
	}
	return m, nil
}

// Open connects to a machine that was booted before. ErrNotRunning if it does not run any more.
func Open(ctx context.Context, host infra.Machine, folder string) (*Machine, error) {
	m, err := At(ctx, host, folder)
	if err != nil {
		return nil, err
	}
	running, err := m.Running(ctx)
	if err == nil && !running {
		err = fmt.Errorf("%s: %w", m.Name(), ErrNotRunning)
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// At is the machine of a folder, whether it runs or not. ErrNotRunning if none was ever booted there.
func At(ctx context.Context, host infra.Machine, folder string) (*Machine, error) {
	data, err := host.ReadFile(ctx, path.Join(folder, specFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the machine in %s: %w", folder, ErrNotRunning)
	}
	if err != nil {
		return nil, fmt.Errorf("open the machine in %s: %w", folder, err)
	}
	var s Spec
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("open the machine in %s: %w", folder, err)
	}
	return newMachine(host, folder, s), nil
}

// End ends all processes of machines that carry a mark or one below it, at once, and waits until they have gone.
func End(ctx context.Context, host infra.Machine, mark string) error {
	found, err := host.Find(ctx, mark)
	if err != nil {
		return err
	}
	for _, p := range found {
		if err := p.Signal(ctx, "KILL"); err != nil && !errors.Is(err, infra.ErrGone) {
			return fmt.Errorf("end a machine: %w", err)
		}
	}
	for _, p := range found {
		if err := p.Wait(ctx); err != nil {
			return fmt.Errorf("end a machine: %w", err)
		}
	}
	return nil
}

func newMachine(host infra.Machine, folder string, s Spec) *Machine {
	dial := func(ctx context.Context) (io.ReadWriteCloser, error) { return dialIn(ctx, folder, guestFile) }
	return &Machine{
		Machine: remote.New(s.Name, dial, remote.Settings{}), host: host, folder: folder, spec: s,
		control: &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return dialIn(ctx, folder, controlFile)
			},
		}},
	}
}

// hidden are those folders that lie below one that a machine has for itself.
func hidden(folders []string) (all []string) {
	seen := map[string]bool{}
	for _, f := range folders {
		for _, o := range own {
			if f = path.Clean(f); strings.HasPrefix(f, o+"/") && !seen[f] {
				seen[f] = true
				all = append(all, f)
			}
		}
	}
	return all
}

// await waits until the machine answers.
func (m *Machine) await(ctx context.Context, monitor infra.Process) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		once, cancel := context.WithTimeout(ctx, 5*time.Second) // what is asked too early is never answered
		_, err := m.Machine.List(once, "/")
		cancel()
		if err == nil {
			return nil
		}
		alive, lost := monitor.Alive(ctx)
		if lost != nil {
			return lost
		}
		if !alive {
			return m.lost(ctx)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), m.lost(context.WithoutCancel(ctx)))
		}
	}
}

// lost is the error of a machine that does not answer, with the end of what it said.
func (m *Machine) lost(ctx context.Context) error {
	said, err := infra.Tail(ctx, m.host, path.Join(m.folder, logFile), 2<<10)
	if err != nil {
		return ErrNotRunning
	}
	return fmt.Errorf("%w; the last lines of its console are\n%s", ErrNotRunning, readable(said))
}

// Folder is where the machine stands on its host.
func (m *Machine) Folder() string { return m.folder }

// Address is the machine's, within and on its host.
func (m *Machine) Address() netip.Addr { return m.spec.Address }

// Running tells whether its kernel runs.
func (m *Machine) Running(ctx context.Context) (bool, error) {
	found, err := m.host.Find(ctx, m.spec.Mark)
	if err != nil || len(found) == 0 {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = m.send(ctx, order{Do: doReport})
	return err == nil, nil
}

// Expose forwards a port of the machine's address on its host to the machine.
func (m *Machine) Expose(ctx context.Context, port int) error {
	_, err := m.send(ctx, order{Do: doExpose, Address: netip.AddrPortFrom(m.spec.Address, uint16(port))})
	return err
}

// Kill ends the machine as the loss of its host would: what it had not written to its volumes is gone.
func (m *Machine) Kill(ctx context.Context) error {
	return errors.Join(End(ctx, m.host, m.spec.Mark), m.Close())
}

// Shutdown ends the machine in order and returns when it is off. What runs in it is told to end, and all is written.
func (m *Machine) Shutdown(ctx context.Context) error {
	found, err := m.host.Find(ctx, m.spec.Mark)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, asked := m.Run(limited, infra.Command{Path: "kill", Args: []string{"-TERM", "1"}}) // it may be off before it can say so
	for _, p := range found {
		if err := p.Wait(limited); err != nil {
			return errors.Join(fmt.Errorf("shut %s down: %w", m.Name(), err), asked)
		}
	}
	return m.Close()
}

// CutNetwork lets nothing through between the machine and the world, in either direction and without a word to anyone.
// What Plimsoll does with the machine goes another way.
func (m *Machine) CutNetwork(ctx context.Context) error {
	_, err := m.send(ctx, order{Do: doCut, Cut: true})
	return err
}

// MendNetwork undoes CutNetwork.
func (m *Machine) MendNetwork(ctx context.Context) error {
	_, err := m.send(ctx, order{Do: doCut})
	return err
}

// NetworkCut tells whether its network is cut.
func (m *Machine) NetworkCut(ctx context.Context) (bool, error) {
	r, err := m.send(ctx, order{Do: doReport})
	return r.Cut, err
}

// SkewClock moves the machine's clock so far from where it is.
func (m *Machine) SkewClock(ctx context.Context, by time.Duration) error {
	now, err := m.Clock(ctx)
	if err != nil {
		return err
	}
	return m.setClock(ctx, now.Add(by))
}

func (m *Machine) setClock(ctx context.Context, to time.Time) error {
	at := strconv.FormatFloat(float64(to.UnixMilli())/1000, 'f', 3, 64)
	if _, err := m.Run(ctx, infra.Command{Path: "date", Args: []string{"-s", "@" + at}}); err != nil {
		return fmt.Errorf("set the clock of %s: %w", m.Name(), err)
	}
	return nil
}

// Clock is the time that the machine has.
func (m *Machine) Clock(ctx context.Context) (time.Time, error) {
	out, err := m.Run(ctx, infra.Command{Path: "date", Args: []string{"+%s.%N"}})
	if err != nil {
		return time.Time{}, fmt.Errorf("read the clock of %s: %w", m.Name(), err)
	}
	seconds, nanoseconds, _ := strings.Cut(strings.TrimSpace(string(out.Stdout)), ".")
	s, serr := strconv.ParseInt(seconds, 10, 64)
	n, nerr := strconv.ParseInt(nanoseconds, 10, 64)
	if err := errors.Join(serr, nerr); err != nil {
		return time.Time{}, fmt.Errorf("read the clock of %s: %w", m.Name(), err)
	}
	return time.Unix(s, n), nil
}

// readable is a log without what a terminal is told.
func readable(log []byte) string {
	return strings.TrimSpace(string(bytes.ReplaceAll(log, []byte("\r"), nil)))
}
