package engine

import (
	"context"
	"sync"
	"time"

	"plimsoll/infra"
)

// Replicated is a database whose servers play different parts: one takes the writes, others follow it. Implemented by a
// Database.
type Replicated interface {
	// ReplicationStatus asks the server at the target's first address which part it plays now.
	ReplicationStatus(ctx context.Context) (ReplicationStatus, error)
}

// AtStart is what a server does with the writes of ordinary users after its next start, as far as it can tell itself.
type AtStart string

// What a server does after its next start.
const (
	StartsReadOnly AtStart = "read only"
	StartsWritable AtStart = "writable"
	StartsUnknown  AtStart = "unknown" // its option file decides, and the server does not tell what stands there now
)

// Restartable is a database whose server can tell what becomes of it by a restart, and what it wrote that it should not have. Implemented by a
// Database.
type Restartable interface {
	// AtStart tells of a server that refuses writes what it does after its next start, and how a person has it refuse them then.
	AtStart(ctx context.Context) (is AtStart, keep string, err error)
	// Wrote names the transactions that the server wrote itself rather than replicated, by GTID, up to now; "" if there are none, or they have no GTIDs.
	Wrote(ctx context.Context) (string, error)
	// WroteSince names those that it wrote since Wrote said what there was before; "" for none.
	WroteSince(ctx context.Context, before string) (string, error)
}

// Replicator is a Launcher whose nodes play such parts.
type Replicator interface {
	ReplicationStatus(ctx context.Context, m infra.Machine, n Node) (ReplicationStatus, error)
}

// ReplicationStatus is a server's part in replication, as it says itself.
type ReplicationStatus struct {
	Sources   []Source // the servers whose changes it takes, whether it can just now or not
	ReadOnly  bool     // it refuses the writes of ordinary users
	Followers int      // servers that take its changes now
	ServerID  string   // its number among those that replicate with it
}

// Source is a server that another follows.
type Source struct {
	Channel   string // its name; "" is the usual one
	Address   string // host:port
	ServerID  string // as its own ReplicationStatus has it; "" or 0 while it was never reached
	UUID      string // what no other server has, where the engine has such; "" while it was never reached
	User      string
	Receives  bool          // it is connected, and what it sends is taken
	Applies   bool          // what was taken is applied
	Trouble   string        // why one of the two stopped or cannot; empty: nothing is known
	Code      string        // the engine's own, of Trouble
	Behind    time.Duration // as the server estimates it, in whole seconds; negative: it does not say
	Delay     time.Duration // kept behind on purpose
	Filter    string        // what of the source is left out or rewritten; empty: nothing
	Automatic bool          // by global transaction ids, not by a file and a position
	Received  string        // transactions that were taken, applied or not
	Heard     string        // changes whenever something comes from the source, a heartbeat too
}

// Follows is the address of the first source; "" for none.
func (s ReplicationStatus) Follows() string {
	if len(s.Sources) == 0 {
		return ""
	}
	return s.Sources[0].Address
}

// Primary tells whether the server takes writes of its own.
func (s ReplicationStatus) Primary() bool { return len(s.Sources) == 0 && !s.ReadOnly }

// hesitation is how long servers may take to say that they are the primary too, once one has said it.
const hesitation = time.Second

// ReplicationStatuses asks n servers at the same time which parts they play; nil, and why, of one that did not say. When one says that
// it is the primary, the others are not waited for much longer: a replica that hangs keeps nobody waiting.
func ReplicationStatuses(ctx context.Context, n int, ask func(ctx context.Context, i int) (*ReplicationStatus, error)) ([]*ReplicationStatus, []error) {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	standings, troubles := make([]*ReplicationStatus, n), make([]error, n)
	var asking sync.WaitGroup
	for i := range n {
		asking.Go(func() {
			if standings[i], troubles[i] = ask(ctx, i); standings[i] != nil && standings[i].Primary() {
				time.AfterFunc(hesitation, enough)
			}
		})
	}
	asking.Wait()
	return standings, troubles
}

// PrimaryOf returns which of several servers is the primary: of those that take writes of their own, the one that most
// others follow, and the first of equals; -1 if there is none. A server that did not answer is nil.
func PrimaryOf(servers []*ReplicationStatus) int {
	best := -1
	for i, s := range servers {
		if s != nil && s.Primary() && (best < 0 || s.Followers > servers[best].Followers) {
			best = i
		}
	}
	return best
}
