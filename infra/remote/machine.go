// Package remote is a machine that is reached over a channel: a small helper program of ours runs there (cmd/plimsoll-machine),
// is asked in frames on its stdin and answers on its stdout.
//
// What a Machine does is done by the machine that the helper serves, which is infra/local. The channel may be anything that
// carries bytes both ways: OpenSSH's, a pod's, a virtual console's. The helper ends with it: commands that are run or talked to
// are killed and locks released when the channel ends, and no later than a limit after the last heartbeat that the helper
// heard, so that neither outlives a partition. What Start started stays.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"plimsoll/infra"
)

// Dial opens a channel to a helper on the machine.
type Dial func(ctx context.Context) (io.ReadWriteCloser, error)

// Settings are how a line is kept. The zero value is the usual.
type Settings struct {
	// Limit is how long after the last heartbeat the helper ends. Default: 15 s.
	Limit time.Duration
}

const usualLimit = 15 * time.Second

// Machine is a machine at the other end of a channel. A line that is lost is opened anew by the next call.
type Machine struct {
	name  string
	dial  Dial
	limit time.Duration

	turn chan struct{} // holds one while the line is looked at, or opened
	line *line
}

var (
	_ infra.Machine    = &Machine{}
	_ infra.Conversing = &Machine{}
	_ infra.Recaller   = &Machine{}
)

// New is a machine to which nothing is opened yet. Close it when it is not needed any more.
func New(name string, dial Dial, s Settings) *Machine {
	if s.Limit <= 0 {
		s.Limit = usualLimit
	}
	return &Machine{name: name, dial: dial, limit: s.Limit, turn: make(chan struct{}, 1)}
}

// Name identifies the machine, as it was given.
func (m *Machine) Name() string { return m.name }

// Peer is the helper at the other end of a line.
type Peer struct {
	Host    string // what the machine calls itself
	User    int    // the id of the user that it runs as
	Process int
}

// Peer opens a line if there is none and says who is at its end.
func (m *Machine) Peer(ctx context.Context) (Peer, error) {
	l, err := m.open(ctx)
	if err != nil {
		return Peer{}, err
	}
	return Peer{l.peer.Host, l.peer.User, l.peer.ID}, nil
}

// Close ends the line: commands under way are killed and locks released. What Start started stays. The machine can be used
// again, over a new line.
func (m *Machine) Close() error {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	if m.line != nil {
		m.line.close()
		m.line = nil
	}
	return nil
}

// open returns the line, also to one whose ctx has ended; a new one if there is none or it was lost.
func (m *Machine) open(ctx context.Context) (*line, error) {
	select {
	case m.turn <- struct{}{}:
	default:
		select {
		case m.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("reach %s: %w", m.name, context.Cause(ctx))
		}
	}
	defer func() { <-m.turn }()
	if m.line != nil {
		select {
		case <-m.line.lost:
			m.line.close()
			m.line = nil
		default:
			return m.line, nil
		}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("reach %s: %w", m.name, context.Cause(ctx))
	}
	channel, err := m.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", m.name, err)
	}
	l, err := converse(ctx, channel, m.limit)
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", m.name, err)
	}
	m.line = l
	return l, nil
}

// ask makes a call with its data and waits for the answer, and for the data that comes with it. When ctx ends the machine is told,
// and its answer is awaited even so: only then is it certain that nothing goes on there.
func (m *Machine) ask(ctx context.Context, r request, body []byte) (answer, []byte, error) {
	l, err := m.open(ctx)
	if err != nil {
		return answer{}, nil, err
	}
	if err := ctx.Err(); err != nil { // nobody wants it any more: nothing is begun
		return answer{}, nil, fmt.Errorf("%s: %w", m.name, err)
	}
	c, err := l.call(r)
	if err != nil {
		return answer{}, nil, fmt.Errorf("%s: %w", m.name, err)
	}
	stop := context.AfterFunc(ctx, c.cancel)
	defer stop()
	if _, err := c.out.Write(body); err == nil || errors.Is(err, io.ErrClosedPipe) { // refused: the answer says why
		c.finish()
	}
	all, err := io.ReadAll(c.in)
	<-c.done
	if c.err != nil {
		err = fmt.Errorf("%s: %w", m.name, c.err)
		if r.Method == run {
			err = &lostCall{err, c}
		}
	}
	if err != nil {
		return answer{}, all, err
	}
	if r.Method == run {
		_ = l.out.send(frame{kind: heard, call: c.id}) // a line that is lost now has nothing to tell any more
	}
	err = c.answer.Error.err()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = ended(ctx, r)
	}
	return c.answer, all, err
}

// ended is the error of a call whose context ended.
func ended(ctx context.Context, r request) error {
	if r.Command != nil {
		return fmt.Errorf("%s: %w", filepath.Base(r.Command.Path), context.Cause(ctx))
	}
	return context.Cause(ctx)
}

// Run runs a command to its end. When the line is lost meanwhile, its fate is asked for over a new one: a command that had come to
// its end is as good as if nothing had happened, else a *LostError tells what became of it.
func (m *Machine) Run(ctx context.Context, c infra.Command) (infra.Output, error) {
	stdin := c.Stdin
	c.Stdin = nil
	a, printed, err := m.ask(ctx, request{Method: run, Command: &c}, stdin)
	var lost *lostCall
	if errors.As(err, &lost) {
		return m.fateOf(ctx, lost)
	}
	if a.Stdout > len(printed) {
		return infra.Output{}, fmt.Errorf("%s: %d bytes of output, %d arrived", m.name, a.Stdout, len(printed))
	}
	return infra.Output{Stdout: printed[:a.Stdout], Stderr: printed[a.Stdout:], Took: a.Took}, err
}

// Start starts a command that outlives Plimsoll and the line.
func (m *Machine) Start(ctx context.Context, c infra.Command) (infra.Process, error) {
	c.Stdin = nil
	all, err := m.processes(ctx, request{Method: start, Command: &c})
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("%s: %d processes started, expected one", m.name, len(all))
	}
	return all[0], nil
}

// Find returns the live processes that carry this mark or one below it.
func (m *Machine) Find(ctx context.Context, mark string) ([]infra.Process, error) {
	return m.processes(ctx, request{Method: find, Mark: mark})
}

func (m *Machine) processes(ctx context.Context, r request) ([]infra.Process, error) {
	a, _, err := m.ask(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	all := make([]infra.Process, len(a.Processes))
	for i, p := range a.Processes {
		all[i] = &process{m, p}
	}
	return all, nil
}
