//go:build linux

package systemd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"plimsoll/infra"
)

// Launch becomes the command that a file tells, after it has said in another which process it is. It returns only what went wrong.
func Launch(machine infra.Itself, told string) error {
	body, err := os.ReadFile(told)
	if err != nil {
		return fmt.Errorf("read what to start: %w", err)
	}
	var l launch
	if err := json.Unmarshal(body, &l); err != nil {
		return fmt.Errorf("read what to start: %w", err)
	}
	log, err := os.OpenFile(l.Command.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	if l.Command.Title != "" {
		if _, err := log.WriteString(l.Command.Title + "\n"); err != nil {
			return fmt.Errorf("write the log: %w", err)
		}
	}
	dir := l.Command.Dir
	if dir == "" {
		dir = "/"
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("go to its folder: %w", err)
	}
	self, err := machine.Itself(context.Background())
	if err != nil {
		return fmt.Errorf("look which process this is: %w", err)
	}
	if err := os.WriteFile(told+isAs+".new", []byte(self.Reference()), 0o600); err != nil {
		return fmt.Errorf("say which process this is: %w", err)
	}
	if err := os.Rename(told+isAs+".new", told+isAs); err != nil {
		return fmt.Errorf("say which process this is: %w", err)
	}
	for _, fd := range []int{1, 2} {
		if err := unix.Dup3(int(log.Fd()), fd, 0); err != nil {
			return fmt.Errorf("open the log: %w", err)
		}
	}
	return fmt.Errorf("start %s: %w", l.Path, syscall.Exec(l.Path, append([]string{l.Command.Path}, l.Command.Args...), l.Env))
}
