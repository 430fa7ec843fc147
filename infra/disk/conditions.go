// Package disk is a volume made of a sparse file, with the limits of a cloud's volume and the troubles that befall one.
package disk

import (
	"errors"

	"plimsoll/infra/disk/pace"
)

// Conditions are what a volume's requests meet.
type Conditions struct {
	Limits pace.Limits `json:"limits,omitzero"`
	Hang   bool        `json:"hang,omitempty"` // no answer and no error, until it is over
	Gone   bool        `json:"gone,omitempty"` // every request fails
	Full   bool        `json:"full,omitempty"` // writes fail
	Fail   []Range     `json:"fail,omitempty"`
}

// Range is a part of a volume whose reads or writes fail.
type Range struct {
	From   int64 `json:"from"`
	To     int64 `json:"to"` // the first byte after it; 0: the end
	Reads  bool  `json:"reads,omitempty"`
	Writes bool  `json:"writes,omitempty"`
}

// The troubles of a request, and of who opens a volume.
var (
	ErrGone   = errors.New("the volume has disappeared")
	ErrFull   = errors.New("the volume accepts no more writes")
	ErrBroken = errors.New("that part of the volume is broken")
	ErrInUse  = errors.New("another process has the volume")
)
