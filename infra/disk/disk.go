//go:build linux

package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"plimsoll/infra/disk/pace"
)

// Disk is a volume in use. It is safe for concurrent use.
type Disk struct {
	serial string
	file   *os.File
	size   int64
	pacer  *pace.Pacer

	mu         sync.Mutex
	conditions Conditions
	changed    chan struct{} // closed when the conditions are others
}

// Open takes a volume's file for this process alone. ErrInUse if another has it.
func Open(path, serial string) (*Disk, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open the volume: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close() // nothing was written
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, fmt.Errorf("take the volume: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Disk{
		serial: serial, file: file, size: info.Size() &^ 511, pacer: pace.New(pace.Limits{}), changed: make(chan struct{}),
	}, nil
}

// Close gives the file back.
func (d *Disk) Close() error { return d.file.Close() }

// Size is that of the volume, in bytes.
func (d *Disk) Size() int64 { return d.size }

// Serial is what the machine tells it by.
func (d *Disk) Serial() string { return d.serial }

// Set gives the volume other conditions, which requests that wait meet too.
func (d *Disk) Set(c Conditions) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.Limits != d.conditions.Limits {
		d.pacer.Set(c.Limits)
	}
	d.conditions = c
	close(d.changed)
	d.changed = make(chan struct{})
}

// Conditions are those that hold now.
func (d *Disk) Conditions() Conditions {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.conditions
}

// Read fills what it is given from an offset on.
func (d *Disk) Read(ctx context.Context, into [][]byte, offset int64) error {
	bytes := length(into)
	if err := d.admit(ctx, offset, bytes, func(r Range) bool { return r.Reads }); err != nil {
		return err
	}
	return d.transfer(into, offset, bytes, unix.Preadv)
}

// Write puts bytes at an offset.
func (d *Disk) Write(ctx context.Context, from [][]byte, offset int64) error {
	bytes := length(from)
	if err := d.admitWrite(ctx, offset, bytes); err != nil {
		return err
	}
	return d.transfer(from, offset, bytes, unix.Pwritev)
}

// Zero frees a range, which reads as zeroes then.
func (d *Disk) Zero(ctx context.Context, offset, bytes int64) error {
	if err := d.admitWrite(ctx, offset, 0); err != nil {
		return err
	}
	if offset < 0 || bytes < 0 || offset+bytes > d.size {
		return errors.New("outside of the volume")
	}
	return unix.Fallocate(int(d.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, bytes)
}

// Flush costs nothing, as on EBS. What was written is in the file: it outlives the machine and this process, though not a loss of
// power here.
func (d *Disk) Flush(ctx context.Context) error {
	return d.meet(ctx, func(Range) bool { return false })
}

// Corrupt overwrites a part of the volume behind the machine's back.
func (d *Disk) Corrupt(offset int64, bytes []byte) error {
	if offset < 0 || offset+int64(len(bytes)) > d.size {
		return fmt.Errorf("%d bytes at %d are not in a volume of %d", len(bytes), offset, d.size)
	}
	_, err := d.file.WriteAt(bytes, offset)
	return err
}

func (d *Disk) admitWrite(ctx context.Context, offset int64, bytes int) error {
	if err := d.admit(ctx, offset, bytes, func(r Range) bool { return r.Writes }); err != nil {
		return err
	}
	if d.Conditions().Full {
		return ErrFull
	}
	return nil
}

// admit returns when a request may be answered, or with what befalls it.
func (d *Disk) admit(ctx context.Context, offset int64, bytes int, is func(Range) bool) error {
	if err := d.pacer.Wait(ctx, bytes); err != nil {
		return err
	}
	return d.meet(ctx, func(r Range) bool {
		return is(r) && offset+int64(bytes) > r.From && (r.To == 0 || offset < r.To)
	})
}

// meet waits while the volume hangs and returns what befalls a request.
func (d *Disk) meet(ctx context.Context, befalls func(Range) bool) error {
	for {
		d.mu.Lock()
		c, changed := d.conditions, d.changed
		d.mu.Unlock()
		switch {
		case c.Gone:
			return ErrGone
		case !c.Hang && slices.ContainsFunc(c.Fail, befalls):
			return ErrBroken
		case !c.Hang:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// transfer reads or writes all of it.
func (d *Disk) transfer(parts [][]byte, offset int64, bytes int, do func(int, [][]byte, int64) (int, error)) error {
	if offset < 0 || offset+int64(bytes) > d.size {
		return errors.New("outside of the volume")
	}
	for bytes > 0 {
		n, err := do(int(d.file.Fd()), parts, offset)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return errors.New("the volume's file is shorter than it was")
		}
		offset, bytes, parts = offset+int64(n), bytes-n, after(parts, n)
	}
	return nil
}

// after is what follows so many bytes.
func after(parts [][]byte, n int) [][]byte {
	for n > 0 && n >= len(parts[0]) {
		n, parts = n-len(parts[0]), parts[1:]
	}
	if n > 0 {
		parts = append([][]byte{parts[0][n:]}, parts[1:]...)
	}
	return parts
}

func length(parts [][]byte) (bytes int) {
	for _, p := range parts {
		bytes += len(p)
	}
	return bytes
}

// SetCredits fills the bucket of a volume that can burst so far.
func (d *Disk) SetCredits(n float64) { d.pacer.SetCredits(n) }
