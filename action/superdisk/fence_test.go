package superdisk

import (
	"context"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
)

// host is a machine that can be seen and stopped.
type host struct {
	cluster.Host
	running bool
}

func (h *host) Running(context.Context) (bool, error) { return h.running, nil }
func (h *host) Kill(context.Context) error            { h.running = false; return nil }

func TestAnOldMachineIsStoppedAndSeenStopped(t *testing.T) {
	old := &host{running: true}
	on := &cluster.Cluster{Name: "c", Environment: "lab", Local: here(t), List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "seen", Host: old}, {Name: "unseen"}, {Name: "n2"}}, nil
	}}
	s := &stage{cluster: on}
	task := s.task(t, "superdisk.fence", "node: seen", "to: n2")
	verify := func() error { return task.(action.Verifier).Verify(t.Context(), on, nil) }
	if r, err := task.Check(t.Context(), on); err != nil || r.State != action.Needed {
		t.Errorf("it runs: %v, %v", r.State, err)
	}
	if err := verify(); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("verified while it runs: %v", err)
	}
	if _, err := task.Act(t.Context(), on, call()); err != nil || old.running {
		t.Errorf("not stopped: %v", err)
	}
	if err := verify(); err != nil {
		t.Error(err)
	}
	if r, err := task.Check(t.Context(), on); err != nil || r.State != action.Satisfied {
		t.Errorf("it is stopped: %v, %v", r.State, err)
	}
	task = s.task(t, "superdisk.fence", "node: unseen", "to: n2")
	r, err := task.Check(t.Context(), on)
	if why := task.(action.ApprovalDemander).ApprovalReason(r); err != nil || !strings.Contains(why, "nobody can see") {
		t.Errorf("a machine that cannot be seen: %q, %v", why, err)
	}
}
