// Command plimsoll-machine is the helper that Plimsoll puts on a machine that it reaches over a channel. It serves that machine on
// its stdin and stdout, and ends with them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/infra/remote"
	"plimsoll/infra/systemd"
)

// launch is the argument of a helper that becomes another program.
const launch = "launch"

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "plimsoll-machine:", err)
		os.Exit(1)
	}
}

// serve serves the machine. With launch FILE it becomes what the file tells: systemd starts it so.
func serve() error {
	machine, err := local.New()
	if err != nil {
		return err
	}
	if itself, ok := machine.(infra.Itself); ok && len(os.Args) == 3 && os.Args[1] == launch {
		return systemd.Launch(itself, os.Args[2])
	}
	self, err := os.Executable()
	if err == nil && systemd.Runs() {
		machine = systemd.Starter{Machine: machine, Launcher: []string{self, launch}, Folder: remote.BesideProgram("units")}
	}
	channel, err := remote.Stdio()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	return remote.Server{Machine: machine, Records: remote.BesideProgram("lost")}.Serve(ctx, channel)
}
