//go:build linux

package local

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// copyFile copies one file, by sharing its blocks if the file system can do that.
func copyFile(ctx context.Context, e entry) error {
	from, err := os.Open(e.from)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(e.to, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) != nil {
		err = copyData(ctx, from, to, e)
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return dress(e)
}

// copyData copies what is written in a file and keeps its holes. Space that was reserved stays reserved: a redo log
// whose blocks were allocated beforehand must not have to allocate them during a measurement.
func copyData(ctx context.Context, from, to *os.File, e entry) error {
	size := e.info.Size()
	if allocated := e.info.Sys().(*syscall.Stat_t).Blocks * 512; size > 0 && allocated >= size {
		if err := unix.Fallocate(int(to.Fd()), 0, 0, size); err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
			return &os.PathError{Op: "allocate", Path: e.to, Err: err}
		}
	}
	for at := int64(0); at < size; {
		begin, end, err := nextData(from, at, size)
		if err != nil {
			return err
		}
		if err := copyRange(ctx, from, to, begin, end); err != nil {
			return err
		}
		at = end
	}
	return to.Truncate(size)
}

// nextData returns the next part of a file that is not a hole; begin is size when there is none.
func nextData(f *os.File, at, size int64) (begin, end int64, err error) {
	begin, err = f.Seek(at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return size, size, nil
	case errors.Is(err, unix.EINVAL): // a file system without holes
		return at, size, nil
	case err != nil:
		return 0, 0, err
	}
	end, err = f.Seek(begin, unix.SEEK_HOLE)
	return begin, min(end, size), err
}

// copyRange copies from begin to end inside the kernel where it can (copy_file_range, as os.File.ReadFrom does).
func copyRange(ctx context.Context, from, to *os.File, begin, end int64) error {
	const step = 64 << 20 // between two looks at ctx
	if _, err := from.Seek(begin, io.SeekStart); err != nil {
		return err
	}
	if _, err := to.Seek(begin, io.SeekStart); err != nil {
		return err
	}
	for left := end - begin; left > 0; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := io.CopyN(to, from, min(left, step))
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}
