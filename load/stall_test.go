package load_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/load"
	"plimsoll/load/loadtest"
)

const stallChild = "PLIMSOLL_TEST_STALL"

// A generator that the machine gives no turn is found out in a closed loop too, where no operation knows when it should
// have begun: here it is stopped for half a second, and told by nothing but its clock.
func TestAStarvedGeneratorIsFoundOut(t *testing.T) {
	if os.Getenv(stallChild) != "" {
		starvedLoad(t)
		return
	}
	if testing.Short() {
		t.Skip("runs for seconds by the clock")
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAStarvedGeneratorIsFoundOut$", "-test.v=false")
	child.Env = append(os.Environ(), stallChild+"=1")
	var said strings.Builder
	enough, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	ready, err := child.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stdout = &said
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := ready.Read(make([]byte, 1)); err != nil { // the load runs
		t.Fatal(err)
	}
	if err := child.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond) // how long the child stands still: what is tested
	if err := child.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := enough.Close(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if !strings.Contains(said.String(), "was short of CPU for up to") {
		t.Errorf("judged %s", said.String())
	}
}

// starvedLoad is the child: it tells when it runs, goes on until its stdin ends, and tells how it is judged.
func starvedLoad(t *testing.T) {
	var guards []load.GuardSecond
	server := &loadtest.Server{Service: fixed(time.Millisecond)}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	out, err := load.Run(ctx, load.Spec{Operations: []string{"read"}, Connections: 2}, server.Connect, func(s load.Second) {
		if len(guards) == 0 {
			_, _ = os.Stderr.WriteString(".")
		}
		guards = append(guards, s.Guard)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range load.Judge(guards, out.All.Response) {
		_, _ = fmt.Println(reason)
	}
}
