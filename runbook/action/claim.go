package action

import (
	"fmt"
	"time"
)

// Claim is what a run leaves in the cluster that it changes, for every other Plimsoll to see.
type Claim struct {
	Cluster string
	Run     string
	Holder  string // store and process, for people
	Epoch   int64
	For     time.Duration // from now, by the target's clock
	Break   bool          // take it from another whose claim has run out
}

// ClaimedError says who has a cluster.
type ClaimedError struct {
	Cluster, Run, Holder string
	Expired              bool
}

func (e *ClaimedError) Error() string {
	return fmt.Sprintf("cluster %s is being changed by run %s of %s", e.Cluster, e.Run, e.Holder)
}

// Hint says what to do.
func (e *ClaimedError) Hint() string {
	if e.Expired {
		return "nobody has prolonged its claim for a while; resume or cancel it there, or take the lock with --break-lock REASON"
	}
	return "wait for it, or cancel it there"
}
