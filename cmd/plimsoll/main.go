// Command plimsoll proves a database change before it is made.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"plimsoll/cmd/plimsoll/console"
)

func main() {
	console.HidePasswords()
	useMoreThreads()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := program(ctx, os.Args[1:], console.Streams{In: os.Stdin, Out: console.OnScreen(os.Stdout), Err: console.OnScreen(os.Stderr)})
	stop()
	os.Exit(code)
}

// useMoreThreads lets twice as many threads as processors run Go code. On a machine that the server shares, a thread that
// waits for its turn then holds up half of the connections and not all of one processor's: 5 to 8 % more point selects a
// second, and a lower p99 (docs/performance.md).
func useMoreThreads() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	}
}
