package infratest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"plimsoll/infra"
)

// suiteTalk holds for machines on which a command can be talked to.
func suiteTalk(t *testing.T, s suite) {
	m, ok := s.Machine.(infra.Conversing)
	if !ok {
		t.Skip("commands on this machine take no input while they run")
	}
	talk := func(ctx context.Context, line string) infra.Channel {
		t.Helper()
		ch, err := m.Talk(ctx, infra.Command{Path: "sh", Args: []string{"-c", line}, Env: []string{"WHO=me"}, Dir: s.dir, Mark: s.at("talk")})
		must(t, err)
		return ch
	}
	// It answers while it runs.
	ch := talk(t.Context(), `while read -r line; do echo "$WHO heard $line"; done; echo bye`)
	answers := bufio.NewReader(ch)
	for _, word := range []string{"one", "two"} {
		_, err := io.WriteString(ch, word+"\n")
		must(t, err)
		answer, err := answers.ReadString('\n')
		must(t, err)
		equal(t, "answer", answer, "me heard "+word+"\n")
	}
	must(t, ch.Close()) // the end of its stdin ends it
	left(t, s, 0)

	// It says how it ended.
	ch = talk(t.Context(), "echo the cause >&2; exit 7")
	_, err := io.ReadAll(ch)
	must(t, err)
	var exit *infra.ExitError
	if err := ch.Close(); !errors.As(err, &exit) || exit.Status != 7 || !strings.Contains(exit.Stderr, "the cause") {
		t.Errorf("a failed command: %#v", err)
	}
	if _, err := m.Talk(t.Context(), infra.Command{Path: "no-such-program-here"}); !errors.Is(err, infra.ErrNoProgram) {
		t.Errorf("a program that is not there: %v, want ErrNoProgram", err)
	}

	// Broken off, it is gone with its children, though it listens to nobody.
	ctx, cancel := context.WithCancel(t.Context())
	ch = talk(ctx, "sleep 1000 & echo ready; wait")
	_, err = bufio.NewReader(ch).ReadString('\n')
	must(t, err)
	left(t, s, 2)
	cancel()
	if err := ch.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v, want context.Canceled", err)
	}
	left(t, s, 0)
}

// left waits until so many processes carry the mark of a talk.
func left(t *testing.T, s suite, want int) {
	t.Helper()
	eventually(t, "as many processes as there should be", func() bool {
		found, err := s.Find(t.Context(), s.at("talk"))
		must(t, err)
		return len(found) == want
	})
}
