//go:build linux

package forgetful

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// node is a file or folder as the kernel knows it. What only reads goes straight to the folder beneath.
type node struct {
	*fs.LoopbackNode
	volume *Volume
}

var (
	_ fs.NodeWrapChilder    = (*node)(nil)
	_ fs.NodeMknoder        = (*node)(nil)
	_ fs.NodeMkdirer        = (*node)(nil)
	_ fs.NodeSymlinker      = (*node)(nil)
	_ fs.NodeLinker         = (*node)(nil)
	_ fs.NodeUnlinker       = (*node)(nil)
	_ fs.NodeRmdirer        = (*node)(nil)
	_ fs.NodeRenamer        = (*node)(nil)
	_ fs.NodeCreater        = (*node)(nil)
	_ fs.NodeOpener         = (*node)(nil)
	_ fs.NodeOpendirHandler = (*node)(nil)
	_ fs.NodeSetattrer      = (*node)(nil)
	_ fs.NodeTmpfiler       = (*node)(nil)
)

// newRoot is the node of a folder, reached by a path that the mount does not cover.
func newRoot(path string, v *Volume) (*node, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	root := &fs.LoopbackRoot{Path: path, Dev: info.Sys().(*syscall.Stat_t).Dev}
	n := &node{&fs.LoopbackNode{RootData: root}, v}
	root.RootNode = n
	return n, nil
}

// WrapChild makes a node of ours of every one that is found or made.
func (n *node) WrapChild(_ context.Context, found fs.InodeEmbedder) fs.InodeEmbedder {
	return &node{found.(*fs.LoopbackNode), n.volume}
}

// path is the node's own, beneath the mount, or that of a name in it.
func (n *node) path(name ...string) string {
	p := filepath.Join(n.RootData.Path, n.Path(n.Root()))
	return filepath.Join(append([]string{p}, name...)...)
}

// made runs what makes a name here.
func (n *node) made(name string, make func() (*fs.Inode, syscall.Errno)) (child *fs.Inode, errno syscall.Errno) {
	_ = n.volume.Made(n.path(name), func() error {
		if child, errno = make(); errno != 0 {
			return errno
		}
		return nil
	})
	return child, errno
}

func (n *node) Mknod(ctx context.Context, name string, mode, device uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.made(name, func() (*fs.Inode, syscall.Errno) { return n.LoopbackNode.Mknod(ctx, name, mode, device, out) })
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.made(name, func() (*fs.Inode, syscall.Errno) { return n.LoopbackNode.Mkdir(ctx, name, mode, out) })
}

func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.made(name, func() (*fs.Inode, syscall.Errno) { return n.LoopbackNode.Symlink(ctx, target, name, out) })
}

func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.made(name, func() (*fs.Inode, syscall.Errno) { return n.LoopbackNode.Link(ctx, target, name, out) })
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	return fs.ToErrno(n.volume.Remove(n.path(name)))
}

func (n *node) Rmdir(_ context.Context, name string) syscall.Errno {
	return fs.ToErrno(n.volume.RemoveFolder(n.path(name)))
}

func (n *node) Rename(_ context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, ours := parent.(*node)
	if !ours {
		return syscall.EXDEV
	}
	return fs.ToErrno(n.volume.Rename(n.path(name), to.path(newName), uint(flags)))
}

// Create makes a file and opens it. It may have been made by another a moment ago.
func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	path := n.path(name)
	var file *os.File
	err := n.volume.Made(path, func() (err error) {
		file, err = os.OpenFile(path, readable(flags)|os.O_CREATE|os.O_EXCL, os.FileMode(mode&0o7777))
		return bare(err)
	})
	if errors.Is(err, unix.EEXIST) && flags&syscall.O_EXCL == 0 {
		file, err = os.OpenFile(path, readable(flags), 0)
	}
	if err != nil {
		return nil, nil, 0, fs.ToErrno(err)
	}
	child, errno := n.Lookup(ctx, name, out)
	if errno != 0 {
		_ = file.Close() // nothing was written
		return nil, nil, 0, errno
	}
	h, errno := n.handle(file, flags)
	return child, h, openFlags, errno
}

func (n *node) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	file, err := os.OpenFile(n.path(), readable(flags)|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	h, errno := n.handle(file, flags)
	return h, openFlags, errno
}

// openFlags let the kernel keep what it has read of a file, and write to it with several hands where it is not cached.
const openFlags = fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_PARALLEL_DIRECT_WRITES

// readable is how a file is opened beneath: what is overwritten must be read first, and when it is synced is up to us.
func readable(flags uint32) int {
	const ours = syscall.O_APPEND | syscall.O_DIRECT | syscall.O_SYNC | syscall.O_DSYNC | syscall.O_TRUNC | syscall.O_CREAT | syscall.O_EXCL | fuse.FMODE_EXEC
	how := int(flags) &^ (ours | syscall.O_ACCMODE)
	if flags&syscall.O_ACCMODE == syscall.O_RDONLY {
		return how | os.O_RDONLY
	}
	return how | os.O_RDWR
}

func (n *node) handle(file *os.File, flags uint32) (fs.FileHandle, syscall.Errno) {
	f, err := n.volume.Open(file)
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, fs.ToErrno(err)
	}
	h := &handle{File: f, file: file, eager: flags&(syscall.O_SYNC|syscall.O_DSYNC) != 0}
	if flags&syscall.O_TRUNC != 0 && flags&syscall.O_ACCMODE != syscall.O_RDONLY {
		if err := f.Truncate(file, 0); err != nil {
			_ = h.Release(context.Background()) // it is of no use
			return nil, fs.ToErrno(err)
		}
	}
	return h, 0
}

// Setattr changes a file's size as a write; its owner, rights and times are not forgotten.
func (n *node) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if size, given := in.GetSize(); given {
		if errno := n.truncate(h, int64(size)); errno != 0 {
			return errno
		}
		in.Valid &^= fuse.FATTR_SIZE
	}
	ours, is := h.(*handle)
	if !is {
		return n.LoopbackNode.Setattr(ctx, nil, in, out)
	}
	fd, err := unix.FcntlInt(ours.file.Fd(), unix.F_DUPFD_CLOEXEC, 0) // it may have no name any more
	if err != nil {
		return fs.ToErrno(err)
	}
	file := fs.NewLoopbackFileFromOS(os.NewFile(uintptr(fd), ""))
	defer func() { _ = file.Release(ctx) }() // a second descriptor of an open file
	return n.LoopbackNode.Setattr(ctx, file, in, out)
}

func (n *node) truncate(h fs.FileHandle, size int64) syscall.Errno {
	if ours, is := h.(*handle); is {
		return fs.ToErrno(ours.Truncate(ours.file, size))
	}
	file, err := os.OpenFile(n.path(), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fs.ToErrno(err)
	}
	defer file.Close()
	f, err := n.volume.Open(file)
	if err != nil {
		return fs.ToErrno(err)
	}
	defer f.Close()
	return fs.ToErrno(f.Truncate(file, size))
}

// Tmpfile is refused: programs make a file with a name then, and remove it.
func (n *node) Tmpfile(context.Context, uint32, uint32, *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	return nil, nil, 0, syscall.EOPNOTSUPP
}
