package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/engine"
)

// ErrNoPrimary says that no node takes writes, as far as they say.
var ErrNoPrimary = errors.New("no node reports that it is the primary")

const (
	answerTime = 5 * time.Second // that a server may take to say which part it plays
	holds      = time.Second     // how long an answer does, beside as long as it took
)

// HungTime is how long a node may take to answer that let the last question wait in vain.
const HungTime = time.Second

// roles knows which node is the primary, as the servers say.
type roles struct {
	engine engine.Engine
	turn   chan struct{}              // holds a token while somebody asks the servers
	open   map[string]engine.Database // of who has the turn

	mu      sync.Mutex      // never held while a server is asked
	hung    map[string]bool // nodes that let the last question wait in vain
	late    bool            // a node was silent when all were asked last, if only while the others answered
	alike   bool            // the servers play no parts
	last    parts
	changes int // how often the last answer was said to hold no more
}

// parts is what was last known.
type parts struct {
	primary string    // as far as it was ever known
	writers []string  // all that accept writes of their own
	trouble error     // why there is none now
	until   time.Time // so long it holds
}

// AskRoles has a cluster ask its servers which of them is the primary, rather than take the first of its List for it. It is for engines
// whose servers play different parts; for others nothing changes.
func (s *Cluster) AskRoles() {
	if s.Engine != nil {
		s.roles = &roles{engine: s.Engine, turn: make(chan struct{}, 1), open: map[string]engine.Database{}, hung: map[string]bool{}}
	}
}

// PrimaryFirst returns the nodes, and before the others the primary, as far as it is known.
func (s *Cluster) PrimaryFirst(ctx context.Context) ([]Node, error) {
	nodes, _, err := s.ordered(ctx)
	return nodes, err
}

// Primary is the node that takes the writes: of several, that which says so, ErrNoPrimary if none does; of one, that one;
// of nodes that are all alike, the first.
func (s *Cluster) Primary(ctx context.Context) (Node, error) {
	nodes, unknown, err := s.ordered(ctx)
	switch {
	case err != nil:
		return Node{}, err
	case len(nodes) == 0:
		return Node{}, fmt.Errorf("cluster %s: %w", s.Name, ErrNoNode)
	case unknown != nil:
		return Node{}, fmt.Errorf("cluster %s: %w", s.Name, unknown)
	}
	return nodes[0], nil
}

// Writers are all nodes that accept writes of their own, of servers that play different parts: one, where all is well.
func (s *Cluster) Writers(ctx context.Context) []string {
	if _, err := s.Primary(ctx); err != nil || s.roles == nil {
		return nil
	}
	last, _ := s.roles.known()
	return last.writers
}

// ordered returns the nodes with the primary that was known last before the others, and why there is none now.
func (s *Cluster) ordered(ctx context.Context) (nodes []Node, unknown, err error) {
	nodes, err = s.List(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list the nodes of %s: %w", s.Name, err)
	}
	if s.roles == nil || len(nodes) < 2 {
		return nodes, nil, nil
	}
	primary, unknown := s.roles.ask(ctx, nodes)
	if at := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == primary }); at > 0 {
		nodes = slices.Concat(nodes[at:at+1], nodes[:at], nodes[at+1:])
	}
	return nodes, unknown, nil
}

// RolesChanged makes the next question for the primary ask the servers anew.
func (s *Cluster) RolesChanged() {
	if s.roles != nil {
		s.roles.mu.Lock()
		defer s.roles.mu.Unlock()
		s.roles.last.until = time.Time{}
		s.roles.changes++
	}
}

// Hangs tells whether a node let the last question about its role wait in vain, as a frozen server does. Who asks all nodes need not wait
// for it as long as for the others; who judges by its silence whether it is dead must.
func (s *Cluster) Hangs(node string) bool { return s.roles != nil && s.roles.hangs(node) }

func (r *roles) hangs(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hung[node]
}

func (r *roles) note(node string, hung bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hung[node] = hung
}

func (r *roles) noteAll(late, alike bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late, r.alike = late, alike
}

// lately tells whether a node did not say which part it plays when all were asked last, and whether they play any.
func (r *roles) lately() (late, plays bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.late, !r.alike
}

// playsNoPart tells whether a database is of servers that play no parts.
func playsNoPart(db engine.Database) bool {
	if db == nil {
		return false
	}
	_, parts := engine.As[engine.Replicated](db)
	return !parts
}

func (r *roles) known() (last parts, changes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, r.changes
}

// keep notes what was answered. It does not hold if the parts have changed since it was asked for.
func (r *roles) keep(p parts, changes int) (primary string, trouble error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changes != changes {
		p.until = time.Time{}
	}
	r.last = p
	return p.primary, p.trouble
}

