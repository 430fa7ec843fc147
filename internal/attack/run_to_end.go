package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// scenario is a change that a round begins, and what has to be so after each way in which it can end.
type scenario struct {
	book    string   // as it is shown
	args    []string // after runbook run
	forward bool     // it is to be done, since others build on it
	fails   bool     // something was broken for it: it may be refused, and may leave servers out
	leader  string   // the primary when it began
	dead    string   // the server that was killed or frozen for it
	since   time.Time
	mishap  func(context.Context) // breaks something while it runs
	ended   func(outcome string) []string
}

// pace is how long a runbook takes and how many entries it writes, as learnt so far.
type pace struct {
	took    time.Duration
	entries int
}

func (a *attack) learn(book string, s said) {
	old, known := a.paces[book]
	now := pace{s.took, len(s.events)}
	if known {
		now = pace{(old.took + s.took) / 2, max(old.entries, len(s.events))}
	}
	if !s.killed && s.code == 0 && len(s.events) > 2 {
		a.paces[book] = now
	}
}

func (a *attack) blow(book, kind string) *blow {
	p, known := a.paces[book]
	if !known {
		p = pace{a.usual, 12}
	}
	if kind != "act" { // less is left to do
		p.took, p.entries = p.took*2/3, p.entries/2
	}
	return draw(a.rng, p.took, p.entries)
}

// execute runs a command that works on a run, which may be killed, and counts it.
func (a *attack) execute(ctx context.Context, p program, book, kind string, kill bool, args ...string) said {
	var b *blow
	if kill {
		b = a.blow(book, kind)
	}
	var beside sync.WaitGroup
	if kind == "act" && a.rng.IntN(6) == 0 {
		after, undo := a.blow(book, kind).after, a.pick("", "--undo")
		beside.Go(func() { a.cancelBeside(ctx, p, after, undo) })
	}
	s := p.do(ctx, b, args...)
	beside.Wait()
	how := fmt.Sprintf("code %d", s.code)
	if s.killed {
		switch {
		case len(s.events) == 0:
			kind += ", before its first entry"
		case s.undoing():
			kind = "undo"
		case p.home != a.program.home && kind == "act":
			kind = "act, from another state folder"
		}
		a.count(book, kind)
		how = "KILLED at " + b.String()
		if n := len(s.events); n > 0 {
			how += ", after " + s.events[n-1].Kind + " " + s.events[n-1].Step
		}
	} else {
		a.learn(book, s)
		a.judgeExit(ctx, s)
	}
	where := ""
	if p.home != a.program.home {
		where = "elsewhere: "
	}
	a.say("  %s%s: %s, %s", where, s.line(), how, s.took.Round(100*time.Millisecond))
	if !s.killed && s.code != 0 {
		a.say("    %s", strings.ReplaceAll(strings.TrimSpace(tail(s.err, 700)), "\n", "\n    "))
	}
	return s
}

// cancelBeside cancels the run that another process executes, which may be killed meanwhile.
func (a *attack) cancelBeside(ctx context.Context, p program, after time.Duration, undo string) {
	sleep(ctx, after+300*time.Millisecond)
	for _, r := range p.runs(ctx) {
		if r.over() || r.Status == "failed" {
			continue
		}
		args := []string{"runbook", "cancel", r.Run, "--yes", "--json"}
		if undo != "" {
			args = append(args, undo)
		}
		s := p.do(ctx, nil, args...)
		a.judgeExit(ctx, s)
		a.say("  beside: %s: code %d, %s\n    %s", s.line(), s.code, s.took.Round(100*time.Millisecond), strings.ReplaceAll(tail(s.err, 300), "\n", "\n    "))
	}
}

// judgeExit holds the end of a command against what is documented: its code, no panic, and commands that are valid.
func (a *attack) judgeExit(ctx context.Context, s said) {
	if ctx.Err() != nil {
		return
	}
	if s.slow {
		a.report("a command does not end", s.line()+"\n"+tail(s.err, 1500))
	}
	if strings.Contains(s.err, "panic:") || strings.Contains(s.err, "goroutine ") {
		a.report("a panic", s.line()+"\n"+s.err)
	}
	if !slices.Contains([]int{0, 1, 2, 6}, s.code) && !s.slow {
		a.report("an exit code that is not documented", fmt.Sprintf("%d: %s", s.code, s.line()))
	}
	for _, args := range advised(s.err + "\n" + s.out) {
		a.result.Advised++
		if why := a.wrong(ctx, args); why != "" {
			a.report("advice that is no valid command", fmt.Sprintf("plimsoll %s: %s\nprinted by %s:\n%s", strings.Join(args, " "), why, s.line(), tail(s.err, 1500)))
		}
	}
}

