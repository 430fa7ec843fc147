//go:build linux

package remote_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/infratest"
	"plimsoll/infra/local"
	"plimsoll/infra/remote"
)

// rig is a machine whose helper runs in this process, at the other end of a pipe that can be cut and frozen.
type rig struct {
	*remote.Machine
	mu     sync.Mutex
	served sync.WaitGroup
	dials  int
	near   net.Conn
	ended  chan error // how each service ended
}

func newRig(t *testing.T, limit time.Duration, serve infra.Machine) *rig {
	t.Helper()
	r := &rig{ended: make(chan error, 10)}
	records := filepath.Join(t.TempDir(), "lost")
	r.Machine = remote.New("pipe", func(context.Context) (io.ReadWriteCloser, error) {
		near, far := net.Pipe()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.near = near
		r.dials++
		r.served.Go(func() { r.ended <- remote.Server{Machine: serve, Records: records}.Serve(context.Background(), far) })
		return near, nil
	}, remote.Settings{Limit: limit})
	t.Cleanup(func() {
		_ = r.Close()
		r.served.Wait()
	})
	return r
}

func (r *rig) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.near.Close()
}

func here(t *testing.T) infra.Machine {
	t.Helper()
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMachineOverAPipe(t *testing.T) {
	infratest.Run(t, newRig(t, 0, here(t)), t.TempDir())
}

// The same over the helper's own process, as it is started on a machine.
func TestMachineOfAHelperProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	program := filepath.Join(t.TempDir(), "plimsoll-machine")
	build := exec.Command("go", "build", "-o", program, "plimsoll/cmd/plimsoll-machine")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the helper: %v\n%s", err, out)
	}
	m := remote.New("helper", func(ctx context.Context) (io.ReadWriteCloser, error) {
		return here(t).(infra.Conversing).Talk(context.WithoutCancel(ctx), infra.Command{Path: program})
	}, remote.Settings{})
	t.Cleanup(func() { _ = m.Close() })
	infratest.Run(t, m, t.TempDir())
}

// What is under way when the line is cut ends there, a lock is free again, and the next call goes over a new line.
func TestCutLine(t *testing.T) {
	r, dir := newRig(t, 0, here(t)), t.TempDir()
	release, err := r.Lock(t.Context(), filepath.Join(dir, "lock"))
	must(t, err)
	started, err := r.Start(t.Context(), infra.Command{
		Path: "sleep", Args: []string{"1000"}, Log: filepath.Join(dir, "log"), Mark: filepath.Join(dir, "started"),
	})
	must(t, err)
	ran := make(chan error, 1)
	go func() {
		_, err := r.Run(t.Context(), infra.Command{Path: "sleep", Args: []string{"1000"}, Mark: filepath.Join(dir, "run")})
		ran <- err
	}()
	for len(find(t, here(t), filepath.Join(dir, "run"))) == 0 {
		time.Sleep(time.Millisecond)
	}
	r.cut()
	var lost *remote.LostError
	if err := <-ran; !errors.As(err, &lost) || lost.Fate != remote.Killed {
		t.Errorf("a command on a cut line: %v, want LostError that says that it was killed", err)
	}
	if err := release(); !errors.As(err, &lost) {
		t.Errorf("release over a cut line: %v, want LostError", err)
	}
	must(t, <-r.ended)
	if left := find(t, here(t), filepath.Join(dir, "run")); len(left) > 0 {
		t.Errorf("%d processes of the command are left when the helper has ended", len(left))
	}
	release, err = r.Lock(t.Context(), filepath.Join(dir, "lock"))
	must(t, err)
	must(t, release())
	if r.dials != 2 {
		t.Errorf("%d lines were opened, want 2", r.dials)
	}
	// What outlives the line is found over the new one, and by its old handle too.
	if is, err := started.Alive(t.Context()); err != nil || !is {
		t.Errorf("the started process is alive: %v, %v", is, err)
	}
	again, err := r.Recall(t.Context(), started.(infra.Referenced).Reference())
	must(t, err)
	must(t, again.Signal(t.Context(), "KILL"))
	must(t, started.Wait(t.Context()))
}

// A command that had ended when the line was cut, before its result arrived, is as good as if nothing had happened.
func TestFateOfACommandThatEnded(t *testing.T) {
	dir := t.TempDir()
	records, gate := filepath.Join(dir, "lost"), make(chan struct{})
	dials := 0
	m := remote.New("gated", func(context.Context) (io.ReadWriteCloser, error) {
		near, far := net.Pipe()
		dials++
		channel := near
		if dials == 1 {
			channel = &deaf{Conn: near, from: gate}
		}
		go func() {
			_ = remote.Server{Machine: here(t), Records: records}.Serve(context.Background(), far)
		}()
		return channel, nil
	}, remote.Settings{Limit: 3 * time.Second})
	defer func() { _ = m.Close() }()
	_, err := m.Space(t.Context(), "/")
	must(t, err)
	go func() { // the line is cut when the command has ended and its result is under way
		for len(find(t, here(t), filepath.Join(dir, "run"))) == 0 {
			time.Sleep(time.Millisecond)
		}
		close(gate)
		must(t, here(t).WriteFile(context.Background(), filepath.Join(dir, "go"), nil, 0o600))
	}()
	out, err := m.Run(t.Context(), infra.Command{
		Path: "sh", Args: []string{"-c", "while [ ! -e go ]; do sleep 0.02; done; echo done; echo why >&2; exit 3"}, Dir: dir, Mark: filepath.Join(dir, "run"),
	})
	var exit *infra.ExitError
	if !errors.As(err, &exit) || exit.Status != 3 || exit.Stderr != "why" || string(out.Stdout) != "done\n" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
	if dials != 2 {
		t.Errorf("%d lines were opened, want 2", dials)
	}
}

