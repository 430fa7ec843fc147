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

// ReadOnly returns the cluster as plans and checks are given it: only a shell command can change something there.
func (s *Cluster) ReadOnly() *Cluster {
	out := &Cluster{Name: s.Name, Environment: s.Environment, Local: readOnlyMachine{s.Local}, Replication: s.Replication, AWS: s.AWS, Kubernetes: s.Kubernetes, roles: s.roles, impatience: s.impatience}
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
		if nodes[i].Server != nil {
			nodes[i].Server = readOnlyViewOfServer(nodes[i].Server)
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

// readOnlyEngine opens databases that refuse every statement that is not a question. Of their optional interfaces only those come
// through that readOnlyDatabase names: one that writes does not exist here.
type readOnlyEngine struct{ engine.Engine }

func (e readOnlyEngine) Open(ctx context.Context, t engine.Target) (engine.Database, error) {
	db, err := engine.OpenWithOwnDefaults(ctx, e.Engine, t)
	if err != nil {
		return nil, err
	}
	return readOnlyViewOf(db), nil
}

// Alone is the engine's.
func (e readOnlyEngine) Alone(t engine.Target) engine.Target { return engine.Alone(e.Engine, t) }

// readOnlyDatabase has the questions of a database, and those of the optional interfaces that the database has. The others are nil, and
// engine.As says that they are not there.
type readOnlyDatabase struct {
	engine.Database
	engine.Configurable
	engine.Replicated
	engine.Restartable
	engine.Ringed
	engine.Sharded
	engine.InFlightCounting
	engine.Authorizing
	engine.SyntaxChecking
}

var _ engine.View = readOnlyDatabase{}

func readOnlyViewOf(db engine.Database) readOnlyDatabase {
	d := readOnlyDatabase{Database: db}
	d.Configurable, _ = engine.As[engine.Configurable](db)
	d.Replicated, _ = engine.As[engine.Replicated](db)
	d.Restartable, _ = engine.As[engine.Restartable](db)
	d.Ringed, _ = engine.As[engine.Ringed](db)
	d.Sharded, _ = engine.As[engine.Sharded](db)
	d.InFlightCounting, _ = engine.As[engine.InFlightCounting](db)
	d.Authorizing, _ = engine.As[engine.Authorizing](db)
	d.SyntaxChecking, _ = engine.As[engine.SyntaxChecking](db)
	return d
}

// Has lets engine.As tell what the database behind can do.
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
	if t, names := s.(engine.Tabular); names {
		return readOnlyTabular{readOnlySession{s}, t}, nil
	}
	return readOnlySession{s}, nil
}

func (d readOnlyDatabase) Change(_ context.Context, name, _ string) error {
	return fmt.Errorf("set %s: %w", name, ErrReadOnly)
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

// readOnlyTabular keeps the questions of a session that is an engine.Tabular.
type readOnlyTabular struct {
	readOnlySession
	own engine.Tabular
}

func (s readOnlyTabular) Table(ctx context.Context, text string) ([]map[string]string, error) {
	if err := question(text); err != nil {
		return nil, err
	}
	return s.own.Table(ctx, text)
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

// readOnlyServer has the questions of a server, and those of the optional interfaces that the server has. The others are nil, and As says
// that they are not there.
type readOnlyServer struct {
	Server
	Identified
	Freezable
	Logged
	Copyable
	Reconfigurable
	Assignable
}

func readOnlyViewOfServer(server Server) readOnlyServer {
	s := readOnlyServer{Server: server}
	s.Identified, _ = As[Identified](server)
	s.Freezable, _ = As[Freezable](server)
	s.Logged, _ = As[Logged](server)
	s.Copyable, _ = As[Copyable](server)
	s.Reconfigurable, _ = As[Reconfigurable](server)
	s.Assignable, _ = As[Assignable](server)
	return s
}

func (s readOnlyServer) behind() any { return s.Server }

func (readOnlyServer) Start(context.Context) error { return fmt.Errorf("start: %w", ErrReadOnly) }
func (readOnlyServer) Stop(context.Context) error  { return fmt.Errorf("stop: %w", ErrReadOnly) }

func (readOnlyServer) Assign(context.Context, map[string]string) error {
	return fmt.Errorf("give it settings: %w", ErrReadOnly)
}
