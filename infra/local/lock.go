//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/infra"
)

// Lock takes an exclusive lock by flock(2), which the kernel gives back when its holder dies.
func (Machine) Lock(ctx context.Context, path string) (func() error, error) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		release, err := tryLock(path)
		if !errors.Is(err, infra.ErrLocked) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-ticker.C:
		}
	}
}

func tryLock(path string) (func() error, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		defer func() { _ = file.Close() }()
		return nil, fmt.Errorf("%s: %w%s", path, infra.ErrLocked, holder(file))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	if !stillAt(path, file) {
		// Its last holder removed it between our open and our lock: this lock is on nothing.
		return nil, errors.Join(fmt.Errorf("%s: %w", path, infra.ErrLocked), file.Close())
	}
	if err := sign(file); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return func() error { return errors.Join(os.Remove(path), file.Close()) }, nil
}

// stillAt tells whether path is this open file.
func stillAt(path string, file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(opened, there)
}

// sign writes down who holds the lock, for the message to those who do not get it.
func sign(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	return err
}

func holder(file *os.File) string {
	id, err := io.ReadAll(io.LimitReader(file, 20))
	if err != nil || len(id) == 0 {
		return ""
	}
	return " (process " + strings.TrimSpace(string(id)) + ")"
}
