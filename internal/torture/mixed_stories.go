package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"plimsoll/runbook/journal"
)

// story is what a try of a mixed attack does.
type story = func(context.Context, *attempt)

func (m *mixed) storiesOf() map[string]story {
	if m.ring() {
		return ringStories
	}
	return map[string]story{
		"switchover": switchover, "failover": failover, "failover from elsewhere": failoverElsewhere, "asleep": asleep,
		"set-variable": setVariable, "rolling-restart": rollingRestart, "remove and add": removeAndAdd,
	}
}

// onto is the upset that was drawn, as a hook of the first process; nil: none was.
func (t *attempt) onto() func(int) {
	u := t.Drawn.Upset
	if u == nil {
		return nil
	}
	whom := []server{t.primary(), t.replica(t.Drawn.Replica), t.replica(t.Drawn.Replica + 1)}[u.Whom]
	return func(entry int) {
		if entry == u.At {
			t.befall(whom, u.Frozen, u.For)
		}
	}
}

func switchover(ctx context.Context, t *attempt) {
	to := t.replica(t.Drawn.Replica)
	r := t.run(ctx, leg{home: t.a, upset: t.onto(), cuts: t.Drawn.Cuts, ways: t.Drawn.Ways, args: []string{"mysql/switchover", "-i", "to=" + to.Name, "-i", "grace=100ms"}})
	t.expect(ctx, r, to.Name)
}

// lose takes the primary away when its replicas have all that it has acknowledged.
func (t *attempt) lose(ctx context.Context, frozen bool) {
	t.ledger.quiet(true)
	rest(ctx, time.Second)
	settle(ctx, t.servers, 10*time.Second)
	t.befall(t.primary(), frozen, 0)
	t.ledger.quiet(false)
}

var failoverArgs = []string{"mysql/failover", "-i", "checks=3", "-i", "every=300ms"}

func failover(ctx context.Context, t *attempt) {
	old := t.primary()
	t.lose(ctx, t.Drawn.Value%4 == 0)
	r := t.run(ctx, leg{home: t.a, cuts: t.Drawn.Cuts, ways: t.Drawn.Ways, args: failoverArgs, may: true})
	t.fallen = append(t.fallen, old.Name) // the fence ends it, whoever had started it
	t.mend(ctx)
	if r.Status != "done" {
		if r.Status == journal.DoneWithRemainders {
			t.excused = append(t.excused, old.Name)
		}
		return
	}
	rest(ctx, time.Second)
	again := t.run(ctx, leg{home: t.a, cuts: t.Drawn.Second, ways: t.Drawn.Ways[2:], args: []string{"mysql/rejoin", "-i", "node=" + old.Name}})
	if again.Status != "done" {
		t.excused = append(t.excused, old.Name)
	}
}

// failoverElsewhere is one by who cannot reach the machine of the primary: a person is asked whether it is dead. It is.
func failoverElsewhere(ctx context.Context, t *attempt) {
	old := t.primary()
	t.lose(ctx, false)
	t.fallen = nil // the run is not to find it back
	ways := append(slices.Clone(t.Drawn.Ways[:1]), resume, resume, resume, undo)
	if r := t.run(ctx, leg{home: t.b, cuts: t.Drawn.Cuts, ways: ways, args: failoverArgs, may: true}); r.Status != "done" {
		t.fallen = []string{old.Name}
	}
}

