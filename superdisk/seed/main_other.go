//go:build !linux

package seed

import (
	"context"
	"errors"
	"io"
)

// Main says that there is no Super Disk on this system.
func Main(context.Context, io.Reader, io.Writer) error {
	return errors.New("a Super Disk needs Linux")
}
