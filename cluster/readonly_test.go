package cluster

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"plimsoll/engine"
)

// what a database can do is told by the view that plans and checks are given as by the database itself.
func TestAReadOnlyViewHasWhatItsDatabaseHas(t *testing.T) {
	for name, c := range map[string]struct {
		db                 engine.Database
		replicated, ringed bool
	}{
		"a database that can nothing more": {db: plain{}},
		"one that is replicated":           {db: pair{}, replicated: true},
		"one that is a ring":               {db: ring{}, ringed: true},
	} {
		t.Run(name, func(t *testing.T) {
			on := (&Cluster{Engine: opens{c.db}, List: func(context.Context) ([]Node, error) { return nil, nil }}).ReadOnly()
			for what, db := range map[string]engine.Database{"itself": c.db, "its view": must(on.Engine.Open(t.Context(), engine.Target{}))} {
				_, replicated := engine.As[engine.Replicated](db)
				_, ringed := engine.As[engine.Ringed](db)
				_, sharded := engine.As[engine.Sharded](db)
				if replicated != c.replicated || ringed != c.ringed || sharded {
					t.Errorf("%s: replicated %v, ring %v, sharded %v", what, replicated, ringed, sharded)
				}
			}
		})
	}
}

// A new method of an optional interface reaches checks by itself: whoever adds one says here that it is a question, or refuses it as Change is.
func TestAReadOnlyViewPassesOnQuestionsAlone(t *testing.T) {
	questions := []string{
		"AtStart", "Becomes", "CheckSyntax", "Executing", "Facts", "Has", "Hints", "Lacks", "Layout", "Moves", "NeedsRestart", "Planned", "Repairs", "ReplicationStatus", "Ring", "SameValue", "Setting", "Sizes",
		"Streams", "Tasks", "WhyInvalid", "Wrote", "WroteSince",
	}
	refused := []string{"Change", "Close", "Session"} // Session's statements are looked at, and Close ends the view's own database
	view := reflect.TypeFor[readOnlyDatabase]()
	for m := range view.NumMethod() {
		if name := view.Method(m).Name; !slices.Contains(questions, name) && !slices.Contains(refused, name) {
			t.Errorf("%s comes through: is it a question?", name)
		}
	}
	db := readOnlyViewOf(configured{})
	if v, err := db.Setting(t.Context(), "x"); v != "1" || err != nil {
		t.Errorf("a setting reads as %q, %v", v, err)
	}
	if err := db.Change(t.Context(), "x", "2"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a setting was changed: %v", err)
	}
}

type configured struct {
	engine.Database
	engine.Configurable
}

func (configured) Setting(context.Context, string) (string, error) { return "1", nil }

func (configured) Change(context.Context, string, string) error { return nil }

func must(db engine.Database, err error) engine.Database {
	if err != nil {
		panic(err)
	}
	return db
}

type opens struct{ db engine.Database }

func (opens) Name() string { return "test" }

func (o opens) Open(context.Context, engine.Target) (engine.Database, error) { return o.db, nil }

type plain struct{ engine.Database }

type pair struct {
	engine.Database
	engine.Replicated
}

type ring struct {
	engine.Database
	engine.Ringed
}
