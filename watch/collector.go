package watch

import (
	"context"
	"errors"
	"time"

	"plimsoll/watch/storage"
)

// Source is an instance to be watched and what reads it.
type Source struct {
	Instance   Instance // its name, cluster, address and what else is known beforehand
	Collectors []Collector
	Volume     *storage.Volume // what its data lies on; nil: not known
	// Derive works out of what the collectors showed what follows from it, after each visit of the first; may be nil.
	Derive func(now time.Time, i *Instance) []Sample
	Login  Login // how the collectors log in; may be nil
}

// Login is how the collectors of a source log in. They use it whenever they connect.
type Login interface {
	// Renew takes over that of a newer source of the same instance, whose password may be another.
	Renew(newer Login)
}

// Collector reads one instance in one way: over SQL, from a cloud's metrics. It is called by one goroutine, once per interval.
type Collector interface {
	// Collect reads what is due at a level. What could be read although something else failed is in the reading too.
	Collect(ctx context.Context, level Level, now time.Time) (Reading, error)
	Close() error
}

// ErrRefused is wrapped by the error of a visit to an instance that answers and denies the watch's account: it does not let it log in, or
// read anything. Such an instance is not down.
var ErrRefused = errors.New("refuses the watch's account")

// ExtraTimer is a Collector whose visits may take longer than the others' of their level: own SQL has time limits of its own.
type ExtraTimer interface {
	// ExtraTime is how much longer a visit may take.
	ExtraTime() time.Duration
}

// Level is how often something is read. A level includes those below it.
type Level int

// The levels, from the most frequent to the rarest.
const (
	Second     Level = iota // 1 s: what a person looks at during an incident
	TenSeconds              // all counters, replication, waits in detail
	Minute                  // statements, settings
	TenMinutes              // schema, sizes
)

// spans are the levels in units of the second level.
var spans = []int{Second: 1, TenSeconds: 10, Minute: 60, TenMinutes: 600}

// levelAt is the rarest level that came due after one interval and up to another; at the first everything is.
func levelAt(after, n int) Level {
	if after < 0 {
		return TenMinutes
	}
	for l := TenMinutes; l > Second; l-- {
		if n/spans[l] > after/spans[l] {
			return l
		}
	}
	return Second
}

// Label is one name and value of a series.
type Label struct{ Name, Value string }

// Sample is one value of one series. Labels are in no order, and without the instance's own (cluster, instance, job), which the
// Watcher adds.
type Sample struct {
	Name   string
	Labels []Label
	At     time.Time
	Value  float64
}

// Asked is what a collector asked of an instance in one visit.
type Asked int

// A visit may ask less than what was due.
const (
	Everything Asked = iota
	Contact          // only whether the instance answers, which it did: what is shown of it is as old as before
	Nothing          // whether it answers is not known
)

// Reading is what a collector read of an instance in one visit.
type Reading struct {
	Samples []Sample
	Asked   Asked
	Missed  Level // the level that was due and that the instance was spared; it is due again at the next visit
	// Show sets what the picture shows, without a change to what its pointers and slices led to before; may be nil.
	Show      func(*Instance)
	Changes   []Change
	Documents []Document
}

// Document is what one line of a list says, for stores of documents: a row of a person's own SQL, an instance at a time.
type Document struct {
	At     time.Time
	Fields map[string]any // flat, with lower-case names; the Watcher adds instance and cluster
}

// Add appends a sample of a series; labels are names and values in turn.
func (r *Reading) Add(at time.Time, name string, value float64, labels ...string) {
	s := Sample{Name: name, At: at, Value: value}
	for i := 0; i+1 < len(labels); i += 2 {
		s.Labels = append(s.Labels, Label{labels[i], labels[i+1]})
	}
	r.Samples = append(r.Samples, s)
}

// Change is something about an instance that is not what it was: a setting, a version, a table's definition or size, its source.
type Change struct {
	At       time.Time `json:"at"`
	Instance string    `json:"instance"` // of a mark also a cluster, or "": all; of what all nodes of a ring share its cluster
	Kind     string    `json:"kind"`     // setting, version, schema, topology, restart, size, mark
	What     string    `json:"what"`
	From     string    `json:"from,omitempty"`
	To       string    `json:"to,omitempty"`

	// OfCluster is set where each node of the cluster tells of the change: it is told once, as one of the cluster.
	OfCluster bool `json:"-"`
}
