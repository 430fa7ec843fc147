package store

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/watch"
)

// one appends a sample of x.
func one(t *testing.T, s *Store, at time.Time, value float64) error {
	t.Helper()
	return s.Append(t.Context(), []watch.Sample{{Name: "x", At: at, Value: value}})
}

// A block that cannot be read is put aside, and that is said; the others are read, and what comes is kept.
func TestADamagedBlockIsPutAside(t *testing.T) {
	for name, damage := range map[string]func(block string) error{
		"cut off index":  func(block string) error { return os.Truncate(filepath.Join(block, "index"), 20) },
		"lost index":     func(block string) error { return os.Remove(filepath.Join(block, "index")) },
		"garbled meta":   func(block string) error { return os.WriteFile(filepath.Join(block, "meta.json"), []byte("{"), 0o600) },
		"cut off chunks": func(block string) error { return os.Truncate(filepath.Join(block, "chunks", "000001"), 4) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			s, err := Open(folder, Options{})
			if err != nil {
				t.Fatal(err)
			}
			end := time.Now().Truncate(time.Second)
			for at := end.Add(-9 * time.Hour); at.Before(end); at = at.Add(15 * time.Second) {
				if err := one(t, s, at, 1); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.db.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			blocks := s.db.Blocks()
			if err := s.Close(); err != nil || len(blocks) < 2 {
				t.Fatalf("%d blocks, %v", len(blocks), err)
			}
			if err := damage(blocks[0].Dir()); err != nil {
				t.Fatal(err)
			}
			var log strings.Builder
			if s, err = Open(folder, Options{Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // it was only read
			if !strings.Contains(log.String(), filepath.Base(blocks[0].Dir())) {
				t.Errorf("the log says %s", log.String())
			}
			if left := len(s.db.Blocks()); left != len(blocks)-1 {
				t.Errorf("%d blocks are left of %d", left, len(blocks))
			}
			if err := one(t, s, end.Add(time.Second), 2); err != nil {
				t.Error(err)
			}
			lines, err := s.Select(t.Context(), "x", end.Add(-9*time.Hour), end.Add(time.Minute))
			if err != nil || len(lines) != 1 || len(lines[0].Points) < 500 || lines[0].Points[len(lines[0].Points)-1].Value != 2 {
				t.Errorf("%d lines, %v", len(lines), err)
			}
		})
	}
}

// childFull has a test process fill its disk: a limit on the size of files stands for it, since a disk of a test's own needs root.
const childFull = "PLIMSOLL_TEST_FULL"

// While nothing can be written an append says so; when there is room again, samples are kept as before, also over the next opening.
func TestAFullDiskIsSaidAndGotOver(t *testing.T) {
	if folder := os.Getenv(childFull); folder != "" {
		fillAndFree(t, folder)
		return
	}
	folder := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAFullDiskIsSaidAndGotOver$", "-test.v")
	child.Env = append(os.Environ(), childFull+"="+folder)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s, err := Open(folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it was only read
	lines, err := s.Select(t.Context(), "x", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	if err != nil || len(lines) != 1 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	before, after := 0, 0
	for _, p := range lines[0].Points {
		if p.Value == 1 {
			before++
		}
		if p.Value == 2 {
			after++
		}
	}
	if before == 0 || after != 1000 {
		t.Errorf("%d samples of before the disk was full, and %d of 1000 after it", before, after)
	}
}

func fillAndFree(t *testing.T, folder string) {
	signal.Ignore(syscall.SIGXFSZ) // the write fails instead
	s, err := Open(folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Truncate(time.Second).Add(-30 * time.Minute)
	next := func(value float64) error { at = at.Add(10 * time.Millisecond); return one(t, s, at, value) }
	for range 1000 {
		if err := next(1); err != nil {
			t.Fatal(err)
		}
	}
	limit := syscall.Rlimit{}
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	full := limit
	full.Cur = 64 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	var refused error
	for n := 0; n < 20_000 && refused == nil; n++ {
		refused = next(1.5)
	}
	if !errors.Is(refused, syscall.EFBIG) {
		t.Fatalf("with a full disk: %v", refused)
	}
	for range 100 {
		_ = next(1.6) // refused too
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if err := next(2); err != nil {
			t.Fatalf("with room again: %v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A clock that runs a day ahead and is put right: what is written then and from then on is kept.
func TestAClockThatJumps(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it was only read
	now := time.Now().Truncate(time.Second)
	for _, jump := range []time.Duration{0, 23 * time.Hour, 0, -2 * time.Hour, 0} {
		for range 60 {
			now = now.Add(time.Second)
			if err := one(t, s, now.Add(jump), 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	lines, err := s.Select(t.Context(), "x", now.Add(-24*time.Hour), now.Add(24*time.Hour))
	if err != nil || len(lines) != 1 || len(lines[0].Points) != 300 {
		t.Fatalf("%d lines, %v: %d samples, want 300", len(lines), err, len(lines[0].Points))
	}
}
