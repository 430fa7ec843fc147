package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// attempt is one try of a mixed attack, and what came of it.
type attempt struct {
	Number   int      `json:"number"`
	Drawn    drawn    `json:"drawn"`
	Kills    int      `json:"kills"`
	Asleep   int      `json:"asleep,omitempty"`
	Upsets   int      `json:"upsets,omitempty"` // servers that were killed or frozen
	Ends     []string `json:"ends"`             // of its runs: done, resumed, undone, cancelled, left
	Acked    int      `json:"acknowledged"`
	Looked   string   `json:"looked,omitempty"` // at the end, if the cluster was not whole and that was said
	Troubles []string `json:"troubles,omitempty"`
	Calls    []said   `json:"calls,omitempty"` // only of tries with troubles

	m          *mixed
	a, b       home
	folder     string
	servers    []server
	ledger     *ledger
	knew       map[string]bool              // runs that have been seen
	word       map[string]way               // the last thing that was said to a run
	killed     map[string]bool              // runs whose process was killed
	claimStays []func(context.Context) said // what a person was told to say again when the cluster answers
	stays      map[string]bool              // runs that said that their claim stays, as its server was dead when they ended
	excused    []string                     // primaries that were replaced, and that no run has made a replica yet: as a failover leaves them

	mu     sync.Mutex
	frozen []server
	fallen []string // servers that were killed
}

func (t *attempt) trouble(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Troubles = append(t.Troubles, fmt.Sprintf(format, args...))
}

// primary and replicas, as the try began.
func (t *attempt) primary() server { return t.servers[t.of("primary")[0]] }

func (t *attempt) replica(n int) server {
	all := t.of("replica")
	return t.servers[all[n%len(all)]]
}

func (t *attempt) of(role string) (all []int) {
	for i, s := range t.servers {
		if s.Role == role {
			all = append(all, i)
		}
	}
	return all
}

// befall freezes or kills a server.
func (t *attempt) befall(s server, frozen bool, back time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if frozen {
		if s.signal(syscall.SIGSTOP) == nil {
			t.Upsets++
			t.frozen = append(t.frozen, s)
			if back > 0 {
				time.AfterFunc(back, func() { _ = s.signal(syscall.SIGCONT) })
			}
		}
	} else if s.signal(syscall.SIGKILL) == nil {
		t.fallen = append(t.fallen, s.Name)
		t.Upsets++
	}
}

// mend thaws who is frozen and starts who was killed.
func (t *attempt) mend(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.frozen {
		_ = s.signal(syscall.SIGCONT)
	}
	for _, name := range t.fallen {
		other := t.a
		other.store = filepath.Join(t.folder, "mend")
		if s := other.call(ctx, nil, 0, nil, "runbook", "run", filepath.Join(t.m.files, "start-node.yaml"), "--cluster", t.m.lab, "-i", "node="+name, "--yes"); s.Code != 0 {
			t.Calls = append(t.Calls, s)
		}
	}
	t.frozen, t.fallen = nil, nil
}

// leg is a run from its beginning to its end: cut, spoken to, cut again, and at last brought to an end.
type leg struct {
	home  home
	upset func(entry int)
	cuts  []cut
	ways  []way
	args  []string
	may   bool // it may be refused, for what stands is not what it is for
}

func (t *attempt) run(ctx context.Context, l leg) (last told) {
	args := append([]string{"runbook", "run"}, append(slices.Clone(l.args), "--cluster", l.home.cluster, "--yes", "--json")...)
	var first *cut
	if len(l.cuts) > 0 {
		first = &l.cuts[0]
	}
	s := t.call(ctx, l.home, first, 0, l.upset, args...)
	run := t.newest(ctx, l.home)
	for n := 0; run.Run == "" && n < 6; n++ { // it was killed before it began, or its leftovers are in the way
		if s.Code == -1 || strings.Contains(s.Err, "hint: try again") || strings.Contains(s.Err, "its process died before") {
			rest(ctx, lease)
			s = t.call(ctx, l.home, nil, 0, nil, args...)
			run = t.newest(ctx, l.home)
			continue
		}
		break
	}
	if run.Run == "" {
		if !l.may {
			t.trouble("%s was refused: code %d: %s", l.args[0], s.Code, tail(s.Err))
		}
		return told{}
	}
	if s.Killed {
		t.killed[run.Run] = true
	} else {
		t.judgeCode(run, resume, s, false)
	}
	ways := l.ways[:min(len(l.ways), len(l.cuts)+1)] // then enough was said that was drawn
	for n := 0; !run.over() && n < len(ways)+len(last6) && ctx.Err() == nil; n++ {
		word, at := last6[max(0, n-len(ways))], (*cut)(nil)
		if n < len(ways) {
			word = ways[n]
		}
		if n == len(ways) || n == len(ways)+3 {
			t.mend(ctx)
		}
		if n+1 < len(l.cuts) {
			at = &l.cuts[n+1]
		}
		entries, err := l.home.entries(ctx, run.Run)
		if err != nil {
			t.trouble("%v", err)
			return run
		}
		s := t.call(ctx, l.home, at, len(entries), nil, speak(word, run.Run)...)
		before := run
		if run = t.of1(ctx, l.home, run.Run); run.Run == "" {
			t.trouble("run %s is not in the store any more", before.Run)
			return before
		}
		t.word[run.Run] = word
		if s.Killed {
			t.killed[run.Run] = true
		} else {
			t.judgeCode(run, word, s, before.over())
		}
	}
	t.giveBack(ctx, l.home, run)
	if !run.over() {
		t.trouble("run %s came to no end: %s", run.Run, run.Status)
	}
	return run
}

