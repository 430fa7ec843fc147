package execute

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// leaving is an act on many targets that leaves some out.
type leaving struct {
	Node string `yaml:"node"`
	Out  string `yaml:"out"`
}

func (l *leaving) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (l *leaving) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	return action.CheckResult{State: action.Needed}, nil
}

func (l *leaving) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	out := action.Facts{}
	if l.Out != "" {
		out[action.LeftOut] = map[string]any{l.Out: "it does not answer"}
	}
	return out, nil
}

func (l *leaving) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

// Who was left out is told until it is mended: by a run that takes it up, by the same runbook done whole, or by a person's word.
func TestWhoWasLeftOutIsToldUntilItIsMended(t *testing.T) {
	t.Parallel()
	for how, taking := range map[string]string{
		"nothing": "", "another target": "{node: n2}", "taken up": "{node: n3}", "taken up and left out again": "{node: n3, out: n3}", "a person": "",
	} {
		b := newBench(t)
		b.Actions = append(b.Actions, action.Action{Name: "test.leaving", Version: 1, About: "Leaves out.", New: func() action.Task { return &leaving{} }})
		book := func(name, with string) *runbook.Runbook {
			return b.parse("runbook: " + name + "\nsteps:\n  - {id: a, uses: test.leaving, with: " + with + "}\n")
		}
		run := b.begin(Request{Book: book("test/many", "{out: n3}")})
		if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone || st.Status() != journal.DoneWithRemainders {
			t.Fatalf("%q, %q", st.Outcome, st.Status())
		}
		if taking != "" {
			b.runSession(b.begin(Request{Book: book("test/rejoin", taking)}), journal.Command{Do: "run"})
		}
		if how == "a person" {
			if mended, err := b.Mend(t.Context(), run, "rebuilt"); len(mended) != 1 || err != nil {
				t.Error(mended, err)
			}
		}
		p, err := b.Prepare(t.Context(), Request{Book: b.parse(threeSteps), Cluster: "lab1"})
		if err != nil {
			t.Fatal(err)
		}
		want := how != "taken up" && how != "a person"
		if said := len(p.Left) == 1 && strings.Contains(p.Left[0].String(), "n3 was left out by run "); said != want {
			t.Errorf("%s: %+v", how, p.Left)
		}
	}
}

// A cluster that was given back as it is is told of in every plan, until the runbook is done.
func TestWhatWasLeftAsItIsIsToldUntilItIsMended(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(mending)})
	b.runSession(run, journal.Command{Do: "run"})
	b.runSession(run, journal.Command{Do: "cancel", Leave: "it is late"})
	left := func() string {
		p, err := b.Prepare(t.Context(), Request{Book: b.parse(mending), Cluster: "lab1"})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, m := range p.Left {
			all = append(all, m.String())
		}
		return strings.Join(all, "\n")
	}
	if want := "run " + run + " of test/mending is half done: left as it is: it is late; what stays done: a"; !strings.Contains(left(), want) {
		t.Errorf("%q, want %q", left(), want)
	}
	b.put("mended", "")
	if st := b.runSession(b.begin(Request{Book: b.parse(mending)}), journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Fatal(st.Outcome)
	}
	if left() != "" {
		t.Errorf("done, and still told: %q", left())
	}
}

// leftUnnoted is a run that was left as it is, by a process that died after the last entry and before it noted what stays done.
func leftUnnoted(t *testing.T) (*bench, string) {
	t.Helper()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(mending)})
	b.runSession(run, journal.Command{Do: "run"})
	b.runSession(run, journal.Command{Do: "cancel", Leave: "it is late"})
	db, err := sql.Open("sqlite", filepath.Join(b.state, "runs.db")+"?_pragma=busy_timeout(10000)") // the service writes too
	if err != nil {
		t.Fatal(err)
	}
	gone, err := db.ExecContext(t.Context(), `DELETE FROM plimsoll_records WHERE kind = 'remainder'`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if n, err := gone.RowsAffected(); n != 1 || err != nil {
		t.Fatalf("%d records, %v", n, err)
	}
	if _, err := b.Store.Acquire(t.Context(), lock.LeaseName("lab1"), run, time.Minute); err != nil { // as it was before the release
		t.Fatal(err)
	}
	return b, run
}