// runToEnd begins a run, kills what works on it, and brings it to an end as the program advises. It returns how it ended; an empty run if
// none was begun.
func (a *attack) runToEnd(ctx context.Context, s *scenario, kills int) (run string, st status, last said) {
	p, mood := a.program, a.pick("forward", "forward", "back", "back", "plain")
	if s.forward {
		mood = "forward"
	}
	known := map[string]bool{}
	for _, r := range p.runs(ctx) {
		known[r.Run] = true
	}
	begin := append(append([]string{"runbook", "run"}, s.args...), "--yes", "--json")
	a.say("  %s with %d kills, going %s", s.book, kills, mood)
	tries, verified := map[string]int{}, map[string]bool{}
	most := kills + 24
	for turn, waited := 0, time.Now(); turn < most && ctx.Err() == nil; turn++ {
		if run == "" {
			last = a.execute(ctx, p, s.book, "act", kills > 0, begin...)
			a.again(run, last, verified)
			if last.killed {
				kills, waited = kills-1, time.Now()
			}
			for _, r := range p.runs(ctx) {
				if !known[r.Run] {
					run = r.Run
				}
			}
			if run == "" && !last.killed && time.Since(waited) > 50*time.Second {
				return "", st, last
			}
			if run == "" && !last.killed {
				if !strings.Contains(last.err, "lock") && !strings.Contains(last.err, "claim") {
					return "", st, last // a refusal
				}
				time.Sleep(4 * time.Second)
			}
			if run == "" {
				continue
			}
		}
		var asked said
		st, asked = p.status(ctx, run)
		if asked.code != 0 && ctx.Err() == nil {
			a.report("status cannot be told", asked.line()+"\n"+asked.err)
		}
		if st.over() {
			a.result.Outcomes[st.Status]++
			if last.killed { // between its end and the release of the cluster: who types it again has that done
				killed := s.fails && a.pid(s.dead) == 0 // the primary, perhaps: then the claim stays
				s := p.do(ctx, nil, "runbook", a.pick("resume", "cancel"), run, "--yes")
				a.judgeExit(ctx, s)
				a.say("  %s: code %d: %s", s.line(), s.code, tail(strings.TrimSpace(s.err), 300))
				for n := 0; n < 3 && s.code == 1 && strings.Contains(s.err, "when the cluster answers again, remove it: plimsoll runbook resume "+run); n++ { // what it advises
					sleep(ctx, 3*time.Second)
					s = p.do(ctx, nil, "runbook", "resume", run, "--yes")
					a.say("  %s: code %d: %s", s.line(), s.code, tail(strings.TrimSpace(s.err), 300))
				}
				stays := killed && s.code == 1 && strings.Contains(s.err, "It is removed once a server accepts writes again")
				if want := codes(s, st); !stays && s.code != 2 && !(s.args[1] == "resume" && s.code == want) {
					a.report("a wrong exit code", fmt.Sprintf("%d, expected 2, or %d of a resume that releases the cluster, of a run that has ended: %s\n%s", s.code, want, s.line(), s.err))
				}
			}
			return run, st, last
		}
		if last.killed && a.stolen == 0 && mood != "plain" && a.rng.IntN(9) == 0 && len(last.events) > 4 {
			a.steal(ctx, s, run)
			continue
		}
		next := a.choose(ctx, run, last, mood, tries)
		kind := next[1]
		last = a.execute(ctx, p, s.book, kind, kills > 0, next...)
		a.again(run, last, verified)
		if last.killed {
			kills--
		} else {
			tries[strings.Join(next, " ")]++
			if last.code == 2 {
				if now, _ := p.status(ctx, run); !now.over() {
					a.report("advice that is refused as bad input", last.line()+"\n"+tail(last.err, 1500))
				}
			}
		}
		if turn == most-6 {
			a.report("a run that its advice does not end", run+"\n"+tail(last.err, 1500))
			last = a.execute(ctx, p, s.book, "cancel", false, "runbook", "cancel", run, "--leave", "the attack gives up", "--yes", "--json")
		}
	}
	st, _ = p.status(ctx, run)
	return run, st, last
}

