//go:build linux

package disk_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"plimsoll/infra/disk"
)

func open(t *testing.T, size int64) (*disk.Disk, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "volume")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
		t.Fatal(err)
	}
	d, err := disk.Open(path, "vol1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, path
}

func TestReadsWhatWasWritten(t *testing.T) {
	d, path := open(t, 1<<20)
	ctx := t.Context()
	if err := d.Write(ctx, [][]byte{[]byte("one"), nil, []byte("two")}, 4096); err != nil {
		t.Fatal(err)
	}
	a, b := make([]byte, 2), make([]byte, 4)
	if err := d.Read(ctx, [][]byte{a, b}, 4096); err != nil || string(a)+string(b) != "onetwo" {
		t.Errorf("%q %q: %v", a, b, err)
	}
	if err := d.Zero(ctx, 4096, 4096); err != nil {
		t.Error(err)
	}
	if err := d.Read(ctx, [][]byte{a}, 4096); err != nil || !bytes.Equal(a, []byte{0, 0}) {
		t.Errorf("after zeroes: %q, %v", a, err)
	}
	for _, offset := range []int64{-1, 1<<20 - 1} {
		if d.Read(ctx, [][]byte{a}, offset) == nil || d.Write(ctx, [][]byte{a}, offset) == nil {
			t.Errorf("%d was inside", offset)
		}
	}
	if err := d.Corrupt(4096, []byte("bad")); err != nil {
		t.Error(err)
	}
	if err := d.Read(ctx, [][]byte{a}, 4096); err != nil || string(a) != "ba" {
		t.Errorf("corrupted: %q, %v", a, err)
	}
	if _, err := disk.Open(path, "vol1"); !errors.Is(err, disk.ErrInUse) {
		t.Errorf("open it again: %v, want ErrInUse", err)
	}
}

func TestTroubles(t *testing.T) {
	d, _ := open(t, 1<<20)
	ctx := t.Context()
	p := [][]byte{make([]byte, 4096)}
	for name, c := range map[string]struct {
		conditions disk.Conditions
		offset     int64
		read       error
		write      error
	}{
		"none":                 {disk.Conditions{}, 0, nil, nil},
		"gone":                 {disk.Conditions{Gone: true}, 0, disk.ErrGone, disk.ErrGone},
		"full":                 {disk.Conditions{Full: true}, 0, nil, disk.ErrFull},
		"reads of a range":     {disk.Conditions{Fail: []disk.Range{{From: 8192, To: 12288, Reads: true}}}, 8192, disk.ErrBroken, nil},
		"before the range":     {disk.Conditions{Fail: []disk.Range{{From: 8192, To: 12288, Reads: true}}}, 4096, nil, nil},
		"after the range":      {disk.Conditions{Fail: []disk.Range{{From: 8192, To: 12288, Reads: true}}}, 12288, nil, nil},
		"over its edge":        {disk.Conditions{Fail: []disk.Range{{From: 8192, To: 12288, Writes: true}}}, 8191 - 512, nil, disk.ErrBroken},
		"writes up to the end": {disk.Conditions{Fail: []disk.Range{{From: 8192, Writes: true}}}, 1 << 19, nil, disk.ErrBroken},
	} {
		d.Set(c.conditions)
		if err := d.Read(ctx, p, c.offset); !errors.Is(err, c.read) {
			t.Errorf("%s: read: %v, want %v", name, err, c.read)
		}
		if err := d.Write(ctx, p, c.offset); !errors.Is(err, c.write) {
			t.Errorf("%s: write: %v, want %v", name, err, c.write)
		}
	}
}

// A volume that hangs answers nothing, until it is over, or gone, or nobody waits any more.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := open(t, 1<<20)
		p := [][]byte{make([]byte, 512)}
		answers := make(chan error, 1)
		for what, end := range map[string]func(context.CancelFunc) error{
			"over":     func(context.CancelFunc) error { d.Set(disk.Conditions{}); return nil },
			"gone":     func(context.CancelFunc) error { d.Set(disk.Conditions{Gone: true}); return disk.ErrGone },
			"canceled": func(cancel context.CancelFunc) error { cancel(); return context.Canceled },
		} {
			d.Set(disk.Conditions{Hang: true})
			ctx, cancel := context.WithCancel(t.Context())
			go func() { answers <- d.Write(ctx, p, 0) }()
			synctest.Wait()
			select {
			case err := <-answers:
				t.Fatalf("it answered: %v", err)
			default:
			}
			if want, got := end(cancel), <-answers; !errors.Is(got, want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
			cancel()
		}
	})
}
