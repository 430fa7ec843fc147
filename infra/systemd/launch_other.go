//go:build !linux

package systemd

import (
	"errors"

	"plimsoll/infra"
)

// Launch says that only Linux has systemd.
func Launch(infra.Itself, string) error { return errors.ErrUnsupported }
