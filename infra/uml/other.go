//go:build !linux

package uml

import "errors"

// Run is for Linux.
func Run([]string) error { return errors.New("machines with a kernel of their own need Linux") }
