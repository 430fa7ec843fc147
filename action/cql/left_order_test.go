package cql

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/infra"
)

// lingering is the machine of a node on which a nodetool of a Plimsoll that was killed still runs.
type lingering struct {
	tooling
	mark string
	left *bool
}

func (l lingering) Name() string { return "host" }

func (l lingering) Find(_ context.Context, mark string) ([]infra.Process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if mark == l.mark && *l.left {
		return []infra.Process{nil}, nil
	}
	return nil, nil
}

// Plimsoll was killed while nodetool, which needs seconds to begin, had not told the node to leave: the check comes after that, once the others see it, and
// finds no node that is as it was.
func TestANodetoolThatOutlivedPlimsollIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		begins, seen time.Duration // when the node leaves by its own word, and when the others see it; 0: never
		ends         time.Duration // of nodetool
		waits        time.Duration
	}{
		"it begins a while later":        {begins: 4 * time.Second, seen: 6 * time.Second, ends: time.Hour, waits: 6 * time.Second},
		"it ends without having begun":   {ends: 3 * time.Second, waits: 3 * time.Second},
		"the others see it only later":   {begins: time.Millisecond, seen: 5 * time.Second, ends: time.Millisecond, waits: 5 * time.Second},
		"the others never see it":        {begins: time.Millisecond, ends: time.Hour, waits: patience},
		"nothing is left of it any more": {ends: time.Nanosecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{part: engine.Normal, mode: "NORMAL", id: "b"}
				left := true
				n2 := s.node(true)
				n2.Machine = lingering{tooling{stage: s}, action.Mark(action.Call{Token: "t"}), &left}
				on := s.on(n2)
				s.later(c.ends, func() { left = false })
				if c.begins > 0 {
					s.later(c.begins, func() { s.mode = "LEAVING" })
				}
				if c.seen > 0 {
					s.later(c.seen, func() { s.part = engine.Leaving })
				}
				begun := time.Now()
				time.Sleep(2 * time.Nanosecond)
				if err := (&decommission{Node: "n2"}).AwaitInFlight(t.Context(), on.ReadOnly(), action.Call{Token: "t", Progress: func(float64, string) {}}); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begun).Truncate(time.Second); took < c.waits || took > c.waits+2*time.Second {
					t.Errorf("it was waited %s, want %s", took, c.waits)
				}
			})
		})
	}
	s := &stage{part: engine.Normal, mode: "NORMAL", id: "b"}
	limited, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	left := true
	n2 := s.node(true)
	n2.Machine = lingering{tooling{stage: s}, action.Mark(action.Call{Token: "t"}), &left}
	if err := (&drain{Node: "n2"}).AwaitInFlight(limited, s.on(n2).ReadOnly(), action.Call{Token: "t"}); err == nil {
		t.Error("a drain whose nodetool still runs is not waited for")
	}
	if err := (&drain{Node: "n2"}).AwaitInFlight(t.Context(), s.on(n2).ReadOnly(), action.Call{Token: "of another"}); err != nil {
		t.Error(err)
	}
	if !slices.Equal(s.orders, nil) {
		t.Errorf("orders were given: %q", s.orders)
	}
}
