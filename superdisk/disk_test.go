package superdisk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/hint"
	"plimsoll/infra"
)

// disked is a machine with these disks.
type disked struct {
	infra.Machine
	disks string
}

func (disked) Name() string { return "db1" }

func (m disked) Run(context.Context, infra.Command) (infra.Output, error) {
	return infra.Output{Stdout: []byte(m.disks)}, nil
}

// Of two disks with one serial number, as two paths to a volume or a copy of a test's disk, the first need not be the one that is meant.
func TestOfTwoDisksWithOneSerialNumberNoneIsTaken(t *testing.T) {
	twice := disked{disks: "device vda 2097152 vol1\ndevice vdb 2097152 vol2\ndevice vdc 2097152 vol1\n"}
	for _, ref := range []string{"vol-1", "vol1"} {
		device, err := Resolve(t.Context(), twice, ref)
		if err == nil || errors.Is(err, infra.ErrNotAttached) || !strings.Contains(err.Error(), "/dev/vda and /dev/vdc of db1 both report the serial number vol1") ||
			!strings.Contains(hint.Of(err), "multipath") || !strings.Contains(hint.Of(err), "copy") {
			t.Errorf("%s: %q, %v (%s)", ref, device, err, hint.Of(err))
		}
	}
	for ref, want := range map[string]string{"vol-2": "/dev/vdb", "/dev/vdc": "/dev/vdc"} {
		if device, err := Resolve(t.Context(), twice, ref); err != nil || device != want {
			t.Errorf("%s: %q, %v", ref, device, err)
		}
	}
	hidden := disked{disks: "device nvme0c0n1 2097152 vol1\nhidden\ndevice nvme0n1 2097152 vol1\n"} // the kernel's own multipath of NVMe
	if device, err := Resolve(t.Context(), hidden, "vol-1"); err != nil || device != "/dev/nvme0n1" {
		t.Errorf("a path that the kernel hides: %q, %v", device, err)
	}
}

// A path that the kernel hides has no device, and a search for legs that asked it would end there.
func TestAPathThatTheKernelHidesIsNotAskedForALeg(t *testing.T) {
	folder := t.TempDir()
	for file, text := range map[string]string{
		"nvme0n1/size": "2097152", "nvme0n1/hidden": "0", "nvme0c0n1/size": "2097152", "nvme0c0n1/hidden": "1", "vda/size": "2097152", "vda1/size": "2048", "md127/size": "2097152", "vdb/size": "8",
	} {
		at := filepath.Join(folder, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o750), os.WriteFile(at, []byte(text+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := here(t).Run(t.Context(), infra.Command{Path: "sh", Args: []string{"-c", namingDisks, "sh", folder}})
	if got := strings.Fields(string(out.Stdout)); err != nil || strings.Join(got, " ") != "nvme0n1 vda vda1" {
		t.Errorf("%q, %v", got, err)
	}
}
