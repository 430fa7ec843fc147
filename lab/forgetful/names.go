//go:build linux

package forgetful

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Made tells that a file, folder or link of this path was made by what make does.
func (v *Volume) Made(path string, make func() error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := make(); err != nil {
		return err
	}
	v.note(func() error { return os.Remove(path) }, nil)
	return nil
}

// Remove removes a file, which those who have it open keep.
func (v *Volume) Remove(path string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	kept := v.keepAt()
	if err := os.Rename(path, kept); err != nil {
		return bare(err)
	}
	v.note(func() error { return os.Rename(kept, path) }, func() error { return v.discard(kept) })
	return nil
}

// discard removes what was kept in case that it comes back, and with its last name all that is known of it.
func (v *Volume) discard(kept string) error {
	info, err := os.Lstat(kept)
	if err != nil {
		return err
	}
	if stat := info.Sys().(*syscall.Stat_t); stat.Nlink == 1 {
		v.mu.Lock()
		id := identity{stat.Dev, stat.Ino}
		if f := v.files[id]; f != nil {
			f.vanish()
			if f.users == 0 {
				delete(v.files, id)
			}
		}
		v.mu.Unlock()
	}
	return os.Remove(kept)
}

// RemoveFolder removes an empty folder.
func (v *Volume) RemoveFolder(path string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	info, err := os.Lstat(path)
	if err != nil {
		return bare(err)
	}
	if err := unix.Rmdir(path); err != nil {
		return err
	}
	v.note(func() error { return os.Mkdir(path, info.Mode().Perm()) }, nil)
	return nil
}

// Rename is renameat2(2): it replaces what has the new name, or, by its flags, does not, or exchanges both.
func (v *Volume) Rename(from, to string, flags uint) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	back := func() error { return unix.Renameat2(unix.AT_FDCWD, to, unix.AT_FDCWD, from, flags) }
	kept := ""
	if flags == 0 {
		var err error
		if kept, err = v.keepReplaced(to); err != nil {
			return err
		}
	}
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags); err != nil {
		if kept != "" {
			_ = os.Remove(kept) // a second name of what is still there
		}
		return err
	}
	if kept == "" {
		v.note(back, nil)
		return nil
	}
	v.note(func() error { return errors.Join(back(), os.Rename(kept, to)) }, func() error { return v.discard(kept) })
	return nil
}

// keepReplaced gives a file that a rename replaces another name, "" if there is none. An empty folder can be made again.
func (v *Volume) keepReplaced(path string) (string, error) {
	info, err := os.Lstat(path)
	kept := v.keepAt()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case err != nil:
		return "", bare(err)
	case info.IsDir():
		return kept, os.Mkdir(kept, info.Mode().Perm())
	}
	return kept, bare(os.Link(path, kept))
}

func (v *Volume) keepAt() string {
	v.removed++
	return filepath.Join(v.aside, strconv.Itoa(v.removed))
}

func (v *Volume) note(undo, settle func() error) {
	v.changes = append(v.changes, change{undo, settle})
}

// SyncNames runs a sync. What names were changed before it is durable when it succeeds.
func (v *Volume) SyncNames(sync func() error) error {
	v.mu.Lock()
	through := v.settled + len(v.changes)
	v.mu.Unlock()
	if err := sync(); err != nil {
		return err
	}
	v.mu.Lock()
	n := max(through-v.settled, 0)
	durable := v.changes[:n:n]
	v.changes = v.changes[n:]
	v.settled += n
	v.mu.Unlock()
	for _, c := range durable {
		if c.settle != nil {
			_ = c.settle() // what stays in aside only takes room, until the volume is closed
		}
	}
	return nil
}

// bare is the system's own error, which is what a file system answers with.
func bare(err error) error {
	var number unix.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}
