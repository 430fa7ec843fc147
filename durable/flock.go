package durable

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/poll"
)

const lockName = "executor.lock"

// tryFlock takes a lock that the kernel gives back when this process ends. The file stays: taking it away would let two
// processes lock two files of one name.
func tryFlock(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrBusy
		}
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return func() { _ = f.Close() }, nil // which cannot fail in a way that keeps the lock
}

// flock waits for the lock.
func flock(ctx context.Context, path string) (release func(), err error) {
	err = poll.Until(ctx, 20*time.Millisecond, func() (string, error) {
		if release, err = tryFlock(path); errors.Is(err, ErrBusy) {
			return err.Error(), nil
		}
		return "", err
	})
	return release, err
}

// Executed tells whether some process executes runs on this state folder now.
func (s *Store) Executed() (bool, error) {
	release, err := tryFlock(filepath.Join(s.options.Folder, lockName))
	if errors.Is(err, ErrBusy) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	release()
	return false, nil
}

// Name is this state folder's name as an executor.
func (s *Store) Name() string { return s.name }

// executorName is what tells the executors of a shared store apart: kept in the state folder, made when it is first used.
func executorName(o Options) (string, error) {
	if o.Postgres == "" {
		return "local", nil
	}
	path := filepath.Join(o.Folder, "executor")
	data, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(data)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the executor's name: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("name the executor: %w", err)
	}
	name := host + "-" + strings.ToLower(rand.Text()[:6])
	if err := os.WriteFile(path, []byte(name+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the executor's name: %w", err)
	}
	return name, nil
}
