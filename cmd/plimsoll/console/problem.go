package console

import (
	"errors"

	"plimsoll/hint"
	"plimsoll/internal/document"
)

// Problem is why a file is refused, as a program reads it.
type Problem struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"`
}

// Problems are what an error says of a file: each mistake with its place, or the error as one without.
func Problems(err error) []Problem {
	var many document.Problems
	var one *document.Problem
	switch {
	case err == nil:
		return nil
	case errors.As(err, &many):
	case errors.As(err, &one):
		many = document.Problems{one}
	default:
		return []Problem{{Text: err.Error(), Hint: hint.Of(err)}}
	}
	all := make([]Problem, len(many))
	for i, p := range many {
		all[i] = Problem{File: p.File, Line: p.Line, Column: p.Column, Text: p.Text, Hint: p.Hint}
	}
	return all
}
