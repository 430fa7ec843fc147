package result

import (
	"time"

	"plimsoll/analyze"
)

// Dip is one period in which a change was felt, with what was under way when it began.
type Dip struct {
	analyze.Dip
	// During is the step of the runbook, with the data streams of then, or the event, that the dip began with; "" when there was none.
	During string `json:"during,omitempty"`
	// When tells how that stands to the beginning of the dip.
	When When `json:"when,omitempty"`
	// Pieces are what a dip went on through, in order, if that was more than one thing.
	Pieces []Piece `json:"pieces,omitempty"`
}

// Piece is what lay in a dip that went on through several causes: one of them, with its own worst second.
type Piece struct {
	During string    `json:"during,omitempty"`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	analyze.Worst
}

// When is how a dip's beginning stands to what was under way.
type When string

// The ways.
const (
	During When = "during" // it was under way
	After  When = "after"  // it had just ended
	Before When = "before" // nothing was: it came later
)
