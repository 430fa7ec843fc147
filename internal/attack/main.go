// Command attack attacks the promises about runbooks from outside. It imports nothing of Plimsoll: it types its commands, kills them with
// SIGKILL in the act, in a resume, in an undo and in a cancellation, follows the advice that they print word for word, and asks the servers
// themselves what became of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// kind is what an attack needs of a kind of cluster.
type kind interface {
	start(ctx context.Context) error
	next(ctx context.Context) *scenario
	theft(r *rand.Rand) *scenario
	ill(within time.Duration, but ...string) []string // what is not as it has to be
	rows(s *scenario)                                 // looks for acknowledged rows that are gone
	repair(ctx context.Context, bad []string)         // as an operator would
	settled()                                         // the cluster is whole again
}

type attack struct {
	program program
	cluster
	kind   kind
	rng    *rand.Rand
	usual  time.Duration // of a runbook that was never run
	least  int           // kills of a round
	most   int
	paces  map[string]pace
	valid  map[string]bool // commands by their shape
	stolen int             // times that another state folder took the cluster of this round's run
	finish context.CancelFunc
	ended  status // of this round's run
	lock   sync.Mutex
	result result
}

func main() {
	var a attack
	var within time.Duration
	var kills int
	var out string
	flag.StringVar(&a.product, "product", "mariadb", "mariadb, mysql or cassandra")
	flag.StringVar(&a.program.binary, "plimsoll", "bin/plimsoll", "the program under attack")
	flag.StringVar(&a.program.home, "home", "", "its state folder (default: a new one, which is removed at the end)")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()%100000), "what decides all that is drawn")
	flag.IntVar(&kills, "kills", 110, "how many times it is killed")
	flag.DurationVar(&within, "within", time.Hour, "after this time no round begins")
	flag.StringVar(&out, "out", "", "the file for the results")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := a.run(ctx, *seed, kills, within, out); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
	if len(a.result.Findings) > 0 {
		os.Exit(3)
	}
}

func (a *attack) run(ctx context.Context, seed uint64, kills int, within time.Duration, out string) error {
	a.rng = rand.New(rand.NewPCG(seed, 13))
	a.paces, a.valid = map[string]pace{}, map[string]bool{}
	binary, err := filepath.Abs(a.program.binary)
	if err != nil {
		return err
	}
	a.program.binary = binary
	if a.program.home == "" {
		if a.program.home, err = os.MkdirTemp("", "attack-"); err != nil {
			return err
		}
		defer os.RemoveAll(a.program.home)
		defer os.RemoveAll(a.program.home + "-other")
	}
	a.program.work = filepath.Join(a.program.home, "work")
	if err := os.MkdirAll(a.program.work, 0o700); err != nil {
		return err
	}
	a.result = newResult(a.product, seed)
	switch a.product {
	case "cassandra":
		a.program.patience, a.usual, a.least, a.most = 25*time.Minute, 40*time.Second, 4, 10
		a.kind = &ring{attack: a}
	default:
		a.program.patience, a.usual, a.least, a.most = 6*time.Minute, 5*time.Second, 2, 6
		a.kind = &relational{attack: a}
	}
	a.result.Plimsoll = strings.TrimSpace(a.program.do(ctx, nil, "version").out)
	defer a.down(ctx)
	if err := a.renew(ctx); err != nil {
		return err
	}
	a.result.Version = a.cluster.version
	for end := time.Now().Add(within); ctx.Err() == nil && a.result.kills() < kills && time.Now().Before(end); {
		a.result.Rounds++
		a.round(ctx)
		if err := a.result.write(out); err != nil {
			return err
		}
	}
	a.result.Minutes = int(time.Since(a.result.Began).Minutes())
	fmt.Print(a.result.table())
	return a.result.write(out)
}

// renew makes the lab, and begins to write to it.
func (a *attack) renew(ctx context.Context) error {
	ctx, a.finish = context.WithCancel(ctx)
	return a.kind.start(ctx)
}

func (a *attack) down(ctx context.Context) {
	a.thaw()
	a.finish()
	a.program.do(context.WithoutCancel(ctx), nil, "lab", "down", a.product, "--force")
}

