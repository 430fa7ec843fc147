//go:build linux

package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"plimsoll/infra"
)

var _ infra.Conversing = Machine{}

// Talk starts a command whose stdin and stdout are the channel.
func (Machine) Talk(ctx context.Context, c infra.Command) (infra.Channel, error) {
	cmd, err := command(ctx, c)
	if err != nil {
		return nil, err
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // for output held open by a process that left the group
	ch := &channel{command: cmd, broken: func() error { return context.Cause(ctx) }}
	cmd.Stderr = &ch.stderr
	if ch.in, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	if ch.Reader, err = cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	return ch, started(c.Path, cmd.Start())
}

// channel is a command with a pipe at each end.
type channel struct {
	io.Reader
	command *exec.Cmd
	broken  func() error // why it was broken off; nil: it was not
	in      io.WriteCloser
	stderr  bytes.Buffer
}

func (ch *channel) Write(data []byte) (int, error) { return ch.in.Write(data) }

// Close ends the command's stdin and waits for its end.
func (ch *channel) Close() error {
	_ = ch.in.Close() // it may have ended already
	_, _ = io.Copy(io.Discard, ch.Reader)
	err := ch.command.Wait()
	name := filepath.Base(ch.command.Path)
	if cause := ch.broken(); cause != nil {
		return fmt.Errorf("%s: %w", name, cause)
	}
	if exit := exitError(name, err, ch.stderr.String()); exit != nil {
		return exit
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
