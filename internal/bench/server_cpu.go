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
type serverProcess struct {
	target engine.Target
	folder string // /proc/PID
}

// processOf finds the server's process by the file in which it keeps its number.
func processOf(ctx context.Context, target engine.Target) (serverProcess, error) {
	rows, err := table(ctx, target, "SELECT @@pid_file AS pid_file, @@datadir AS datadir")
	if err != nil {
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
	return serverProcess{target, filepath.Join("/proc", strings.TrimSpace(string(text)))}, nil
}

// used is the processor time that the server has taken, also in threads that have ended: /proc/PID/stat, fields 14 and 15 of proc(5), in hundredths
// of a second.
func (s serverProcess) used() (time.Duration, error) {
	stat, err := os.ReadFile(filepath.Join(s.folder, "stat"))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("%s/stat has the unexpected form %q", s.folder, stat)
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err1, err2)
}

// watchers waits until the watch has its two sessions, and returns the server's threads of them, by their files in /proc. Nothing else is
// connected then.
func (s serverProcess) watchers(ctx context.Context) (threads []string, err error) {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	seen := 0
	for limited.Err() == nil {
		numbers, err := s.sessionThreads(ctx)
		if err != nil {
			return nil, err
		}
		if seen = len(numbers); seen == 2 {
			for _, number := range numbers {
				threads = append(threads, filepath.Join(s.folder, "task", number, "schedstat"))
			}
			return threads, nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-limited.Done():
		}
	}
	return nil, fmt.Errorf("%d sessions after a minute, expected the two of the watch", seen)
}

// sessionThreads are the numbers of the server's threads of all sessions of the account but the one that asks.
func (s serverProcess) sessionThreads(ctx context.Context) (numbers []string, err error) {
	const ofMariaDB = "SELECT TID AS tid FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER = SUBSTRING_INDEX(USER(), '@', 1)"
	const ofMySQL = "SELECT THREAD_OS_ID AS tid FROM performance_schema.threads WHERE PROCESSLIST_ID <> CONNECTION_ID() AND PROCESSLIST_USER = SUBSTRING_INDEX(USER(), '@', 1)"
	rows, err := table(ctx, s.target, ofMariaDB)
	if err != nil {
		rows, err = table(ctx, s.target, ofMySQL)
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the threads of the sessions: %w", err)
	}
	for _, row := range rows {
		numbers = append(numbers, row["tid"])
	}
	return numbers, nil
}

// busy is how long threads have been on a processor: the first number of schedstat, in ns.
func busy(threads []string) (sum time.Duration, err error) {
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s has the unexpected form %q", path, text)
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

// table asks over a session of its own.
func table(ctx context.Context, target engine.Target, text string) ([]map[string]string, error) {
	sessions, err := connect(ctx, target, 1)
	if err != nil {
		return nil, err
	}
	rows, err := sessions[0].(engine.Tabular).Table(ctx, text)
	return rows, errors.Join(err, closeAll(sessions))
}
