package action

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/engine"
	"plimsoll/infra"
)

// ErrReadOnly says that something tried to change what a check may only look at.
var ErrReadOnly = errors.New("a check tried to change something")

// ReadOnly returns a site on which nothing can be changed but by a command: what plans and checks are given.
func (s *Site) ReadOnly() *Site {
	out := &Site{Name: s.Name, Environment: s.Environment, Local: readOnlyMachine{s.Local}}
	if s.Engine != nil {
		out.Engine = readOnlyEngine{s.Engine}
	}
	out.List = func(ctx context.Context) ([]Node, error) {
		nodes, err := s.List(ctx)
		for i := range nodes {
			if nodes[i].Machine != nil {
				nodes[i].Machine = readOnlyMachine{nodes[i].Machine}
			}
			if nodes[i].Server != nil {
				nodes[i].Server = readOnlyServer{nodes[i].Server}
			}
		}
		return nodes, err
	}
	return out
}

// readOnlyEngine opens databases that refuse every statement that is not a question. Only the embedded Database's plain
// methods and reading of settings come through: an optional interface that writes does not exist here.
type readOnlyEngine struct{ engine.Engine }

func (e readOnlyEngine) Open(ctx context.Context, t engine.Target) (engine.Database, error) {
	db, err := e.Engine.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return readOnlyDatabase{db}, nil
}

type readOnlyDatabase struct{ engine.Database }

func (d readOnlyDatabase) Session(ctx context.Context) (engine.Session, error) {
	s, err := d.Database.Session(ctx)
	if err != nil {
		return nil, err
	}
	return readOnlySession{s}, nil
}

var errNotConfigurable = errors.New("the settings of this database cannot be read")

func (d readOnlyDatabase) Setting(ctx context.Context, name string) (string, error) {
	if c, ok := d.Database.(engine.Configurable); ok {
		return c.Setting(ctx, name)
	}
	return "", errNotConfigurable
}

func (d readOnlyDatabase) Change(_ context.Context, name, _ string) error {
	return fmt.Errorf("set %s: %w", name, ErrReadOnly)
}

func (d readOnlyDatabase) SameValue(name, wrote, shown string) bool {
	c, ok := d.Database.(engine.Configurable)
	return ok && c.SameValue(name, wrote, shown)
}

type readOnlySession struct{ engine.Session }

func (s readOnlySession) Exec(ctx context.Context, text string, r *engine.Result) error {
	if err := question(text); err != nil {
		return err
	}
	return s.Session.Exec(ctx, text, r)
}

func (s readOnlySession) Prepare(ctx context.Context, text string) (engine.Statement, error) {
	if err := question(text); err != nil {
		return nil, err
	}
	return s.Session.Prepare(ctx, text)
}

// question refuses a text that may change something. Locking reads count as changes.
func question(text string) error {
	upper := strings.ToUpper(strings.TrimSpace(text))
	for _, word := range []string{"SELECT", "SHOW", "DESCRIBE", "EXPLAIN"} {
		if rest, ok := strings.CutPrefix(upper, word); ok && rest != "" && strings.ContainsAny(rest[:1], " \t\n(*") {
			if strings.Contains(rest, ";") || strings.Contains(rest, "FOR UPDATE") || strings.Contains(rest, "INTO OUTFILE") ||
				word == "EXPLAIN" && strings.Contains(rest, "ANALYZE") { // which executes
				break
			}
			return nil
		}
	}
	return fmt.Errorf("%.60q: %w", text, ErrReadOnly)
}

type readOnlyMachine struct{ infra.Machine }

func (readOnlyMachine) Start(context.Context, infra.Command) (infra.Process, error) {
	return nil, fmt.Errorf("start a program: %w", ErrReadOnly)
}

func (readOnlyMachine) WriteFile(_ context.Context, path string, _ []byte, _ uint32) error {
	return fmt.Errorf("write %s: %w", path, ErrReadOnly)
}

func (readOnlyMachine) MakeDir(_ context.Context, path string) error {
	return fmt.Errorf("make %s: %w", path, ErrReadOnly)
}

func (readOnlyMachine) Remove(_ context.Context, path string) error {
	return fmt.Errorf("remove %s: %w", path, ErrReadOnly)
}

func (readOnlyMachine) CopyTree(_ context.Context, _, to string) error {
	return fmt.Errorf("copy to %s: %w", to, ErrReadOnly)
}

type readOnlyServer struct{ Server }

func (readOnlyServer) Start(context.Context) error { return fmt.Errorf("start: %w", ErrReadOnly) }
func (readOnlyServer) Stop(context.Context) error  { return fmt.Errorf("stop: %w", ErrReadOnly) }

// Frozen keeps the one question of a Breaker.
func (s readOnlyServer) Frozen(ctx context.Context) (bool, error) {
	if b, ok := s.Server.(Breaker); ok {
		return b.Frozen(ctx)
	}
	return false, nil
}

// Process keeps the question of an Identified.
func (s readOnlyServer) Process(ctx context.Context) (string, error) {
	if i, ok := s.Server.(Identified); ok {
		return i.Process(ctx)
	}
	return "", nil
}
