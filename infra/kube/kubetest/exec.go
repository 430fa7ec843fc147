package kubetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"plimsoll/infra/kube"
)

// lines are the execs that are under way, each through something that can be frozen and cut.
type lines struct {
	mu     sync.Mutex
	change *sync.Cond
	frozen bool
	open   map[*line]bool
	all    sync.WaitGroup
}

// line is a process of a pod and who speaks with it.
type line struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  io.Reader
	stderr  bytes.Buffer
	cut     bool
	hangUp  func() // ends the caller's side
}

// Pod makes a running pod of one container, whose processes are processes of this machine with the folder as their own.
func (c *Cluster) Pod(t testing.TB, namespace, name, folder string) {
	t.Helper()
	c.Put(kube.Pods(namespace), name, kube.Object{
		"metadata": map[string]any{"annotations": map[string]any{"kubetest/folder": folder}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "main"}}},
		"status":   map[string]any{"phase": "Running"},
	})
	t.Cleanup(c.end)
}

// start begins a command in a pod.
func (c *Cluster) start(namespace, pod string, command []string) (*line, error) {
	o := c.Object(kube.Pods(namespace), pod)
	folder := o.Text(kube.Path{"metadata", "annotations", "kubetest/folder"})
	if folder == "" || o.Text(kube.At("status.phase")) != "Running" {
		return nil, errors.New("this pod has no container that runs")
	}
	l := &line{command: exec.Command(command[0], command[1:]...)}
	l.command.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+folder)
	l.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	l.command.Stderr = &l.stderr
	var err error
	if l.stdin, err = l.command.StdinPipe(); err != nil {
		return nil, err
	}
	if l.stdout, err = l.command.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := l.command.Start(); err != nil {
		return nil, err
	}
	c.lines.mu.Lock()
	defer c.lines.mu.Unlock()
	if c.lines.open == nil {
		c.lines.open = map[*line]bool{}
		c.lines.change = sync.NewCond(&c.lines.mu)
	}
	c.lines.open[l] = true
	return l, nil
}

// wait waits for the process's end and returns its status. Call it when its stdout has ended.
func (c *Cluster) wait(l *line) int {
	_ = l.command.Wait()
	c.lines.mu.Lock()
	defer c.lines.mu.Unlock()
	delete(c.lines.open, l)
	return l.command.ProcessState.ExitCode()
}

// carry hands on what comes, unless the line is frozen; nothing any more once it is cut.
func (c *Cluster) carry(l *line, to io.Writer, from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		c.lines.mu.Lock()
		for c.lines.frozen && !l.cut {
			c.lines.change.Wait()
		}
		cut := l.cut
		c.lines.mu.Unlock()
		if n > 0 && !cut {
			if _, failed := to.Write(buffer[:n]); failed != nil && err == nil {
				to = io.Discard // nobody hears the process any more; it goes on
			}
		}
		if err != nil {
			return
		}
	}
}

// Freeze lets nothing through any more, in neither direction, until Heal, and tells nobody: a partition.
func (c *Cluster) Freeze() { c.setFrozen(true) }

// Heal lets everything through again.
func (c *Cluster) Heal() { c.setFrozen(false) }

func (c *Cluster) setFrozen(frozen bool) {
	c.lines.mu.Lock()
	defer c.lines.mu.Unlock()
	c.lines.frozen = frozen
	if c.lines.change != nil {
		c.lines.change.Broadcast()
	}
}

// Cut ends all execs as seen from here. The processes are told nothing, as in Kubernetes: their stdin stays open.
func (c *Cluster) Cut() {
	c.lines.mu.Lock()
	var ends []func()
	for l := range c.lines.open {
		l.cut = true
		if l.hangUp != nil {
			ends = append(ends, l.hangUp)
		}
	}
	if c.lines.change != nil {
		c.lines.change.Broadcast()
	}
	c.lines.mu.Unlock()
	for _, end := range ends {
		end()
	}
}

// end kills what still runs.
func (c *Cluster) end() {
	c.Cut()
	c.lines.mu.Lock()
	for l := range c.lines.open {
		_ = syscall.Kill(-l.command.Process.Pid, syscall.SIGKILL)
	}
	c.lines.mu.Unlock()
	c.lines.all.Wait()
}

// channel is a line as kubectl exec shows it to who runs it.
type channel struct {
	c       *Cluster
	l       *line
	in      *io.PipeWriter
	out     *io.PipeReader
	over    chan struct{} // closed when the caller's side has ended
	ended   func(status int, stderr string) error
	status  int
	stopped func() bool
}

// talk carries a line to a caller in this process.
func (c *Cluster) talk(ctx context.Context, l *line, ended func(status int, stderr string) error) *channel {
	fromCaller, in := io.Pipe()
	out, toCaller := io.Pipe()
	ch := &channel{c: c, l: l, in: in, out: out, over: make(chan struct{}), ended: ended, status: 1}
	var once sync.Once
	over := func(status int) {
		once.Do(func() {
			ch.status = status
			_ = toCaller.Close()
			_ = fromCaller.CloseWithError(io.ErrClosedPipe)
			close(ch.over)
		})
	}
	c.lines.mu.Lock()
	l.hangUp = func() { over(1) }
	c.lines.mu.Unlock()
	c.lines.all.Go(func() {
		c.carry(l, l.stdin, fromCaller)
		c.lines.mu.Lock()
		cut := l.cut
		c.lines.mu.Unlock()
		if !cut { // kubectl tells when its own stdin has ended
			_ = l.stdin.Close()
		}
	})
	c.lines.all.Go(func() {
		c.carry(l, toCaller, l.stdout)
		over(c.wait(l))
	})
	// When kubectl is killed, what it started lives on.
	ch.stopped = context.AfterFunc(ctx, func() { over(-1) })
	return ch
}

func (ch *channel) Read(p []byte) (int, error)  { return ch.out.Read(p) }
func (ch *channel) Write(p []byte) (int, error) { return ch.in.Write(p) }

// Close ends kubectl's stdin and waits for its end.
func (ch *channel) Close() error {
	_ = ch.in.Close()
	drained := make(chan struct{})
	go func() { defer close(drained); _, _ = io.Copy(io.Discard, ch.out) }()
	<-ch.over
	<-drained
	ch.stopped()
	return ch.ended(ch.status, ch.l.stderr.String())
}
