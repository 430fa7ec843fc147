package sshtest

import (
	"net"
	"sync"
	"testing"
)

// Relay hands on TCP connections. It can be cut, and frozen as a network partition is: nothing arrives, and nobody is told.
type Relay struct {
	listener net.Listener
	to       string
	work     sync.WaitGroup

	mu     sync.Mutex
	change *sync.Cond
	frozen bool
	closed bool
	open   map[net.Conn]bool
}

func newRelay(t testing.TB, to string) *Relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	r := &Relay{listener: l, to: to, open: map[net.Conn]bool{}}
	r.change = sync.NewCond(&r.mu)
	r.work.Go(r.accept)
	return r
}

// Address is where it listens.
func (r *Relay) Address() string { return r.listener.Addr().String() }

func (r *Relay) accept() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", r.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		r.mu.Lock()
		r.open[near], r.open[far] = true, true
		r.mu.Unlock()
		r.work.Go(func() { r.carry(near, far) })
		r.work.Go(func() { r.carry(far, near) })
	}
}

func (r *Relay) carry(from, to net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		r.mu.Lock()
		for r.frozen && !r.closed {
			r.change.Wait() // the end of a connection does not arrive either
		}
		r.mu.Unlock()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	_ = from.Close()
	_ = to.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, from)
	delete(r.open, to)
}

// Freeze lets nothing through any more, in neither direction, until Heal.
func (r *Relay) Freeze() { r.set(true) }

// Heal lets everything through again, what was held up too.
func (r *Relay) Heal() { r.set(false) }

func (r *Relay) set(frozen bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frozen = frozen
	r.change.Broadcast()
}

// Cut ends all connections that are open.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.open {
		_ = c.Close()
	}
}

func (r *Relay) close() {
	_ = r.listener.Close()
	r.mu.Lock()
	r.closed = true
	r.change.Broadcast()
	r.mu.Unlock()
	r.Cut()
	r.work.Wait()
}
