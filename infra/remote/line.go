package remote

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// line is one channel to the helper on a machine, from its hello until it is lost or closed.
type line struct {
	channel io.ReadWriteCloser
	out     *sender
	limit   time.Duration
	peer    introduction
	session string
	lost    chan struct{} // closed when nothing goes over it any more
	left    sync.WaitGroup

	mu     sync.Mutex
	calls  map[uint32]*call
	last   uint32
	why    error         // of the loss
	beaten time.Duration // when the last beat was sent of which the server has told that it heard it
	began  time.Time
}

// call is something under way on the line.
type call struct {
	id     uint32
	line   *line
	in     *inflow
	out    *outflow
	begun  chan struct{} // closed when a command that is talked to has started
	done   chan struct{} // closed when the answer is there, or the line lost
	answer answer
	err    error // the line was lost
}

// converse says hello over a channel and waits for the helper's. The channel is closed if that fails.
func converse(ctx context.Context, channel io.ReadWriteCloser, limit time.Duration) (*line, error) {
	l := &line{
		channel: channel, out: newSender(channel), limit: limit, session: rand.Text(), lost: make(chan struct{}), calls: map[uint32]*call{}, began: time.Now(),
	}
	stop := context.AfterFunc(ctx, func() { _ = channel.Close() })
	from := bufio.NewReaderSize(channel, header+chunk)
	err := l.greet(from)
	if !stop() { // it has closed the channel
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, channel.Close())
	}
	l.beaten = time.Since(l.began)
	l.left.Go(func() { l.read(from) })
	l.left.Go(l.beat)
	return l, nil
}

// greet finds the greeting behind whatever a login shell says first.
func (l *line) greet(from *bufio.Reader) error {
	const mostChatter = 64 << 10
	chatter := ""
	for {
		text, err := from.ReadString('\n')
		if text == Greeting {
			break
		}
		chatter += text
		if err == nil && len(chatter) > mostChatter {
			err = errors.New("too much output before the helper's greeting")
		}
		if err != nil {
			return &SilentError{Said: chatter, Cause: err}
		}
	}
	f, err := receive(from)
	if err == nil && f.kind != hello {
		err = errors.New("it did not identify itself")
	}
	if err == nil {
		err = json.Unmarshal(f.body, &l.peer)
	}
	if err != nil {
		return fmt.Errorf("read the helper's greeting: %w", err)
	}
	body, err := json.Marshal(introduction{Limit: l.limit, Session: l.session})
	if err == nil {
		err = l.out.send(frame{kind: hello, body: body})
	}
	if err != nil {
		return fmt.Errorf("greet the helper: %w", err)
	}
	return nil
}

// SilentError is a channel that did not lead to our helper.
type SilentError struct {
	Said  string // instead of the greeting
	Cause error
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("the helper on the machine did not greet: %v", e.Cause)
}

func (e *SilentError) Unwrap() error { return e.Cause }

// read hears the server until the line is lost.
func (l *line) read(from *bufio.Reader) {
	for {
		f, err := receive(from)
		if err != nil {
			l.lose(err)
			return
		}
		if f.kind == beat {
			l.answered(f.body)
			continue
		}
		l.mu.Lock()
		c := l.calls[f.call]
		if f.kind == result {
			delete(l.calls, f.call)
		}
		l.mu.Unlock()
		if c != nil {
			c.hear(f)
		}
	}
}

func (c *call) hear(f frame) {
	switch f.kind {
	case data:
		c.in.arrived(f.body)
	case grant:
		c.out.granted(f.body)
	case finish:
		c.in.end(io.EOF)
	case refuse:
		c.out.end(io.ErrClosedPipe)
	case begun:
		close(c.begun)
	case result:
		if err := json.Unmarshal(f.body, &c.answer); err != nil {
			c.err = fmt.Errorf("read the machine's answer: %w", err)
		}
		c.in.end(io.EOF)
		c.out.end(io.ErrClosedPipe)
		close(c.done)
	}
}

