package seed

import (
	"context"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	piece    = 1 << 20 // of one request
	abreast  = 8       // requests under way
	smallGap = 64 << 10
	page     = 4096
)

// copying is the copy of the used extents from one leg to the other.
type copying struct {
	source, target *os.File
	offset         int64
	pace           *bucket
	report         func(Report)
	state          Report
	buffers        [abreast][]byte
}

// open opens both legs past the page cache, which md does not use for them.
func openLegs(o Order) (*copying, error) {
	source, err := os.OpenFile(o.Source, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return nil, fmt.Errorf("open the leg that serves: %w", err)
	}
	// O_EXCL: a disk that is mounted or a leg of some array is refused by the kernel.
	target, err := os.OpenFile(o.Target, os.O_WRONLY|unix.O_DIRECT|unix.O_EXCL, 0)
	if err != nil {
		_ = source.Close()
		return nil, fmt.Errorf("open the leg that is rebuilt: %w", err)
	}
	c := &copying{source: source, target: target, offset: o.Offset}
	for i := range c.buffers {
		c.buffers[i] = aligned(piece)
	}
	return c, nil
}

func (c *copying) close() { _, _ = c.source.Close(), c.target.Close() }

// aligned is a buffer that direct I/O takes.
func aligned(size int) []byte {
	b := make([]byte, size+page)
	skip := (page - int(uintptr(unsafe.Pointer(&b[0]))%page)) % page
	return b[skip : skip+size]
}

// run copies the extents, in the order of the device, so that one number says how far it is.
func (c *copying) run(ctx context.Context, extents []Extent) error {
	var batch []Extent
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := c.together(ctx, batch); err != nil {
			return err
		}
		last := batch[len(batch)-1]
		c.state.Passed = last.Start + last.Length
		c.state.Copied += total(batch)
		c.state.Left -= total(batch)
		c.report(c.state)
		batch = batch[:0]
		return nil
	}
	for _, e := range extents {
		for e.Length > 0 {
			n := min(e.Length, piece)
			batch = append(batch, Extent{e.Start, n})
			e.Start, e.Length = e.Start+n, e.Length-n
			if len(batch) == abreast || total(batch) >= c.pace.burst() {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if err := c.target.Sync(); err != nil {
		return fmt.Errorf("write out the leg that is rebuilt: %w", err)
	}
	return nil
}

// together copies some pieces side by side.
func (c *copying) together(ctx context.Context, batch []Extent) error {
	if err := c.pace.take(ctx, total(batch)); err != nil {
		return err
	}
	errs := make([]error, len(batch))
	var all sync.WaitGroup
	for i, e := range batch {
		all.Go(func() {
			b := c.buffers[i][:(e.Length+page-1)/page*page]
			if _, err := c.source.ReadAt(b, c.offset+e.Start); err != nil {
				errs[i] = fmt.Errorf("read the leg that serves at byte %d: %w", c.offset+e.Start, err)
				return
			}
			if _, err := c.target.WriteAt(b, c.offset+e.Start); err != nil {
				errs[i] = fmt.Errorf("write the leg that is rebuilt at byte %d: %w", c.offset+e.Start, err)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
