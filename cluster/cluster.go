// Package cluster is what a run, a watch or advice may reach: one cluster, its nodes, which part each plays, their databases, servers
// and machines. lab and the inventory fill it.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/internal/document"
)

// The environments of clusters, in the order in which they ask for care.
const (
	Lab        = "lab"
	Staging    = "staging"
	Production = "production"
)

// Environments are all of them.
func Environments() []string { return []string{Lab, Staging, Production} }

// Cluster is what a run may reach: one cluster, its databases, servers and machines. It is safe for concurrent use.
type Cluster struct {
	Name        string
	Environment string // one of Environments
	Engine      engine.Engine
	Local       infra.Machine // where Plimsoll runs
	// List returns the nodes as they are now. It asks no server: to find a node by name must not wait for another that hangs.
	List func(ctx context.Context) ([]Node, error)
	// Spares are servers that exist and are no part of the cluster; Node finds them too. May be nil.
	Spares []Node
	// Made is when the servers were made, of a lab; zero: they exist.
	Made time.Time
	// Grower makes and removes servers; nil: the servers are not Plimsoll's.
	Grower Grower
	// Restorer brings the data back to a copy that was kept; nil: none is Plimsoll's.
	Restorer Restorer
	// Replication is the account by which nodes follow one another; nil: nodes' own administrator, in a lab.
	Replication *Account
	// Volumes attaches and detaches the volumes of the nodes' machines; nil: nobody is known who does.
	Volumes infra.Volumes
	// AWS says where at AWS the nodes run that are instances there; nil: none is.
	AWS *AWS
	// Kubernetes says which object of an operator the cluster is; nil: no operator is known.
	Kubernetes *Kubernetes
	// Returning looks at the data of a node before its server is started again. It refuses data that must not come back to the others, and
	// tells whether the node must be repaired once it is back. nil: any data may come back.
	Returning func(ctx context.Context, node string) (repair bool, err error)
	// Release is called when the cluster is closed; may be nil.
	Release func() error
	// Others opens another cluster that the run has locked too; nil: there is none.
	Others func(ctx context.Context, name string) (*Cluster, error)

	roles *roles // nil: the first of List is the primary; see AskRoles

	impatience *impatience // nil: a node is waited for whenever it is asked; see WaitOnce

	mu          sync.Mutex
	connections map[connectionKey]*connection // to databases
	peers       map[string]*Cluster           // other clusters, by name
	kept        []io.Closer
	hub         *Cluster // of a peer: the cluster that it was reached from
}

// AWS is an account and a region.
type AWS struct {
	Region  string        // "": as the person's own configuration of AWS says
	Profile string        // "": the default one
	Aurora  string        // the cluster of Aurora that the nodes are; "": they are none
	Every   time.Duration // between two looks at what is being changed; 0: the usual
}

// Account is a user name with its password.
type Account struct {
	User     string
	Password engine.Secret
}

// Node is one server of the cluster.
type Node struct {
	Name    string
	Target  engine.Target
	Machine infra.Machine // nil: not known
	Server  Server        // nil: it can be reached, but not started and stopped
	// Host is its machine as the provider of machines and volumes has it; nil: there is none that is known.
	Host Host
	// Tool is the command that has the engine's own tool do something with it, such as nodetool. nil: there is none.
	Tool func(args ...string) (infra.Command, error)
	// Loose says that Tool was not told which server it is for: it works on the one that it finds on the machine, which may be another
	// node's.
	Loose bool
	Data  string // its data folder on its machine; "": not known
	// Pod is where it runs in Kubernetes, NAMESPACE/POD; "": it does not.
	Pod string
	// Instance is what RDS calls it; "": it does not run there.
	Instance string
}

// Server starts and stops a database server, as an operator does on its host.
type Server interface {
	Running(ctx context.Context) (bool, error)
	Start(ctx context.Context) error
	Stop(ctx context.Context) error // cleanly
}

// Identified is a server that can say which process it is: another after a restart.
type Identified interface {
	Process(ctx context.Context) (string, error)
}

// Ender is a server whose processes can be ended in a bounded time, even if it hangs.
type Ender interface {
	End(ctx context.Context) error
}

// FaultProneServer is a server that can be killed and frozen: in a lab.
type FaultProneServer interface {
	Freezable
	Kill(ctx context.Context) error
	Freeze(ctx context.Context) error
	Thaw(ctx context.Context) error
}

// Freezable is the question of a FaultProneServer.
type Freezable interface {
	Frozen(ctx context.Context) (bool, error)
}

// ErrNoNode says that the cluster has no node of that name.
var ErrNoNode = errors.New("no such node")

