package labtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk is a small disk of its own, in the place of an empty folder, until the test ends.
type Disk struct{ folder string }

// SmallDisk mounts one of a size such as 60m. The error says why it cannot: it takes root, and the right to mount.
func SmallDisk(t testing.TB, folder, size string) (*Disk, error) {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil, errors.New("to mount a small disk takes root")
	}
	if err := mount(t, "-t", "tmpfs", "-o", "mode=0700,size="+size, "plimsoll-test", folder); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.Background(), "umount", "--lazy", folder).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return &Disk{folder}, nil
}

func mount(t testing.TB, args ...string) error {
	out, err := exec.CommandContext(t.Context(), "mount", args...).CombinedOutput()
	if err != nil {
		return errors.New(err.Error() + ": " + string(out))
	}
	return nil
}

// Resize gives it another size.
func (d *Disk) Resize(t testing.TB, size string) {
	t.Helper()
	if err := mount(t, "-o", "remount,size="+size, d.folder); err != nil {
		t.Fatal(err)
	}
}

func (d *Disk) ballast() string { return filepath.Join(d.folder, "ballast") }

// Fill takes all that is free.
func (d *Disk) Fill() error {
	file, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	zeros := make([]byte, 64<<10)
	for {
		if _, err := file.Write(zeros); err != nil {
			if errors.Is(err, syscall.ENOSPC) {
				return nil
			}
			return err
		}
	}
}

// Free gives back what Fill took.
func (d *Disk) Free() error { return os.Remove(d.ballast()) }
