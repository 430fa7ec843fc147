package cql

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/action"
	"plimsoll/engine"
)

// A member that is up and says nothing may keep hints; one that is to be replaced does not count, nor one that left.
func TestAMemberThatDoesNotAnswerIsWaitedFor(t *testing.T) {
	s := &stage{part: engine.Normal}
	on := s.on(s.node(true))
	w := &whole{}
	if f, err := w.Check(t.Context(), on); err != nil || f.State != action.Satisfied {
		t.Errorf("%+v, %v", f, err)
	}
	s.silent = []string{"10.0.0.2:9042"}
	if f, err := w.Check(t.Context(), on); err != nil || f.State != action.Needed || f.Reason != "10.0.0.2 did not answer in time whether it stores hints for others" {
		t.Errorf("%+v, %v", f, err)
	}
	synctest.Test(t, func(t *testing.T) {
		s.later(time.Minute, func() { s.silent = nil })
		began := time.Now()
		if _, err := w.Act(t.Context(), on, action.Call{Progress: func(float64, string) {}}); err != nil || time.Since(began) < time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
	s.silent, s.down = []string{"10.0.0.2:9042", "10.0.0.9:9042"}, "b"
	if f, err := (&whole{But: "n2"}).Check(t.Context(), on); err != nil || f.State != action.Satisfied {
		t.Errorf("%+v, %v", f, err)
	}
}

// Hints for a member are waited for; Cassandra keeps those for a host that was replaced, and nobody will ever take them.
func TestHintsForAHostThatHasLeftAreNotWaitedFor(t *testing.T) {
	s := &stage{part: engine.Normal}
	on := s.on(s.node(true))
	for member, state := range map[string]action.State{"b": action.Needed, "replaced": action.Satisfied} {
		s.hints = []engine.Hint{{Node: "10.0.0.1:9042", For: member, Files: 1}}
		if f, err := (&whole{}).Check(t.Context(), on); err != nil || f.State != state {
			t.Errorf("hints for %s: %+v, %v", member, f, err)
		}
	}
}

// Nodes that were restarted a moment ago are waited for.
func TestARingThatNobodyAnswersForIsWaitedFor(t *testing.T) {
	s := &stage{part: engine.Normal, lost: true}
	on := s.on(s.node(true))
	f, err := (&whole{}).Check(t.Context(), on)
	if err != nil || f.State != action.Needed || !strings.Contains(f.Reason, "no node can be reached") {
		t.Fatalf("%+v, %v", f, err)
	}
	synctest.Test(t, func(t *testing.T) {
		s.later(5*time.Second, func() { s.lost = false })
		if _, err := (&whole{}).Act(t.Context(), on, action.Call{Progress: func(float64, string) {}}); err != nil {
			t.Error(err)
		}
	})
}

func TestNothingBeginsWhileAnotherNodeJoins(t *testing.T) {
	for part, says := range map[engine.Part]string{engine.Joining: "10.0.0.2 (UJ)", engine.Replacing: "10.0.0.2 (UJ)", engine.Leaving: "10.0.0.2 (UL)"} {
		s := &stage{part: part}
		_, err := (&whole{Alone: true}).Check(t.Context(), s.on().ReadOnly())
		refused(t, err, "another change of the ring is under way: "+says, "one change at a time")
		if f, err := (&whole{}).Check(t.Context(), s.on().ReadOnly()); err != nil || f.State != action.Needed {
			t.Errorf("in the middle of a run it is waited for: %+v, %v", f, err)
		}
	}
}

// What is to be replaced must be dead before anything is begun. One that has just died is waited for, until the others notice.
func TestANodeThatLivesIsNotReplaced(t *testing.T) {
	s := &stage{part: engine.Normal}
	on := s.on(s.node(true))
	replaced := &whole{But: "n2", Alone: true}
	_, err := replaced.Check(t.Context(), on.ReadOnly())
	refused(t, err, "n2 is not dead: the ring sees it as 10.0.0.2 (UN)", "cql/remove-node")
	_, err = replaced.Check(t.Context(), s.on(s.node(false)).ReadOnly())
	refused(t, err, "n2 is not dead", "stop it first")

	s.notRunning = true
	f, err := replaced.Check(t.Context(), on.ReadOnly())
	if err != nil || f.State != action.Needed || f.Reason != "the ring still sees 10.0.0.2 (UN) as up, but its server is not running" {
		t.Errorf("%+v, %v", f, err)
	}
	synctest.Test(t, func(t *testing.T) {
		s.later(8*time.Second, func() { s.down = "b" })
		began := time.Now()
		if _, err := replaced.Act(t.Context(), on, action.Call{Progress: func(float64, string) {}}); err != nil || time.Since(began) < 8*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
	if f, err := replaced.Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Errorf("%+v, %v", f, err)
	}
}
