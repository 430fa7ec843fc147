package runbook

import (
	"math/rand/v2"
	"strings"
	"time"

	"plimsoll/internal/document"
)

// Lock says what a run keeps to itself.
type Lock string

// The locks.
const (
	LockCluster Lock = "cluster"
	LockNone    Lock = "none"
)

// UnmarshalDocument reads a lock.
func (l *Lock) UnmarshalDocument(n *document.Node) error {
	*l = Lock(n.Text)
	return oneOf(n, "lock", string(LockCluster), string(LockNone))
}

// InputType is the type of an input: what its value must name.
type InputType string

var inputTypes = []string{"text", "number", "integer", "boolean", "duration", "node", "cluster", "clusters", "list"}

// UnmarshalDocument reads a type.
func (t *InputType) UnmarshalDocument(n *document.Node) error {
	*t = InputType(n.Text)
	return oneOf(n, "type", inputTypes...)
}

func oneOf(n *document.Node, what string, known ...string) error {
	for _, k := range known {
		if n.Text == k {
			return nil
		}
	}
	return document.UnknownName(n, what, known)
}

// Retry is what to do when an attempt fails.
type Retry struct {
	Max     int     `yaml:"max" doc:"How many more attempts. Default 0."`
	Backoff Backoff `yaml:"backoff" doc:"How long to wait between them: 10s, or 10s..2m, doubling. Default 1s..1m."`
	If      string  `yaml:"if" doc:"An expression over error.text and error.class; when it is false, no retry."`
}

// Backoff is the wait before the next attempt: it doubles from Least to Most.
type Backoff struct{ Least, Most time.Duration }

// UnmarshalDocument reads 10s or 10s..2m.
func (b *Backoff) UnmarshalDocument(n *document.Node) error {
	least, most, both := strings.Cut(n.Text, "..")
	if !both {
		most = least
	}
	var err1, err2 error
	b.Least, err1 = time.ParseDuration(least)
	b.Most, err2 = time.ParseDuration(most)
	if n.Kind == document.Scalar && err1 == nil && err2 == nil && b.Most < b.Least {
		return n.Errorf("%q: the first is the longer one, expected %s..%s", n.Text, most, least)
	}
	if n.Kind != document.Scalar || err1 != nil || err2 != nil || b.Least < 0 {
		return n.Errorf("%q, expected a wait such as 10s or 10s..2m", n.Text)
	}
	return nil
}

// Wait is how long to wait after the given failed attempt, counted from 1. It spreads by a fifth, so that runs that
// failed together do not try again together.
func (b Backoff) Wait(attempt int) time.Duration {
	if b == (Backoff{}) {
		b = Backoff{Least: time.Second, Most: time.Minute}
	}
	d := b.Least
	for range attempt - 1 {
		if d >= b.Most {
			break
		}
		d *= 2
	}
	d = min(d, b.Most)
	return d - time.Duration(rand.Float64()*0.2*float64(d))
}

// OnFailure is what becomes of a run of which a step failed for good.
type OnFailure string

// What becomes of it.
const (
	FailureStops  OnFailure = "stop"
	FailureUndoes OnFailure = "undo"
)

// UnmarshalDocument reads stop or undo.
func (f *OnFailure) UnmarshalDocument(n *document.Node) error {
	*f = OnFailure(n.Text)
	return oneOf(n, "answer to a failure", string(FailureStops), string(FailureUndoes))
}
