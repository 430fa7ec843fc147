package run

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/load"
	"plimsoll/series"
	"plimsoll/workload"
)

// loadSpread is a load over all nodes: worker by worker, so that a node that is away is missed by the workers that belong to it,
// and by no others. When nodes came or went, workers move to where they belong now, between two operations.
type loadSpread struct {
	open     func(ctx context.Context, node string) (engine.Database, error)
	workload workload.Workload
	seed     uint64

	mu    sync.Mutex
	nodes []string
	bases map[string]engine.Database
}

// move sets the nodes.
func (s *loadSpread) move(nodes []string) {
	if len(nodes) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes = nodes
}

func (*loadSpread) shares(time.Time) []series.Point { return nil } // a worker's is its node's

// place is the node of a worker.
func (s *loadSpread) place(worker int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodes[worker%len(s.nodes)]
}

// connect makes a worker's client where it belongs.
func (s *loadSpread) connect(ctx context.Context, worker int) (load.Client, error) {
	w := &movingClient{spread: s, worker: worker}
	return w, w.settle(ctx)
}

func (s *loadSpread) client(ctx context.Context, node string, worker int) (load.Client, error) {
	s.mu.Lock()
	db := s.bases[node]
	s.mu.Unlock()
	if db == nil {
		var err error
		if db, err = s.open(ctx, node); err != nil {
			return nil, err
		}
		s.mu.Lock()
		if other := s.bases[node]; other != nil { // another worker was faster
			s.mu.Unlock()
			_ = db.Close()
			s.mu.Lock()
			db = other
		}
		s.bases[node] = db
		s.mu.Unlock()
	}
	return s.workload.Connect(db, s.seed)(ctx, worker)
}

func (s *loadSpread) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, db := range s.bases {
		_ = db.Close() // its sessions are the clients', who have closed them
	}
}

// movingClient is a client that can move.
type movingClient struct {
	spread *loadSpread
	worker int
	node   string // where client is

	mu     sync.Mutex // lets Interrupt find the client
	client load.Client
}

var _ load.Client = (*movingClient)(nil)

// settle connects where the worker belongs, and leaves where it was.
func (w *movingClient) settle(ctx context.Context) error {
	node := w.spread.place(w.worker)
	client, err := w.spread.client(ctx, node, w.worker)
	if err != nil {
		return err
	}
	w.mu.Lock()
	before := w.client
	w.client, w.node = client, node
	w.mu.Unlock()
	if before != nil {
		_ = before.Close() // nothing of it is under way
	}
	return nil
}

// Next may be called while another goroutine reconnects.
func (w *movingClient) Next() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.client.Next()
}

func (w *movingClient) Do(ctx context.Context, operation int) error {
	if w.spread.place(w.worker) != w.node {
		if err := w.settle(ctx); err != nil {
			return &engine.Error{Kind: engine.Unavailable, Lost: true, Text: fmt.Sprintf("move to %s: %v", w.spread.place(w.worker), err), Err: err}
		}
	}
	return w.client.Do(ctx, operation)
}

func (w *movingClient) Reconnect(ctx context.Context) error {
	if w.spread.place(w.worker) != w.node {
		return w.settle(ctx)
	}
	return w.client.Reconnect(ctx)
}

func (w *movingClient) Interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.client.Interrupt()
}

func (w *movingClient) Close() error { return w.client.Close() }

// members are the nodes of the cell's cluster, by the names that open takes, whether they run or not.
func (s *servers) members() []string {
	if s.existing != nil {
		return s.existing.Addresses
	}
	var names []string
	for _, node := range s.cluster.Nodes() {
		if !slices.Contains(s.idle, node.Name) {
			names = append(names, node.Name)
		}
	}
	return names
}

// serving are the nodes that a load is spread over: those that run, but for those that the cell does not use.
func (s *servers) serving() []string {
	if s.existing != nil {
		return s.existing.Addresses
	}
	var names []string
	for _, node := range s.cluster.Nodes() {
		if node.State == lab.Running && !slices.Contains(s.idle, node.Name) {
			names = append(names, node.Name)
		}
	}
	return names
}
