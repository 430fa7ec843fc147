//go:build linux

package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/infra"
)

// process is a process by its id and the moment it started, which together are never used again before a reboot.
type process struct {
	id    int
	began uint64 // clock ticks after boot
	leads bool   // of the session that it was started in
	mark  string
}

// lookUp finds the process that has this id now.
func lookUp(id int) (*process, error) {
	s, err := readStat(id)
	if err != nil {
		return nil, err
	}
	return &process{id: id, began: s.began, leads: s.session == id}, nil
}

func (p *process) ID() int      { return p.id }
func (p *process) Mark() string { return p.mark }
func (p *process) Leads() bool  { return p.leads }

// Alive reports whether the process still runs.
func (p *process) Alive(context.Context) (bool, error) { return p.alive() }

func (p *process) alive() (bool, error) {
	s, err := readStat(p.id)
	switch {
	case errors.Is(err, infra.ErrGone):
		return false, nil
	case err != nil:
		return false, err
	case s.began != p.began:
		return false, nil // another has its id
	case s.state != 'Z' && s.state != 'X':
		return true, nil
	case s.threads > 1:
		return true, nil // its first thread has ended, others still hold its files and ports
	case s.parent == os.Getpid():
		_, _ = unix.Wait4(p.id, nil, unix.WNOHANG, nil) // ours to bury; whoever comes first does it
	}
	return false, nil
}

var signals = map[string]unix.Signal{
	"TERM": unix.SIGTERM, "KILL": unix.SIGKILL, "STOP": unix.SIGSTOP, "CONT": unix.SIGCONT, "HUP": unix.SIGHUP,
}

// Signal sends a signal to this very process: the descriptor taken first keeps meaning the process that is then checked. After STOP none
// of its threads runs.
func (p *process) Signal(ctx context.Context, name string) error {
	signal, ok := signals[name]
	if !ok {
		return fmt.Errorf("signal %s: not one of TERM, KILL, STOP, CONT, HUP", name)
	}
	handle, err := unix.PidfdOpen(p.id, 0)
	if err == nil {
		defer func() { _ = unix.Close(handle) }()
	}
	alive, aliveErr := p.alive()
	switch {
	case aliveErr != nil:
		return aliveErr
	case !alive:
		return infra.ErrGone
	case err == nil:
		err = unix.PidfdSendSignal(handle, signal, nil, 0)
	default:
		err = unix.Kill(p.id, signal) // a kernel before 5.3, or a sandbox
	}
	switch {
	case errors.Is(err, unix.ESRCH):
		return infra.ErrGone
	case err != nil:
		return fmt.Errorf("send %s to process %d: %w", name, p.id, err)
	case signal == unix.SIGSTOP:
		return p.awaitStop(ctx)
	}
	return nil
}

// stopTime is how long threads may take to stop. One that waits for a disk stops when that answers.
const stopTime = 10 * time.Second

// awaitStop waits until no thread of a process that is sent SIGSTOP runs: on a busy machine they run on until one of them has had its turn
// and has taken the signal.
func (p *process) awaitStop(ctx context.Context) error {
	late := time.NewTimer(stopTime)
	defer late.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if runs, err := p.runs(); err != nil || !runs {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fmt.Errorf("stop process %d: a thread of it still runs after %s", p.id, stopTime)
		}
	}
}

// runs tells whether one of its threads has not stopped: it runs, may run, or sleeps. A thread that waits for a disk does nothing.
func (p *process) runs() (bool, error) {
	threads, err := os.ReadDir("/proc/" + strconv.Itoa(p.id) + "/task")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return false, infra.ErrGone
	}
	if err != nil {
		return false, err
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return false, err
		}
		s, err := readStat(id) // a thread's id is one among those of processes
		if err != nil && !errors.Is(err, infra.ErrGone) {
			return false, err
		}
		if err == nil && (s.state == 'R' || s.state == 'S') {
			return true, nil
		}
	}
	return false, nil
}

// Wait returns when the process has ended or ctx has.
func (p *process) Wait(ctx context.Context) error {
	handle, err := unix.PidfdOpen(p.id, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return p.poll(ctx, 50*time.Millisecond) // a kernel before 5.10, or a sandbox
	}
	// The descriptor becomes readable when the process ends; Go's poller waits for that without a thread.
	file := os.NewFile(uintptr(handle), "process "+strconv.Itoa(p.id))
	defer func() { _ = file.Close() }()
	conn, err := file.SyscallConn()
	if err != nil {
		return fmt.Errorf("wait for process %d: %w", p.id, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var ended bool
	var aliveErr error
	err = conn.Read(func(uintptr) bool {
		var alive bool
		alive, aliveErr = p.alive()
		ended = !alive
		return ended || aliveErr != nil
	})
	switch {
	case aliveErr != nil:
		return aliveErr
	case ended:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("wait for process %d: %w", p.id, err)
}

// poll is Wait where a process cannot be waited for.
func (p *process) poll(ctx context.Context, every time.Duration) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if alive, err := p.alive(); err != nil || !alive {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// stat is what is needed of /proc/PID/stat.
type stat struct {
	state   byte
	parent  int
	session int
	threads int
	began   uint64
}

func readStat(id int) (stat, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return stat{}, infra.ErrGone
	}
	if err != nil {
		return stat{}, err
	}
	return parseStat(data)
}

// parseStat reads the fields after the program's name, which stands in parentheses and may hold anything: proc(5).
func parseStat(data []byte) (stat, error) {
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("read process state: %d fields", len(fields))
	}
	s := stat{state: fields[0][0]}
	for field, into := range map[int]*int{1: &s.parent, 3: &s.session, 17: &s.threads} {
		n, err := strconv.Atoi(string(fields[field]))
		if err != nil {
			return stat{}, fmt.Errorf("read process state: %w", err)
		}
		*into = n
	}
	var err error
	if s.began, err = strconv.ParseUint(string(fields[19]), 10, 64); err != nil {
		return stat{}, fmt.Errorf("read process state: %w", err)
	}
	return s, nil
}
