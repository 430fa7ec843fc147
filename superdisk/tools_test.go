package superdisk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/infra"
)

// bare is no machine: it lacks a program, or says that its mdadm, and its mkfs.xfs, are of some version.
type bare struct {
	infra.Machine
	lacks, version, xfs string
}

func (bare) Name() string { return "db-a" }

func (b bare) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	switch {
	case c.Path == b.lacks:
		return infra.Output{}, fmt.Errorf("%s: %w", c.Path, infra.ErrNoProgram)
	case c.Path == "mdadm" && len(c.Args) == 1 && c.Args[0] == "--version":
		return infra.Output{Stderr: []byte(b.version)}, nil
	case c.Path == "mkfs.xfs" && len(c.Args) == 1 && c.Args[0] == "-V":
		return infra.Output{Stdout: []byte(b.xfs)}, nil
	}
	return infra.Output{}, nil
}

// What a machine lacks is named with the package that brings it.
func TestAToolThatIsMissingOrTooOldIsNamed(t *testing.T) {
	for _, c := range []struct {
		machine      bare
		do           func(infra.Machine) error
		reason, what string
	}{
		{bare{lacks: "mdadm"}, func(m infra.Machine) error { return Stop(t.Context(), m, "/dev/md/x") }, "db-a has no mdadm", "package mdadm"},
		{bare{lacks: "mdadm"}, func(m infra.Machine) error { return mdadmFits(t.Context(), m) }, "db-a has no mdadm", "package mdadm"},
		{bare{lacks: "mkfs.xfs"}, func(m infra.Machine) error { return Format(t.Context(), m, "/dev/md/x") }, "db-a has no mkfs.xfs", "package xfsprogs"},
		{bare{lacks: "wipefs"}, func(m infra.Machine) error { return Erase(t.Context(), m, "/dev/vdb") }, "db-a has no wipefs", "package util-linux"},
		{bare{version: "mdadm - v3.2.6 - 25th October 2012\n"}, func(m infra.Machine) error { return mdadmFits(t.Context(), m) }, "mdadm of db-a is 3.2, and 3.3 or later is needed", "newer mdadm"},
		{bare{version: "mdadm - v2.6.9"}, func(m infra.Machine) error { return mdadmFits(t.Context(), m) }, "is 2.6", "newer mdadm"},
		{bare{lacks: "mkfs.xfs"}, func(m infra.Machine) error { return xfsFits(t.Context(), m) }, "db-a has no mkfs.xfs", "package xfsprogs"},
		{bare{xfs: "mkfs.xfs version 3.0.4\n"}, func(m infra.Machine) error { return xfsFits(t.Context(), m) }, "mkfs.xfs of db-a is 3.0, and 3.1 or later is needed", "newer xfsprogs"},
		{bare{xfs: "mkfs.xfs version 2.9.8", version: "mdadm - v4.2"}, func(m infra.Machine) error { return Design{}.make(t.Context(), m, "/dev/vdb") }, "is 2.9", "newer xfsprogs"},
	} {
		err := c.do(c.machine)
		var advised interface{ Hint() string }
		if err == nil || !strings.Contains(err.Error(), c.reason) || !errors.As(err, &advised) || !strings.Contains(advised.Hint(), c.what) {
			t.Errorf("%+v: %v, want %q and a hint at %q", c.machine, err, c.reason, c.what)
		}
	}
	for _, version := range []string{"mdadm - v3.3", "mdadm - v4.2 - 2021-12-30 - Debian 4.2-5\n", "mdadm - v4.4-31-g541b40d3 - 2025-06-10\n"} {
		if err := mdadmFits(t.Context(), bare{version: version}); err != nil {
			t.Errorf("%q: %v", version, err)
		}
	}
	for _, version := range []string{"mkfs.xfs version 3.1.0", "mkfs.xfs version 6.1.0\n"} {
		if err := xfsFits(t.Context(), bare{xfs: version}); err != nil {
			t.Errorf("%q: %v", version, err)
		}
	}
	if err := xfsFits(t.Context(), bare{xfs: "busybox"}); err == nil {
		t.Error("what says no version is taken for mkfs.xfs")
	}
	if err := mdadmFits(t.Context(), bare{version: "busybox"}); err == nil {
		t.Error("what says no version is taken for mdadm")
	}
}
