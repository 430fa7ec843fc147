package replication

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
)

// unreached is a server whose machine is gone with it.
type unreached struct{ asked int }

var errUnreached = errors.New("ssh: no route to host")

func (u *unreached) Running(context.Context) (bool, error) { return false, errUnreached }
func (u *unreached) Start(context.Context) error           { return errUnreached }
func (u *unreached) Stop(context.Context) error            { u.asked++; return errUnreached }

// serviced is a server that a service manager starts: Plimsoll can end it, and does not know how it comes back.
type serviced struct {
	runs  bool
	ended int
}

func (s *serviced) Running(context.Context) (bool, error) { return s.runs, nil }
func (s *serviced) Start(context.Context) error           { s.runs = true; return nil }
func (s *serviced) Stop(context.Context) error            { s.runs = false; s.ended++; return nil }

// A primary that a service manager starts can be ended, and may accept writes after its next start: a person is asked, and it is noted until
// mysql/rejoin.
func TestAPrimaryThatMayComeBackWritableIsForAPersonToJudge(t *testing.T) {
	for name, server := range map[string]*serviced{"it has ended": {}, "it hangs": {runs: true}} {
		t.Run(name, func(t *testing.T) {
			on := standIns{"n1": {silent: gone}}.cluster(t)
			nodes, err := on.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			nodes[0].Server = server
			on.List = func(context.Context) ([]cluster.Node, error) { return slices.Clone(nodes), nil }
			f := &fence{Node: "n1"}
			found, err := f.Check(t.Context(), on.ReadOnly())
			if err != nil || found.State != action.Needed {
				t.Fatalf("found %+v, %v, want that it is to be fenced", found, err)
			}
			if reason := f.ApprovalReason(found); !strings.Contains(reason, "n1 may accept writes after its next start. Keep its service from starting; or, on MariaDB, put read_only = ON into its option file") {
				t.Errorf("a person is asked %q", reason)
			}
			var refused *hint.PermanentError
			if _, err := f.Act(t.Context(), on, action.Call{Before: action.Facts{"read_only": "0"}, Progress: func(float64, string) {}}); !errors.As(err, &refused) || server.ended > 0 {
				t.Errorf("it answered when it was looked at, and nobody was asked: %v, ended %d times", err, server.ended)
			}
			out, err := f.Act(t.Context(), on, action.Call{Before: found.Observed, Progress: func(float64, string) {}})
			if err != nil || out["way"] != "ended" || server.runs || server.ended != 1 {
				t.Errorf("fenced: %v, %v, %+v", out, err, server)
			}
			if left, ok := out[action.LeftOut].(map[string]any); !ok || !strings.Contains(fmt.Sprint(left["n1"]), "When it is back: mysql/rejoin -i node=n1") {
				t.Errorf("what remains: %v", out[action.LeftOut])
			}
			if err := f.Verify(t.Context(), on.ReadOnly(), out); err != nil {
				t.Error(err)
			}
			server.runs = true // it was started meanwhile
			if err := f.Verify(t.Context(), on.ReadOnly(), out); err == nil {
				t.Error("a server that runs again counts as fenced")
			}
		})
	}
}

// A primary that is lost with its machine can be fenced by nobody from here: a person is asked, and the run goes on with what he says.
func TestAPrimaryThatIsLostWithItsMachineIsForAPersonToJudge(t *testing.T) {
	lost := &unreached{}
	stands := standIns{"n1": {silent: gone}}
	on := stands.cluster(t)
	nodes, err := on.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nodes[0].Server = lost
	on.List = func(context.Context) ([]cluster.Node, error) { return nodes, nil }

	f := &fence{Node: "n1"}
	found, err := f.Check(t.Context(), on.ReadOnly())
	if err != nil || found.State != action.Needed {
		t.Fatalf("found %+v, %v", found, err)
	}
	if reason := f.ApprovalReason(found); !strings.Contains(reason, "n1 cannot be fenced from here") || !strings.Contains(reason, errUnreached.Error()) {
		t.Errorf("a person is asked %q", reason)
	}
	call := action.Call{Before: found.Observed, Progress: func(float64, string) {}}
	out, err := f.Act(t.Context(), on, call)
	if err != nil || out["way"] != "none" || lost.asked != 0 {
		t.Errorf("after a person agreed: %v, %v, asked %d times to stop", out, err, lost.asked)
	}
	if left, ok := out[action.LeftOut].(map[string]any); !ok || !strings.Contains(fmt.Sprint(left["n1"]), "n1 may accept writes after its next start") {
		t.Errorf("what remains: %v", out[action.LeftOut])
	}
	if err := f.Verify(t.Context(), on.ReadOnly(), out); err != nil {
		t.Error(err)
	}
	// Nobody agreed to that when the machine could still be reached.
	call.Before = action.Facts{fenceRuns: true, fenceWays: true}
	_, err = f.Act(t.Context(), on, call)
	var permanent *hint.PermanentError
	if !errors.As(err, &permanent) || !strings.Contains(permanent.Advice, "asks a person") {
		t.Errorf("a machine that is lost after the check: %v", err)
	}
}

// hangs is a server that does not stop, and can be ended.
type hangs struct{ ended bool }

func (h *hangs) Running(context.Context) (bool, error) { return !h.ended, nil }
func (h *hangs) Start(context.Context) error           { return nil }
func (h *hangs) Stop(ctx context.Context) error        { <-ctx.Done(); return ctx.Err() }
func (h *hangs) End(context.Context) error             { h.ended = true; return nil }

// A primary that hangs is ended, not asked to stop for as long as its unit is patient.
func TestAPrimaryThatHangsIsEnded(t *testing.T) {
	server := &hangs{}
	on := standIns{"n1": {silent: gone}}.cluster(t)
	nodes, err := on.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nodes[0].Server = server
	on.List = func(context.Context) ([]cluster.Node, error) { return nodes, nil }
	limited, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	f := &fence{Node: "n1"}
	out, err := f.Act(limited, on, action.Call{Before: action.Facts{fenceRuns: true, fenceWays: true, fenceModes: comesUnknown}, Progress: func(float64, string) {}})
	if err != nil || out["way"] != "ended" || !server.ended {
		t.Errorf("%v, %v", out, err)
	}
	if err := f.Verify(t.Context(), on.ReadOnly(), out); err != nil {
		t.Error(err)
	}
}
