package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra/local"
	"plimsoll/infra/uml"
	"plimsoll/runbook/journal"
	"plimsoll/superdisk"
)

// copyTry is one try of an attack on copies, and what came of it.
type copyTry struct {
	Number   int                  `json:"number"`
	Drawn    copyDraw             `json:"drawn"`
	Books    map[string]*copyBook `json:"books"`
	Compared int                  `json:"compared"`
	Swapped  int                  `json:"swapped,omitempty"`
	Resets   int                  `json:"resets,omitempty"`
	Troubles []string             `json:"troubles,omitempty"`
	Calls    []said               `json:"calls,omitempty"`

	a       *copies
	knew    map[string]bool
	writing func(context.Context) error // ends the writer
}

func (t *copyTry) trouble(format string, args ...any) {
	t.Troubles = append(t.Troubles, fmt.Sprintf(format, args...))
}

// try has a blank local leg brought into step, the network leg taken out and given back, and looks at what each leg has alone.
func (a *copies) try(ctx context.Context, number int) (*copyTry, error) {
	t := &copyTry{Number: number, Drawn: drawCopy(a.seed, number), Books: map[string]*copyBook{}, a: a, knew: map[string]bool{}}
	a.home.store = filepath.Join(a.work, fmt.Sprint("try-", number))
	whole, err := a.disk.whole(ctx)
	if err == nil && whole {
		err = a.disk.takeOut(ctx, a.disk.local)
	}
	if err == nil {
		err = a.disk.spoil(ctx, a.disk.local)
	}
	if err != nil {
		return t, err
	}
	ceiling := fmt.Sprint("ceiling=", copyRate)
	for _, part := range []struct {
		book    string
		blows   blows
		inputs  []string
		whole   bool // both legs are in step then
		looksAt string
	}{
		{"superdisk/rebuild", t.Drawn.Rebuild, []string{"local=" + localLeg, ceiling}, true, ""},
		{"superdisk/detach-network", t.Drawn.Detach, nil, false, "the local leg"},
		{"superdisk/reattach-network", t.Drawn.Reattach, []string{"network=" + networkLeg, ceiling}, true, ""},
	} {
		if err := t.change(ctx, part.book, part.blows, part.inputs); err != nil || len(t.Troubles) > 0 {
			return t, err
		}
		whole, err := a.disk.whole(ctx)
		if err != nil {
			return t, err
		}
		if whole != part.whole {
			t.trouble("%s is done; both legs in step: %v", part.book, whole)
		}
		if part.looksAt != "" {
			if err := t.compare(ctx, part.looksAt); err != nil {
				return t, err
			}
		}
	}
	if err := a.disk.takeOut(ctx, a.disk.local); err != nil {
		return t, err
	}
	return t, t.compare(ctx, "the network leg")
}

// change runs a runbook to its end while files are written.
func (t *copyTry) change(ctx context.Context, book string, b blows, inputs []string) (err error) {
	if t.writing, err = t.a.disk.write(ctx); err != nil {
		return err
	}
	err = t.bring(ctx, book, b, inputs)
	if ended := t.writing(context.WithoutCancel(ctx)); err == nil && ended != nil {
		t.trouble("%s: %v", book, ended)
	}
	return err
}

// bring runs a runbook to its end: cut, spoken to, cut again. What was taken back is run again.
func (t *copyTry) bring(ctx context.Context, book string, b blows, inputs []string) error {
	sum := newCopyBook()
	t.Books[book] = sum
	begin := []string{"runbook", "run", book, "--cluster", t.a.lab, "--yes", "--json", "-i", "node=n1"}
	for _, in := range inputs {
		begin = append(begin, "-i", in)
	}
	var run told
	args, word := begin, resume
	for n := range 12 {
		var at *blow
		from := 0
		if n < len(b.Cuts) {
			at = &b.Cuts[n]
		}
		if run.Run != "" && at != nil && !at.Copy {
			entries, err := t.a.home.entries(ctx, run.Run)
			if err != nil {
				return err
			}
			from = len(entries)
		}
		s := t.call(ctx, at, from, args...)
		t.Calls = append(t.Calls, s)
		if s.Killed {
			sum.Kills++
			if !at.Copy {
				sum.At[from+at.After]++
			}
			if err := t.befall(ctx, sum, &b); err != nil {
				return err
			}
		}
		if err := t.find(ctx, &run, sum); err != nil {
			return err
		}
		if run.Run == "" { // it was killed before it began
			if !s.Killed {
				t.trouble("%s was refused: code %d: %s", book, s.Code, tail(s.Err))
				return nil
			}
			rest(ctx, copiesLease)
			continue
		}
		if wrong := wrongCode(run, word, s, false); wrong != "" {
			t.trouble("%s", wrong)
		}
		if s.Killed && run.over() { // its process died before it gave the cluster back: whatever is said to the run does that
			if back := t.a.home.call(ctx, nil, 0, nil, speak(resume, run.Run)...); !released(run, back) {
				t.trouble("resume of %s, which is %s: code %d: %s", run.Run, run.Status, back.Code, tail(back.Err))
			}
		}
		switch {
		case s.Hung || ctx.Err() != nil:
			t.trouble("hung: %s", strings.Join(s.Args, " "))
			return ctx.Err()
		case run.Status == string(journal.RunDone):
			sum.Ends["done"]++
			return t.methods(ctx, run.Run, sum)
		case run.over():
			sum.Ends[run.Status]++
			run, args, word = told{}, begin, resume
		default:
			word = resume
			if n < len(b.Ways) {
				word = b.Ways[n]
			}
			args = speak(word, run.Run)
		}
	}
	t.trouble("%s came to no end: run %s is %s", book, run.Run, run.Status)
	return nil
}