// ask returns the primary, the last that was known with an error if there is none now. One asks the servers at a time; who waits
// for that may give up.
func (r *roles) ask(ctx context.Context, nodes []Node) (string, error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		last, _ := r.known()
		return last.primary, ctx.Err()
	}
	began := time.Now()
	last, changes := r.known()
	if began.Before(last.until) {
		return last.primary, last.trouble
	}
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	opened, waited := make([]engine.Database, len(nodes)), make([]bool, len(nodes))
	for i, n := range nodes {
		opened[i] = r.open[n.Name]
	}
	standings, troubles := engine.ReplicationStatuses(limited, len(nodes), func(ctx context.Context, i int) (is *engine.ReplicationStatus, err error) {
		asking, asked := ctx, func() {}
		if r.hangs(nodes[i].Name) { // a frozen primary would let every question wait, and a failover asks many
			asking, asked = context.WithTimeout(ctx, HungTime)
		}
		defer asked()
		is, opened[i], err = r.standing(asking, nodes[i], opened[i])
		waited[i] = errors.Is(asking.Err(), context.DeadlineExceeded)
		return is, err
	})
	for i, n := range nodes {
		r.open[n.Name] = opened[i]
		r.note(n.Name, waited[i])
	}
	r.noteAll(slices.Contains(standings, nil), slices.ContainsFunc(opened, playsNoPart))
	if ctx.Err() != nil {
		return last.primary, ctx.Err()
	}
	took := time.Since(began)
	if at := engine.PrimaryOf(standings); at >= 0 {
		return r.keep(parts{nodes[at].Name, writersOf(nodes, standings), nil, time.Now().Add(holds + took)}, changes)
	}
	primary := last.primary
	if silent := silentPrimary(nodes, standings); silent >= 0 {
		primary = nodes[silent].Name
	}
	// Asked again by whoever asks next, since a server that restarts is back in a moment; not, if one let us wait, at once.
	return r.keep(parts{primary, nil, noPrimary(troubles), time.Now().Add(took)}, changes)
}

func writersOf(nodes []Node, standings []*engine.ReplicationStatus) (names []string) {
	for i, s := range standings {
		if s != nil && s.Primary() && s.ServerID != "" {
			names = append(names, nodes[i].Name)
		}
	}
	return names
}

func noPrimary(troubles []error) error {
	if err := errors.Join(troubles...); err != nil {
		return fmt.Errorf("%w: %w", ErrNoPrimary, err)
	}
	return ErrNoPrimary
}

// silentPrimary is the node that does not answer and that most of the others follow; -1 if there is none. One whose address
// the others call otherwise is it if it alone does not answer.
func silentPrimary(nodes []Node, standings []*engine.ReplicationStatus) int {
	followers := map[string]int{}
	for _, s := range standings {
		if s != nil && s.Follows() != "" {
			followers[s.Follows()]++
		}
	}
	best, silent := -1, []int{}
	for i, n := range nodes {
		if standings[i] != nil {
			continue
		}
		silent = append(silent, i)
		if f := followers[n.Target.Addresses[0]]; f > 0 && (best < 0 || f > followers[nodes[best].Target.Addresses[0]]) {
			best = i
		}
	}
	if best < 0 && len(silent) == 1 && len(followers) == 1 {
		return silent[0]
	}
	return best
}

// standing asks one node; nil if it does not answer. A connection from before may have been cut by a restart: that says
// nothing of the server as it is now, so it is asked again by a new one.
func (r *roles) standing(ctx context.Context, n Node, db engine.Database) (*engine.ReplicationStatus, engine.Database, error) {
	if db != nil {
		if is, err := standingOf(ctx, db); err == nil {
			return is, db, nil
		}
		_ = db.Close() // it does not answer
	}
	db, err := engine.OpenWithOwnDefaults(ctx, r.engine, n.Target)
	if err != nil {
		return nil, nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	is, err := standingOf(ctx, db)
	if err != nil {
		_ = db.Close() // it does not answer
		return nil, nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	return is, db, nil
}

// standingOf asks a database for its part; one without parts takes writes.
func standingOf(ctx context.Context, db engine.Database) (*engine.ReplicationStatus, error) {
	replicated, ok := engine.As[engine.Replicated](db)
	if !ok {
		return &engine.ReplicationStatus{}, nil
	}
	is, err := replicated.ReplicationStatus(ctx)
	if err != nil {
		return nil, err
	}
	return &is, nil
}

// close gives the connections back; the next question opens others.
func (r *roles) close() {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	for name, db := range r.open {
		if db != nil {
			_ = db.Close()
		}
		delete(r.open, name)
	}
}
