package result

import (
	"time"

	"plimsoll/analyze"
)

// Dip is one stretch in which a change was felt, with what was under way when it began.
type Dip struct {
	analyze.Dip
	// During is the step of the runbook, with the data streams of then, or the event, that the dip began with; "" when there was none.
	During string `json:"during,omitempty"`
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
