//go:build linux

package forgetful

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// block is how many bytes are kept together.
const block = 4096

// File is what is known of one file's contents.
type File struct {
	volume *Volume
	id     identity
	users  int // guarded by the volume's lock

	mu     sync.Mutex
	own    *os.File // to put contents back by; nil while there is nothing to forget
	epochs []*epoch // not durable yet, oldest first
	taking bool     // the last epoch takes what is written now; else the next write begins another
	begun  int      // epochs ever
	gone   bool     // it has no name any more, and cannot get one back
}

// epoch is what a file was before the writes between two syncs.
type epoch struct {
	number int
	size   int64
	before map[int64][]byte // by number of block, as far as they reached into size
}

// Close ends the watch of one Open.
func (f *File) Close() { f.volume.release(f, 1) }

// Write writes at an offset.
func (f *File) Write(through *os.File, data []byte, offset int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.keep(through, offset, offset+int64(len(data))); err != nil {
		return 0, err
	}
	n, err := unix.Pwrite(int(through.Fd()), data, offset)
	return max(n, 0), err
}

// Truncate cuts a file off or extends it.
func (f *File) Truncate(through *os.File, size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.keep(through, size, math.MaxInt64); err != nil {
		return err
	}
	return unix.Ftruncate(int(through.Fd()), size)
}

// Allocate is fallocate(2), without moving contents.
func (f *File) Allocate(through *os.File, mode uint32, offset, length int64) error {
	if mode&^(unix.FALLOC_FL_KEEP_SIZE|unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) != 0 {
		return unix.EOPNOTSUPP
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	to := offset // only the size may change
	if mode&(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) != 0 {
		to += length
	}
	if err := f.keep(through, offset, to); err != nil {
		return err
	}
	return unix.Fallocate(int(through.Fd()), mode, offset, length)
}

// Sync makes durable what was written before it was called, by what sync does.
func (f *File) Sync(sync func() error) error {
	f.mu.Lock()
	through := f.begun
	f.taking = false
	f.mu.Unlock()
	if err := f.volume.SyncNames(sync); err != nil {
		return err
	}
	f.mu.Lock()
	for len(f.epochs) > 0 && f.epochs[0].number <= through {
		f.epochs = f.epochs[1:]
	}
	durable := len(f.epochs) == 0
	if durable {
		f.letGo()
	}
	f.mu.Unlock()
	if durable {
		f.volume.release(f, 0)
	}
	return nil
}

// durable tells whether there is nothing to forget.
func (f *File) durable() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.epochs) == 0
}

// forget puts the contents back, and returns how many bytes that changed.
func (f *File) forget() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.epochs) == 0 {
		return 0, nil
	}
	stat, err := statOf(f.own)
	if err != nil {
		return 0, fmt.Errorf("drop the unsynced writes: %w", err)
	}
	size, changed := stat.Size, int64(0)
	var errs []error
	for i := len(f.epochs) - 1; i >= 0; i-- {
		e := f.epochs[i]
		for number, data := range e.before {
			_, err := unix.Pwrite(int(f.own.Fd()), data, number*block)
			errs = append(errs, err)
			changed += int64(len(data))
		}
		errs = append(errs, unix.Ftruncate(int(f.own.Fd()), e.size))
		changed += max(size-e.size, 0)
		size = e.size
	}
	f.epochs, f.taking = nil, false
	f.letGo()
	return changed, errors.Join(errs...)
}

// vanish forgets all that is known of a file whose last name is gone for good.
func (f *File) vanish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.epochs, f.taking, f.gone = nil, false, true
	f.letGo()
}

func (f *File) letGo() {
	if f.own != nil {
		_ = f.own.Close() // it was synced, or is forgotten
		f.own = nil
	}
}

// epoch is the one that takes what is written now.
func (f *File) epoch(through *os.File) (*epoch, error) {
	if f.taking {
		return f.epochs[len(f.epochs)-1], nil
	}
	stat, err := statOf(through)
	if err != nil {
		return nil, err
	}
	if f.own == nil {
		own, err := unix.FcntlInt(through.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		f.own = os.NewFile(uintptr(own), "")
	}
	f.begun++
	e := &epoch{number: f.begun, size: stat.Size, before: map[int64][]byte{}}
	f.epochs, f.taking = append(f.epochs, e), true
	return e, nil
}

// keep keeps what stands between two offsets and is going to be overwritten, once for every epoch.
func (f *File) keep(through *os.File, from, to int64) error {
	if f.gone {
		return nil
	}
	e, err := f.epoch(through)
	if err != nil {
		return err
	}
	last := (min(to, e.size) + block - 1) / block
	for number := from / block; number < last; {
		if e.before[number] != nil {
			number++
			continue
		}
		end := number + 1
		for end < last && e.before[end] == nil {
			end++
		}
		if err := e.read(through, number, end); err != nil {
			return err
		}
		number = end
	}
	return nil
}

// read takes blocks as they are. Where the file has meanwhile become shorter there is nothing to take.
func (e *epoch) read(through *os.File, from, to int64) error {
	data := make([]byte, min(to*block, e.size)-from*block)
	n, err := readAt(int(through.Fd()), data, from*block)
	if err != nil {
		return err
	}
	clear(data[n:])
	for number := from; number < to; number++ {
		length := min(block, len(data))
		e.before[number], data = data[:length:length], data[length:]
	}
	return nil
}

// readAt reads until data is full or the file ends.
func readAt(fd int, data []byte, offset int64) (int, error) {
	n := 0
	for n < len(data) {
		got, err := unix.Pread(fd, data[n:], offset+int64(n))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return n, err
		}
		if got == 0 {
			break
		}
		n += got
	}
	return n, nil
}
