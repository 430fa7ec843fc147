package engine

import (
	"context"

	"plimsoll/infra"
)

// Launcher is an engine whose servers Plimsoll can run in a lab. A node goes through
// Find or Fetch → Init → Command (started by lab) → Ready → Join, and is stopped by its process.
type Launcher interface {
	// Releases lists what can be run, newest last; the first match of a product and version prefix is taken.
	Releases() []Release
	// Find looks for a release on the machine's PATH, then below cache. ErrNotInstalled if it is in neither.
	Find(ctx context.Context, m infra.Machine, r Release, cache string) (Distribution, error)
	// Fetch puts a release below cache without root, by the machine's own package clients.
	Fetch(ctx context.Context, m infra.Machine, r Release, cache string, say func(string)) (Distribution, error)
	// Init writes the node's configuration and makes its empty data folder.
	Init(ctx context.Context, m infra.Machine, n Node) error
	// Command is the server's command line; Init has been called, maybe on a copy of this data folder.
	Command(n Node) (infra.Command, error)
	// Ready tries once whether the node serves; the error says what it still waits for.
	Ready(ctx context.Context, n Node) error
	// Join makes a ready node part of the cluster of the nodes before it: a replica of the first, a member of the ring.
	Join(ctx context.Context, n Node, before []Node) error
	// Target is how to reach a cluster made of these nodes as its administrator.
	Target(nodes []Node) Target
}

// Release is one product and version that a launcher can run.
type Release struct {
	Product string // the cluster.engine a user writes: mariadb, mysql, cassandra
	Version string // 11.4, 10.11, 9.7, 5.0
}

// Distribution is an installed release.
type Distribution struct {
	Release
	Exact  string            // 11.4.5, as the program says
	Root   string            // folder, "" when it comes from PATH
	Paths  map[string]string // the adapter's own: server, init script, loader, plugins
	Origin string            // "PATH" or the package it came from, for environment.json
}

// Node is one server of a lab cluster.
type Node struct {
	Name    string // n1, n2, …
	Number  int    // from 1; server id and the like
	Address string // 127.0.x.y
	Port    int
	Dir     string // its folder: data/, log, run/
	Dist    Distribution
	Config  map[string]string // settings of the engine, as a user wrote them
}
