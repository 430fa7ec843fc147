//go:build linux

package forgetful

import (
	"context"
	"os"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// handle is a file that a program has open.
type handle struct {
	*File
	file  *os.File // beneath
	eager bool     // every write is synced: O_SYNC, O_DSYNC
}

var (
	_ fs.FileReader    = (*handle)(nil)
	_ fs.FileWriter    = (*handle)(nil)
	_ fs.FileFsyncer   = (*handle)(nil)
	_ fs.FileFlusher   = (*handle)(nil)
	_ fs.FileReleaser  = (*handle)(nil)
	_ fs.FileGetattrer = (*handle)(nil)
	_ fs.FileLseeker   = (*handle)(nil)
	_ fs.FileAllocater = (*handle)(nil)
)

func (h *handle) Read(_ context.Context, into []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	return fuse.ReadResultFd(h.file.Fd(), offset, len(into)), 0
}

func (h *handle) Write(_ context.Context, data []byte, offset int64) (uint32, syscall.Errno) {
	n, err := h.File.Write(h.file, data, offset)
	if err == nil && h.eager {
		err = h.sync(true)
	}
	return uint32(n), fs.ToErrno(err)
}

func (h *handle) Fsync(_ context.Context, flags uint32) syscall.Errno {
	return fs.ToErrno(h.sync(flags&dataOnly != 0))
}

// dataOnly is FUSE_FSYNC_FDATASYNC of linux/fuse.h: what fdatasync(2) asks for.
const dataOnly = 1

// sync costs what it costs on the disk beneath.
func (h *handle) sync(fdatasync bool) error {
	return h.Sync(func() error {
		if fdatasync {
			return unix.Fdatasync(int(h.file.Fd()))
		}
		return unix.Fsync(int(h.file.Fd()))
	})
}

// Flush is told of every close and promises nothing about durability.
func (h *handle) Flush(context.Context) syscall.Errno { return 0 }

func (h *handle) Release(context.Context) syscall.Errno {
	h.Close()
	return fs.ToErrno(h.file.Close())
}

func (h *handle) Getattr(_ context.Context, out *fuse.AttrOut) syscall.Errno {
	stat, err := statOf(h.file)
	if err != nil {
		return fs.ToErrno(err)
	}
	out.FromStat(stat)
	return 0
}

func (h *handle) Lseek(_ context.Context, offset uint64, whence uint32) (uint64, syscall.Errno) {
	n, err := unix.Seek(int(h.file.Fd()), int64(offset), int(whence))
	return uint64(n), fs.ToErrno(err)
}

func (h *handle) Allocate(_ context.Context, offset, size uint64, mode uint32) syscall.Errno {
	return fs.ToErrno(h.File.Allocate(h.file, mode, int64(offset), int64(size)))
}

// dirStream is what the loopback's open folder can do.
type dirStream interface {
	fs.DirStream
	fs.FileReaddirenter
	fs.FileReleasedirer
	fs.FileSeekdirer
	fs.FileFsyncdirer
}

// openFolder is a folder that a program has open.
type openFolder struct {
	dirStream
	volume *Volume
}

func (n *node) OpendirHandle(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	h, how, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if stream, is := h.(dirStream); is {
		return openFolder{stream, n.volume}, how, errno
	}
	return h, how, errno
}

func (o openFolder) Fsyncdir(ctx context.Context, flags uint32) syscall.Errno {
	return fs.ToErrno(o.volume.SyncNames(func() error {
		if errno := o.dirStream.Fsyncdir(ctx, flags); errno != 0 {
			return errno
		}
		return nil
	}))
}
