package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
)

// serverProcess is a MySQL or MariaDB that runs on this machine.
type serverProcess struct{ stat string }

// processOf finds the server's process by the file in which it keeps its number.
func processOf(ctx context.Context, target engine.Target) (serverProcess, error) {
	sessions, err := connect(ctx, target, 1)
	if err != nil {
		return serverProcess{}, err
	}
	rows, err := sessions[0].(engine.Tabular).Table(ctx, "SELECT @@pid_file AS pid_file, @@datadir AS datadir")
	if err = errors.Join(err, closeAll(sessions)); err != nil {
		return serverProcess{}, fmt.Errorf("ask for the server's process: %w", err)
	}
	path := rows[0]["pid_file"]
	if !filepath.IsAbs(path) {
		path = filepath.Join(rows[0]["datadir"], path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return serverProcess{}, fmt.Errorf("the server must run on this machine: %w", err)
	}
	return serverProcess{filepath.Join("/proc", strings.TrimSpace(string(text)), "stat")}, nil
}

// used is the processor time that the server has taken, by /proc/PID/stat, fields 14 and 15 of proc(5), in hundredths of a second.
func (s serverProcess) used() (time.Duration, error) {
	stat, err := os.ReadFile(s.stat)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("%s has the unexpected form %q", s.stat, stat)
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err1, err2)
}

// perOperation takes the server's processor time for each operation of a run, in place of the client's.
func (s serverProcess) perOperation(run func() (outcome, error)) (outcome, error) {
	before, err := s.used()
	if err != nil {
		return outcome{}, err
	}
	got, err := run()
	if err != nil {
		return outcome{}, err
	}
	after, err := s.used()
	got.cpu = micros(after-before) / got.operations
	return got, err
}
