package action_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// shunned is an engine that asks a node anew only some time after it was found silent.
type shunned struct {
	engine.Engine
	until time.Time
}

func (e shunned) Open(context.Context, engine.Target) (engine.Database, error) {
	if time.Now().Before(e.until) {
		return nil, errors.New("no node can be reached")
	}
	return answering{}, nil
}

type answering struct{ engine.Database }

func (answering) Facts(context.Context) (engine.Facts, error) { return engine.Facts{}, nil }
func (answering) Close() error                                { return nil }

// runs is a server's process.
type runs string

func (r runs) Running(context.Context) (bool, error)   { return r != "0", nil }
func (r runs) Process(context.Context) (string, error) { return string(r), nil }
func (runs) Start(context.Context) error               { return nil }
func (runs) Stop(context.Context) error                { return nil }

// Who looks after a start may have found the server silent before it: that is no reason to say that it does not serve, unless it
// lasts.
func TestAServerThatHasStartedIsAskedAgain(t *testing.T) {
	for _, name := range []string{"server.start", "server.restart"} {
		for _, c := range []struct {
			process runs
			silent  time.Duration
			want    string
		}{{"2", 2 * time.Second, ""}, {"2", time.Hour, "it answered after its start, but has not answered for 1m0s"}, {"0", 0, "node n1"}} {
			synctest.Test(t, func(t *testing.T) {
				s := &cluster.Cluster{Name: "c", Engine: shunned{until: time.Now().Add(c.silent)}, List: func(context.Context) ([]cluster.Node, error) {
					return []cluster.Node{{Name: "n1", Server: c.process, Target: engine.Target{Addresses: []string{"n1"}}}}, nil
				}}
				defer func() { _ = s.Close() }()
				task := actiontest.Task(t, action.Servers(), name, "node: n1")
				err := task.(action.Verifier).Verify(t.Context(), s.ReadOnly(), action.Facts{"before": "1"})
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s of %s, silent for %s: %v, want %q", name, c.process, c.silent, err, c.want)
				}
			})
		}
	}
}

// lasting is a server that does not tell its processes apart.
type lasting struct{ cluster.Server }

func (lasting) Running(context.Context) (bool, error) { return true, nil }

// A restart that could not be seen is refused in the plan, with what is there instead.
func TestARestartThatCouldNotBeSeenIsRefusedInThePlan(t *testing.T) {
	for name, server := range map[string]cluster.Server{"tells its process": runs("1"), "does not": lasting{}} {
		on := &cluster.Cluster{Name: "c", Engine: shunned{}, List: func(context.Context) ([]cluster.Node, error) {
			return []cluster.Node{{Name: "n1", Server: server, Target: engine.Target{Addresses: []string{"n1"}}}}, nil
		}}
		defer func() { _ = on.Close() }()
		f, err := actiontest.Task(t, action.Servers(), "server.restart", "node: n1").Check(t.Context(), on.ReadOnly())
		var refused *hint.PermanentError
		if is := errors.As(err, &refused); is != (name == "does not") || is && !strings.Contains(refused.Advice, "server.stop and server.start") {
			t.Errorf("a server that %s: %+v, %v", name, f, err)
		}
	}
}
