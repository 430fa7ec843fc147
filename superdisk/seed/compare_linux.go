package seed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	again   = 5                      // times that a page which differs is read, before it counts
	between = 500 * time.Millisecond // two of these times
	most    = 1 << 14                // pages that are read again: more are not a write that is under way
	named   = 5                      // files
)

// compare reads what the file system uses from both legs. A page that differs while it is written is the same a moment later, or is another by
// then: only one that differs and stays as it is on both counts. Then it finds out whose pages these are.
func (o Order) compare(ctx context.Context, all []Extent, pace *bucket, report func(Report)) (Report, error) {
	state := Report{Used: total(all), Left: total(all)}
	c, err := openBoth(o)
	if err != nil {
		return state, err
	}
	defer c.close()
	report(state)
	var pages []int64
	for _, e := range merge(all, 0, 0) {
		for e.Length > 0 {
			n := min(e.Length, piece)
			if err := pace.take(ctx, 2*n); err != nil {
				return state, err
			}
			found, err := c.differing(Extent{e.Start, n})
			if err != nil {
				return state, err
			}
			pages = append(pages, found...)
			e.Start, e.Length = e.Start+n, e.Length-n
			state.Passed, state.Copied, state.Left = e.Start, state.Copied+n, max(0, state.Left-n)
			report(state)
		}
	}
	if pages, err = c.lasting(ctx, pages); err != nil {
		return state, err
	}
	state.Differ, err = whose(o.Mount, pages)
	return state, err
}

// openBoth opens both legs to be read past the page cache.
func openBoth(o Order) (*copying, error) {
	c := &copying{offset: o.Offset}
	for i := range 2 {
		c.buffers[i] = aligned(piece)
	}
	var err error
	if c.source, err = os.OpenFile(o.Source, os.O_RDONLY|unix.O_DIRECT, 0); err != nil {
		return nil, fmt.Errorf("open a leg: %w", err)
	}
	if c.target, err = os.OpenFile(o.Target, os.O_RDONLY|unix.O_DIRECT, 0); err != nil {
		_ = c.source.Close()
		return nil, fmt.Errorf("open a leg: %w", err)
	}
	return c, nil
}

// read reads a range of both legs.
func (c *copying) read(e Extent) (one, other []byte, err error) {
	n := (e.Length + page - 1) / page * page
	one, other = c.buffers[0][:n], c.buffers[1][:n]
	if _, err = c.source.ReadAt(one, c.offset+e.Start); err == nil {
		_, err = c.target.ReadAt(other, c.offset+e.Start)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read a leg at byte %d: %w", c.offset+e.Start, err)
	}
	return one, other, nil
}

// differing are the pages of a range, by where they begin, that are not the same on both legs.
func (c *copying) differing(e Extent) (pages []int64, err error) {
	one, other, err := c.read(e)
	if err != nil {
		return nil, err
	}
	for at := 0; at < len(one); at += page {
		if !bytes.Equal(one[at:at+page], other[at:at+page]) {
			pages = append(pages, e.Start+int64(at))
		}
	}
	return pages, nil
}

// lasting are those pages that differ each time they are read, and are each time what they were before.
func (c *copying) lasting(ctx context.Context, pages []int64) ([]int64, error) {
	if len(pages) > most {
		return pages, nil
	}
	before := map[int64]string{}
	for range again {
		if len(pages) == 0 {
			return nil, nil
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		var kept []int64
		for _, at := range pages {
			one, other, err := c.read(Extent{at, page})
			if err != nil {
				return nil, err
			}
			if is := string(one) + string(other); !bytes.Equal(one, other) && (before[at] == "" || before[at] == is) {
				before[at], kept = is, append(kept, at)
			}
		}
		pages = kept
	}
	return pages, nil
}

// whose counts the pages by what they belong to.
func whose(mount string, pages []int64) (*Differ, error) {
	d := &Differ{}
	if len(pages) == 0 {
		return d, nil
	}
	slices.Sort(pages)
	kind := make([]uint8, len(pages)) // 0: of no file, 1: of a file, not written yet, 2: of a file
	root, err := os.Stat(mount)
	if err != nil {
		return d, err
	}
	err = filepath.WalkDir(mount, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed meanwhile
		case err != nil:
			return err
		case entry.IsDir():
			if is, err := entry.Info(); err == nil && !sameDevice(is, root) {
				return filepath.SkipDir // another file system is mounted there
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		}
		extents, err := extentsOf(at)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("find out where %s lies: %w", at, err)
		}
		hit := false
		for _, e := range extents {
			first, _ := slices.BinarySearch(pages, e.Start)
			for i := first; i < len(pages) && pages[i] < e.Start+e.Length; i++ {
				if e.unwritten {
					kind[i] = max(kind[i], 1)
				} else {
					kind[i], hit = 2, true
				}
			}
		}
		if hit && len(d.Files) < named {
			d.Files = append(d.Files, strings.TrimPrefix(strings.TrimPrefix(at, mount), "/"))
		}
		return nil
	})
	for _, k := range kind {
		switch k {
		case 0:
			d.Other += page
		case 1:
			d.Unused += page
		case 2:
			d.InFiles += page
		}
	}
	return d, err
}

func sameDevice(one, other fs.FileInfo) bool {
	a, isA := one.Sys().(*syscall.Stat_t)
	b, isB := other.Sys().(*syscall.Stat_t)
	return isA && isB && a.Dev == b.Dev
}

// The interface FS_IOC_FIEMAP of the kernel's include/uapi/linux/fiemap.h: where the data of a file lies.
const (
	getFileMap      = 0xc020660b
	fileLast        = 0x1
	fileUnknown     = 0x2
	fileDelayed     = 0x4
	fileUnwritten   = 0x800
	fileExtentsOnce = 256
)

type fileMap struct {
	start, length                uint64
	flags, mapped, count, unused uint32
	extents                      [fileExtentsOnce]struct {
		logical, physical, length uint64
		_                         [2]uint64
		flags                     uint32
		_                         [3]uint32
	}
}

type fileExtent struct {
	Extent
	unwritten bool
}

// extentsOf lists where a file's data lies on the array.
func extentsOf(name string) ([]fileExtent, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []fileExtent
	m := &fileMap{length: ^uint64(0), count: fileExtentsOnce}
	for {
		m.mapped = 0
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), getFileMap, uintptr(unsafe.Pointer(m))); errno != 0 {
			return nil, errno
		}
		if m.mapped == 0 {
			return all, nil
		}
		for _, e := range m.extents[:m.mapped] {
			if e.flags&(fileUnknown|fileDelayed) == 0 {
				all = append(all, fileExtent{Extent{int64(e.physical), int64(e.length)}, e.flags&fileUnwritten != 0})
			}
		}
		last := m.extents[m.mapped-1]
		if last.flags&fileLast != 0 {
			return all, nil
		}
		m.start = last.logical + last.length
		m.length = ^uint64(0) - m.start
	}
}
