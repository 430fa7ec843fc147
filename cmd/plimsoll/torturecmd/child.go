package torturecmd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// The environment of a child of the torture: where its store is, around which entry it dies or sleeps, and for how long it holds
// a lease, if not as long as usual.
const (
	tortureStore = "PLIMSOLL_TORTURE_STORE"
	tortureAt    = "PLIMSOLL_TORTURE_AT"
	tortureTTL   = "PLIMSOLL_TORTURE_TTL"
)

// UnderTorture is the context of this program's commands. In a child of a torture they die or sleep where its environment says, and
// approve every step; one with a delay, of a mixed attack (internal/torture), is otherwise as any other and approves nothing. In every
// other process it is the context itself.
func UnderTorture(ctx context.Context) context.Context {
	store := os.Getenv(tortureStore)
	if store == "" {
		return ctx
	}
	var cuts []func(durable.Moment)
	delayed := false
	for at := range strings.SplitSeq(os.Getenv(tortureAt), ";") {
		parts := strings.Split(at, ":")
		delayed = delayed || len(parts) == 4
		if len(parts) >= 3 {
			cuts = append(cuts, cutOff(parts))
		}
	}
	t := &runs.FaultTest{Store: store, Approves: !delayed}
	t.Lease, _ = time.ParseDuration(os.Getenv(tortureTTL)) // what is no duration is none
	t.Written = func(m durable.Moment) {
		for _, cut := range cuts {
			cut(m)
		}
	}
	return runs.WithFaultTest(ctx, t)
}

// cutOff ends or stops this process around one write to the journal: WAY:ENTRY:BEFORE, or a while after it: WAY:ENTRY:BEFORE:DELAY.
// ENTRY is a number, or the kind and the step of what is written, such as acted/stop: then it is the first of these. Of several, with
// semicolons between them, it is the one that comes first.
func cutOff(parts []string) func(durable.Moment) {
	number, err := strconv.Atoi(parts[1])
	kind, step, named := strings.Cut(parts[1], "/")
	if !named && (err != nil || number == 0) {
		return func(durable.Moment) {} // nowhere
	}
	delay := time.Duration(0)
	if len(parts) == 4 {
		delay, _ = time.ParseDuration(parts[3]) // what is no duration is none
	}
	return func(m durable.Moment) {
		if strconv.FormatBool(m.Before) != parts[2] || !named && m.Number != number || named && !is(m, kind, step) {
			return
		}
		say := func() {
			if named { // of several places, which it was
				fmt.Fprintln(os.Stderr, "torture: cut off at "+strings.Join(parts[1:], ":"))
			}
		}
		if delay > 0 { // meanwhile it goes on
			way := map[string]syscall.Signal{"kill": syscall.SIGKILL, "stop": syscall.SIGSTOP}[parts[0]]
			time.AfterFunc(delay, func() { say(); _ = syscall.Kill(os.Getpid(), way) })
			return
		}
		say()
		// A signal takes a moment to reach all threads of a process: meanwhile nothing more may be written.
		if parts[0] == "stop" {
			woken := make(chan os.Signal, 1)
			signal.Notify(woken, syscall.SIGCONT)
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-woken
			return
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// is tells whether an entry is of that kind and step.
func is(m durable.Moment, kind, step string) bool {
	var e journal.Event
	return json.Unmarshal(m.Data, &e) == nil && string(e.Kind) == kind && e.Step == step
}
