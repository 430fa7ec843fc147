//go:build linux

package forgetful

import (
	"errors"
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// Run serves what its arguments name, FOLDER ASIDE REPORT [DISK STATE], as a process of its own. SIGTERM ends it, SIGHUP lets it forget.
func Run(arguments []string) error {
	if len(arguments) != 3 && len(arguments) != 5 {
		return errors.New("expected FOLDER ASIDE REPORT, and for one with a disk's limits DISK STATE")
	}
	at := Paths{Folder: arguments[0], Aside: arguments[1], Report: arguments[2]}
	if len(arguments) == 5 {
		at.Disk, at.State = arguments[3], arguments[4]
	}
	signals, end := make(chan os.Signal, 1), make(chan End, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	var listening sync.WaitGroup
	listening.Go(func() {
		if s, told := <-signals; told && s == unix.SIGHUP {
			end <- Forget
		} else {
			end <- Keep
		}
	})
	err := Serve(at, end)
	signal.Stop(signals)
	close(signals)
	listening.Wait()
	return err
}
