//go:build linux

package forgetful

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"plimsoll/hint"
)

// Paths are the folder that a layer is laid over and the files beside it.
type Paths struct {
	Folder string // absolute; the layer is mounted on the folder itself, and when it is gone, the files are there
	Aside  string // made for files that may come back, beside Folder on the same file system
	Report string // file that takes a Forgotten as JSON when all is forgotten
	Disk   string // file with a Disk that requests are held to; "": they are not
	State  string // file that takes its DiskState
}

// End says how a layer ends.
type End int

// The ends of a layer.
const (
	Keep   End = iota // all stays as it is
	Forget            // what was not synced is forgotten
)

// Serve lays the layer over a folder until it is told how to end, or is unmounted by somebody else. It ends when nobody has
// a file open any more. The process that serves a layer must not use its files: it would wait for itself.
func Serve(at Paths, end <-chan End) error {
	beneath, err := os.Open(at.Folder)
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	defer beneath.Close()
	volume, err := NewVolume(at.Aside)
	if err != nil {
		return err
	}
	// Through its descriptor the folder can be reached beneath the mount that covers it.
	root, err := newRoot("/proc/self/fd/"+strconv.Itoa(int(beneath.Fd())), volume)
	if err != nil {
		return fmt.Errorf("look at the folder: %w", err)
	}
	o := options()
	raw, finish := fs.NewNodeFS(root, o), func() error { return nil }
	if at.Disk != "" {
		o.ExtraCapabilities, o.MaxBackground = fuse.CAP_ASYNC_DIO, 256 // requests that wait beside one another, as on a real disk
		p := newPaced(raw)
		if finish, err = p.follow(at); err != nil {
			return err
		}
		raw = p
	}
	server, err := mount(at.Folder, raw, o)
	if err != nil {
		return errors.Join(cannotMount(err), finish())
	}
	gone := make(chan struct{})
	go func() {
		server.Wait()
		close(gone)
	}()
	how := Keep
	select {
	case how = <-end:
		unmount(server, gone)
	case <-gone:
	}
	if err := finish(); err != nil {
		return fmt.Errorf("write the disk's state: %w", err)
	}
	if how == Forget {
		if err := forget(volume, at.Report); err != nil {
			return err
		}
	}
	return volume.Close()
}

func mount(at string, raw fuse.RawFileSystem, o *fs.Options) (*fuse.Server, error) {
	server, err := fuse.NewServer(raw, at, &o.MountOptions)
	if err != nil {
		return nil, err
	}
	go server.Serve() // ends with the mount
	return server, server.WaitMount()
}

func options() *fs.Options {
	long := time.Minute // nobody else changes the files
	return &fs.Options{
		EntryTimeout: &long, AttrTimeout: &long,
		MountOptions: fuse.MountOptions{
			FsName: Name, Name: Name, DirectMount: true, MaxWrite: 1 << 20, MaxBackground: 64, DisableXAttrs: true,
		},
	}
}

// unmount waits until nobody has a file open. What is mapped and not written yet is written by that.
func unmount(server *fuse.Server, gone <-chan struct{}) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if server.Unmount() == nil {
			<-gone
			return
		}
		select {
		case <-gone: // by somebody else
			return
		case <-again.C:
		}
	}
}

func forget(v *Volume, report string) error {
	all, err := v.Forget()
	if err != nil {
		return err
	}
	data, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("report which writes were lost: %w", err)
	}
	if err := os.WriteFile(report+".new", data, 0o600); err != nil {
		return fmt.Errorf("report which writes were lost: %w", err)
	}
	return os.Rename(report+".new", report)
}

func cannotMount(err error) error {
	err = fmt.Errorf("mount a file system of our own: %w", err)
	if errors.Is(err, unix.EPERM) || errors.Is(err, os.ErrPermission) {
		return hint.With(err, "a container needs /dev/fuse and CAP_SYS_ADMIN for this")
	}
	return hint.With(err, "FUSE is needed: /dev/fuse, and root or fusermount3 (package fuse3)")
}
