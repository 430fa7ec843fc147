//go:build linux

// Package vhost serves a block device to a virtual machine by the vhost-user protocol: the machine's kernel hands over its memory,
// and every device answers its own requests, so that one which hangs holds up no other.
//
// The protocol is described in QEMU's docs/interop/vhost-user.rst, the device in section 5.2 of the virtio specification.
package vhost

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Disk is what stands behind a device. Its methods are called by many goroutines at once; they return when ctx ends.
type Disk interface {
	Read(ctx context.Context, into [][]byte, offset int64) error
	Write(ctx context.Context, from [][]byte, offset int64) error
	// Zero makes a range read as zeroes, and may free what it took.
	Zero(ctx context.Context, offset, bytes int64) error
	Flush(ctx context.Context) error
	Size() int64 // bytes, a multiple of 512
	// Serial tells the device apart, in at most 20 bytes.
	Serial() string
}

// Serve answers a machine's kernel on a connection until it lets go of the device. When ctx ends, the device is taken from it: what
// is under way and what comes fails, and the kernel is told that the device has gone.
func Serve(ctx context.Context, conn *net.UnixConn, disk Disk) error {
	inner, cancel := context.WithCancel(ctx)
	s := &session{conn: conn, disk: disk, queue: &queue{disk: disk, alive: inner}}
	var all sync.WaitGroup
	all.Go(func() { // takes the device away
		<-inner.Done()
		s.retire()
	})
	err := s.answer()
	cancel()
	all.Wait()
	s.queue.stop()
	s.release()
	return err
}

// session is one life of a device in a machine.
type session struct {
	conn *net.UnixConn
	disk Disk

	queue *queue

	mu      sync.Mutex
	retired bool
	asking  *os.File // the kernel's end of it closed is how it learns that the device has gone
	memory  memory
}

// features a device may have, by their bits.
const (
	segmentsLimited  = 1 << 2  // VIRTIO_BLK_F_SEG_MAX
	blockSized       = 1 << 6  // VIRTIO_BLK_F_BLK_SIZE
	flushes          = 1 << 9  // VIRTIO_BLK_F_FLUSH
	discards         = 1 << 13 // VIRTIO_BLK_F_DISCARD
	writesZeroes     = 1 << 14 // VIRTIO_BLK_F_WRITE_ZEROES
	indirect         = 1 << 28 // VIRTIO_F_INDIRECT_DESC
	protocolFeatures = 1 << 30 // VHOST_USER_F_PROTOCOL_FEATURES
	version1         = 1 << 32 // VIRTIO_F_VERSION_1

	offered = segmentsLimited | blockSized | flushes | discards | writesZeroes | indirect | protocolFeatures | version1

	asksBack      = 1 << 5 // VHOST_USER_PROTOCOL_F_SLAVE_REQ
	configuration = 1 << 9 // VHOST_USER_PROTOCOL_F_CONFIG
)

// The requests of a kernel.
const (
	getFeatures         = 1
	setMemory           = 5
	setRingSize         = 8
	setRingAddress      = 9
	setRingBase         = 10
	getRingBase         = 11
	setRingKick         = 12
	setRingCall         = 13
	getProtocolFeatures = 15
	getQueues           = 17
	setRingEnabled      = 18
	setAsking           = 21
	getConfiguration    = 24
)

// answer reads requests and answers those that want it, until the kernel closes the connection.
func (s *session) answer() error {
	for {
		m, err := receive(s.conn)
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, unix.ECONNRESET) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read what the machine asks: %w", err)
		}
		reply, err := s.handle(m)
		for _, fd := range m.files {
			if fd >= 0 {
				_ = unix.Close(fd) // nobody took it
			}
		}
		if err != nil {
			return fmt.Errorf("answer request %d: %w", m.request, err)
		}
		if reply != nil {
			if err := send(s.conn, m.request, reply); err != nil {
				return fmt.Errorf("answer request %d: %w", m.request, err)
			}
		}
	}
}

func (s *session) handle(m message) (reply []byte, err error) {
	le := binary.LittleEndian
	number := func(n uint64) []byte { return le.AppendUint64(nil, n) }
	switch m.request {
	case getFeatures:
		return number(offered), nil
	case getProtocolFeatures:
		return number(asksBack | configuration), nil
	case getQueues:
		return number(1), nil
	case setAsking:
		return nil, s.setAsking(m.take(0))
	case getConfiguration:
		return s.configure(m.body)
	case setMemory:
		return nil, s.setMemory(m)
	case setRingSize:
		return nil, s.queue.setSize(int(le.Uint32(m.word(4))))
	case setRingBase:
		s.queue.setBase(uint16(le.Uint32(m.word(4))))
	case setRingAddress: // index, flags, then descriptors, used, available
		s.mu.Lock()
		defer s.mu.Unlock()
		return nil, s.queue.setAddresses(&s.memory, le.Uint64(m.word(8)), le.Uint64(m.word(24)), le.Uint64(m.word(16)))
	case setRingCall:
		s.queue.setCall(m.take(0))
	case setRingKick:
		s.queue.setKick(m.take(0))
	case setRingEnabled:
		if le.Uint32(m.word(4)) == 1 {
			return nil, s.queue.begin()
		}
		s.queue.stop()
	case getRingBase:
		s.queue.stop()
		return append(le.AppendUint32(nil, 0), le.AppendUint32(nil, uint32(s.queue.base()))...), nil
	}
	return nil, nil // the others need no answer and change nothing here
}

// setAsking takes the channel on which the kernel can be asked. It is closed to tell that the device has gone.
func (s *session) setAsking(fd int) error {
	if fd < 0 {
		return errors.New("without the channel that it is for")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = os.NewFile(uintptr(fd), "asking")
	if s.retired {
		_ = s.asking.Close()
	}
	return nil
}

// retire tells the kernel that the device has gone. What is under way has been told by its context.
func (s *session) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = true
	if s.asking != nil {
		_ = s.asking.Close()
	}
}

// configure is the device's configuration, struct virtio_blk_config, as far as it is asked for.
func (s *session) configure(body []byte) ([]byte, error) {
	const head = 12 // offset, size, flags
	if len(body) < head {
		return nil, errors.New("a request for the configuration without its place")
	}
	le := binary.LittleEndian
	const segments = 126
	config := make([]byte, 60)
	le.PutUint64(config, uint64(s.disk.Size()/sector))
	le.PutUint32(config[12:], segments)
	le.PutUint32(config[20:], 512)
	le.PutUint32(config[36:], 1<<22) // sectors of a discard
	le.PutUint32(config[40:], 1)     // ranges of a discard
	le.PutUint32(config[44:], 8)     // its alignment
	le.PutUint32(config[48:], 1<<22) // sectors of a write of zeroes
	le.PutUint32(config[52:], 1)
	config[56] = 1 // which may free them
	reply := append([]byte{}, body...)
	if offset := int(le.Uint32(body)); offset < len(config) {
		copy(reply[head:], config[offset:])
	}
	return reply, nil
}

func (s *session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.close()
	s.memory.unmap()
}
