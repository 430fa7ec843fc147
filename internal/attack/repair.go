package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const startServer = "runbook: attack/start\nabout: Starts a server that was killed.\nlock: cluster\ninputs:\n  node: {type: node}\n" +
	"steps:\n  - id: start\n    uses: server.start\n    with: {node: \"${{ inputs.node }}\"}\n"

// repair starts servers that have no process, and brings back those that follow nobody; both are attacked too.
func (w *relational) repair(ctx context.Context, bad []string) {
	w.thaw()
	for _, n := range w.nodes() {
		if w.pid(n) == 0 {
			w.startServer(ctx, n)
		}
	}
	if len(w.ill(5*time.Second)) == 0 {
		return
	}
	w.release(ctx)
	primary := w.primary()
	for _, v := range w.look() {
		left := slices.ContainsFunc(w.ended.Left, func(l struct{ Target, Why string }) bool { return l.Target == v.node })
		if w.ended.Status == "done" && w.ended.Runbook == "mysql/switchover" && v.node != primary && v.source != primary && !left {
			w.report("a server was left out, and nothing says it", w.ended.Run+": "+v.String())
		}
	}
	if primary == "" {
		if r := w.program.do(ctx, nil, "runbook", "run", "mysql/failover", "--cluster", w.name, "--yes", "--json"); r.code != 0 {
			w.say("  nobody leads: %s", tail(r.err, 600))
			w.lead(ctx, r.err)
		}
		primary = w.primary()
	}
	for _, v := range w.look() {
		if v.node == primary || v.source == primary && v.follows {
			continue
		}
		s := &scenario{book: "mysql/rejoin", args: []string{"mysql/rejoin", "--cluster", w.name, "-i", "node=" + v.node}, forward: w.rng.IntN(4) > 0}
		run, st, last := w.runToEnd(ctx, s, 1+w.rng.IntN(3))
		if run != "" && strings.HasPrefix(st.Status, "done") {
			continue
		}
		w.say("  %s is not taken back: %s", v.node, tail(last.err, 400))
		if strings.Contains(last.err, "transactions") { // of its own: it is made anew, as is advised
			w.result.Anew++
			w.quietly(ctx, "mysql/remove-replica", "-i", "node="+v.node, "-i", "drain=0s")
			w.quietly(ctx, "mysql/add-replica")
		}
	}
}

// release types what the status advises about clusters that ended runs have not released.
func (w *relational) release(ctx context.Context) {
	for _, line := range strings.Split(w.program.do(ctx, nil, "runbook", "status").out, "\n") {
		if _, advice, is := strings.Cut(line, "has not released it; plimsoll runbook resume "); is {
			run, _, _ := strings.Cut(advice, " ")
			s := w.program.do(ctx, nil, "runbook", "resume", run, "--yes")
			w.say("  %s: code %d: %s", s.line(), s.code, tail(strings.TrimSpace(s.err), 300))
		}
	}
}

// lead makes a server the primary where Plimsoll advises that, as a person does who does not know which: the refusals name it.
func (w *relational) lead(ctx context.Context, advice string) {
	if !strings.Contains(advice, "plimsoll runbook plan mysql/promote --cluster "+w.name+" -i node=NODE") {
		return
	}
	for _, n := range w.nodes() {
		w.runToEnd(ctx, &scenario{book: "mysql/promote", args: []string{"mysql/promote", "--cluster", w.name, "-i", "node=" + n}, forward: true}, 1)
		if w.primary() != "" {
			return
		}
	}
}

func (w *relational) quietly(ctx context.Context, args ...string) {
	s := w.program.do(ctx, nil, append(append([]string{"runbook", "run"}, args...), "--cluster", w.name, "--yes", "--json")...)
	if s.code != 0 {
		w.say("  %s: code %d\n    %s", s.line(), s.code, tail(s.err, 500))
	}
}

func (w *relational) startServer(ctx context.Context, node string) {
	file := filepath.Join(w.program.work, "start.yaml")
	_ = os.WriteFile(file, []byte(startServer), 0o600)
	w.runToEnd(ctx, &scenario{book: "server.start", args: []string{file, "--cluster", w.name, "-i", "node=" + node}, forward: true}, w.rng.IntN(2))
}

func (w *relational) settled() { w.members.set(w.nodes()) }
