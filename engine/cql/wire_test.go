package cql

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// pair is a connection on loopback, ours wrapped.
func pair(t *testing.T) (*wire, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it has done its work
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(near)
	t.Cleanup(func() { _ = w.Close(); _ = far.Close() })
	return w, far
}

// Whatever is sent at the same time arrives whole, once, and in the order in which each sender sent it.
func TestWireKeepsFramesWhole(t *testing.T) {
	const senders, each, size = 64, 200, 48
	w, far := pair(t)
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			frame := make([]byte, size)
			for n := range each {
				for i := range frame[6:] {
					frame[6+i] = byte(s)
				}
				binary.BigEndian.PutUint16(frame, uint16(s))
				binary.BigEndian.PutUint32(frame[2:], uint32(n))
				if k, err := w.Write(frame); k != size || err != nil {
					t.Errorf("%d bytes, %v", k, err)
				}
			}
		})
	}
	next := [senders]uint32{}
	frame := make([]byte, size)
	for range senders * each {
		if _, err := io.ReadFull(far, frame); err != nil {
			t.Fatal(err)
		}
		s, n := binary.BigEndian.Uint16(frame), binary.BigEndian.Uint32(frame[2:])
		if s >= senders || n != next[s] || frame[size-1] != byte(s) || frame[6] != byte(s) {
			t.Fatalf("frame %d of sender %d, expected %d: %x", n, s, next[s], frame)
		}
		next[s]++
	}
	all.Wait()
}

// One request goes without another that follows it, and its answer comes back.
func TestWireSendsOneAlone(t *testing.T) {
	w, far := pair(t)
	for range 100 {
		if _, err := w.Write([]byte("ask")); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 3)
		if _, err := io.ReadFull(far, got); err != nil || string(got) != "ask" {
			t.Fatalf("%q, %v", got, err)
		}
		if _, err := far.Write([]byte("tell")); err != nil {
			t.Fatal(err)
		}
		got = make([]byte, 4)
		if _, err := io.ReadFull(w, got); err != nil || string(got) != "tell" {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

// Who sends to a server that takes nothing waits, and memory does not grow; closing lets it go.
func TestWireHoldsBackAndLetsGo(t *testing.T) {
	near, far := net.Pipe() // takes nothing that is not read
	defer far.Close()       //nolint:errcheck // nobody reads from it
	w := newWire(near)
	stopped := make(chan error)
	sent := 0
	go func() {
		for {
			n, err := w.Write(make([]byte, 64<<10))
			if sent += n; err != nil {
				stopped <- err
				return
			}
		}
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		w.mu.Lock()
		full := len(w.pending) > wireFull
		w.mu.Unlock()
		if full {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the wire did not fill up")
		}
	}
	select {
	case err := <-stopped:
		t.Fatalf("sending ended: %v", err)
	default:
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-stopped; !errors.Is(err, net.ErrClosed) || sent > 2*wireFull+128<<10 {
		t.Errorf("%v after %d bytes", err, sent)
	}
}

// A peer that is gone is heard of by who sends, and by who waits for an answer.
func TestWireFails(t *testing.T) {
	w, far := pair(t)
	_ = far.(*net.TCPConn).SetLinger(0)
	_ = far.Close()
	if _, err := w.Read(make([]byte, 1)); err == nil {
		t.Error("an answer of nobody was read")
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := w.Write([]byte("ask")); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody noticed that the peer is gone")
		}
	}
}

func TestDeadlinesMoveBySeconds(t *testing.T) {
	var set []time.Time
	d := deadline{set: func(t time.Time) error { set = append(set, t); return nil }}
	at := time.Unix(1000, 0)
	for _, t := range []time.Time{at, at.Add(time.Millisecond), at.Add(999 * time.Millisecond), at.Add(time.Second), at, {}, {}, at} {
		_ = d.move(t)
	}
	want := []time.Time{at, at.Add(time.Second), at, {}, {}, at}
	if len(set) != len(want) {
		t.Fatalf("set to %v, want %v", set, want)
	}
	for i := range want {
		if !set[i].Equal(want[i]) {
			t.Errorf("set to %v, want %v", set, want)
		}
	}
}
