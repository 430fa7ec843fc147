package lab

import (
	"context"
	"errors"
	"slices"
	"testing"

	"plimsoll/infra"
)

// hears is a process that notes its signals, and answers each as it is told to.
type hears struct {
	infra.Process
	heard   []string
	answers func(ctx context.Context, signal string) error
}

func (*hears) ID() int { return 42 }

func (h *hears) Signal(ctx context.Context, signal string) error {
	h.heard = append(h.heard, signal)
	return h.answers(ctx, signal)
}

// A STOP that fails may have stopped the server all the same: it goes on, and is not said to run while it is stopped.
func TestAServerThatIsNotStoppedInTimeGoesOn(t *testing.T) {
	late := errors.New("a thread of it still runs")
	for name, c := range map[string]struct {
		thawed error
		want   State
	}{"it goes on": {nil, Running}, "it has ended": {infra.ErrGone, Running}, "it cannot be reached": {errors.New("no route to host"), Frozen}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			m := &member{}
			h := &hears{answers: func(ctx context.Context, signal string) error {
				if signal == "CONT" {
					return errors.Join(ctx.Err(), c.thawed)
				}
				if m.state() != Running {
					t.Error("it is stopped before STOP has returned")
				}
				cancel()
				return late
			}}
			m.process.take(h, nil)
			_, err := m.still(ctx, func() error { t.Error("it writes meanwhile"); return nil })
			if !errors.Is(err, late) || !slices.Equal(h.heard, []string{"STOP", "CONT"}) || m.state() != c.want {
				t.Errorf("%v, heard %q, is %s", err, h.heard, m.state())
			}
		})
	}
}

// A server that was frozen before stays so.
func TestAFrozenServerIsNotLetGoByASecondFreeze(t *testing.T) {
	var fails error
	h := &hears{answers: func(context.Context, string) error { return fails }}
	p := &process{}
	p.take(h, nil)
	if err := p.suspend(t.Context(), "STOP"); err != nil {
		t.Fatal(err)
	}
	fails = errors.New("no route to host")
	if err := p.suspend(t.Context(), "STOP"); !errors.Is(err, fails) || p.state() != Frozen || slices.Contains(h.heard, "CONT") {
		t.Errorf("%v, heard %q, is %s", err, h.heard, p.state())
	}
}