// round makes one change, is in its way, and looks at what became of it and of the cluster.
func (a *attack) round(ctx context.Context) {
	a.stolen, a.ended = 0, status{}
	s := a.kind.next(ctx)
	a.say("round %d, %d kills so far: %s", a.result.Rounds, a.result.kills(), strings.Join(s.args, " "))
	var mishaps sync.WaitGroup
	if s.mishap != nil {
		mishaps.Go(func() { s.mishap(ctx) })
	}
	run, st, last := a.runToEnd(ctx, s, a.least+a.rng.IntN(a.most-a.least+1))
	mishaps.Wait()
	a.thaw()
	if ctx.Err() != nil {
		return
	}
	s.fails = s.fails || run == "" || st.Status == "cancelled"
	a.judge(ctx, s, run, st, last)
	const tries = 6
	for try := 1; try <= tries && ctx.Err() == nil; try++ {
		patience := a.program.patience / 50 // a repair finds nothing to do where a server is only slow
		if try == tries || !s.fails {
			patience = a.program.patience / 6
		}
		bad := a.kind.ill(patience)
		if len(bad) == 0 {
			break
		}
		a.say("  to repair: %s", strings.Join(bad, "; "))
		if try == tries {
			a.report("a cluster that cannot be brought back", strings.Join(bad, "; "))
			a.down(ctx)
			if err := a.renew(ctx); err != nil {
				a.report("the lab cannot be made anew", err.Error())
			}
			return
		}
		a.kind.repair(ctx, bad)
	}
	if ctx.Err() != nil {
		return
	}
	a.kind.rows(s)
	a.kind.settled()
	a.mended(ctx)
}

// judge holds the end of a run against the cluster, before anybody repairs something.
func (a *attack) judge(ctx context.Context, s *scenario, run string, st status, last said) {
	a.ended = st
	about := fmt.Sprintf("%s %s, %s", s.book, run, st.Status)
	if run == "" {
		if s.dead == "" {
			a.report("a change is refused on a whole cluster", s.book+": "+last.err)
		}
		about = s.book + " was refused: " + tail(last.err, 300)
	}
	var but []string
	for _, l := range st.Left {
		but = append(but, l.Target)
	}
	if s.fails && (st.Status != "done" || a.pid(s.dead) == 0) {
		but = append(but, s.dead)
	}
	patience := a.program.patience / 6
	if s.fails && !strings.HasPrefix(st.Status, "done") {
		patience /= 6
	}
	bad := a.kind.ill(patience, but...)
	leaderKilled := s.fails && a.pid(s.dead) == 0 && (s.dead == s.leader || slices.Contains(s.args, "to="+s.dead))
	if s.fails && !strings.HasPrefix(st.Status, "done") || leaderKilled { // nobody promised to bring back what we broke
		bad = slices.DeleteFunc(bad, excusable)
	}
	text := a.program.do(ctx, nil, "runbook", "status", run)
	if st.Status == "cancelled" && strings.Contains(text.out, "not fixed yet") {
		bad = slices.DeleteFunc(bad, excusable)
	}
	if len(bad) > 0 {
		a.report("the cluster is not as the end of the run says", about+"\n"+strings.Join(bad, "\n")+"\n"+tail(last.err, 1200))
	}
	if want := codes(last, st); run != "" && !last.killed && last.code != want {
		a.report("a wrong exit code", fmt.Sprintf("%d, expected %d: %s\n%s", last.code, want, about, tail(last.err, 600)))
	}
	if run != "" && s.ended != nil && a.stolen == 0 && !leaderKilled {
		for _, c := range s.ended(st.Status) {
			a.report("the run did not do what its end says", about+"\n"+c)
		}
	}
}

// excusable tells whether a complaint may be true where something was broken on purpose: never two primaries, and no claim that stays.
func excusable(complaint string) bool {
	return !strings.Contains(complaint, "claim stands") && !strings.Contains(complaint, "lock plimsoll.claim") && !strings.HasPrefix(complaint, "two ")
}

// codes is the exit code that is documented for the command that ended a run.
func codes(last said, st status) int {
	switch {
	case st.Status == "done, with remainders", st.Status == "undone, with remainders" && last.args[1] == "cancel":
		return 6
	case (st.Status == "done") != (last.args[1] == "cancel"): // a run that was completed was not cancelled
		return 0
	}
	return 1 // it was to be done, and was undone
}

// mended records what was repaired, as the program advises, and looks whether it is told no more.
func (a *attack) mended(ctx context.Context) {
	for range 4 {
		s := a.program.do(ctx, nil, "runbook", "status")
		a.judgeExit(ctx, s)
		all := advised(s.out)
		all = slices.DeleteFunc(all, func(args []string) bool { return args[1] != "fixed" })
		if len(all) == 0 {
			return
		}
		if f := a.program.do(ctx, nil, a.filled(all[0])...); f.code != 0 {
			a.report("advice that is refused", f.line()+"\n"+f.err)
			return
		}
	}
}

func (a *attack) pick(from ...string) string { return from[a.rng.IntN(len(from))] }

func (a *attack) say(format string, args ...any) {
	fmt.Printf("%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

func (a *attack) report(what, detail string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.result.Findings = append(a.result.Findings, finding{a.result.Rounds, time.Now(), what, detail})
	a.say("FINDING: %s: %s", what, detail)
}

func (a *attack) count(book, kind string) {
	if a.result.Kills[kind] == nil {
		a.result.Kills[kind] = map[string]int{}
	}
	a.result.Kills[kind][book]++
}
