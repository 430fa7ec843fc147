package remote

import (
	"context"

	"plimsoll/infra"
)

// process is a process on the machine, which its reference names, over whichever line.
type process struct {
	machine *Machine
	known   known
}

var _ infra.Referenced = &process{}

func (p *process) ID() int           { return p.known.ID }
func (p *process) Mark() string      { return p.known.Mark }
func (p *process) Leads() bool       { return p.known.Leads }
func (p *process) Reference() string { return p.known.Reference }

// Recall returns the process of that reference, which may have ended.
func (m *Machine) Recall(ctx context.Context, reference string) (infra.Process, error) {
	all, err := m.processes(ctx, request{Method: recall, Process: reference})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Signal sends a signal by its POSIX name without SIG.
func (p *process) Signal(ctx context.Context, name string) error {
	_, _, err := p.machine.ask(ctx, request{Method: signal, Process: p.known.Reference, Signal: name}, nil)
	return err
}

// Wait returns when the process has ended or ctx has.
func (p *process) Wait(ctx context.Context) error {
	_, _, err := p.machine.ask(ctx, request{Method: wait, Process: p.known.Reference}, nil)
	return err
}

// Alive reports whether the process still runs.
func (p *process) Alive(ctx context.Context) (bool, error) {
	a, _, err := p.machine.ask(ctx, request{Method: alive, Process: p.known.Reference}, nil)
	return a.Alive, err
}
