package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
)

// member is a loader process as the team knows it.
type member struct {
	index   int
	name    string
	machine string
	kill    context.CancelFunc
	channel infra.Channel

	turn   sync.Mutex
	orders *json.Encoder

	offset time.Duration // its clock minus ours, when the load began
	rtt    time.Duration // of the question that found it

	heard time.Duration // when it last said anything
	told  int64         // operations in its seconds
	over  bool          // it has told all, or died
	gone  bool          // its process has ended
}

// heard is what came from a loader: a report, or its end.
type heard struct {
	from *member
	at   time.Duration
	report
	gone bool
	err  error // why it is gone; nil: it was done
}

// start starts a loader. What it says goes to tell, from one goroutine, gone at last.
func start(ctx context.Context, l Loader, index int, mark string, now func() time.Duration, tell func(heard)) (*member, error) {
	m := &member{index: index, machine: l.Machine.Name()}
	m.name = fmt.Sprintf("loader %d (%s)", index+1, m.machine)
	host, ok := l.Machine.(infra.Conversing)
	if !ok {
		return nil, fmt.Errorf("%s: commands on this machine take no input while they run", m.name)
	}
	program := l.Program
	if l.Place != nil {
		var err error
		if program, err = l.Place(ctx); err != nil {
			return nil, fmt.Errorf("put Plimsoll on the machine of %s: %w", m.name, err)
		}
	}
	ctx, m.kill = context.WithCancel(context.WithoutCancel(ctx)) // the end is orderly
	channel, err := host.Talk(ctx, infra.Command{Path: program, Args: []string{"load", "serve"}, Mark: mark})
	if err != nil {
		m.kill()
		if errors.Is(err, infra.ErrNoProgram) {
			err = hint.With(err, "install the same version of Plimsoll there, in a folder on that user's PATH")
		}
		return nil, fmt.Errorf("start %s: %w", m.name, err)
	}
	m.channel, m.orders = channel, json.NewEncoder(channel)
	go func() {
		for reports := json.NewDecoder(channel); ; {
			h := heard{from: m}
			if err := reports.Decode(&h.report); err != nil {
				closed := m.channel.Close()
				if closed == nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					closed = fmt.Errorf("its answer could not be read: %w", err)
				}
				tell(heard{from: m, at: now(), gone: true, err: closed})
				return
			}
			h.at = now()
			tell(h)
		}
	}()
	return m, nil
}

// say sends an order. One that does not arrive is noticed by the end of the conversation.
func (m *member) say(o order) {
	m.turn.Lock()
	defer m.turn.Unlock()
	_ = m.orders.Encode(o)
}
