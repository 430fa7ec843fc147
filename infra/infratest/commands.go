package infratest

import (
	"context"
	"errors"
	"os/signal"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/infra"
)

func suiteRun(t *testing.T, s suite) {
	out, err := s.Run(t.Context(), infra.Command{
		Path: "sh", Args: []string{"-c", `cat; echo "$WHO at $PWD"; echo aside >&2`},
		Env: []string{"WHO=me"}, Dir: s.dir, Stdin: []byte("in\n"),
	})
	must(t, err)
	equal(t, "stdout", string(out.Stdout), "in\nme at "+s.dir+"\n")
	equal(t, "stderr", string(out.Stderr), "aside\n")
	if out.Took <= 0 {
		t.Errorf("took %v", out.Took)
	}

	_, err = s.Run(t.Context(), infra.Command{Path: "sh", Args: []string{"-c", "echo the cause >&2; exit 7"}})
	var exit *infra.ExitError
	if !errors.As(err, &exit) || exit.Status != 7 || exit.Stderr != "the cause" || exit.Command != "sh" {
		t.Errorf("a failed command: %#v", err)
	}

	for _, program := range []string{"no-such-program-here", "/no/such/program"} {
		if _, err = s.Run(t.Context(), infra.Command{Path: program}); !errors.Is(err, infra.ErrNoProgram) {
			t.Errorf("run %s: %v, want ErrNoProgram", program, err)
		}
	}

	// A command that is broken off is gone with its children, and Run does not wait for them.
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, infra.Command{
			Path: "sh", Args: []string{"-c", "sleep 1000 & echo $! >child; wait"}, Dir: s.dir, Mark: s.at("broken-off"),
		})
		result <- err
	}()
	eventually(t, "the child writes its id", func() bool { return s.shell(t, "cat child 2>/dev/null || true") != "" })
	var found []infra.Process
	eventually(t, "both processes carry the mark of Run", func() bool { // one that just begins its program shows none
		found, err = s.Find(t.Context(), s.at("broken-off"))
		must(t, err)
		return len(found) == 2
	})
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v, want context.Canceled", err)
	}
	for _, p := range found {
		wait(t, p)
	}
}

func suiteStart(t *testing.T, s suite) {
	if _, err := s.Start(t.Context(), infra.Command{Path: "sh", Log: s.at("log")}); err == nil {
		t.Error("started without a mark")
	}
	if _, err := s.Start(t.Context(), infra.Command{
		Path: "no-such-program-here", Log: s.at("log"), Mark: "m",
	}); !errors.Is(err, infra.ErrNoProgram) {
		t.Errorf("start a program that is not there: %v, want ErrNoProgram", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	p, err := s.Start(ctx, infra.Command{
		Path: "sh", Args: []string{"-c", `echo "$PLIMSOLL_MARK"; echo problems >&2; sed 's/.*) . //' /proc/$$/stat; exec sleep 1000`},
		Log: s.at("out"), Title: "# one", Mark: s.at("started"),
	})
	must(t, err)
	t.Cleanup(func() { end(t, p) })
	eventually(t, "four lines in the log", func() bool { return strings.Count(s.shell(t, "cat out"), "\n") == 3 })
	lines := strings.Split(s.shell(t, "cat out"), "\n")
	equal(t, "title", lines[0], "# one")
	lines = lines[1:]
	equal(t, "mark in the environment", lines[0], s.at("started"))
	equal(t, "stderr in the log", lines[1], "problems")
	// After the state come parent, process group and session: the server leads its own.
	ids := strings.Fields(lines[2])
	equal(t, "process group", ids[1], strconv.Itoa(p.ID()))
	equal(t, "session", ids[2], strconv.Itoa(p.ID()))

	cancel() // it outlives the context it was started under
	alive(t, p, true)
	end(t, p)
	alive(t, p, false)

	q := s.start(t, s.at("again"), "echo first")
	wait(t, q)
	q = s.start(t, s.at("again"), "echo second")
	wait(t, q)
	equal(t, "appended log", s.shell(t, "cat log"), "first\nsecond")
}

func suiteFind(t *testing.T, s suite) {
	one := s.start(t, s.at("demo/n1"), "sleep 1000 & wait")
	two := s.start(t, s.at("demo/n2"), "exec sleep 1000")
	other := s.start(t, s.at("demo2/n1"), "exec sleep 1000")

	var found []infra.Process
	eventually(t, "the child inherits the mark", func() bool {
		var err error
		found, err = s.Find(t.Context(), s.at("demo"))
		must(t, err)
		return len(found) == 3
	})
	marks := map[string]int{}
	for _, p := range found {
		marks[p.Mark()]++
		equal(t, "leads, being what was started", p.Leads(), p.ID() == one.ID() || p.ID() == two.ID())
	}
	equal(t, "processes of n1", marks[s.at("demo/n1")], 2)
	equal(t, "processes of n2", marks[s.at("demo/n2")], 1)

	// What Find returns is as good as what Start returned.
	for _, p := range found {
		alive(t, p, true)
		end(t, p)
	}
	alive(t, one, false)
	alive(t, two, false)
	alive(t, other, true)
	found, err := s.Find(t.Context(), s.at("demo"))
	must(t, err)
	equal(t, "processes left", len(found), 0)
}

func suiteSignal(t *testing.T, s suite) {
	p := s.start(t, s.at("n1"), `trap 'echo hangup' HUP; trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done`)
	says := func(text string) {
		t.Helper()
		eventually(t, "the server says "+text, func() bool { return strings.Contains(s.shell(t, "cat log"), text) })
	}
	says("ready")
	must(t, p.Signal(t.Context(), "HUP"))
	if !signal.Ignored(unix.SIGHUP) { // as under nohup: a shell cannot trap what was ignored when it began
		says("hangup")
	}

	must(t, p.Signal(t.Context(), "STOP"))
	alive(t, p, true)
	must(t, p.Signal(t.Context(), "TERM")) // kept until it runs again
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := p.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait for a frozen process: %v, want the context's end", err)
	}
	must(t, p.Signal(t.Context(), "CONT"))
	wait(t, p)
	alive(t, p, false)
	wait(t, p) // again, at once

	if err := p.Signal(t.Context(), "TERM"); !errors.Is(err, infra.ErrGone) {
		t.Errorf("signal to an ended process: %v, want ErrGone", err)
	}
	if err := p.Signal(t.Context(), "SIGTERM"); err == nil || errors.Is(err, infra.ErrGone) {
		t.Errorf("signal of an unknown name: %v, want a complaint", err)
	}
}

// suiteStop stops a busy process again and again: when STOP returns it does not run any more, and after CONT it goes on.
func suiteStop(t *testing.T, s suite) {
	p := s.start(t, s.at("busy"), "echo ready; while :; do :; done")
	eventually(t, "it is ready", func() bool { return s.shell(t, "cat log") != "" })
	state := func() string { return s.shell(t, "sed 's/.*) //; s/ .*//' /proc/"+strconv.Itoa(p.ID())+"/stat") }
	for range 5 {
		must(t, p.Signal(t.Context(), "STOP"))
		equal(t, "state when STOP has returned", state(), "T")
		must(t, p.Signal(t.Context(), "CONT"))
		eventually(t, "it goes on", func() bool { return state() == "R" })
	}
}

func wait(t *testing.T, p infra.Process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(t, p.Wait(ctx))
}

func alive(t *testing.T, p infra.Process, want bool) {
	t.Helper()
	got, err := p.Alive(t.Context())
	must(t, err)
	equal(t, "alive", got, want)
}
