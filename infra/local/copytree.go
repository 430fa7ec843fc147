//go:build linux

package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// CopyTree makes to a copy of the folder from: files, folders, symbolic and hard links, with modes, owners, times and
// holes. Sockets, pipes and devices are left out: they belong to a program that runs, not to its data.
func (Machine) CopyTree(ctx context.Context, from, to string) error {
	info, err := os.Stat(from)
	if err == nil && !info.IsDir() {
		err = errors.New("not a folder")
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	fresh := filepath.Clean(to) + ".copying" // one killed half-way left it under this name
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	c := copier{links: map[inode]string{}}
	if err := c.copy(ctx, from, fresh); err != nil {
		return errors.Join(fmt.Errorf("copy %s: %w", from, err), os.RemoveAll(fresh))
	}
	if err := exchange(fresh, to); err != nil {
		return errors.Join(fmt.Errorf("put the copy of %s in place: %w", from, err), os.RemoveAll(fresh))
	}
	if err := os.RemoveAll(fresh); err != nil { // the old tree by now
		return fmt.Errorf("%s is a whole copy, but what it replaced is left in %s: %w", to, fresh, err)
	}
	return nil
}

// copier copies one tree: first the folders, then the files side by side, then what must come last.
type copier struct {
	files   []entry
	hard    []entry // further names of a file; from is its first copy
	folders []entry // parents first
	links   map[inode]string
}

type entry struct {
	from, to string
	info     fs.FileInfo
}

type inode struct{ device, number uint64 }

func (c *copier) copy(ctx context.Context, from, to string) error {
	if err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return c.visit(path, filepath.Join(to, relative), d)
	}); err != nil {
		return err
	}
	if err := c.copyFiles(ctx); err != nil {
		return err
	}
	for _, e := range c.hard {
		if err := os.Link(e.from, e.to); err != nil {
			return err
		}
	}
	// Folders last and from the leaves up: filling one changes its time, and its mode may forbid it.
	for _, e := range slices.Backward(c.folders) {
		if err := dress(e); err != nil {
			return err
		}
	}
	return flush(to)
}

// visit makes what costs nothing and notes what is to be copied.
func (c *copier) visit(from, to string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	e := entry{from, to, info}
	switch {
	case d.IsDir():
		c.folders = append(c.folders, e)
		return os.Mkdir(to, 0o700)
	case d.Type() == fs.ModeSymlink:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if err := os.Symlink(target, to); err != nil {
			return err
		}
		return own(e)
	case d.Type().IsRegular():
		if s := info.Sys().(*syscall.Stat_t); s.Nlink > 1 {
			key := inode{s.Dev, s.Ino}
			if first, seen := c.links[key]; seen {
				c.hard = append(c.hard, entry{first, to, info})
				return nil
			}
			c.links[key] = to
		}
		c.files = append(c.files, e)
	}
	return nil
}

// copyFiles copies the files, the largest first so that none is left alone at the end, a few at a time.
func (c *copier) copyFiles(ctx context.Context) error {
	slices.SortStableFunc(c.files, func(a, b entry) int { return cmp.Compare(b.info.Size(), a.info.Size()) })
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan entry)
	var workers sync.WaitGroup
	for range min(2*runtime.NumCPU(), 8) {
		workers.Go(func() {
			for e := range work {
				if err := copyFile(ctx, e); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, e := range c.files {
		if ctx.Err() != nil {
			break
		}
		work <- e
	}
	close(work)
	workers.Wait()
	return context.Cause(ctx)
}

// dress gives a copy the owner, mode and times of its original.
func dress(e entry) error {
	if err := own(e); err != nil {
		return err
	}
	if err := os.Chmod(e.to, e.info.Mode()); err != nil {
		return err
	}
	return os.Chtimes(e.to, e.info.ModTime(), e.info.ModTime())
}

// own gives a copy to the original's owner, which only root may do; another user's copy is its own.
func own(e entry) error {
	if os.Geteuid() != 0 {
		return nil
	}
	s := e.info.Sys().(*syscall.Stat_t)
	return os.Lchown(e.to, int(s.Uid), int(s.Gid))
}

// flush brings the file system to disk. What is copied just before a measurement must not be written during it.
func flush(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(folder.Fd())), folder.Close())
}

// exchange puts fresh in the place of to, and what was there in the place of fresh.
func exchange(fresh, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE)
	switch {
	case errors.Is(err, fs.ErrNotExist): // nothing to replace
		return os.Rename(fresh, to)
	case !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS):
		return err
	}
	// A file system that cannot exchange: between the two names there is a moment without either.
	old := fresh + ".old"
	if err := os.Rename(to, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, to); err != nil {
		return errors.Join(err, os.Rename(old, to))
	}
	return os.Rename(old, fresh)
}
