//go:build linux

package vhost

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// queue is the split virtqueue of a device: section 2.7 of the virtio specification.
type queue struct {
	disk  Disk
	alive context.Context // of the device: what is under way fails when it ends

	size   int
	next   uint16 // of the ring of requests, to be taken
	memory *memory
	table  []byte // of descriptors
	ring   []byte // of requests: flags and index, two bytes each, then the heads of chains
	used   []byte // of answers: flags and index, then what was answered, eight bytes each
	kick   *os.File
	call   *os.File

	running sync.WaitGroup
	on      bool

	turn     sync.Mutex // of those who answer
	done     uint16     // answers so far
	reminder *time.Timer
	reminded int // times since the last answer
}

// User-mode Linux may lose an interrupt: a handler that is interrupted by another forgets which other files had something to read, and
// is not told of them again (sigio_handler and its one list of events). Then the kernel would wait for an answer that is there, until
// the next one comes, and md or a file system that waits for it asks nothing more. So the last answer is told of again, a few times.
const (
	firstReminder = 20 * time.Millisecond
	reminders     = 4 // each after five times as long as the one before
)

const (
	descriptorSize = 16
	chained        = 1 // VIRTQ_DESC_F_NEXT
	writable       = 2 // VIRTQ_DESC_F_WRITE
	elsewhere      = 4 // VIRTQ_DESC_F_INDIRECT
	uninterrupted  = 1 // VIRTQ_AVAIL_F_NO_INTERRUPT
)

func (q *queue) setSize(n int) error {
	if n <= 0 || n > 32768 || n&(n-1) != 0 {
		return fmt.Errorf("a queue of %d", n)
	}
	q.size = n
	return nil
}

func (q *queue) setBase(n uint16) { q.next, q.done = n, n }
func (q *queue) base() uint16     { return q.next }

func (q *queue) setAddresses(m *memory, table, ring, used uint64) (err error) {
	q.memory = m
	if q.table, err = m.at(table, descriptorSize*q.size); err != nil {
		return err
	}
	if q.ring, err = m.at(ring, 4+2*q.size); err != nil {
		return err
	}
	if q.used, err = m.at(used, 4+8*q.size); err != nil {
		return err
	}
	if uintptr(unsafe.Pointer(&q.ring[0]))%4 != 0 || uintptr(unsafe.Pointer(&q.used[0]))%4 != 0 {
		return errors.New("rings that are not aligned")
	}
	return nil
}

func (q *queue) setKick(fd int) { q.kick = replace(q.kick, fd, "kick") }
func (q *queue) setCall(fd int) { q.call = replace(q.call, fd, "call") }

// replace closes a file and takes another, which the kernel waits on: it must not block the rest of the process.
func replace(old *os.File, fd int, name string) *os.File {
	if old != nil {
		_ = old.Close()
	}
	if fd < 0 {
		return nil
	}
	_ = unix.SetNonblock(fd, true) // then Close ends a Read
	return os.NewFile(uintptr(fd), name)
}

// begin answers requests until stop.
func (q *queue) begin() error {
	if q.on {
		return nil
	}
	if q.kick == nil || q.call == nil || q.used == nil {
		return errors.New("a queue that was not set up")
	}
	q.on = true
	q.running.Go(func() {
		var count [8]byte
		for {
			q.takeAll()
			if _, err := q.kick.Read(count[:]); err != nil {
				return
			}
		}
	})
	return nil
}

// stop takes no more requests and waits for those under way.
func (q *queue) stop() {
	if !q.on {
		return
	}
	q.on = false
	_ = q.kick.Close()
	q.running.Wait()
	q.quiet()
}

func (q *queue) close() {
	for _, f := range []*os.File{q.kick, q.call} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// word is a ring's flags and index, which are written and read as one: that orders what stands in the ring with them.
func word(ring []byte) *uint32 { return (*uint32)(unsafe.Pointer(&ring[0])) }

// takeAll begins all requests that there are.
func (q *queue) takeAll() {
	for {
		last := uint16(atomic.LoadUint32(word(q.ring)) >> 16)
		if last == q.next {
			return
		}
		for ; q.next != last; q.next++ {
			head := binary.LittleEndian.Uint16(q.ring[4+2*(int(q.next)%q.size):])
			q.running.Go(func() { q.finish(head, q.serve(head)) })
		}
	}
}

// finish tells the kernel that a request is answered, with so many bytes written to it.
func (q *queue) finish(head uint16, written int) {
	q.turn.Lock()
	defer q.turn.Unlock()
	at := q.used[4+8*(int(q.done)%q.size):]
	binary.LittleEndian.PutUint32(at, uint32(head))
	binary.LittleEndian.PutUint32(at[4:], uint32(written))
	q.done++
	atomic.StoreUint32(word(q.used), uint32(q.done)<<16)
	q.interrupt()
	q.reminded = 0
	if q.reminder == nil {
		q.reminder = time.AfterFunc(firstReminder, q.remind)
		return
	}
	q.reminder.Reset(firstReminder)
}

func (q *queue) interrupt() {
	if atomic.LoadUint32(word(q.ring))&uninterrupted == 0 {
		_, _ = q.call.Write([]byte{1, 0, 0, 0, 0, 0, 0, 0}) // a kernel that does not listen has let go
	}
}

// remind tells the kernel once more that there are answers.
func (q *queue) remind() {
	q.turn.Lock()
	defer q.turn.Unlock()
	if q.reminder == nil {
		return // it was stopped
	}
	q.interrupt()
	wait := firstReminder
	for range q.reminded {
		wait *= 5
	}
	if q.reminded++; q.reminded < reminders {
		q.reminder.Reset(5 * wait)
	}
}

// quiet ends the reminders.
func (q *queue) quiet() {
	q.turn.Lock()
	defer q.turn.Unlock()
	if q.reminder != nil {
		q.reminder.Stop()
		q.reminder = nil
	}
}

// serve does a request and returns how many bytes it wrote into the machine's memory.
func (q *queue) serve(head uint16) int {
	out, in, err := q.chain(head)
	if err != nil || len(in) == 0 || len(in[len(in)-1]) != 1 {
		return 0 // there is no place to say what is wrong
	}
	status := in[len(in)-1]
	r := request{disk: q.disk, out: out, in: in[:len(in)-1]}
	written, state := r.do(q.alive)
	status[0] = state
	return written + 1
}

// chain is what a request hands over, to be read and to be written.
func (q *queue) chain(head uint16) (out, in [][]byte, err error) {
	table, at := q.table, int(head)
	for range q.size + 1 {
		if descriptorSize*(at+1) > len(table) {
			return nil, nil, errors.New("a descriptor outside of its table")
		}
		d := table[descriptorSize*at:]
		address, size := binary.LittleEndian.Uint64(d), int(binary.LittleEndian.Uint32(d[8:]))
		flags, next := binary.LittleEndian.Uint16(d[12:]), binary.LittleEndian.Uint16(d[14:])
		bytes, err := q.memory.at(address, size)
		switch {
		case err != nil:
			return nil, nil, err
		case flags&elsewhere != 0:
			table, at = bytes, 0
			continue
		case flags&writable != 0:
			in = append(in, bytes)
		default:
			out = append(out, bytes)
		}
		if flags&chained == 0 {
			return out, in, nil
		}
		at = int(next)
	}
	return nil, nil, errors.New("a chain without an end")
}
