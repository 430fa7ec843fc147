//go:build !linux

// Package local is the machine that Plimsoll runs on.
package local

import (
	"errors"

	"plimsoll/infra"
)

// New says that a lab cannot run on this system.
func New() (infra.Machine, error) {
	return nil, errors.New("a lab needs Linux; on this system you can run load against existing databases")
}
