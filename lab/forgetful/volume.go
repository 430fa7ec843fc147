//go:build linux

package forgetful

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
)

// Volume watches over the files of one folder. It is safe for concurrent use.
type Volume struct {
	aside string

	mu      sync.Mutex // taken before any File's
	files   map[identity]*File
	changes []change // of names, not durable yet, oldest first
	settled int      // changes that came before these
	removed int      // numbers the files in aside
}

// identity tells files apart whatever they are called.
type identity struct{ device, inode uint64 }

// change is one change of names.
type change struct {
	undo   func() error
	settle func() error // when it is durable; may be nil
}

// NewVolume watches over files of the file system that the folder aside lies on. Aside is emptied, and holds what was
// removed and may come back.
func NewVolume(aside string) (*Volume, error) {
	if err := os.RemoveAll(aside); err != nil {
		return nil, fmt.Errorf("empty the folder for removed files: %w", err)
	}
	if err := os.Mkdir(aside, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for removed files: %w", err)
	}
	return &Volume{aside: aside, files: map[identity]*File{}}, nil
}

// Open begins to watch over an open file, which can be read if it can be written. Every Open needs a Close of the File.
func (v *Volume) Open(file *os.File) (*File, error) {
	stat, err := statOf(file)
	if err != nil {
		return nil, err
	}
	id := identity{stat.Dev, stat.Ino}
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.files[id]
	if f == nil {
		f = &File{volume: v, id: id}
		v.files[id] = f
	}
	f.users++
	return f, nil
}

// release drops a file of which nothing needs to be known any more.
func (v *Volume) release(f *File, users int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f.users -= users
	if f.users == 0 && f.durable() {
		delete(v.files, f.id)
	}
}

// Forget puts all back that was not synced. Nobody may use the files meanwhile.
func (v *Volume) Forget() (Forgotten, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all Forgotten
	var errs []error
	for _, f := range v.files {
		bytes, err := f.forget()
		if bytes > 0 {
			all.Files++
			all.Bytes += bytes
		}
		errs = append(errs, err)
	}
	for i := len(v.changes) - 1; i >= 0; i-- {
		errs = append(errs, v.changes[i].undo())
	}
	all.Names = len(v.changes)
	v.settled += len(v.changes)
	v.changes = nil
	return all, errors.Join(errs...)
}

// Close gives up what could be forgotten: all stays as it is.
func (v *Volume) Close() error { return os.RemoveAll(v.aside) }

func statOf(file *os.File) (*syscall.Stat_t, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return info.Sys().(*syscall.Stat_t), nil
}
