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

// What a server and its machine can do is told by their views as by themselves: what a view does not have behind it is not there, so an action
// refuses in a plan as it would on the cluster.
func TestAReadOnlyViewHasWhatItsServerHas(t *testing.T) {
	type able struct {
		Identified
		Logged
		Copyable
		Reconfigurable
		Assignable
		FaultProneServer
	}
	has := func(s Server, h Host) []bool {
		_, identified := As[Identified](s)
		_, logged := As[Logged](s)
		_, copyable := As[Copyable](s)
		_, reconfigurable := As[Reconfigurable](s)
		_, assignable := As[Assignable](s)
		_, freezable := As[Freezable](s)
		_, zoned := As[Zoned](h)
		return []bool{identified, logged, copyable, reconfigurable, assignable, freezable, zoned}
	}
	for name, c := range map[string]struct {
		server Server
		host   Host
		want   bool
	}{
		"can nothing more": {struct{ Server }{}, struct{ Host }{}, false},
		"can all of it": {struct {
			Server
			able
		}{}, struct {
			Host
			Zoned
		}{}, true},
		"can all of it, in a lab": {struct {
			Server
			able
		}{}, struct {
			FaultProneHost
			Zoned
		}{}, true},
	} {
		on := (&Cluster{List: func(context.Context) ([]Node, error) {
			return []Node{{Name: "n1", Server: c.server, Host: c.host}}, nil
		}}).ReadOnly()
		n, err := on.Node(t.Context(), "n1")
		if err != nil {
			t.Fatal(err)
		}
		for what, found := range map[string][]bool{"itself": has(c.server, c.host), "its view": has(n.Server, n.Host)} {
			if slices.Contains(found, !c.want) {
				t.Errorf("%s of a server that %s: it has %v, want %v", what, name, found, c.want)
			}
		}
		if _, can := As[FaultProneServer](n.Server); can || Can[FaultProneServer](n.Server) != c.want {
			t.Errorf("the view of a server that %s can be killed: %v; the server can: %v", name, can, Can[FaultProneServer](n.Server))
		}
	}
}

// A session names its columns in a view only if it does so itself.
func TestAReadOnlySessionIsTabularIfItsOwnIs(t *testing.T) {
	for _, c := range []struct {
		session engine.Session
		want    bool
	}{{struct{ engine.Session }{}, false}, {struct {
		engine.Session
		engine.Tabular
	}{}, true}} {
		s, err := readOnlyViewOf(opened{session: c.session}).Session(t.Context())
		if _, tabular := s.(engine.Tabular); err != nil || tabular != c.want {
			t.Errorf("tabular %v, %v; want %v", tabular, err, c.want)
		}
	}
}

type opened struct {
	engine.Database
	session engine.Session
}

func (o opened) Session(context.Context) (engine.Session, error) { return o.session, nil }

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
	questions = []string{"Assigned", "CopyOf", "Frozen", "LogFile", "Process", "Running", "Settings"}
	refused = []string{"Assign", "CopyBack", "CopyFrom", "Reconfigure", "Start", "Stop"}
	server := readOnlyViewOfServer(struct{ Server }{})
	for m := range reflect.TypeOf(server).NumMethod() {
		if name := reflect.TypeOf(server).Method(m).Name; !slices.Contains(questions, name) && !slices.Contains(refused, name) {
			t.Errorf("%s of a server comes through: is it a question?", name)
		}
	}
	_, copied := server.CopyFrom(t.Context(), "n2")
	for name, err := range map[string]error{
		"start": server.Start(t.Context()), "stop": server.Stop(t.Context()), "give it settings": server.Assign(t.Context(), nil),
		"configure": server.Reconfigure(t.Context(), nil), "copy": copied, "copy back": server.CopyBack(t.Context()),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
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
