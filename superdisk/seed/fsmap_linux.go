package seed

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The interface FS_IOC_GETFSMAP of the kernel's include/uapi/linux/fsmap.h: which blocks of a mounted file system are used
// by what, sorted by where they lie. XFS and ext4 answer it.
const (
	getFSMap    = 0xc0c0583b
	specialFlag = 0x10
	lastFlag    = 0x20
	ownerFree   = 1
	atOnce      = 1024
)

type fsmapRecord struct {
	device, flags                   uint32
	physical, owner, offset, length uint64
	_                               [3]uint64
}

type fsmapHead struct {
	inFlags, outFlags, count, entries uint32
	_                                 [6]uint64
	keys                              [2]fsmapRecord
	records                           [atOnce]fsmapRecord
}

// used lists what the file system at a mount uses, in the order of the device.
func used(mount string) ([]Extent, error) {
	f, err := os.Open(mount)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Extent
	var device uint32
	h := &fsmapHead{count: atOnce}
	h.keys[1] = fsmapRecord{device: ^uint32(0), flags: ^uint32(0), physical: ^uint64(0), owner: ^uint64(0), offset: ^uint64(0)}
	for {
		h.entries = 0
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), getFSMap, uintptr(unsafe.Pointer(h))); errno != 0 {
			return nil, fmt.Errorf("read the used blocks of the file system at %s: %w", mount, errno)
		}
		for _, r := range h.records[:h.entries] {
			if device == 0 {
				device = r.device
			}
			if r.device != device {
				return nil, errors.New("the file system has a log or real-time device of its own beside the array")
			}
			if r.flags&specialFlag != 0 && uint32(r.owner) == ownerFree && r.owner>>32 == 0 {
				continue
			}
			all = append(all, Extent{int64(r.physical), int64(r.length)})
		}
		if h.entries == 0 || h.records[h.entries-1].flags&lastFlag != 0 {
			return all, nil
		}
		h.keys[0] = h.records[h.entries-1]
	}
}
