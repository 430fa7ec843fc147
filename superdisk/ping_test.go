package superdisk

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A disk that hangs holds up the look that asks it, and none after it: how soon it is taken away depends on how often it can be looked at. For how long
// it has not answered is told more finely than in seconds.
func TestADiskThatHangsHoldsUpOneLookAlone(t *testing.T) {
	dir := t.TempDir()
	hangs, slept := filepath.Join(dir, "hangs"), filepath.Join(dir, "slept") // nobody writes to the pipe: who reads it waits
	if err := syscall.Mkfifo(hangs, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sleep"), []byte("#!/bin/sh\necho >>"+slept+"\n"), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	look := func() (line string, naps int) {
		t.Helper()
		_ = os.Remove(slept) // there is none before the first
		cmd := exec.Command("sh", "-c", strings.Replace(pinging, "d=/run/plimsoll-superdisk;", "d="+dir+";", 1), "sh", hangs)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		said, _ := os.ReadFile(slept) // none: it did not wait
		return string(out), strings.Count(string(said), "\n")
	}
	began := uptime(t)
	line, naps := look()
	asked := uptime(t)
	t.Cleanup(func() {
		said, err := os.ReadFile(filepath.Join(dir, "asked.hangs"))
		id, _, _ := strings.Cut(string(said), " ")
		if pid, unread := strconv.Atoi(id); err != nil || unread != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
			t.Errorf("the reader of the pipe is not found: %q", said)
		}
	})
	if line != hangs+" 0\n" || naps != 10 {
		t.Errorf("the look that asks it says %q and waited %d times", line, naps)
	}
	for uptime(t) < asked+50*time.Millisecond {
		time.Sleep(10 * time.Millisecond)
	}
	least := uptime(t) - asked
	line, naps = look()
	most := uptime(t) - began
	age, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, hangs)))
	if hung := time.Duration(age) * 10 * time.Millisecond; err != nil || hung < least || hung > most || naps != 0 {
		t.Errorf("the next look says %q, which should be %s to %s, and waited %d times", line, least, most, naps)
	}
}

// uptime is the time since the machine started.
func uptime(t *testing.T) time.Duration {
	t.Helper()
	said, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	seconds, err := strconv.ParseFloat(strings.Fields(string(said))[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(math.Round(seconds*100)) * 10 * time.Millisecond
}
