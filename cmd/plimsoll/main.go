// Command plimsoll proves a database change before it is made.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	hidePasswords()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := run(ctx, os.Args[1:], console{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}
