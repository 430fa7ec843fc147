package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"plimsoll/infra"
)

// answer does what is asked for, on the machine that is served.
func (s *server) answer(ctx context.Context, c *served, r request) (a answer, err error) {
	m := s.machine
	if r.Command == nil {
		r.Command = &infra.Command{}
	}
	switch r.Method {
	case run:
		return s.run(ctx, c, *r.Command)
	case talk:
		return a, s.talk(ctx, c, *r.Command)
	case start:
		p, err := m.Start(ctx, *r.Command)
		if err != nil {
			return a, err
		}
		return tell(p)
	case find:
		all, err := m.Find(ctx, r.Mark)
		if err != nil {
			return a, err
		}
		return tell(all...)
	case readFile:
		content, err := m.ReadFile(ctx, r.Path)
		if err == nil {
			_, err = c.out.Write(content)
		}
		return a, err
	case snapshot:
		taken, err := m.Snapshot(ctx, r.Paths...)
		if err == nil {
			err = json.NewEncoder(c.out).Encode(taken)
		}
		return a, err
	case writeFile:
		content, err := io.ReadAll(c.in)
		if err == nil {
			err = m.WriteFile(ctx, r.Path, content, r.Mode)
		}
		return a, err
	case makeDir:
		return a, m.MakeDir(ctx, r.Path)
	case list:
		a.Names, err = m.List(ctx, r.Path)
		return a, err
	case remove:
		return a, m.Remove(ctx, r.Path)
	case copyTree:
		return a, m.CopyTree(ctx, r.Path, r.To)
	case space:
		found, err := m.Space(ctx, r.Path)
		a.Space = &found
		return a, err
	case lock:
		return a, s.lock(ctx, c.id, r.Path)
	case release:
		return a, s.release(r.Lock)
	case fate:
		found, err := s.fate(ctx, r)
		a.Fate = &found
		return a, err
	case recall, signal, wait, alive:
		return s.process(ctx, r)
	}
	return a, fmt.Errorf("the helper does not know %q", r.Method)
}

func (s *server) run(ctx context.Context, c *served, command infra.Command) (a answer, err error) {
	if command.Stdin, err = io.ReadAll(c.in); err != nil {
		return a, err
	}
	out, err := s.machine.Run(ctx, command)
	a.Took, a.Stdout = out.Took, len(out.Stdout)
	s.mu.Lock()
	s.unheard[c.id] = ending{Took: out.Took, Stdout: out.Stdout, Stderr: out.Stderr, Error: describe(err), Killed: err != nil && ctx.Err() != nil}
	s.mu.Unlock()
	if _, lost := c.out.Write(out.Stdout); lost != nil {
		a.Stdout = 0 // nobody waits for it
		return a, errors.Join(err, lost)
	}
	if _, lost := c.out.Write(out.Stderr); lost != nil {
		return a, errors.Join(err, lost)
	}
	return a, err
}

// tell is what is told of processes.
func tell(all ...infra.Process) (answer, error) {
	a := answer{Processes: make([]known, len(all))}
	for i, p := range all {
		named, ok := p.(infra.Referenced)
		if !ok {
			return answer{}, errors.New("processes of this machine cannot be referenced")
		}
		a.Processes[i] = known{p.ID(), p.Mark(), p.Leads(), named.Reference()}
	}
	return a, nil
}

// process does something with a process that is known by its reference.
func (s *server) process(ctx context.Context, r request) (a answer, err error) {
	named, ok := s.machine.(infra.Recaller)
	if !ok {
		return a, errors.New("processes of this machine cannot be referenced")
	}
	p, err := named.Recall(ctx, r.Process)
	if err != nil {
		return a, err
	}
	switch r.Method {
	case signal:
		err = p.Signal(ctx, r.Signal)
	case wait:
		err = p.Wait(ctx)
	case alive:
		a.Alive, err = p.Alive(ctx)
	default:
		return tell(p)
	}
	return a, err
}

// lock takes a lock that is given back with the line.
func (s *server) lock(ctx context.Context, call uint32, path string) error {
	release, err := s.machine.Lock(ctx, path)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locks[call] = release
	return nil
}

func (s *server) release(call uint32) error {
	s.mu.Lock()
	release := s.locks[call]
	delete(s.locks, call)
	s.mu.Unlock()
	if release == nil {
		return errors.New("this lock is not held")
	}
	return release()
}

// talk carries a command's stdin and stdout until the caller has closed its end.
func (s *server) talk(ctx context.Context, c *served, command infra.Command) error {
	m, ok := s.machine.(infra.Conversing)
	if !ok {
		return fmt.Errorf("talk to %s: %w", command.Path, errors.ErrUnsupported)
	}
	ch, err := m.Talk(ctx, command)
	if err != nil {
		return err
	}
	if err := s.out.send(frame{kind: begun, call: c.id}); err != nil {
		return errors.Join(err, ch.Close())
	}
	written, read := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		if _, err := io.Copy(ch, c.in); err != nil { // it has ended, or closed its stdin
			c.in.ignore()
			_ = s.out.send(frame{kind: refuse, call: c.id})
			<-c.in.finished
		}
	}()
	go func() {
		defer close(read)
		_, _ = io.Copy(c.out, ch)
		_ = s.out.send(frame{kind: finish, call: c.id})
	}()
	select {
	case <-c.in.finished: // the caller closes, after all it has written
		c.out.end(io.ErrClosedPipe)
		select {
		case <-written:
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	err = ch.Close()
	<-written
	<-read
	return err
}
