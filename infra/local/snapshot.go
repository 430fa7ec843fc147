//go:build linux

package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/infra"
)

// Snapshot reads small files that match patterns. A file that the kernel does not give before ctx ends is left to a thread that waits for it.
func (Machine) Snapshot(ctx context.Context, patterns ...string) (infra.Snapshot, error) {
	return snapshot(ctx, patterns, read)
}

func snapshot(ctx context.Context, patterns []string, read func(name string, most int) (infra.File, error)) (infra.Snapshot, error) {
	type taken struct {
		infra.Snapshot
		err error
	}
	var at atomic.Value // what is being read
	at.Store("")
	done := make(chan taken, 1)
	go func() {
		s, err := readAll(ctx, patterns, func(name string, most int) (infra.File, error) {
			at.Store(name)
			return read(name, most)
		})
		done <- taken{s, err}
	}()
	select {
	case t := <-done:
		return t.Snapshot, t.err
	case <-ctx.Done():
		return infra.Snapshot{}, fmt.Errorf("read files, the last of them %q: %w", at.Load(), context.Cause(ctx))
	}
}

func readAll(ctx context.Context, patterns []string, read func(name string, most int) (infra.File, error)) (infra.Snapshot, error) {
	s := infra.Snapshot{Now: time.Now()}
	in := folders{}
	left := infra.MostSnapshot
	for _, pattern := range patterns {
		paths, err := in.matches(pattern)
		if err != nil {
			return s, fmt.Errorf("read %s: %w", pattern, err)
		}
		for _, name := range paths {
			if ctx.Err() != nil {
				return s, context.Cause(ctx)
			}
			f, err := read(name, left)
			if errors.Is(err, errTooMuch) {
				return s, fmt.Errorf("read %s: the files hold more than %d bytes together", name, infra.MostSnapshot)
			}
			if absent(err) {
				continue
			}
			if err != nil {
				f.Error = err.Error()
			}
			left -= len(f.Content)
			s.Files = append(s.Files, f)
		}
	}
	return s, nil
}

// absent says of an error that a file is not there, is not for us, or has nothing to tell: some of /sys answer so while a device goes or is idle.
func absent(err error) bool {
	return slices.ContainsFunc([]error{fs.ErrNotExist, fs.ErrPermission, unix.ENOTDIR, unix.ENODEV, unix.EINVAL}, func(kind error) bool { return errors.Is(err, kind) })
}

// folders are the names in folders that were read.
type folders map[string][]string

// matches are the paths that match a pattern, and perhaps some that are not there: a folder is read only where the pattern leaves a name
// open. As in a shell, a name that begins with a dot is matched by a dot only.
func (in folders) matches(pattern string) ([]string, error) {
	if !path.IsAbs(pattern) {
		return nil, errors.New("the path is not absolute")
	}
	paths := []string{""}
	for part := range strings.SplitSeq(pattern[1:], "/") {
		var next []string
		for _, at := range paths {
			if !strings.ContainsAny(part, `*?[\`) {
				next = append(next, at+"/"+part)
				continue
			}
			for _, name := range in.names(at + "/") {
				fits, err := path.Match(part, name)
				if err != nil {
					return nil, err
				}
				if fits && (name[0] != '.' || part[0] == '.') {
					next = append(next, at+"/"+name)
				}
			}
		}
		paths = next
	}
	return paths, nil
}

// names are those in a folder, sorted; none if it cannot be read.
func (in folders) names(at string) []string {
	names, known := in[at]
	if !known {
		if folder, err := os.Open(at); err == nil {
			names, _ = folder.Readdirnames(-1)
			_ = folder.Close()
			slices.Sort(names)
		}
		in[at] = names
	}
	return names
}

var errTooMuch = errors.New("too much to read")

// read reads a file of at most so many bytes. It opens regular files only: opening a device may ask a disk.
func read(name string, most int) (infra.File, error) {
	f := infra.File{Path: name}
	info, err := os.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if f.Target, err = filepath.EvalSymlinks(name); err == nil {
			info, err = os.Lstat(f.Target)
		}
	}
	if err != nil {
		return f, err
	}
	f.Changed = info.ModTime()
	if info.Mode().IsRegular() {
		f.Content, err = content(name, most)
	}
	return f, err
}

// content reads past Go's poller, which would be told of each file of /sys first.
func content(name string, most int) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	for errors.Is(err, unix.EINTR) {
		fd, err = unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	var all bytes.Buffer
	for page := make([]byte, 4096); ; {
		n, err := unix.Read(fd, page)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, err
		case n == 0:
			return all.Bytes(), nil
		case all.Len()+n > most:
			return nil, errTooMuch
		default:
			_, _ = all.Write(page[:n])
		}
	}
}
