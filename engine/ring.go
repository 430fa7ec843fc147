package engine

import (
	"context"
	"strings"
	"time"
)

// Ringed is a database whose nodes are equals that share out its data between them. Implemented by a Database.
//
// What is said differs from node to node, and is never known of a node that nobody reaches: each method tells whom it asked.
// A node is named by the address of its clients, host:port.
type Ringed interface {
	// Ring is the ring as one node sees it; without an address, the first that answers. It takes a second or two when it
	// is asked for the first time, to see who still gives signs of life, and ten to be sure of one who does not.
	Ring(ctx context.Context, asked string) (Ring, error)
	// Streams are the transfers of data between nodes, those that ended a short while ago too, as the nodes that can be
	// reached tell them. A node that joins cannot be: those that send to it tell.
	Streams(ctx context.Context) ([]Stream, error)
	// Tasks are what nodes do to their own files: compaction, cleanup, validation.
	Tasks(ctx context.Context) ([]Task, error)
	// Hints are the writes that nodes keep for others that missed them. With a SilentError, those of the nodes that answered.
	Hints(ctx context.Context) ([]Hint, error)
	// Repairs are those that a node coordinates, or did of late. That node alone is asked, as by Ring: each keeps thousands of lines
	// of its repairs, and there may be hundreds of nodes.
	Repairs(ctx context.Context, asked string) ([]Repair, error)
	// Sizes are the bytes that a node has on disk, by keyspace.
	Sizes(ctx context.Context, asked string) (map[string]int64, error)
}

// Repair is a comparison of a keyspace's replicas.
type Repair struct {
	ID           string
	Keyspace     string
	Began        time.Time
	Over         bool
	Ranges, Done float64 // token ranges to compare, none while that is not known; and of these
}

// SilentError says that some nodes did not answer what all were asked. What the others said is returned with it.
type SilentError struct{ Nodes []string }

func (e *SilentError) Error() string { return "no answer from " + strings.Join(e.Nodes, ", ") }

// Ring is one node's view.
type Ring struct {
	Asked   string
	Members []Member // by address; those that have left are no members
}

// Member is a node of a ring.
type Member struct {
	Host             string // its id, which stays when its address changes
	Address          string // of its clients
	DataCentre, Rack string
	Version          string
	Schema           string // version of the schema that it has
	Part             Part
	Up               bool
	Silent           time.Duration // since it gave the last sign of life that the asked node heard of
	Load             int64         // bytes of data
	Tokens           int
}

// Part is a member's state in its ring: normal, joining, leaving.
type Part string

const (
	Normal    Part = "normal"
	Joining   Part = "joining"
	Replacing Part = "replacing" // it joins in the place of a dead one
	Leaving   Part = "leaving"
	Moving    Part = "moving"
)

// Code is the member's state in the two letters that operators know: UN, DN, UJ, UL, UM.
func (m Member) Code() string {
	code := map[Part]string{Normal: "N", Joining: "J", Replacing: "J", Leaving: "L", Moving: "M"}[m.Part]
	if m.Up {
		return "U" + code
	}
	return "D" + code
}

// Settled tells whether no member joins, leaves or moves: no range of data is about to change hands.
func (r Ring) Settled() bool {
	for _, m := range r.Members {
		if m.Part != Normal {
			return false
		}
	}
	return true
}

// Schemas are the versions of the schema that members who are up have, each with their addresses.
func (r Ring) Schemas() map[string][]string {
	all := map[string][]string{}
	for _, m := range r.Members {
		if m.Up {
			all[m.Schema] = append(all[m.Schema], m.Address)
		}
	}
	return all
}

// Find is the member of a host id or an address.
func (r Ring) Find(hostOrAddress string) (Member, bool) {
	for _, m := range r.Members {
		if m.Host == hostOrAddress || m.Address == hostOrAddress {
			return m, true
		}
	}
	return Member{}, false
}

// Stream is one transfer as one of its nodes tells it.
type Stream struct {
	Node      string   // who tells
	ID        string   // the same at all of its nodes
	Operation string   // Bootstrap, Unbootstrap, Repair, …
	Peers     []string // where they listen for one another, not for clients
	Status    string   // init, start, success, failed
	Follower  bool     // the other side began it

	Sent, ToSend, Received, ToReceive int64 // bytes

	Began, Updated time.Time
	Cause          string // why it failed
}

// Task is work on a node's own files.
type Task struct {
	Node            string
	ID              string
	Keyspace, Table string
	Kind            string // compaction, cleanup, validation, …
	Done, Total     int64
	Unit            string // bytes, …
}

// Hint is what a node keeps for another.
type Hint struct {
	Node  string // who keeps it
	For   string // host id
	Files int
	Since time.Time // of the oldest
}
