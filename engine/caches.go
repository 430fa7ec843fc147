package engine

import "context"

// CacheCounting is a database whose nodes count what their caches hold and answer, but do not show what is in them.
type CacheCounting interface {
	// Caches are those of all nodes. With a SilentError, those of the nodes that answered.
	Caches(ctx context.Context) ([]Cache, error)
}

// Cache is one cache of a node, with what it has counted since the node started.
type Cache struct {
	Node     string // its address
	Name     string // as the engine calls it
	Setting  string // that sizes it
	Capacity int64  // bytes it may take; 0: it is off
	Size     int64  // bytes that it holds
	Entries  int64
	Hits     int64 // of the requests
	Requests int64
}