// deaf is a connection that hears nothing any more from a moment on, and sends.
type deaf struct {
	net.Conn
	from chan struct{}
}

func (d *deaf) Read(p []byte) (int, error) {
	for {
		n, err := d.Conn.Read(p)
		select {
		case <-d.from:
			if err != nil {
				return 0, err
			}
		default:
			return n, err
		}
	}
}

// In a partition nobody closes anything: the helper ends by itself, and we know before it does.
func TestPartition(t *testing.T) {
	const limit = 600 * time.Millisecond
	dir := t.TempDir()
	frozen := make(chan struct{})
	ended := make(chan error, 1)
	var serverEnded, weKnew time.Time
	m := remote.New("frozen", func(context.Context) (io.ReadWriteCloser, error) {
		near, far := net.Pipe()
		go func() {
			err := remote.Serve(context.Background(), here(t), &freezing{Conn: far, frozen: frozen})
			serverEnded = time.Now()
			ended <- err
		}()
		return &freezing{Conn: near, frozen: frozen}, nil
	}, remote.Settings{Limit: limit})
	defer func() { _ = m.Close() }()
	_, err := m.Lock(t.Context(), filepath.Join(dir, "lock"))
	must(t, err)
	close(frozen)
	from := time.Now()
	ran := make(chan error, 1)
	go func() {
		_, err := m.Run(t.Context(), infra.Command{Path: "true"})
		ran <- err
	}()
	_, err = m.ReadFile(t.Context(), "/etc/hostname")
	weKnew = time.Now()
	var lost *remote.LostError
	if !errors.As(err, &lost) {
		t.Fatalf("in a partition: %v, want LostError", err)
	}
	if err := <-ran; !errors.As(err, &lost) || lost.Fate != remote.Unknown {
		t.Errorf("a command in a partition that does not end: %v, want LostError that says that its fate is not known", err)
	}
	if err := <-ended; !errors.Is(err, remote.ErrSilent) {
		t.Errorf("the helper: %v, want ErrSilent", err)
	}
	if weKnew.After(serverEnded) {
		t.Errorf("we knew of the loss %v after the helper had let go", weKnew.Sub(serverEnded))
	}
	if took := serverEnded.Sub(from); took > limit+2*time.Second {
		t.Errorf("the helper ended after %v, want about %v", took, limit)
	}
	release, err := here(t).Lock(t.Context(), filepath.Join(dir, "lock"))
	must(t, err)
	must(t, release())
}

// freezing is a connection that delivers nothing any more once it is frozen, and tells nobody.
type freezing struct {
	net.Conn
	frozen chan struct{}
}

func (f *freezing) Write(p []byte) (int, error) {
	select {
	case <-f.frozen:
		return len(p), nil // into the void, as a socket's buffer would take it
	default:
		return f.Conn.Write(p)
	}
}

// Close frees who reads here; the other end does not hear of it.
func (f *freezing) Close() error {
	select {
	case <-f.frozen:
		return f.SetDeadline(time.Unix(1, 0))
	default:
		return f.Conn.Close()
	}
}

// A channel that does not lead to the helper says what it led to.
func TestSilentChannel(t *testing.T) {
	m := remote.New("shell", func(context.Context) (io.ReadWriteCloser, error) {
		near, far := net.Pipe()
		go func() {
			_, _ = io.WriteString(far, "This account is not available.\n")
			_ = far.Close()
		}()
		return near, nil
	}, remote.Settings{})
	_, err := m.Run(t.Context(), infra.Command{Path: "true"})
	var silent *remote.SilentError
	if !errors.As(err, &silent) || !strings.Contains(silent.Said, "not available") {
		t.Errorf("%v, want SilentError with what was said", err)
	}
}

// What a login shell says before the helper's greeting does no harm.
func TestChattyShell(t *testing.T) {
	m := remote.New("chatty", func(context.Context) (io.ReadWriteCloser, error) {
		near, far := net.Pipe()
		go func() {
			_, _ = io.WriteString(far, "Welcome!\nYou have mail.\n")
			_ = remote.Serve(context.Background(), here(t), far)
		}()
		return near, nil
	}, remote.Settings{})
	defer func() { _ = m.Close() }()
	out, err := m.Run(t.Context(), infra.Command{Path: "echo", Args: []string{"hi"}})
	if err != nil || string(out.Stdout) != "hi\n" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
}

// A command whose output nobody reads stands in nobody's way, and large contents go through unharmed both ways.
func TestFlow(t *testing.T) {
	r, dir := newRig(t, 0, here(t)), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ch, err := r.Talk(ctx, infra.Command{Path: "yes"})
	must(t, err)
	big := make([]byte, 5<<20)
	for i := range big {
		big[i] = byte(i * 7 >> 3)
	}
	must(t, r.WriteFile(t.Context(), filepath.Join(dir, "big"), big, 0o600))
	back, err := r.ReadFile(t.Context(), filepath.Join(dir, "big"))
	must(t, err)
	if string(back) != string(big) {
		t.Error("the file differs from what was written")
	}
	out, err := r.Run(t.Context(), infra.Command{Path: "sh", Args: []string{"-c", "cat; echo end >&2"}, Stdin: big})
	must(t, err)
	if string(out.Stdout) != string(big) || string(out.Stderr) != "end\n" {
		t.Errorf("%d bytes out, %q aside", len(out.Stdout), out.Stderr)
	}
	if _, err := ch.Read(make([]byte, 2)); err != nil {
		t.Error(err)
	}
	cancel() // it does not listen
	if err := ch.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v, want context.Canceled", err)
	}
}

func find(t *testing.T, m infra.Machine, mark string) []infra.Process {
	t.Helper()
	all, err := m.Find(t.Context(), mark)
	must(t, err)
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