// Node returns a node by name; without a name, the primary.
func (s *Cluster) Node(ctx context.Context, name string) (Node, error) {
	if err := StillOurs(ctx); err != nil {
		return Node{}, err
	}
	if name == "" {
		return s.Primary(ctx)
	}
	nodes, err := s.List(ctx)
	if err != nil {
		return Node{}, fmt.Errorf("list the nodes of %s: %w", s.Name, err)
	}
	var known []string
	for _, n := range slices.Concat(nodes, s.Spares) {
		if n.Name == name {
			return n, nil
		}
		known = append(known, n.Name)
	}
	err = fmt.Errorf("cluster %s, node %q: %w", s.Name, name, ErrNoNode)
	const most = 8
	var advice []string
	if near := document.Nearest(name, known); near != "" && !document.NumberApart(name, near) {
		advice = append(advice, "did you mean "+near+"?")
	}
	if len(known) > len(advice) && len(known) <= most { // one that was meant is all that there is
		advice = append(advice, "it has "+strings.Join(known, ", "))
	}
	return Node{}, hint.With(err, strings.Join(advice, " "))
}

// Database returns a node's database; without a name, the primary's. It stays open until the cluster is closed.
func (s *Cluster) Database(ctx context.Context, node string) (engine.Database, error) {
	return s.database(ctx, node, false)
}

// DatabaseAlone is Database where what is asked is answered by that node and no other.
func (s *Cluster) DatabaseAlone(ctx context.Context, node string) (engine.Database, error) {
	return s.database(ctx, node, true)
}

// database is a node's, from which all of its cluster is reached, or where statements go to the node alone and need nothing of others.
func (s *Cluster) database(ctx context.Context, node string, alone bool) (engine.Database, error) {
	n, err := s.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	if s.Engine == nil || len(n.Target.Addresses) == 0 {
		return nil, fmt.Errorf("cluster %s: node %s has no known database", s.Name, n.Name)
	}
	at, target := connectionKey{node: n.Name}, n.Target
	if alone {
		target = engine.Alone(s.Engine, target)
		at.alone = !maps.Equal(target.Options, n.Target.Options) // where it makes a difference
	}
	db, err := s.impatience.within(ctx, n.Name, func(ctx context.Context) (engine.Database, error) {
		return s.connection(at).database(ctx, s.Engine, target)
	})
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	return db, nil
}

// connectionKey says which connection it is: through which node, and whether to all of the cluster or to that node alone.
type connectionKey struct {
	node  string
	alone bool
}

// connection is the way to one node's database. Each node has its own: one that does not answer keeps nobody from another.
type connection struct {
	turn chan struct{} // holds a token while somebody passes
	db   engine.Database
}

func (s *Cluster) connection(at connectionKey) *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connections == nil {
		s.connections = map[connectionKey]*connection{}
	}
	if s.connections[at] == nil {
		s.connections[at] = &connection{turn: make(chan struct{}, 1)}
	}
	return s.connections[at]
}

// database returns the database, opened if it was not.
func (d *connection) database(ctx context.Context, e engine.Engine, t engine.Target) (engine.Database, error) {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if d.db != nil {
		_, _ = d.db.Facts(ctx) // a connection that a restart has cut is found here, and made anew by the next question
		return d.db, nil
	}
	db, err := engine.OpenWithOwnDefaults(ctx, e, t)
	if err == nil {
		d.db = db
	}
	return db, err
}

// Machine returns a node's machine; without a name, the one Plimsoll runs on.
func (s *Cluster) Machine(ctx context.Context, node string) (infra.Machine, error) {
	if node == "" {
		return s.Local, nil
	}
	n, err := s.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	if n.Machine == nil {
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("Plimsoll does not know how to run commands on the machine of node %s", n.Name),
			Advice: "the inventory has no machine for it"}
	}
	return n.Machine, nil
}

// Answers tells what is wrong with a node; nil when it answers. A node of a cluster without an engine is never wrong.
func (s *Cluster) Answers(ctx context.Context, node string) error {
	if s.Engine == nil {
		return nil
	}
	db, err := s.Database(ctx, node)
	if err != nil {
		return err
	}
	if _, err := db.Facts(ctx); err != nil {
		return fmt.Errorf("node %s: %w", node, err)
	}
	return nil
}

// Keep has something closed when the cluster is.
func (s *Cluster) Keep(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, c)
}

// Close closes the databases and the other clusters that were opened, and what else was kept.
func (s *Cluster) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all error
	for _, peer := range s.peers {
		all = errors.Join(all, peer.Close())
	}
	for _, kept := range s.kept {
		all = errors.Join(all, kept.Close())
	}
	s.peers, s.kept = nil, nil
	for _, d := range s.connections {
		if d.db != nil {
			_ = d.db.Close() // one that a restart has cut is closed too
		}
	}
	s.connections = nil
	if s.roles != nil {
		s.roles.close()
	}
	if s.Release != nil {
		all = errors.Join(all, s.Release())
	}
	return all
}
