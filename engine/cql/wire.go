package cql

import (
	"bufio"
	"net"
	"runtime"
	"sync"
	"time"
)

// wire is a connection that sends together what is ready to be sent at the same time. A request waits for no clock and for none
// that is still to come: it goes once the goroutines that could run before it have. With one under way that is at once; under
// a load of many it saves system calls. The driver's own way to save them is to wait for 200 µs each time, which a
// measurement must not do.
type wire struct {
	net.Conn
	in *bufio.Reader

	mu      sync.Mutex
	drained *sync.Cond // pending was taken, or the connection failed
	pending []byte
	spare   []byte
	sending bool
	failed  error
	senders sync.WaitGroup

	read, write deadline
}

const (
	wireRead = 32 << 10
	// wireFull is how much may wait to be sent before who sends more has to wait, too.
	wireFull = 256 << 10
)

func newWire(c net.Conn) *wire {
	w := &wire{Conn: c, in: bufio.NewReaderSize(c, wireRead), read: deadline{set: c.SetReadDeadline}, write: deadline{set: c.SetWriteDeadline}}
	w.drained = sync.NewCond(&w.mu)
	return w
}

func (w *wire) Read(p []byte) (int, error) { return w.in.Read(p) }

// Write takes p to be sent. Where that fails the connection is closed, which ends all that waits for an answer on it.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) > wireFull && w.failed == nil {
		w.drained.Wait()
	}
	if w.failed != nil {
		return 0, w.failed
	}
	w.pending = append(w.pending, p...)
	if !w.sending {
		w.sending = true
		w.senders.Go(w.send)
	}
	return len(p), nil
}

// send writes what has gathered until there is no more.
func (w *wire) send() {
	runtime.Gosched() // whoever else is ready to send does so first
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) > 0 && w.failed == nil {
		out := w.pending
		w.pending = w.spare[:0]
		w.drained.Broadcast()
		w.mu.Unlock()
		_, err := w.Conn.Write(out)
		w.mu.Lock()
		w.spare = out
		if err != nil {
			w.fail(err)
			_ = w.Conn.Close()
		}
	}
	w.sending = false
}

// fail ends the sending; the first reason stays. It is called under mu.
func (w *wire) fail(err error) {
	if w.failed == nil {
		w.failed = err
	}
	w.drained.Broadcast()
}

// Close sends nothing more.
func (w *wire) Close() error {
	w.mu.Lock()
	w.fail(net.ErrClosed)
	w.mu.Unlock()
	err := w.Conn.Close()
	w.senders.Wait()
	return err
}

func (w *wire) SetReadDeadline(t time.Time) error  { return w.read.move(t) }
func (w *wire) SetWriteDeadline(t time.Time) error { return w.write.move(t) }

func (w *wire) SetDeadline(t time.Time) error {
	if err := w.SetReadDeadline(t); err != nil {
		return err
	}
	return w.SetWriteDeadline(t)
}

// deadline is one that the driver moves on with every request and answer. It is left where it is while that makes less than a
// second of difference.
type deadline struct {
	mu  sync.Mutex
	at  time.Time
	set func(time.Time) error
}

func (d *deadline) move(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if by := t.Sub(d.at); !t.IsZero() && !d.at.IsZero() && by >= 0 && by < time.Second {
		return nil
	}
	d.at = t
	return d.set(t)
}
