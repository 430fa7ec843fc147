package terminal

import (
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Silence keeps keys that are pressed from being written over the screen. Signals such as Ctrl-C's still come.
func Silence(in *os.File) (restore func() error, err error) {
	if !term.IsTerminal(int(in.Fd())) {
		return func() error { return nil }, nil // nothing is typed
	}
	fd := int(in.Fd())
	was, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, err
	}
	quiet := *was
	quiet.Lflag &^= unix.ECHO | unix.ICANON
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &quiet); err != nil {
		return nil, err
	}
	return func() error { return unix.IoctlSetTermios(fd, unix.TCSETSF, was) }, nil
}
