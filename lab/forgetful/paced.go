//go:build linux

package forgetful

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"plimsoll/infra/disk/pace"
)

// paced holds the requests of a file system to the limits of a disk. What the kernel caches asks nothing of it. A direct write, or one
// that is synced, is a request at once; others are one when they are synced, or when so much has been written that the kernel would
// hand it on.
type paced struct {
	fuse.RawFileSystem
	pacer         *pace.Pacer
	reads, writes atomic.Int64

	mu    sync.Mutex
	dirty map[uint64]int // bytes by node, written and not asked of the disk yet
}

func newPaced(over fuse.RawFileSystem) *paced {
	return &paced{RawFileSystem: over, pacer: pace.New(pace.Limits{}), dirty: map[uint64]int{}}
}

// whole is how much is written to a disk in one request.
const whole = 256 << 10

func (p *paced) Read(cancel <-chan struct{}, in *fuse.ReadIn, into []byte) (fuse.ReadResult, fuse.Status) {
	p.reads.Add(1)
	p.wait(int(in.Size))
	return p.RawFileSystem.Read(cancel, in, into)
}

// Writev is asked first for every write; where it is not known, Write is, which waits no second time.
func (p *paced) Writev(cancel <-chan struct{}, in *fuse.WriteIn, data [][]byte) (uint32, fuse.Status) {
	ask := int(in.Size)
	if in.Flags&(unix.O_DIRECT|unix.O_SYNC|unix.O_DSYNC) == 0 {
		ask = p.later(in.NodeId, ask)
	}
	if ask > 0 {
		p.writes.Add(1)
		p.wait(ask)
	}
	return p.RawFileSystem.Writev(cancel, in, data)
}

func (p *paced) Fsync(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	p.mu.Lock()
	ask := p.dirty[in.NodeId]
	delete(p.dirty, in.NodeId)
	p.mu.Unlock()
	if ask > 0 {
		p.writes.Add(1)
		p.wait(ask)
	}
	return p.RawFileSystem.Fsync(cancel, in)
}

func (p *paced) Forget(node, lookups uint64) {
	p.mu.Lock()
	delete(p.dirty, node)
	p.mu.Unlock()
	p.RawFileSystem.Forget(node, lookups)
}

// later books what is written to a node's file, and returns what of it has to be asked of the disk now.
func (p *paced) later(node uint64, bytes int) (ask int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirty[node] += bytes
	if p.dirty[node] >= whole {
		ask = p.dirty[node]
		delete(p.dirty, node)
	}
	return ask
}

// wait returns when the disk may answer. A signal to the process that asked does not end it, as it would not on a disk: servers take
// a write that was interrupted for a broken disk and abort, and io_uring interrupts the calls of its own process all the time.
func (p *paced) wait(bytes int) {
	_ = p.pacer.Wait(context.Background(), bytes) // which is never done
}

// follow takes up what the disk's file says, now and whenever it changes, and writes the state down, until it is told to stop.
func (p *paced) follow(at Paths) (stop func() error, err error) {
	var was DiskState
	_ = readJSON(at.State, &was) // the first has none
	var now Disk
	take := func() error {
		var d Disk
		if err := readJSON(at.Disk, &d); err != nil {
			return fmt.Errorf("read the disk's settings: %w", err)
		}
		if d.ID == now.ID && now.ID != "" {
			return nil
		}
		if now.ID != "" {
			was = p.state(now)
		}
		p.pacer.Set(d.Limits)
		p.pacer.SetCredits(d.credits(was, time.Now()))
		now = d
		return replace(at.State, p.state(now))
	}
	if err := take(); err != nil {
		return nil, err
	}
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		look, write := time.NewTicker(100*time.Millisecond), time.NewTicker(time.Second)
		defer look.Stop()
		defer write.Stop()
		changed := modified(at.Disk)
		for {
			select {
			case <-look.C:
				if at := modified(at.Disk); !at.Equal(changed) {
					changed = at
					_ = take() // a file that cannot be read is read again when it changes
				}
			case <-write.C:
				_ = replace(at.State, p.state(now)) // written again in a second
			case <-done:
				ended <- replace(at.State, p.state(now))
				return
			}
		}
	}()
	return func() error { close(done); return <-ended }, nil
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// state is how the disk is now.
func (p *paced) state(d Disk) DiskState {
	s := DiskState{ID: d.ID, At: time.Now(), Credits: p.pacer.Credits(), Balance: 1, IOPS: d.Limits.IOPS, Reads: p.reads.Load(), Writes: p.writes.Load()}
	if b := d.Limits.Burst; b.Credits > 0 {
		s.Balance = s.Credits / b.Credits
		if s.Credits >= 1 {
			s.IOPS = b.IOPS
		}
	}
	return s
}
