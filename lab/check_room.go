package lab

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/engine"
	"plimsoll/hint"
)

// ErrTooLittleMemory says that the machine has not the memory that a cluster needs.
var ErrTooLittleMemory = errors.New("too little memory")

// checkRoom refuses nodes for which there is too little memory or disk, with the sums.
func (d Deps) checkRoom(ctx context.Context, launcher engine.Launcher, nodes []engine.Node) error {
	var memory, disk int64
	var setting string
	for _, n := range nodes {
		needs, err := launcher.Needs(n)
		if err != nil {
			return InputError{fmt.Errorf("%s: %w", n.Name, err)}
		}
		memory, disk, setting = memory+needs.Memory, disk+needs.Disk, needs.Setting
	}
	space, err := d.Machine.Space(ctx, d.clusters())
	if err != nil {
		return err
	}
	if memory > space.MemoryFree {
		advice := "use fewer nodes"
		if setting != "" {
			advice += ", or lower " + setting
		}
		return hint.With(fmt.Errorf("%w: %s would need %s, and %s is free", ErrTooLittleMemory,
			count(len(nodes)), SizeText(memory), SizeText(space.MemoryFree)), advice)
	}
	if disk > space.DiskFree {
		return hint.With(fmt.Errorf("too little disk: %s would need at least %s, and %s is free in %s",
			count(len(nodes)), SizeText(disk), SizeText(space.DiskFree), d.Home), "free some space, or set PLIMSOLL_HOME to another disk")
	}
	return nil
}

func count(nodes int) string {
	if nodes == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", nodes)
}

// SizeText writes bytes as people read them.
func SizeText(bytes int64) string {
	if bytes < 10<<30 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d GiB", bytes>>30)
}
