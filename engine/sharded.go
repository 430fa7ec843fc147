package engine

import (
	"context"
	"slices"
	"time"
)

// Sharded is a database whose data lies in partitions on leaves, and which moves these when it is told to: SingleStore.
// Implemented by a Database.
type Sharded interface {
	// Layout is which leaves there are, and what lies on them.
	Layout(ctx context.Context) (Layout, error)
	// Moves are the commands of the rebalances that are under way, of all databases; none if none is.
	Moves(ctx context.Context) ([]Move, error)
	// Planned are the commands that a rebalance of a database would consist of now; none if it is balanced.
	Planned(ctx context.Context, database string) ([]Move, error)
}

// Layout is where the data lies.
type Layout struct {
	Copies     int  // of each partition that are meant to be: the redundancy level
	Paired     bool // every leaf has one other for the second copies of all that is on it
	Leaves     []Leaf
	Partitions []Partition
}

// Leaf is a server that holds partitions.
type Leaf struct {
	Address string // host:port, by which it is known
	Group   int    // availability group, from 1
	Pair    string // the address of the leaf with the copies of what is on it; "" if it has none
	State   string // online, offline, attaching, detached, recovering, …
}

// Online tells whether a leaf serves.
func (l Leaf) Online() bool { return l.State == "online" }

// Partition is one copy of one part of a database.
type Partition struct {
	Database string
	Ordinal  int
	Leaf     string // its address; "": there is none that holds it
	Master   bool   // it takes the writes
	Offline  bool
}

// Move is one command of a rebalance.
type Move struct {
	Database string
	Action   string // COPY PARTITION, PROMOTE PARTITION WITH DROP, DROP PARTITION, …
	Ordinal  int
	Target   string // the leaf
	Phase    int    // those of one phase may run side by side
	Status   string // scheduled, running, success, failed, cancelled; "" of one that is only planned
	Took     time.Duration
	Left     time.Duration // the server's estimate
}

// Open tells whether a move is still to be done or under way.
func (m Move) Open() bool { return m.Status == "scheduled" || m.Status == "running" }

// Leaf is the leaf of an address.
func (l Layout) Leaf(address string) (Leaf, bool) {
	at := slices.IndexFunc(l.Leaves, func(leaf Leaf) bool { return leaf.Address == address })
	if at < 0 {
		return Leaf{}, false
	}
	return l.Leaves[at], true
}

// Databases are the names of those that have partitions, sorted.
func (l Layout) Databases() []string {
	var names []string
	for _, p := range l.Partitions {
		names = append(names, p.Database)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// PartitionID names a partition, whichever copy of it.
type PartitionID struct {
	Database string
	Ordinal  int
}

// Live is how many copies of each partition are online, on leaves that are.
func (l Layout) Live() map[PartitionID]int {
	live := map[PartitionID]int{}
	for _, p := range l.Partitions {
		leaf, known := l.Leaf(p.Leaf)
		part := PartitionID{p.Database, p.Ordinal}
		live[part] += 0
		if known && leaf.Online() && !p.Offline {
			live[part]++
		}
	}
	return live
}
