//go:build linux

// Package local is the machine that Plimsoll runs on.
//
// Processes are known by their id and start time, and found by the mark in their environment, so that neither a reused
// id nor a Plimsoll that was killed before it could write anything down leads astray.
package local

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"plimsoll/infra"
)

// Machine is this host. It needs Linux: /proc says what runs here.
type Machine struct{}

var _ infra.Machine = Machine{}

// New returns this host.
func New() (infra.Machine, error) {
	if err := keepDescriptors(); err != nil {
		return nil, fmt.Errorf("look at the open files: %w", err)
	}
	return Machine{}, nil
}

// Name is "local".
func (Machine) Name() string { return "local" }

// keepDescriptors sees to it that no server inherits what Plimsoll itself inherited, a pipe of make or of a shell, and
// keeps it open for as long as it lives. What Go opens is closed at exec anyway.
func keepDescriptors() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
