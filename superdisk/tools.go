package superdisk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"syscall"

	"plimsoll/hint"
	"plimsoll/infra"
)

// packages are those that bring the programs which are called here, by their names in Debian, Fedora and their kin.
var packages = map[string]string{
	"mdadm": "mdadm", "mkfs.xfs": "xfsprogs", "wipefs": "util-linux", "blkid": "util-linux", "mount": "util-linux", "umount": "util-linux",
}

// run runs a program on a machine. It says which package brings one that is not there.
func run(ctx context.Context, m infra.Machine, program string, args ...string) error {
	_, err := m.Run(ctx, infra.Command{Path: program, Args: args})
	return explainRun(m, program, err)
}

func explainRun(m infra.Machine, program string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, infra.ErrNoProgram) && packages[program] != "":
		return hint.With(fmt.Errorf("%s has no %s: %w", m.Name(), program, err), "install the package "+packages[program]+" there; nothing was changed by this")
	}
	return fmt.Errorf("on %s: %w", m.Name(), err)
}

func mdadm(ctx context.Context, m infra.Machine, args ...string) error {
	return run(ctx, m, "mdadm", args...)
}

// mdadmFits refuses an mdadm that cannot make an array as it is made here: --data-offset came with 3.3, in 2013.
func mdadmFits(ctx context.Context, m infra.Machine) error {
	out, err := m.Run(ctx, infra.Command{Path: "mdadm", Args: []string{"--version"}})
	if err != nil {
		return explainRun(m, "mdadm", err)
	}
	said := bytes.TrimSpace(append(out.Stderr, out.Stdout...)) // it says so on stderr
	var major, minor int
	if _, err := fmt.Sscanf(string(said), "mdadm - v%d.%d", &major, &minor); err != nil {
		return fmt.Errorf("ask mdadm of %s for its version: it says %.60q", m.Name(), said)
	}
	if major < 3 || major == 3 && minor < 3 {
		return hint.With(fmt.Errorf("mdadm of %s is %d.%d, and 3.3 or later is needed", m.Name(), major, minor), "install a newer mdadm there; nothing was changed by this")
	}
	return nil
}

// noRoom says of a write that failed because a disk of the machine is full which disk, and what is safe.
func noRoom(m infra.Machine, at string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return hint.With(fmt.Errorf("on %s: %w", m.Name(), err),
			"the file system of "+at+" on "+m.Name()+" is full: free some space there and repeat the step. The leg that serves has all data; a new leg that is incomplete is not taken for one")
	}
	return err
}
