//go:build linux

package remote

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Stdio is stdin and stdout as a channel that can be closed while it is read: for that Go must be able to wait for them.
func Stdio() (io.ReadWriteCloser, error) {
	for _, fd := range []int{unix.Stdin, unix.Stdout} {
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("look at stdin and stdout: %w", err)
		}
	}
	return pipes{os.NewFile(uintptr(unix.Stdin), "stdin"), os.NewFile(uintptr(unix.Stdout), "stdout")}, nil
}

// pipes is a pair of files as one channel.
type pipes struct{ in, out *os.File }

func (p pipes) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p pipes) Write(b []byte) (int, error) { return p.out.Write(b) }

func (p pipes) Close() error {
	_ = p.in.Close() // what was to be said has been, and nobody listens any more
	_ = p.out.Close()
	return nil
}
