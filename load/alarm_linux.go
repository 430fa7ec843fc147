package load

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// timerFile is an alarm made of a kernel timer that the runtime's network poller waits for like a connection: it wakes
// within some 20 µs, where the runtime's own timers are rounded to the poller's millisecond.
type timerFile struct {
	fd    int
	file  *os.File // the same, for the poller
	conn  syscall.RawConn
	drain func(fd uintptr) bool // kept, because making it at each Wait would allocate

	expirations uint64
}

func newPreciseAlarm() (Alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make alarm: %w", err)
	}
	t := &timerFile{fd: fd, file: os.NewFile(uintptr(fd), "alarm")}
	if t.conn, err = t.file.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("make alarm: %w", err), t.file.Close())
	}
	t.drain = func(fd uintptr) bool {
		// A raw call, since it never blocks: around others the runtime wakes its monitor thread, which costs as much as
		// the wake itself.
		_, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&t.expirations)), unsafe.Sizeof(t.expirations))
		return errno != syscall.EAGAIN
	}
	return t, nil
}

func (t *timerFile) Set(after time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(after, 1)))} // 0 would disarm it
	_ = unix.TimerfdSettime(t.fd, 0, &spec, nil)                              // cannot fail on a timer with a valid time
}

// Ring expires the read that Wait is in, which costs no call of the kernel.
func (t *timerFile) Ring() { _ = t.file.SetReadDeadline(time.Unix(1, 0)) }

func (t *timerFile) Wait() {
	if err := t.conn.Read(t.drain); err != nil {
		_ = t.file.SetReadDeadline(time.Time{})
	}
}

func (t *timerFile) Close() error { return t.file.Close() }