// giveBack is what a person does whose process died when its run had ended: whatever is said to the run gives its cluster back. While the
// cluster does not answer it is refused, with the advice to give the same command later: giveBackLater does.
func (t *attempt) giveBack(ctx context.Context, h home, run told) {
	t.mu.Lock()
	died := len(t.Calls) > 0 && t.Calls[len(t.Calls)-1].Killed
	t.mu.Unlock()
	if !died || !run.over() {
		return
	}
	if s := t.call(ctx, h, nil, 0, nil, speak(resume, run.Run)...); stays(s) {
		t.claimStays = append(t.claimStays, func(ctx context.Context) said { return t.call(ctx, h, nil, 0, nil, speak(resume, run.Run)...) })
	}
}

// stays tells whether a cluster is not given back: the command that gives it back ends with the code of its run, or with 2 if it had been.
func stays(s said) bool {
	return s.Code < 0 || s.Code == 130 || s.Code == 1 && strings.Contains(s.Err, "when the cluster answers again")
}

// giveBackLater follows that advice, when all servers are back.
func (t *attempt) giveBackLater(ctx context.Context) {
	for _, again := range t.claimStays {
		if s := again(ctx); stays(s) {
			t.trouble("%s, whose cluster answers again: code %d: %s", strings.Join(s.Args, " "), s.Code, tail(s.Err))
		}
	}
}

// last6 is what a person tries in the end.
var last6 = []way{resume, undo, resume, resume, undo, leaveIt}

func speak(w way, run string) []string {
	switch w {
	case undo:
		return []string{"runbook", "cancel", run, "--undo", "--yes", "--json"}
	case giveUp:
		return []string{"runbook", "cancel", run, "--yes", "--json", "--reason", "attack"}
	case leaveIt:
		return []string{"runbook", "cancel", run, "--leave", "attack", "--yes", "--json"}
	}
	return []string{"runbook", "resume", run, "--json"}
}

// call is a command that is kept, and whose panics and hangs are troubles.
func (t *attempt) call(ctx context.Context, h home, at *cut, from int, entry func(int), args ...string) said {
	s := h.call(ctx, at, from, entry, args...)
	if s.Killed {
		t.Kills++
	}
	if s.Hung {
		t.trouble("hung for %s: %s\n%s", patience, strings.Join(args, " "), s.Err)
	} else if strings.Contains(s.Err, "goroutine ") {
		t.trouble("panic in %s: %s", strings.Join(args, " "), s.Err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Calls = append(t.Calls, s)
	return s
}

// newest is a run that has not been seen yet.
func (t *attempt) newest(ctx context.Context, h home) told {
	all, err := h.runs(ctx)
	if err != nil {
		t.trouble("%v", err)
	}
	for _, r := range all {
		if !t.knew[r.Run] {
			t.knew[r.Run] = true
			t.word[r.Run] = resume
			return r
		}
	}
	return told{}
}

func (t *attempt) of1(ctx context.Context, h home, run string) told {
	all, err := h.runs(ctx)
	if err != nil {
		t.trouble("%v", err)
	}
	for _, r := range all {
		if r.Run == run {
			return r
		}
	}
	return told{}
}

func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-4):], " | ")
}

// try draws a try and makes it.
func (m *mixed) try(ctx context.Context, number int) (t *attempt, err error) {
	t = &attempt{Number: number, Drawn: draw(m.seed, number, m.stories()), m: m, knew: map[string]bool{}, word: map[string]way{}, killed: map[string]bool{}, stays: map[string]bool{}}
	t.folder = filepath.Join(m.work, fmt.Sprint("try-", number))
	if t.servers, err = m.serversOf(ctx); err != nil {
		return t, err
	}
	t.a = home{program: m.program, folder: m.home, store: filepath.Join(t.folder, "a"), cluster: m.lab}
	t.b = home{program: m.program, folder: filepath.Join(t.folder, "other"), store: filepath.Join(t.folder, "b"), cluster: "elsewhere", inventory: filepath.Join(t.folder, "plimsoll.yaml")}
	if err := os.MkdirAll(t.b.folder, 0o750); err != nil {
		return t, fmt.Errorf("make a home: %w", err)
	}
	if err := os.WriteFile(t.b.inventory, []byte(m.inventory(t.servers)), 0o600); err != nil {
		return t, fmt.Errorf("write an inventory: %w", err)
	}
	if m.ring() {
		t.a.patience = ringPatience
		return t, t.onRing(ctx)
	}
	t.ledger = newLedger(ctx, t.servers, m.writer(), int64(number)*1e7+1)
	m.storiesOf()[t.Drawn.Story](ctx, t)
	t.mend(ctx)
	rest(ctx, 500*time.Millisecond)
	t.ledger.close()
	t.Acked = len(t.ledger.acked)
	t.judge(ctx)
	return t, ctx.Err()
}

func (m *mixed) stories() []string { return slices.Sorted(maps.Keys(m.storiesOf())) }

// keep writes down a try with troubles, with all that was called.
func (t *attempt) keep() error {
	if len(t.Troubles) == 0 {
		t.Calls = nil
		return os.RemoveAll(t.folder)
	}
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return fmt.Errorf("keep a try: %w", err)
	}
	t.Calls = nil
	if err := os.WriteFile(filepath.Join(t.folder, "try.json"), data, 0o600); err != nil {
		return fmt.Errorf("keep a try: %w", err)
	}
	return nil
}