// choose takes the next command from what the program printed last, or has to say about a run whose process was killed.
func (a *attack) choose(ctx context.Context, run string, last said, mood string, tries map[string]int) []string {
	text := last.err
	if last.killed || len(advised(text)) == 0 {
		s := a.program.do(ctx, nil, "runbook", "status", run)
		a.judgeExit(ctx, s)
		text = s.out + s.err
	}
	var may [][]string
	for _, args := range advised(text) {
		if len(args) > 2 && args[2] == run && slices.Contains([]string{"resume", "cancel", "rerun"}, args[1]) {
			may = append(may, append(a.filled(args), "--yes", "--json"))
		}
		if slices.Contains([]string{"plan", "history"}, args[1]) && len(args) > 3 {
			if s := a.program.do(ctx, nil, a.filled(args)...); s.code == 2 {
				a.report("advice that is refused as bad input", s.line()+"\n"+tail(s.err, 1500))
			}
		}
	}
	if len(may) == 0 {
		a.report("no advice for a run that has not ended", run+"\n"+tail(text, 1500))
		may = [][]string{{"runbook", "resume", run, "--json"}}
	}
	if mood == "back" && last.killed { // cancel --help says it
		may = append(may, []string{"runbook", "cancel", run, "--undo", "--yes", "--json"})
	}
	for i := range may {
		if may[i][1] == "rerun" {
			may[i] = slices.DeleteFunc(may[i], func(w string) bool { return w == "--yes" })
		}
	}
	score := func(args []string) int {
		n := 10 * tries[strings.Join(args, " ")]
		undo, leave := slices.Contains(args, "--undo"), slices.Contains(args, "--leave")
		switch {
		case leave:
			n += 45 // the last way
		case args[1] == "rerun":
			n += 15
		case mood == "forward" && args[1] == "resume", mood == "back" && undo, mood == "plain" && args[1] == "cancel" && !undo:
		default:
			n += 5 + a.rng.IntN(4)
		}
		return n
	}
	best, least := may[0], 1<<30
	for _, args := range may {
		if n := score(args); n < least {
			best, least = args, n
		}
	}
	return best
}

// again tells of a step that was verified and acted once more without having been undone.
func (a *attack) again(run string, s said, verified map[string]bool) {
	for _, e := range s.events {
		switch {
		case e.Kind == "verified":
			verified[e.Step] = true
		case e.Kind == "undoing" || e.Kind == "undone":
			delete(verified, e.Step)
		case e.Kind == "intended" && verified[e.Step] && !slices.Contains(s.args, "rerun"):
			a.report("a finished step acted again", run+": "+e.Step)
		}
	}
}

// steal has another state folder take the cluster of a run that was killed: first without breaking its lock, which has to be refused.
func (a *attack) steal(ctx context.Context, s *scenario, run string) {
	a.stolen++
	other := a.program
	other.home += "-other"
	_ = os.MkdirAll(other.home, 0o700)
	_ = os.Symlink(filepath.Join(a.program.home, "lab"), filepath.Join(other.home, "lab"))
	r, relational := a.kind.(*relational)
	leaderless := relational && r.primary() == "" // then a claim ends with its process
	if refused := a.execute(ctx, other, s.book, "act", false, append(append([]string{"runbook", "run"}, s.args...), "--yes", "--json")...); refused.run != "" && !leaderless {
		a.report("a run began on a cluster that another holds", run+" had it, began "+refused.run)
	}
	time.Sleep(32 * time.Second)
	thief := a.kind.theft(a.rng)
	took := a.execute(ctx, other, thief.book, "act", a.rng.IntN(2) == 0, append(append([]string{"runbook", "run"}, thief.args...), "--break-lock", "its owner was killed", "--yes", "--json")...)
	for range 4 {
		all := other.runs(ctx)
		if len(all) == 0 || all[0].over() {
			break
		}
		mine := all[0].Run
		took = a.execute(ctx, other, thief.book, "resume", false, "runbook", a.pick("resume", "resume", "cancel"), mine, "--yes", "--json")
	}
	if all := other.runs(ctx); took.code == 2 || len(all) == 0 || all[0].Status != "done" || took.run == "" && took.args[1] == "run" {
		return
	}
	if woken := a.execute(ctx, a.program, s.book, "resume", false, "runbook", "resume", run, "--json"); woken.acted() {
		a.report("a run acted after another had its cluster", run+"\n"+tail(woken.err, 1500))
	}
}

func (s said) acted() bool {
	return slices.ContainsFunc(s.events, func(e event) bool { return e.Kind == "intended" || e.Kind == "undoing" })
}

func tail(text string, n int) string {
	if len(text) > n {
		return "… " + text[len(text)-n:]
	}
	return text
}
