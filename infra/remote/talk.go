package remote

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/infra"
)

// Talk starts a command whose stdin and stdout are the channel. It ends with the line.
func (m *Machine) Talk(ctx context.Context, c infra.Command) (infra.Channel, error) {
	l, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	c.Stdin = nil
	r := request{Method: talk, Command: &c}
	under, err := l.call(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.name, err)
	}
	ch := &channel{call: under, machine: m.name, broken: func(err error) error {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return ended(ctx, r)
		}
		return err
	}}
	ch.stop = context.AfterFunc(ctx, under.cancel)
	select {
	case <-under.begun:
		return ch, nil
	case <-under.done:
	}
	select {
	case <-under.begun: // it has ended already, and can be read
		return ch, nil
	default:
	}
	ch.stop()
	return nil, ch.broken(under.wait())
}

// channel is a command on the machine that is talked to.
type channel struct {
	*call
	machine string
	broken  func(error) error
	stop    func() bool
}

// Read reads its stdout; an error that is not io.EOF is a *LostError.
func (ch *channel) Read(p []byte) (int, error) { return ch.in.Read(p) }

// Write writes to its stdin.
func (ch *channel) Write(p []byte) (int, error) { return ch.out.Write(p) }

// Close ends its stdin and waits for its end.
func (ch *channel) Close() error {
	defer ch.stop()
	ch.in.ignore()
	ch.finish()
	err := ch.broken(ch.wait())
	if ch.err != nil {
		return fmt.Errorf("%s: %w", ch.machine, err)
	}
	return err
}
