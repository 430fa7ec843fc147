package store

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"plimsoll/watch"
)

// childFolder has a test process write into a store until it is killed.
const childFolder = "PLIMSOLL_TEST_STORE"

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
	written, times := 0, kills
	if n, err := strconv.Atoi(os.Getenv("PLIMSOLL_TEST_KILLS")); err == nil {
		times = n
	}
	for range times {
		written += writeAndKill(t, folder, time.Duration(random.IntN(40))*time.Millisecond)
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

// writeAndKill has a process write, kills it some time after its first sample, and returns how many it said it had written.
func writeAndKill(t *testing.T, folder string, after time.Duration) (written int) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAtRandom$")
	child.Env = append(os.Environ(), childFolder+"="+folder)
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
