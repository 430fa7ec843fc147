package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/trial/progress"

	"golang.org/x/sys/unix"

	"plimsoll/report/reporttest"
)

// pseudoTerminal opens a terminal of a size; what is written to it is collected until it is closed.
func pseudoTerminal(t *testing.T, width, height uint16) (slave *os.File, written func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var b strings.Builder
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			mu.Lock()
			b.Write(buffer[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = slave.Close()
		_ = master.Close()
		<-ended
	})
	return slave, func() string {
		mu.Lock()
		defer mu.Unlock()
		return b.String()
	}
}

// eventually waits until the terminal shows a text.
func eventually(t *testing.T, written func() string, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(written(), text); {
		if time.Now().After(deadline) {
			t.Fatalf("no %q on the terminal: %q", text, written())
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestLiveOnATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the screen to be drawn")
	}
	t.Setenv("TERM", "xterm-256color")
	terminal, written := pseudoTerminal(t, 120, 40)
	before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	r := reporttest.Timeline()
	var mu sync.Mutex
	now := r.Environment.Started
	s, err := newFullScreen(terminal, terminal, func() time.Time { mu.Lock(); defer mu.Unlock(); return now })
	if err != nil {
		t.Fatal(err)
	}
	during, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if during.Lflag&unix.ECHO != 0 || during.Lflag&unix.ISIG == 0 {
		t.Errorf("keys are echoed or make no signals: %#x", during.Lflag)
	}
	replay(r, s, 200, func(at time.Time) { mu.Lock(); defer mu.Unlock(); now = at })
	for _, want := range []string{"\x1b[?1049h", "restart-felt", "throughput", "lab/freeze", "left"} {
		eventually(t, written, want)
	}
	s.Say("Stopping: what was measured is kept.")
	after, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if after.Lflag != before.Lflag {
		t.Errorf("the terminal is not as it was: %#x, before %#x", after.Lflag, before.Lflag)
	}
	s.Observe(progress.Stage{Doing: progress.Stopping})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, written, "stopping\r\n")
	_, rest, left := strings.Cut(written(), "\x1b[?1049l")
	if said, stopping := strings.Index(rest, "Stopping: what was measured is kept.\r\n"), strings.Index(rest, "stopping\r\n"); !left || said < 0 || stopping < said {
		t.Errorf("after the screen: %q", rest)
	}
}

func TestLiveDegradesToLines(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	terminal, _ := pseudoTerminal(t, 80, 24)
	for term, out := range map[string]*os.File{"xterm": write, "dumb": terminal, "": terminal} {
		t.Setenv("TERM", term)
		s, err := Live(out, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := s.(*lines); !ok {
			t.Errorf("TERM=%s on %s is a %T", term, out.Name(), s)
		}
		s.Observe(progress.Stage{Doing: progress.Starting})
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(read)
	if err != nil || string(got) != "   0:00  starting\n" {
		t.Errorf("the pipe got %q, %v", got, err)
	}
}
