package console

import (
	"io"
	"os"
	"strings"
	"testing"
)

func TestATerminalIsToldColoursAndNothingElse(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{file: w}
	complain(Streams{Err: s}, "plimsoll: the server says \x1b[2J\x1b]0;owned\x07")
	line := &LiveLine{w: s, IsTerminal: true, width: 80}
	line.Show("step \x1b[1A")
	line.Say("output\rof a command")
	for _, part := range []string{"\x1b[3", "1mred\x1b", "[0m", "\x1b", "c"} {
		if n, err := io.WriteString(s, part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.ReplaceAll(strings.ReplaceAll(string(out), "\x1b[31mred\x1b[0m", ""), "\r\x1b[K", "")
	if strings.ContainsAny(said, "\x1b\x07\r") {
		t.Errorf("it steers the terminal: %q", out)
	}
	for _, want := range []string{`the server says \x1b[2J`, `step \x1b[1A`, `output\x0dof`, "\x1b[31mred\x1b[0m", `\x1bc`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q lacks %q", out, want)
		}
	}
}