// asleep: the owner stops in the middle, another home breaks its lock and works, and the owner wakes.
func asleep(ctx context.Context, t *attempt) {
	to, other := t.replica(t.Drawn.Replica), t.replica(t.Drawn.Replica+1)
	c := t.Drawn.Cuts[0]
	cmd := t.a.command(ctx, &c, 0, true, "runbook", "run", "mysql/switchover", "-i", "to="+to.Name, "-i", "grace=100ms", "--cluster", t.a.cluster, "--yes", "--json")
	var owner said
	owner.Args = cmd.Args
	wait, err := owner.start(cmd, nil)
	if err != nil {
		t.trouble("start the owner: %v", err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	if stopped(ctx, cmd.Process.Pid, ended) {
		t.Asleep++
		rest(ctx, lease+2*time.Second)
		book := []string{"mysql/switchover", "-i", "to=" + other.Name, "-i", "grace=100ms"}
		scene := lookAt(ctx, t.servers)
		switch {
		case len(scene.primaries) == 0 || t.Drawn.Value%3 == 0 && scene.primaries[0] == t.primary().Name: // nobody can write: is the primary dead?
			t.ledger.quiet(true)
			rest(ctx, time.Second)
			t.befall(t.primary(), false, 0)
			t.fallen = nil
			t.ledger.quiet(false)
			book = failoverArgs
		case scene.primaries[0] == other.Name:
			book = []string{"mysql/set-variable", "-i", "name=max_connections", "-i", fmt.Sprint("value=", 200+t.Drawn.Value)}
		}
		rival := t.run(ctx, leg{home: t.b, cuts: t.Drawn.Rival, ways: t.Drawn.Ways, args: append(slices.Clone(book), "--break-lock", "its owner sleeps"), may: true})
		if book[0] == failoverArgs[0] && rival.Status != string(journal.RunDone) && rival.Status != journal.DoneWithRemainders {
			t.fallen = []string{t.primary().Name} // it was not replaced
		}
		before := lookAt(ctx, t.servers)
		if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.trouble("wake the owner: %v", err)
		}
		owner.end(waitFor(ended, cmd.Process.Signal))
		after := lookAt(ctx, t.servers)
		if rival.Run != "" && fmt.Sprint(after.primaries) != fmt.Sprint(before.primaries) { // a rival that was refused never had the cluster
			t.trouble("the owner woke after another had the cluster, and took writes from %v to %v: code %d: %s", before.primaries, after.primaries, owner.Code, tail(owner.Err))
		}
	} else {
		owner.end(<-ended)
	}
	t.Calls = append(t.Calls, owner)
	t.mend(ctx)
	// What is left of the owner's run is brought to its end.
	r := t.newest(ctx, t.a)
	for _, w := range []way{resume, undo, leaveIt} {
		if r.Run == "" || r.over() {
			break
		}
		s := t.call(ctx, t.a, nil, 0, nil, speak(w, r.Run)...)
		t.word[r.Run] = w
		r = t.of1(ctx, t.a, r.Run)
		t.judgeCode(r, w, s, false)
	}
	if r.Run != "" && !r.over() {
		t.trouble("the owner's run came to no end: %s", r.Status)
	}
}

// stopped waits until a process has stopped itself; false: it ended.
func stopped(ctx context.Context, pid int, ended chan error) bool {
	for ctx.Err() == nil {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		_, after, _ := strings.Cut(string(data), ") ")
		switch {
		case strings.HasPrefix(after, "T"):
			return true
		case strings.HasPrefix(after, "Z"):
			return false
		}
		select {
		case err := <-ended:
			ended <- err
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}

func waitFor(ended chan error, signal func(os.Signal) error) error {
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		_ = signal(syscall.SIGQUIT)
		return <-ended
	}
}

func setVariable(ctx context.Context, t *attempt) {
	t.run(ctx, leg{home: t.home(), upset: t.onto(), cuts: t.Drawn.Cuts, ways: t.Drawn.Ways, args: []string{"mysql/set-variable", "-i", "name=max_connections", "-i", fmt.Sprint("value=", 200+t.Drawn.Value)}})
}

// home is that of who runs what both may.
func (t *attempt) home() home {
	if t.Drawn.Value%2 == 0 {
		return t.b
	}
	return t.a
}

func rollingRestart(ctx context.Context, t *attempt) {
	t.run(ctx, leg{home: t.a, upset: t.onto(), cuts: t.Drawn.Cuts, ways: t.Drawn.Ways, args: []string{"mysql/rolling-restart"}})
}

func removeAndAdd(ctx context.Context, t *attempt) {
	gone := t.replica(t.Drawn.Replica)
	t.run(ctx, leg{home: t.a, cuts: t.Drawn.Cuts, ways: t.Drawn.Ways, args: []string{"mysql/remove-replica", "-i", "node=" + gone.Name, "-i", "drain=200ms"}})
	t.refresh(ctx)
	t.run(ctx, leg{home: t.a, cuts: t.Drawn.Second, ways: t.Drawn.Ways[2:], args: []string{"mysql/add-replica"}})
	t.refresh(ctx)
}

// refresh reads again which servers there are.
func (t *attempt) refresh(ctx context.Context) {
	now, err := t.m.serversOf(ctx)
	if err != nil {
		t.trouble("%v", err)
		return
	}
	t.servers = now
}