// beat tells the server that we live, and finds out when it has not heard so for too long. The server lets go of everything
// a limit after it last heard of us; we take it that it has after two thirds of that, so that nobody here believes to hold a lock
// that is free there.
func (l *line) beat() {
	ticker := time.NewTicker(l.limit / 6)
	defer ticker.Stop()
	for waiting := make(chan struct{}, 1); ; {
		now := time.Since(l.began)
		select {
		case waiting <- struct{}{}: // sending may block: the watch must not
			l.left.Go(func() {
				_ = l.out.send(frame{kind: beat, body: binary.BigEndian.AppendUint64(nil, uint64(now))}) // its loss is noticed below
				<-waiting
			})
		default:
		}
		select {
		case <-l.lost:
			return
		case <-ticker.C:
		}
		l.mu.Lock()
		silent := time.Since(l.began) - l.beaten
		l.mu.Unlock()
		if silent > l.limit*2/3 {
			l.lose(fmt.Errorf("the machine has not answered for %v", silent.Round(time.Millisecond)))
			return
		}
	}
}

func (l *line) answered(body []byte) {
	if len(body) != 8 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beaten = max(l.beaten, time.Duration(binary.BigEndian.Uint64(body)))
}

// lose ends the line: whatever is under way on it is told why.
func (l *line) lose(why error) {
	l.mu.Lock()
	if l.why != nil {
		l.mu.Unlock()
		return
	}
	if errors.Is(why, io.EOF) || errors.Is(why, io.ErrUnexpectedEOF) {
		why = errors.New("the other end closed it")
	}
	l.why = &LostError{Cause: why}
	calls := l.calls
	l.calls = nil
	close(l.lost)
	l.mu.Unlock()
	for _, c := range calls {
		c.err = l.why
		c.in.end(l.why)
		c.out.end(l.why)
		close(c.done)
	}
	l.left.Go(func() { _ = l.channel.Close() }) // a transport may take its time to end
}

// close ends the line in order and waits until nothing of it is left.
func (l *line) close() {
	select {
	case <-l.lost: // the fate of what was under way on it may still be asked for
	default:
		l.dismiss()
	}
	l.lose(errClosed)
	l.left.Wait()
}

// dismiss tells the server that nobody will ask for anything on this line any more.
func (l *line) dismiss() {
	said := make(chan struct{})
	l.left.Go(func() {
		defer close(said)
		_ = l.out.send(frame{kind: heard})
	})
	patience := time.NewTimer(time.Second) // for a line that hangs
	defer patience.Stop()
	select {
	case <-said:
	case <-patience.C:
	case <-l.lost:
	}
}

var errClosed = errors.New("it was closed")

// LostError is a line to a machine that broke. What was under way there is ended by the helper, at the latest a limit after
// it last heard of us.
type LostError struct {
	Cause error
	Fate  Fate // of a command that was run
}

func (e *LostError) Error() string {
	s := "the connection to the machine was lost: " + e.Cause.Error()
	if e.Fate != "" {
		s += "; the command there " + string(e.Fate)
	}
	return s
}

func (e *LostError) Unwrap() error { return e.Cause }

// call begins a call.
func (l *line) call(r request) (*call, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	c := &call{line: l, begun: make(chan struct{}), done: make(chan struct{})}
	l.mu.Lock()
	if l.why != nil {
		defer l.mu.Unlock()
		return nil, l.why
	}
	l.last++
	c.id = l.last
	c.in, c.out = newInflow(c.id, l.out.send), newOutflow(c.id, l.out.send)
	l.calls[c.id] = c
	l.mu.Unlock()
	if err := l.out.send(frame{begin, c.id, body}); err != nil {
		l.lose(err)
	}
	return c, nil
}

// cancel tells the server that nobody wants this any more. It answers even so.
func (c *call) cancel() { _ = c.line.out.send(frame{kind: cancel, call: c.id}) }

// finish says that no more data follows.
func (c *call) finish() { _ = c.line.out.send(frame{kind: finish, call: c.id}) }