// A process that dies after the last entry of a run, and before it notes what the run leaves undone: status and plans tell it at once, and
// whoever gives the cluster back in its stead notes it.
func TestWhatARunLeavesIsNotedThoughItsProcessDiedAfterTheEnd(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"a look", "give back", "the next run"} {
		b, run := leftUnnoted(t)
		switch how {
		case "give back":
			if gave, err := b.GiveBack(t.Context(), run); !gave || err != nil {
				t.Errorf("gave back %v, %v", gave, err)
			}
		case "the next run":
			b.begin(Request{Book: b.parse(touching)})
		}
		left, err := b.OpenRemainders(t.Context(), "lab1")
		if err != nil || len(left) != 1 || left[0].Run != run {
			t.Errorf("%s: %v, %v", how, left, err)
		}
	}
}

// A lab that was made anew has nothing left of a run on the old one, whether or not that was noted.
func TestWhatWasNotNotedOnAnOldLabIsNotTold(t *testing.T) {
	t.Parallel()
	b, _ := leftUnnoted(t)
	made := time.Now().Add(time.Hour)
	labMadeAt(b, &made)
	if left, err := b.OpenRemainders(t.Context(), "lab1"); len(left) != 0 || err != nil {
		t.Errorf("%v, %v", left, err)
	}
}

// What a person recorded as fixed is not told again when the session of the dead process is completed.
func TestWhatWasFixedIsNotNotedAgainWhenADeadSessionIsCompleted(t *testing.T) {
	t.Parallel()
	for _, noted := range []bool{false, true} {
		b, run := leftUnnoted(t)
		if noted { // by the next command, before the person
			if gave, err := b.GiveBack(t.Context(), run); !gave || err != nil {
				t.Fatal(gave, err)
			}
		}
		if mended, err := b.Mend(t.Context(), run, "rebuilt"); len(mended) != 1 || err != nil {
			t.Fatal(mended, err)
		}
		if err := b.noteRemainders(t.Context(), run, b.stateOf(run)); err != nil { // as the session does that goes on
			t.Fatal(err)
		}
		if left, err := b.OpenRemainders(t.Context(), "lab1"); len(left) != 0 || err != nil {
			t.Errorf("noted before %v: %v, %v", noted, left, err)
		}
	}
}

// A record that cannot be read hides no other, and stops no run: it is told with its number.
func TestADamagedRecordOfRemaindersStopsNothing(t *testing.T) {
	t.Parallel()
	b, run := leftUnnoted(t)
	if gave, err := b.GiveBack(t.Context(), run); !gave || err != nil {
		t.Fatal(gave, err)
	}
	for range 2 {
		if err := b.Store.Keep(t.Context(), "remainder", "lab1", []byte(`{"run": "cut`)); err != nil {
			t.Fatal(err)
		}
	}
	b.put("mended", "")
	for _, want := range []int{3, 2} { // and then the runbook that was left half done is done
		p, err := b.Prepare(t.Context(), Request{Book: b.parse(mending), Cluster: "lab1"})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, m := range p.Left {
			said = append(said, m.String())
		}
		if all := strings.Join(said, "\n"); len(said) != want || !strings.Contains(all, "cluster lab1: record 2 of what runs left undone on it cannot be read") ||
			!strings.Contains(all, "record 3") || strings.Contains(all, "is half done") != (want == 3) {
			t.Errorf("%d told: %s", len(said), all)
		}
		if want == 3 {
			if st := b.runSession(b.begin(Request{Book: b.parse(mending)}), journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
				t.Fatal(st.Outcome)
			}
		}
	}
	if mended, err := b.Mend(t.Context(), run, "rebuilt"); len(mended) != 0 || err != nil {
		t.Errorf("the run has left nothing more, and %v, %v", mended, err)
	}
	if mended, err := MendDamaged(t.Context(), b.Service, run, "nothing is left"); len(mended) != 2 || err != nil {
		t.Error(mended, err)
	}
	if left, err := b.OpenRemainders(t.Context(), "lab1"); len(left) != 0 || err != nil {
		t.Errorf("acknowledged, and told %v, %v", left, err)
	}
}
