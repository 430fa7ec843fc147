package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"plimsoll/infra"
)

// Serve is Server.Serve for a machine alone: of commands on a line that was lost, nothing is known afterwards.
func Serve(ctx context.Context, machine infra.Machine, channel io.ReadWriteCloser) error {
	return Server{Machine: machine}.Serve(ctx, channel)
}

// Server serves a machine.
type Server struct {
	Machine infra.Machine
	// Records is a folder that keeps for a day how commands ended whose line was lost. "": it is not kept.
	Records string
}

// Serve lets the other end of a channel use the machine, until it closes the channel, is silent for longer than it said it would
// be, or ctx ends. Whatever it has under way then ends, and its locks are released, before Serve returns. The channel is closed.
func (own Server) Serve(ctx context.Context, channel io.ReadWriteCloser) error {
	ctx, end := context.WithCancelCause(ctx)
	s := &server{
		machine: own.Machine, records: records{own.Records}, unheard: map[uint32]ending{}, out: newSender(channel), calls: map[uint32]*served{}, locks: map[uint32]func() error{},
		limit: usualLimit, heard: time.Now(),
	}
	var around sync.WaitGroup
	around.Go(func() { s.watch(ctx, end) })
	closing := context.AfterFunc(ctx, func() { _ = channel.Close() }) // whoever reads or writes is freed
	err := s.hear(ctx, channel)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	end(errClosed)
	around.Wait()
	if closing() {
		_ = channel.Close()
	}
	return errors.Join(err, s.finish())
}

// server is the helper's side of a line.
type server struct {
	machine infra.Machine
	records records
	out     *sender
	work    sync.WaitGroup

	mu    sync.Mutex
	calls map[uint32]*served
	locks map[uint32]func() error
	limit time.Duration
	heard time.Time // of the client

	session string            // of the client
	unheard map[uint32]ending // of commands whose result the client has not said it has
}

// served is a call that is being answered.
type served struct {
	id     uint32
	in     *inflow
	out    *outflow
	cancel context.CancelFunc
}

// hear takes the client's frames until the channel ends.
func (s *server) hear(ctx context.Context, channel io.ReadWriter) error {
	if _, err := io.WriteString(channel, Greeting); err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	host, _ := os.Hostname() // a name for messages
	body, err := json.Marshal(introduction{Host: host, User: os.Geteuid(), ID: os.Getpid(), Self: s.self(ctx)})
	if err != nil {
		return err
	}
	if err := s.out.send(frame{kind: hello, body: body}); err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	from := bufio.NewReaderSize(channel, header+chunk)
	for {
		f, err := receive(from)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.heard = time.Now()
		c := s.calls[f.call]
		s.mu.Unlock()
		switch {
		case f.kind == hello:
			var client introduction
			if err := json.Unmarshal(f.body, &client); err != nil {
				return fmt.Errorf("read who asks: %w", err)
			}
			s.mu.Lock()
			s.limit, s.session = max(client.Limit, 100*time.Millisecond), client.Session
			s.mu.Unlock()
		case f.kind == beat:
			s.work.Go(func() { _ = s.out.send(f) }) // hearing must go on while the other side does not read
		case f.kind == heard:
			s.mu.Lock()
			if delete(s.unheard, f.call); f.call == 0 { // the client closes the line in order
				s.session = ""
			}
			s.mu.Unlock()
		case f.kind == begin:
			s.begin(ctx, f)
		case c != nil:
			c.hear(f)
		}
	}
}

func (c *served) hear(f frame) {
	switch f.kind {
	case data:
		c.in.arrived(f.body)
	case grant:
		c.out.granted(f.body)
	case finish:
		c.in.end(io.EOF)
	case cancel:
		c.cancel()
	}
}

// watch ends the service when nothing was heard of the client for too long.
func (s *server) watch(ctx context.Context, end context.CancelCauseFunc) {
	for {
		s.mu.Lock()
		left := s.limit - time.Since(s.heard)
		s.mu.Unlock()
		if left <= 0 {
			end(ErrSilent)
			return
		}
		timer := time.NewTimer(min(left, time.Second)) // the limit may become shorter with the client's hello
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// ErrSilent says that a client was not heard of for longer than it said it would be silent.
var ErrSilent = errors.New("no message from Plimsoll for too long")

// begin answers a call in its own time.
func (s *server) begin(ctx context.Context, f frame) {
	ctx, cancel := context.WithCancel(ctx)
	send := func(f frame) error { return s.out.send(f) }
	c := &served{id: f.call, in: newInflow(f.call, send), out: newOutflow(f.call, send), cancel: cancel}
	s.mu.Lock()
	s.calls[c.id] = c
	s.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { // the caller's end, or the line's
		c.in.end(context.Canceled)
		c.out.end(context.Canceled)
	})
	s.work.Go(func() {
		defer cancel()
		defer stop()
		var r request
		var a answer
		err := json.Unmarshal(f.body, &r)
		if err == nil {
			a, err = s.answer(ctx, c, r)
		}
		s.mu.Lock()
		delete(s.calls, c.id)
		s.mu.Unlock()
		a.Error = describe(err)
		body, err := json.Marshal(a)
		if err != nil {
			body, _ = json.Marshal(answer{Error: describe(err)})
		}
		_ = s.out.send(frame{result, c.id, body}) // a line that is lost is noticed by who reads it
	})
}

// finish waits until all that was under way has ended, and gives back the locks.
func (s *server) finish() error {
	s.work.Wait()
	var err error
	for _, release := range s.locks {
		err = errors.Join(err, release())
	}
	if s.session != "" {
		err = errors.Join(err, s.records.keep(s.session, s.unheard))
	}
	return err
}
