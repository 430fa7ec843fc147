package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/engine"
	"plimsoll/infra"
)

// ErrReadOnly says that something tried to change what a check may only look at.
var ErrReadOnly = errors.New("a check tried to change something")

// ReadOnly returns a site on which nothing can be changed but by a command: what plans and checks are given.
func (s *Cluster) ReadOnly() *Cluster {
	out := &Cluster{Name: s.Name, Environment: s.Environment, Local: readOnlyMachine{s.Local}, Replication: s.Replication, AWS: s.AWS, Kubernetes: s.Kubernetes, roles: s.roles}
	if s.Grower != nil {
		out.Grower = readOnlyGrower{s.Grower}
	}
	if s.Restorer != nil {
		out.Restorer = readOnlyRestorer{}
	}
	out.Spares = readOnlyNodes(slices.Clone(s.Spares))
	out.Volumes = onlyLook(s.Volumes)
	if s.Engine != nil {
		out.Engine = readOnlyEngine{s.Engine}
	}
	if s.Others != nil || s.hub != nil {
		out.Others = func(ctx context.Context, name string) (*Cluster, error) {
			peer, err := s.Cluster(ctx, name)
			if err != nil {
				return nil, err
			}
			return peer.ReadOnly(), nil
		}
	}
	out.List = func(ctx context.Context) ([]Node, error) {
		nodes, err := s.List(ctx)
		return readOnlyNodes(nodes), err
	}
	return out
}

func readOnlyNodes(nodes []Node) []Node {
	for i := range nodes {
		if nodes[i].Machine != nil {
			nodes[i].Machine = readOnlyMachine{nodes[i].Machine}
		}
		nodes[i].Host = onlyLookAt(nodes[i].Host)
		switch server := nodes[i].Server.(type) {
		case nil:
		case Assignable:
			nodes[i].Server = readOnlyAssignable{readOnlyServer{nodes[i].Server}, server}
		default:
			nodes[i].Server = readOnlyServer{server}
		}
	}
	return nodes
}

// readOnlyGrower keeps the one question of a Grower.
type readOnlyGrower struct{ Grower }

func (readOnlyGrower) Grow(context.Context, string, map[string]string) (string, error) {
	return "", fmt.Errorf("make a server: %w", ErrReadOnly)
}

func (readOnlyGrower) Add(context.Context) (string, error) {
	return "", fmt.Errorf("add a node: %w", ErrReadOnly)
}

func (readOnlyGrower) Reset(_ context.Context, node string) error {
	return fmt.Errorf("empty %s: %w", node, ErrReadOnly)
}

