package remote

import (
	"encoding/binary"
	"io"
	"sync"
)

// window is how many bytes may be under way in one direction of a call. It keeps a command whose output nobody reads from
// filling the memory of the one who should, and from standing in the way of the other calls.
const window = 256 << 10

// outflow is the data of a call that goes out.
type outflow struct {
	call   uint32
	send   func(frame) error
	mu     sync.Mutex
	change *sync.Cond
	credit int
	ended  error // why nothing more is sent
}

func newOutflow(call uint32, send func(frame) error) *outflow {
	o := &outflow{call: call, send: send, credit: window}
	o.change = sync.NewCond(&o.mu)
	return o
}

// Write sends, as fast as the other side takes it.
func (o *outflow) Write(p []byte) (written int, err error) {
	for len(p) > 0 {
		n, err := o.take(min(len(p), chunk))
		if err != nil {
			return written, err
		}
		if err := o.send(frame{data, o.call, p[:n]}); err != nil {
			return written, err
		}
		written, p = written+n, p[n:]
	}
	return written, nil
}

// take waits until something may be sent and returns how much.
func (o *outflow) take(wanted int) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.credit == 0 && o.ended == nil {
		o.change.Wait()
	}
	n := min(wanted, o.credit)
	o.credit -= n
	return n, o.ended
}

func (o *outflow) granted(body []byte) {
	if len(body) != 4 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.credit += int(binary.BigEndian.Uint32(body))
	o.change.Broadcast()
}

// end lets whoever writes know why nothing more is sent.
func (o *outflow) end(why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended == nil {
		o.ended = why
	}
	o.change.Broadcast()
}

// inflow is the data of a call that comes in.
type inflow struct {
	call     uint32
	send     func(frame) error
	finished chan struct{} // nothing more will come, though some may not have been read yet

	mu      sync.Mutex
	change  *sync.Cond
	held    []byte
	ended   error // what Read returns when all is read
	ignored bool
}

func newInflow(call uint32, send func(frame) error) *inflow {
	i := &inflow{call: call, send: send, finished: make(chan struct{})}
	i.change = sync.NewCond(&i.mu)
	return i
}

// Read waits for data; io.EOF when the other side has finished.
func (i *inflow) Read(p []byte) (int, error) {
	i.mu.Lock()
	for len(i.held) == 0 && i.ended == nil {
		i.change.Wait()
	}
	n := copy(p, i.held)
	i.held = i.held[n:]
	err := i.ended
	i.mu.Unlock()
	if n == 0 {
		return 0, err
	}
	i.grant(n)
	return n, nil
}

// grant lets the other side send what was read. That the line is lost is told by the next read.
func (i *inflow) grant(n int) {
	_ = i.send(frame{grant, i.call, binary.BigEndian.AppendUint32(nil, uint32(n))})
}

func (i *inflow) arrived(body []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.ignored {
		i.held = append(i.held, body...)
	}
	i.change.Broadcast()
}

// end says that nothing more comes, io.EOF or why.
func (i *inflow) end(why error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended == nil {
		i.ended = why
		close(i.finished)
	}
	i.change.Broadcast()
}

// ignore throws away what comes, and what has come and was not read. The other side is told to send nothing more; until it hears
// that, it has its window.
func (i *inflow) ignore() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.held, i.ignored = nil, true
}

var _ io.Reader = &inflow{}
