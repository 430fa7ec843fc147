//go:build !linux

package remote

import (
	"errors"
	"io"
)

// Stdio says that only Linux machines are served.
func Stdio() (io.ReadWriteCloser, error) { return nil, errors.ErrUnsupported }