func (readOnlyGrower) Shrink(_ context.Context, node string) error {
	return fmt.Errorf("remove %s: %w", node, ErrReadOnly)
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

// Alone is the engine's.
func (e readOnlyEngine) Alone(t engine.Target) engine.Target { return engine.Alone(e.Engine, t) }

type readOnlyDatabase struct{ engine.Database }

var _ engine.View = readOnlyDatabase{}

// Has lets engine.As tell what the database behind can do: this view has the methods of every question.
func (d readOnlyDatabase) Has(is func(engine.Database) bool) bool { return is(d.Database) }

func (d readOnlyDatabase) Session(ctx context.Context) (engine.Session, error) {
	open := d.Database.Session
	if g, ok := d.Database.(engine.ReadOnlyCapable); ok {
		open = g.ReadOnlySession // for what a text does not show: a function that writes
	}
	s, err := open(ctx)
	if err != nil {
		return nil, err
	}
	return readOnlySession{s}, nil
}

var (
	errNotConfigurable = errors.New("the settings of this database cannot be read")
	errNotReplicated   = errors.New("this database does not report its role in replication")
)

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

var (
	_ engine.Configurable = readOnlyDatabase{}
	_ engine.Ringed       = readOnlyDatabase{}
	_ engine.Watched      = readOnlyDatabase{}
)

// WhyInvalid asks the Configurable behind it; of a database that is none, nothing can be told.
func (d readOnlyDatabase) WhyInvalid(ctx context.Context, name, value string) (string, error) {
	if j, ok := d.Database.(engine.Configurable); ok {
		return j.WhyInvalid(ctx, name, value)
	}
	return "", nil
}

// NeedsRestart asks the Configurable behind it; of a database that is none, it is not known.
func (d readOnlyDatabase) NeedsRestart(ctx context.Context, name string) (needs, known bool, err error) {
	if r, ok := d.Database.(engine.Configurable); ok {
		return r.NeedsRestart(ctx, name)
	}
	return false, false, nil
}

func (d readOnlyDatabase) Executing(ctx context.Context, prefix string) (int, error) {
	if w, ok := d.Database.(engine.Watched); ok {
		return w.Executing(ctx, prefix)
	}
	return 0, errors.New("this database does not show which statements it executes")
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

// Table keeps the questions of an engine.Tabular.
func (s readOnlySession) Table(ctx context.Context, text string) ([]map[string]string, error) {
	if err := question(text); err != nil {
		return nil, err
	}
	if t, ok := s.Session.(engine.Tabular); ok {
		return t.Table(ctx, text)
	}
	return nil, errors.New("this database does not name its columns")
}

// ReplicationStatus keeps the question of a Replicated.
func (d readOnlyDatabase) ReplicationStatus(ctx context.Context) (engine.ReplicationStatus, error) {
	if r, ok := d.Database.(engine.Replicated); ok {
		return r.ReplicationStatus(ctx)
	}
	return engine.ReplicationStatus{}, errNotReplicated
}

var errNotRinged = errors.New("this database is not a ring")

// Ring and the five after it keep the questions of a Ringed.
func (d readOnlyDatabase) Ring(ctx context.Context, asked string) (engine.Ring, error) {
	if r, ok := d.Database.(engine.Ringed); ok {
		return r.Ring(ctx, asked)
	}
	return engine.Ring{}, errNotRinged
}

func (d readOnlyDatabase) Streams(ctx context.Context) ([]engine.Stream, error) {
	if r, ok := d.Database.(engine.Ringed); ok {
		return r.Streams(ctx)
	}
	return nil, errNotRinged
}

func (d readOnlyDatabase) Tasks(ctx context.Context) ([]engine.Task, error) {
	if r, ok := d.Database.(engine.Ringed); ok {
		return r.Tasks(ctx)
	}
	return nil, errNotRinged
}

func (d readOnlyDatabase) Hints(ctx context.Context) ([]engine.Hint, error) {
	if r, ok := d.Database.(engine.Ringed); ok {
		return r.Hints(ctx)
	}
	return nil, errNotRinged
}

func (d readOnlyDatabase) Repairs(ctx context.Context, asked string) ([]engine.Repair, error) {
	if r, ok := d.Database.(engine.Ringed); ok {
		return r.Repairs(ctx, asked)
	}
	return nil, errNotRinged
}

func (d readOnlyDatabase) Sizes(ctx context.Context, asked string) (map[string]int64, error) {
	if r, ok := d.Database.(engine.Ringed); ok {
		return r.Sizes(ctx, asked)
	}
	return nil, errNotRinged
}

var errNotSharded = errors.New("this database has no leaves")

// Layout and the two after it keep the questions of a Sharded.
func (d readOnlyDatabase) Layout(ctx context.Context) (engine.Layout, error) {
	if s, ok := d.Database.(engine.Sharded); ok {
		return s.Layout(ctx)
	}
	return engine.Layout{}, errNotSharded
}

func (d readOnlyDatabase) Moves(ctx context.Context) ([]engine.Move, error) {
	if s, ok := d.Database.(engine.Sharded); ok {
		return s.Moves(ctx)
	}
	return nil, errNotSharded
}

func (d readOnlyDatabase) Planned(ctx context.Context, database string) ([]engine.Move, error) {
	if s, ok := d.Database.(engine.Sharded); ok {
		return s.Planned(ctx, database)
	}
	return nil, errNotSharded
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

// readOnlyAssignable keeps the question of an Assignable.
type readOnlyAssignable struct {
	readOnlyServer
	own Assignable
}

var _ Assignable = readOnlyAssignable{}

func (s readOnlyAssignable) Assigned(ctx context.Context) (map[string]string, error) {
	return s.own.Assigned(ctx)
}

func (readOnlyAssignable) Assign(context.Context, map[string]string) error {
	return fmt.Errorf("give it settings: %w", ErrReadOnly)
}

// Process keeps the question of an Identified.
func (s readOnlyServer) Process(ctx context.Context) (string, error) {
	if i, ok := s.Server.(Identified); ok {
		return i.Process(ctx)
	}
	return "", nil
}
