//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"plimsoll/infra"
)

// Space is what is free where a path lies, and on the machine.
func (Machine) Space(_ context.Context, path string) (infra.Space, error) {
	disk, err := diskFree(path)
	if err != nil {
		return infra.Space{}, fmt.Errorf("free disk at %s: %w", path, err)
	}
	memory, err := memoryFree(os.DirFS("/"))
	if err != nil {
		return infra.Space{}, fmt.Errorf("free memory: %w", err)
	}
	return infra.Space{DiskFree: disk, MemoryFree: memory, Cores: runtime.NumCPU()}, nil
}

// diskFree asks the nearest parent that exists.
func diskFree(path string) (int64, error) {
	var fileSystem unix.Statfs_t
	for {
		err := unix.Statfs(path, &fileSystem)
		if err == nil {
			return int64(fileSystem.Bavail) * fileSystem.Bsize, nil
		}
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return 0, err
		}
		path = parent
	}
}
