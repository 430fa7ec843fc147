// Package progress says what a running trial tells those who watch it.
package progress

import (
	"time"

	"plimsoll/result"

	"plimsoll/series"
)

// Observer is told what a running trial does, as it happens. Calls come one at a time and must return at once: the trial waits.
type Observer interface{ Observe(Update) }

// Update is one of Plan, Stage, Second, PhaseBegan, Happened, CellDone and Finished.
type Update interface{ update() }

// Plan says what is going to be done. It comes first, and again whenever the trial knows better how long it will take.
type Plan struct {
	Trial    string
	Question string
	Cells    []result.Cell // their names, variants and factors; the figures are still empty
	Rounds   int
	Left     time.Duration // estimate of the time to the end of the trial; 0: not known
}

// Stage says what the trial is busy with. It comes when that changes, and while it goes on whenever Detail or Share change.
type Stage struct {
	Doing  Doing
	Cell   string
	Round  int     // from 1; 0 outside the rounds
	Detail string  // "MariaDB 11.4.8", "tpcc, 4 warehouses", "throughput still rises 3 % a minute"
	Share  float64 // of this stage that is done, 0 to 1; negative when that cannot be known
}

// Doing names a kind of work.
type Doing string

// The kinds of work, in the order of a trial.
const (
	Fetching   Doing = "fetching"                          // the database's programs
	Starting   Doing = "starting"                          // a cluster
	Loading    Doing = "loading"                           // the data set
	Settling   Doing = "waiting until the engine is quiet" // after loading
	Restoring  Doing = "restoring"                         // the data set, from the kept copy
	Seeking    Doing = "seeking"                           // the largest rate, for "50% of max"
	WarmingUp  Doing = "warming up"
	Measuring  Doing = "measuring"
	Disturbing Doing = "disturbing" // an action of the timeline runs
	Auditing   Doing = "auditing"   // what became of acknowledged writes
	Judging    Doing = "judging"
	Stopping   Doing = "stopping" // the cluster, at the end or because a person asked
)

// Second is one second of load: the row of all operations together, and how the load generator has fared since the phase began.
type Second struct {
	result.Row
	Generator Generator
}

// Generator is how a load generator has fared since a phase began. Of several it is the one that fared worst.
type Generator struct {
	Seconds  int           `json:"seconds"`          // of the phase; 0: nothing is known
	Open     bool          `json:"open"`             // it has a rate to keep: without one, Late and CapShare are 0
	Late     time.Duration `json:"late_p99_ns"`      // by which operations started although a connection was free for them
	CapShare float64       `json:"cap_share"`        // of the time, in which all connections were busy and operations waited
	CPUShare float64       `json:"cpu_share"`        // of its machine's processors
	Stall    time.Duration `json:"stall_ns"`         // the longest for which it got no turn on a processor
	Judged   bool          `json:"judged"`           // the trial is INVALID by what is doubted in this phase
	Doubts   []string      `json:"doubts,omitempty"` // why what is measured in the phase would not be believed, if it ended now
}

// PhaseBegan says that a phase has begun.
type PhaseBegan struct {
	result.Phase
	Length time.Duration // how long it is meant to last; 0: until what it does is done
}

// Happened is an event as it goes to events.jsonl.
type Happened struct{ series.Event }

// CellDone carries the figures of a cell over its rounds so far; Rounds says how many.
type CellDone struct{ result.Cell }

// Finished is the last update.
type Finished struct{ Verdict result.Verdict }

func (Plan) update()       {}
func (Stage) update()      {}
func (Second) update()     {}
func (PhaseBegan) update() {}
func (Happened) update()   {}
func (CellDone) update()   {}
func (Finished) update()   {}