// call is a command of the attack's home, killed where that was drawn.
func (t *copyTry) call(ctx context.Context, at *blow, from int, args ...string) said {
	if at == nil {
		return t.a.home.call(ctx, nil, from, nil, args...)
	}
	if !at.Copy {
		return t.a.home.call(ctx, &at.cut, from, nil, args...)
	}
	ctx, kill := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if t.a.disk.awaitWritten(ctx, at.Copied) == nil {
			kill()
		}
	}()
	s := t.a.home.call(ctx, nil, from, nil, args...)
	kill()
	<-watched
	return s
}

// find looks for the run that was begun, or how the one that is known stands now.
func (t *copyTry) find(ctx context.Context, run *told, sum *copyBook) error {
	all, err := t.a.home.runs(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Run == run.Run {
			*run = r
			return nil
		}
		if run.Run == "" && !t.knew[r.Run] {
			t.knew[r.Run] = true
			sum.Runs++
			*run = r
			return nil
		}
	}
	return nil
}

// befall is what happens after a kill, if it was in the middle of a copy.
func (t *copyTry) befall(ctx context.Context, sum *copyBook, b *blows) error {
	inside, err := t.a.disk.filling(ctx)
	if err != nil || !inside {
		return err
	}
	sum.Inside++
	switch {
	case b.Swap:
		b.Swap = false
		t.Swapped++
		return t.a.disk.spoil(ctx, t.a.disk.local)
	case b.Reset:
		b.Reset = false
		t.Resets++
		return t.reset(ctx)
	}
	return nil
}

// reset has the machine lose its power in the middle of a copy. What was written until then is on the network leg.
func (t *copyTry) reset(ctx context.Context) error {
	if err := t.writing(ctx); err != nil {
		return err
	}
	before, err := t.a.disk.sh(ctx, "cd /run/truth && sha256sum f*")
	if err != nil {
		return err
	}
	if _, err := t.a.plimsoll(ctx, "runbook", "run", filepath.Join(t.a.work, "reset.yaml"), "--cluster", t.a.lab, "--yes"); err != nil {
		return err
	}
	if err := t.a.reach(ctx); err != nil {
		return err
	}
	if err := t.a.disk.assemble(ctx); err != nil {
		return err
	}
	after, err := t.a.disk.sh(ctx, "cd "+arrayAt+" && sha256sum f*")
	if err != nil {
		return err
	}
	if after != before {
		t.trouble("after the machine was reset, the network leg has\n%s\nand it had\n%s", after, before)
	}
	if err := t.a.disk.remember(ctx); err != nil {
		return err
	}
	t.writing, err = t.a.disk.write(ctx)
	return err
}

// compare holds what a leg has alone against what was written.
func (t *copyTry) compare(ctx context.Context, leg string) error {
	differ, files, err := t.a.disk.compare(ctx)
	t.Compared += files
	if differ != "" {
		t.trouble("%s alone: %s", leg, differ)
	}
	return err
}

// methods counts how the legs came into step, as the run's journal says.
func (t *copyTry) methods(ctx context.Context, run string, sum *copyBook) error {
	entries, err := t.a.home.entries(ctx, run)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var event journal.Event
		if err := json.Unmarshal(e.Data, &event); err != nil {
			return fmt.Errorf("read an entry of %s: %w", run, err)
		}
		if event.Kind != journal.Acted || event.Output["method"] == nil {
			continue
		}
		sum.Methods[methodOf(event.Output)]++
	}
	return nil
}

// wentOn is a seeding that had been cut off and copied what was left.
const wentOn = "seed gone on with"

// methodOf is how a leg was brought into step by the run that ended it, as the output of its step says.
func methodOf(out action.Facts) string {
	method := fmt.Sprint(out["method"])
	seeded, err := strconv.ParseInt(fmt.Sprint(out["seeded_bytes"]), 10, 64)
	used, other := strconv.ParseInt(fmt.Sprint(out["used_bytes"]), 10, 64)
	if method == string(superdisk.Seeding) && err == nil && other == nil && seeded < used {
		return wentOn
	}
	return method
}

// devices are those of the lab's volumes on its machine, by the names of the volumes.
func (a *copies) devices(ctx context.Context) (map[string]string, error) {
	host, err := local.New()
	if err != nil {
		return nil, err
	}
	volumes := &uml.Volumes{Host: host, Folder: filepath.Join(a.home.folder, "lab", a.lab, "volumes"), Machine: func(context.Context, string) (*uml.Machine, error) { return a.disk.Machine, nil }}
	all, err := volumes.List(ctx, map[string]string{cluster.NodeTag: "n1"})
	if err != nil {
		return nil, err
	}
	at := map[string]string{}
	for _, v := range all {
		if at[v.Tags[cluster.VolumeTag]], err = superdisk.Resolve(ctx, a.disk, v.ID); err != nil {
			return nil, err
		}
	}
	return at, nil
}

func (t *copyTry) line() string {
	text := fmt.Sprintf("seed %d try %d:", t.a.seed, t.Number)
	for _, book := range slices.Sorted(maps.Keys(t.Books)) {
		b := t.Books[book]
		text += fmt.Sprintf(" %s %d kills, %d in the copy, %v %v;", strings.TrimPrefix(book, "superdisk/"), b.Kills, b.Inside, b.Ends, b.Methods)
	}
	text += fmt.Sprintf(" %d files compared", t.Compared)
	for _, trouble := range t.Troubles {
		text += "\n  TROUBLE: " + trouble
	}
	return text
}
