//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"os"

	"plimsoll/infra"
)

var (
	_ infra.Recaller   = Machine{}
	_ infra.Referenced = &process{}
	_ infra.Itself     = Machine{}
)

// Reference is the process's id and the moment it started.
func (p *process) Reference() string { return fmt.Sprintf("%d.%d", p.id, p.began) }

// Recall returns the process of that reference, which may have ended.
func (Machine) Recall(_ context.Context, reference string) (infra.Process, error) {
	p := &process{}
	if n, err := fmt.Sscanf(reference, "%d.%d", &p.id, &p.began); n != 2 || err != nil {
		return nil, fmt.Errorf("process %q, expected an id and when it started", reference)
	}
	now, err := lookUp(p.id)
	switch {
	case errors.Is(err, infra.ErrGone):
		return p, nil
	case err != nil:
		return nil, err
	case now.began == p.began:
		p.leads, p.mark = now.leads, readMark(p.id)
	}
	return p, nil
}

// Itself returns the process that this is.
func (Machine) Itself(context.Context) (infra.Referenced, error) { return lookUp(os.Getpid()) }
