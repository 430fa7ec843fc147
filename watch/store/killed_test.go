package store

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"plimsoll/watch"
)

// childFolder has a test process write into a store until it is killed, childFrom begin with a number of a sample.
const (
	childFolder = "PLIMSOLL_TEST_STORE"
	childFrom   = "PLIMSOLL_TEST_FROM"
)

// kills is how often, unless PLIMSOLL_TEST_KILLS says it.
const kills = 30

// A process that writes is killed at random. The store opens each time, and holds all that the process said that it
// had written: Prometheus' log goes to the kernel with each append, and kill -9 takes nothing from the kernel.
func TestKilledAtRandom(t *testing.T) {
	if folder := os.Getenv(childFolder); folder != "" {
		writeUntilKilled(t, folder)
		return
	}
	if testing.Short() {
		t.Skip("kills processes for half a minute")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	folder := t.TempDir()
	begun := time.Now().Add(-time.Minute)
	written, times := 0, killsAsked(kills)
	for range times {
		written += writeAndKill(t, childFolder+"="+folder, time.Duration(random.IntN(40))*time.Millisecond)
	}
	s, err := Open(folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // it was only read
	lines, err := s.Select(t.Context(), "x", begun, time.Now().Add(time.Hour))
	if err != nil || len(lines) != 1 {
		t.Fatalf("%d series, %v", len(lines), err)
	}
	if got := len(lines[0].Points); got < written || written < times {
		t.Errorf("%d samples of %d that were written", got, written)
	}
}

// killsAsked is how often a process is killed: as often as the environment says, or as usual.
func killsAsked(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("PLIMSOLL_TEST_KILLS")); err == nil {
		return n
	}
	return usual
}

// The same of a store that makes a block every few moments, since two minutes pass between its samples: some of the kills come while it writes a
// block, cuts its log, or opens after that.
func TestKilledWhileItMakesBlocks(t *testing.T) {
	if folder := os.Getenv(childFolder); folder != "" {
		writeBlocksUntilKilled(t, folder)
		return
	}
	if testing.Short() {
		t.Skip("kills processes for half a minute")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	folder := t.TempDir()
	written, times, halves := 0, killsAsked(kills/2), 0
	for range times {
		written += writeAndKill(t, childFolder+"="+folder, time.Duration(random.IntN(300))*time.Millisecond, childFrom+"="+strconv.Itoa(written))
		for _, unfinished := range []string{"*.tmp-for-creation", "*.tmp-for-deletion", "wal/checkpoint.*.tmp"} {
			left, err := filepath.Glob(filepath.Join(folder, unfinished))
			if err != nil {
				t.Fatal(err)
			}
			halves += len(left)
		}
	}
	blocks, err := filepath.Glob(filepath.Join(folder, "0*", "meta.json"))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("there are %d blocks, %v: no kill could come while one was made", len(blocks), err)
	}
	s, err := Open(folder, Options{Age: 10000 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // it was only read
	lines, err := s.Select(t.Context(), "x", minute(0), minute(written+1000))
	if err != nil || len(lines) != 1 {
		t.Fatalf("%d series, %v", len(lines), err)
	}
	has := map[float64]bool{}
	for _, p := range lines[0].Points {
		has[p.Value] = true
	}
	for n := range written {
		if !has[float64(n)] {
			t.Errorf("sample %d of %d is missing", n, written)
		}
	}
	t.Logf("%d samples in %d blocks and the rest; %d times something half made was left", written, len(blocks), halves)
}

// minute is the time of a sample, two minutes after the one before.
func minute(n int) time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(n) * 2 * time.Minute)
}

func writeBlocksUntilKilled(t *testing.T, folder string) {
	s, err := Open(folder, Options{Age: 10000 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(os.Getenv(childFrom))
	if err != nil {
		t.Fatal(err)
	}
	for range time.Tick(time.Millisecond) {
		if err := s.Append(t.Context(), []watch.Sample{{Name: "x", At: minute(n), Value: float64(n)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stdout.WriteString(strconv.Itoa(n) + "\n"); err != nil {
			t.Fatal(err)
		}
		n++
	}
}

// writeAndKill has a process of the same test write, kills it some time after its first sample, and returns how many it said it had written.
func writeAndKill(t *testing.T, folder string, after time.Duration, more ...string) (written int) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(append(os.Environ(), folder), more...)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, err := strconv.Atoi(lines.Text()); err != nil {
			t.Fatalf("a process that writes says %q", lines.Text())
		}
		if written++; written == 1 {
			time.AfterFunc(after, func() { _ = child.Process.Kill() }) // it may have ended
		}
	}
	_ = child.Wait() // it was killed
	return written
}

func writeUntilKilled(t *testing.T, folder string) {
	s, err := Open(folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, last := 0, time.Time{}
	for range time.Tick(2 * time.Millisecond) {
		at := time.Now().Truncate(time.Millisecond)
		if !at.After(last) { // on a busy machine ticks bunch; of two samples of one time the second is left out
			at = last.Add(time.Millisecond)
		}
		last = at
		if err := s.Append(t.Context(), []watch.Sample{{Name: "x", At: at, Value: float64(n)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stdout.WriteString(strconv.Itoa(n) + "\n"); err != nil {
			t.Fatal(err)
		}
		n++
	}
}
