//go:build linux

package uml

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"plimsoll/infra"
	"plimsoll/infra/disk"
	"plimsoll/infra/uml/vhost"
)

// disks are the volumes that a machine has.
type disks struct {
	monitor *monitor
	mu      sync.Mutex
	slots   [slots]*attached
}

// attached is a volume in a slot.
type attached struct {
	id     string
	disk   *disk.Disk
	cancel context.CancelFunc // takes it away from a machine that does not answer
	over   chan struct{}      // closed when the machine has let go
}

// plug serves a volume in a free slot. The machine has then to be told to look at it.
func (d *disks) plug(id, path string, c disk.Conditions) (slot int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	slot = -1
	for i, a := range d.slots {
		if a != nil && a.id == id {
			if a.disk.Conditions().Gone { // a detach by force that was cut off
				a.disk.Set(c)
			}
			return i, nil
		}
		if a == nil && slot < 0 {
			slot = i
		}
	}
	if slot < 0 {
		return -1, fmt.Errorf("the machine already has %d volumes, which is the maximum", slots)
	}
	volume, err := disk.Open(path, infra.VolumeSerial(id))
	if err != nil {
		return -1, err
	}
	volume.Set(c)
	l, err := listen("unix", slotFile(slot))
	if err != nil {
		return -1, errors.Join(err, volume.Close())
	}
	ctx, cancel := context.WithCancel(d.monitor.ctx)
	a := &attached{id: id, disk: volume, cancel: cancel, over: make(chan struct{})}
	d.slots[slot] = a
	d.monitor.around.Go(func() {
		defer close(a.over)
		defer cancel()
		a.serve(ctx, l)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.slots[slot] = nil
	})
	return slot, nil
}

// serve waits for the kernel and answers it until it lets go.
func (a *attached) serve(ctx context.Context, l *net.UnixListener) {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	conn, err := l.AcceptUnix()
	stop()
	_ = l.Close() // one machine, once
	if err == nil {
		if err = vhost.Serve(ctx, conn, a.disk); err != nil {
			fmt.Fprintf(os.Stderr, "volume %s: %v\n", a.id, err)
		}
		_ = conn.Close() // the machine has let go
	}
	if err := a.disk.Close(); err != nil {
		fmt.Fprintf(os.Stderr, "volume %s: %v\n", a.id, err)
	}
}

// find returns a volume and its slot.
func (d *disks) find(id string) (*attached, int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, a := range d.slots {
		if a != nil && a.id == id {
			return a, i, nil
		}
	}
	return nil, -1, fmt.Errorf("%s: %w", id, infra.ErrNotAttached)
}
