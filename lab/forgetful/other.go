//go:build !linux

package forgetful

import "errors"

// Run refuses: the layer needs Linux.
func Run([]string) error { return errors.New("the emulated disk needs Linux") }
