package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/runbook/journal"
)

// judgeCode compares the code with which a command ended with what its run's status says afterwards.
func (t *attempt) judgeCode(r told, w way, s said, wasOver bool) {
	if wrong := wrongCode(r, w, s, wasOver); wrong != "" {
		t.trouble("%s", wrong)
	}
}

// wrongCode says what is wrong with the code with which a command ended; empty: nothing.
func wrongCode(r told, w way, s said, wasOver bool) string {
	wrong := func(why string) string {
		return fmt.Sprintf("%s: code %d, but the run is %q: %s: %s", strings.Join(s.Args, " "), s.Code, r.Status, why, tail(s.Err))
	}
	done, stopped := r.Status == string(journal.RunDone), w == undo || w == giveUp || w == leaveIt
	remains := r.Status == journal.DoneWithRemainders || r.Status == journal.UndoneWithRemainders && stopped // who wanted it to be done is told 1
	switch {
	case s.Hung || s.Killed:
	case s.Code == 0 && w == resume && !done:
		return wrong("0 is done")
	case s.Code == 0 && w == undo && r.Status != string(journal.RunUndone) && !r.unchanged():
		return wrong("0 is undone, or cancelled before anything was changed")
	case s.Code == 0 && (w == giveUp || w == leaveIt) && r.Status != string(journal.RunCancelled) && r.Status != string(journal.RunUndone):
		return wrong("0 is cancelled")
	case s.Code == 6 != remains && !wasOver:
		return wrong("6 is done with remainders, or undone with remainders by a cancellation")
	case s.Code != 0 && done && !wasOver:
		return wrong("it is done")
	}
	return ""
}

// expect holds who takes writes against how a switchover ended.
func (t *attempt) expect(ctx context.Context, r told, to string) {
	t.mend(ctx)
	scene := settle(ctx, t.servers, 20*time.Second)
	if len(scene.primaries) != 1 {
		return // judged below
	}
	switch now := scene.primaries[0]; {
	case (r.Status == string(journal.RunDone) || r.Status == journal.DoneWithRemainders) && now != to:
		t.trouble("the run is %s, and %s takes writes, not %s", r.Status, now, to)
	case (r.Status == string(journal.RunUndone) || r.Status == journal.UndoneWithRemainders || r.Status == string(journal.RunCancelled) && t.word[r.Run] != leaveIt) && now != t.primary().Name:
		t.trouble("the run is %s, and %s takes writes, not %s", r.Status, now, t.primary().Name)
	}
}

// judge looks at the cluster itself, the journals and the evidence, when all runs have ended and all servers are back.
func (t *attempt) judge(ctx context.Context) {
	t.giveBackLater(ctx)
	spoken, ended := t.judgeRuns(ctx, t.a, t.b)
	t.refresh(ctx) // who was started is another process
	scene := settle(ctx, t.living(), 25*time.Second)
	if len(scene.primaries) == 1 {
		scene.strays = slices.DeleteFunc(scene.strays, func(name string) bool { return slices.Contains(t.excused, name) })
	}
	t.judgeScene(scene, spoken, ended)
	if len(scene.primaries) != 1 {
		return
	}
	for _, s := range t.servers {
		if s.Name != scene.primaries[0] {
			continue
		}
		if lost, err := t.ledger.lost(ctx, s); err != nil {
			t.trouble("%v", err)
		} else if len(lost) > 0 {
			t.trouble("%d acknowledged writes are lost, of %d: %v", len(lost), t.Acked, lost[:min(5, len(lost))])
		}
	}
}

// judgeRuns looks at the journals and the evidence of all runs. It returns what is said to be left undone, and which have ended.
func (t *attempt) judgeRuns(ctx context.Context, homes ...home) (spoken string, ended []string) {
	for _, h := range homes {
		runs, err := h.runs(ctx)
		if err != nil {
			t.trouble("%v", err)
			continue
		}
		for _, r := range runs {
			t.note(r)
			if r.over() {
				ended = append(ended, r.Run)
			}
			if r.Damage != "" {
				t.trouble("run %s is damaged: %s", r.Run, r.Damage)
			}
			if err := h.verify(ctx, r.Run); err != nil {
				t.trouble("%v", err)
			}
			t.judgeJournal(ctx, h, r.Run)
		}
		for line := range strings.SplitSeq(h.call(ctx, nil, 0, nil, "runbook", "status").Out, "\n") {
			if strings.HasPrefix(line, "not fixed yet") {
				spoken += line + "; "
			}
		}
	}
	return spoken, ended
}

// living are the servers that are not dead for good.
func (t *attempt) living() []server {
	if t.Drawn.Story != "failover from elsewhere" && t.Drawn.Story != "asleep" {
		return t.servers
	}
	return slices.DeleteFunc(slices.Clone(t.servers), func(s server) bool { return s.Pid <= 0 || !alive(s.Pid) })
}

func (t *attempt) judgeScene(scene scene, spoken string, ended []string) {
	if len(scene.primaries) > 1 {
		t.trouble("%d servers take writes: %v", len(scene.primaries), scene.primaries)
	}
	for _, moment := range t.ledger.twice {
		t.trouble("two servers took writes at once: %s", moment)
	}
	if !scene.healthy() {
		if spoken == "" {
			t.trouble("not whole, and no status says so: %s", scene)
		} else {
			t.Looked = scene.String() + "; said: " + spoken
		}
	}
	if scene.claim != "" && slices.Contains(ended, scene.claim) && !t.stays[scene.claim] {
		t.trouble("run %s has ended, and its claim is left in the cluster", scene.claim)
	}
	if len(scene.locked) > 0 {
		t.trouble("the lock of a cluster without a primary is held on %v, and no process lives", scene.locked)
	}
}

// note counts how a run ended.
func (t *attempt) note(r told) {
	end := r.Status
	switch {
	case r.Status == string(journal.RunDone) && t.killed[r.Run]:
		end = "resumed"
	case r.Status == string(journal.RunCancelled) && t.word[r.Run] == leaveIt:
		end = "left"
	}
	t.Ends = append(t.Ends, end)
}

// judgeJournal looks whether a finished step began again.
func (t *attempt) judgeJournal(ctx context.Context, h home, run string) {
	entries, err := h.entries(ctx, run)
	if err != nil {
		t.trouble("journal of %s: %v", run, err)
		return
	}
	finished := map[string]bool{}
	for _, entry := range entries {
		var e journal.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			t.trouble("journal of %s, entry %d: %v", run, entry.Number, err)
			return
		}
		switch e.Kind {
		case journal.Said:
			t.stays[run] = t.stays[run] || e.Claim
		case journal.Verified:
			finished[e.Step] = true
		case journal.Undone:
			finished[e.Step] = false
		case journal.Intended:
			if finished[e.Step] {
				t.trouble("step %s of %s was finished and began again", e.Step, run)
			}
		}
	}
}
