package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"plimsoll/infra"
)

// Fate is what became of a command whose line was lost before its result arrived.
type Fate string

const (
	Killed   Fate = "was interrupted half-way, with its children"
	NotBegun Fate = "did not begin"
	Unknown  Fate = "may or may not have finished"
)

// ending is how a command ended.
type ending struct {
	Took           time.Duration
	Stdout, Stderr []byte
	Error          *failure
	Killed         bool `json:",omitempty"` // with the line
	NotBegun       bool `json:",omitempty"` // the request did not arrive
	Unknown        bool `json:",omitempty"` // the helper itself was killed, or the machine
}

// lostCall is a command whose line was lost.
type lostCall struct {
	error
	call *call
}

func (l *lostCall) Unwrap() error { return l.error }

// fateOf asks over a new line what became of a command. It gives up after twice the limit: within one the helper there has ended.
func (m *Machine) fateOf(ctx context.Context, lost *lostCall) (infra.Output, error) {
	old := lost.call.line
	if errors.Is(lost.call.err, errClosed) { // we closed it ourselves, and want nothing of it any more
		return infra.Output{}, lost.error
	}
	within, cancel := context.WithTimeout(ctx, 2*m.limit)
	defer cancel()
	again := time.NewTicker(m.limit / 15)
	defer again.Stop()
	for {
		a, _, err := m.ask(within, request{Method: fate, Session: old.session, Call: lost.call.id, Process: old.peer.Self}, nil)
		if err == nil && a.Fate != nil {
			return a.Fate.outcome(m.name, lost)
		}
		select {
		case <-within.Done():
			return ending{Unknown: true}.outcome(m.name, lost)
		case <-again.C:
		}
	}
}

// outcome is what Run returns of a command that ended so.
func (e ending) outcome(machine string, lost *lostCall) (infra.Output, error) {
	out := infra.Output{Stdout: e.Stdout, Stderr: e.Stderr, Took: e.Took}
	why := &LostError{Cause: lost.call.err}
	if cause := (*LostError)(nil); errors.As(lost.call.err, &cause) {
		why.Cause = cause.Cause
	}
	switch {
	case e.Unknown:
		why.Fate = Unknown
	case e.NotBegun:
		why.Fate = NotBegun
	case e.Killed:
		why.Fate = Killed
	default:
		return out, e.Error.err()
	}
	return out, fmt.Errorf("%s: %w", machine, why)
}

// self is the reference of the helper's own process, "" where processes have none.
func (s *server) self(ctx context.Context) string {
	if named, ok := s.machine.(infra.Itself); ok {
		if p, err := named.Itself(ctx); err == nil {
			return p.Reference()
		}
	}
	return ""
}

// fate waits until the helper of a lost line has ended, and says how a command on it did.
func (s *server) fate(ctx context.Context, r request) (ending, error) {
	if s.records.folder == "" {
		return ending{Unknown: true}, nil
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		gone, err := s.ended(ctx, r.Process) // asked before the record is read: what it wrote is there then
		if err != nil {
			return ending{}, err
		}
		kept, err := s.records.read(r.Session)
		switch {
		case err == nil:
			e, began := kept[r.Call]
			e.NotBegun = !began
			return e, nil
		case !errors.Is(err, fs.ErrNotExist):
			return ending{}, err
		case gone:
			return ending{Unknown: true}, nil
		}
		select {
		case <-ctx.Done():
			return ending{}, context.Cause(ctx)
		case <-again.C:
		}
	}
}

// ended tells whether the process of that reference has.
func (s *server) ended(ctx context.Context, reference string) (bool, error) {
	named, ok := s.machine.(infra.Recaller)
	if !ok || reference == "" {
		return false, nil
	}
	p, err := named.Recall(ctx, reference)
	if err != nil {
		return false, err
	}
	alive, err := p.Alive(ctx)
	return !alive, err
}

// records keep how commands ended whose line was lost, a file for each line.
type records struct{ folder string }

const (
	keptFor  = 24 * time.Hour
	keptMost = 1 << 20 // bytes of what a command printed
)

// keep writes down how the commands of a line ended, those that were heard of excepted.
func (r records) keep(session string, endings map[uint32]ending) error {
	if r.folder == "" {
		return nil
	}
	r.tidy()
	for id, e := range endings {
		e.Stdout, e.Stderr = e.Stdout[:min(len(e.Stdout), keptMost)], e.Stderr[:min(len(e.Stderr), keptMost)]
		endings[id] = e
	}
	data, err := json.Marshal(endings)
	if err == nil {
		err = os.MkdirAll(r.folder, 0o700)
	}
	if err == nil {
		err = os.WriteFile(r.path(session)+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(r.path(session)+".new", r.path(session))
	}
	if err != nil {
		return fmt.Errorf("keep how commands ended: %w", err)
	}
	return nil
}

// read returns what was kept of a line.
func (r records) read(session string) (endings map[uint32]ending, err error) {
	data, err := os.ReadFile(r.path(session))
	if err == nil {
		err = json.Unmarshal(data, &endings)
	}
	return endings, err
}

func (r records) path(session string) string { return filepath.Join(r.folder, filepath.Base(session)) }

// tidy removes what nobody asked for.
func (r records) tidy() {
	entries, _ := os.ReadDir(r.folder) // there may be none yet
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			_ = os.Remove(filepath.Join(r.folder, e.Name()))
		}
	}
}

// BesideProgram is a folder beside that of this program, where it was put under its hash; "" if that is not known.
func BesideProgram(name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(filepath.Dir(self)), name)
}
