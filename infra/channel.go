package infra

import (
	"context"
	"io"
)

// Conversing is a machine on which a command can be talked to while it runs. Implemented by a Machine.
type Conversing interface {
	// Talk starts a command whose stdin and stdout are the channel. It does not outlive Plimsoll: its stdin ends with it,
	// and when ctx ends the command and its children are killed. Stdin, Log and Title of the command are not used.
	Talk(ctx context.Context, c Command) (Channel, error)
}

// Channel is a command that runs and is talked to. Reading and writing may be done by two goroutines.
type Channel interface {
	io.Reader // its stdout; io.EOF when it has ended
	io.Writer // its stdin
	// Close ends its stdin, waits for the command's end and says how it ended, as Run does. Call it once, always, when
	// nobody reads any more. What the command still writes to stdout is lost.
	Close() error
}
