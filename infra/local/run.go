//go:build linux

package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"plimsoll/infra"
)

// Run runs a command to its end.
func (Machine) Run(ctx context.Context, c infra.Command) (infra.Output, error) {
	cmd, err := command(ctx, c)
	if err != nil {
		return infra.Output{}, err
	}
	// With a session of its own the command is also a group of its own: all of it can be killed, and it asks no terminal.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // for output held open by a process that left the group
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.Stdin), &stdout, &stderr

	start := time.Now()
	err = cmd.Run()
	out := infra.Output{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Took: time.Since(start)}
	if ctx.Err() != nil && err != nil { // else it had come to its end
		return out, fmt.Errorf("%s: %w", filepath.Base(c.Path), context.Cause(ctx))
	}
	if exit := exitError(filepath.Base(c.Path), err, stderr.String()); exit != nil {
		return out, exit
	}
	return out, started(c.Path, err)
}

// exitError is the error of a command that ended with a non-zero status, nil if that is not what the error says.
func exitError(name string, err error, stderr string) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil
	}
	return &infra.ExitError{Command: name, Status: exit.ExitCode(), Stderr: end(stderr, 2<<10)}
}

// Start starts a command that outlives Plimsoll.
func (Machine) Start(ctx context.Context, c infra.Command) (infra.Process, error) {
	if c.Mark == "" {
		return nil, fmt.Errorf("start %s: there is no mark by which to find it again", c.Path)
	}
	log, err := os.OpenFile(c.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	defer func() { _ = log.Close() }() // the server has its own
	if c.Title != "" {
		if _, err := log.WriteString(c.Title + "\n"); err != nil {
			return nil, fmt.Errorf("write the log: %w", err)
		}
	}
	cmd, err := command(context.WithoutCancel(ctx), c) // it outlives Plimsoll
	if err != nil {
		return nil, err
	}
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := started(c.Path, cmd.Start()); err != nil {
		return nil, err
	}
	p, err := lookUp(cmd.Process.Pid)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(c.Path), err)
	}
	p.mark = c.Mark
	return p, errors.Join(awaitMark(ctx, p), cmd.Process.Release())
}

// awaitMark waits until a process that was started can be found by its mark. A program is executed a moment before its
// environment can be read; one that ends first, or becomes another user's, never shows it.
func awaitMark(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for readMark(p.id) != p.mark {
		if alive, err := p.alive(); err != nil || !alive {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// command is what Run and Start have in common.
func command(ctx context.Context, c infra.Command) (*exec.Cmd, error) {
	path, err := exec.LookPath(c.Path)
	if err != nil {
		return nil, started(c.Path, err)
	}
	cmd := exec.CommandContext(ctx, path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), c.Env...)
	if c.Mark != "" {
		cmd.Env = append(cmd.Env, infra.MarkVariable+"="+c.Mark)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

func started(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", path, infra.ErrNoProgram)
	}
	return fmt.Errorf("start %s: %w", path, err)
}

// end returns at most the last n bytes of a text, trimmed.
func end(s string, n int) string {
	return strings.TrimSpace(s[max(0, len(s)-n):])
}
