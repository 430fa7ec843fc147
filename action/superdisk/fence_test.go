package superdisk

import (
	"context"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra"
)

// host is a machine that can be seen and stopped.
type host struct {
	cluster.Host
	running bool
	id      string
	unknown bool // to its provider
}

func (h *host) ID(context.Context) (string, error) { return h.id, nil }

func (h *host) Running(context.Context) (bool, error) {
	if h.unknown {
		return false, infra.ErrNoMachine
	}
	return h.running, nil
}

func (h *host) Kill(context.Context) error {
	if h.unknown {
		return infra.ErrNoMachine
	}
	h.running = false
	return nil
}

// attached is a provider of one volume.
type attached struct {
	infra.Volumes
	to string
}

func (a attached) List(context.Context, map[string]string) ([]infra.Volume, error) { return nil, nil }

func (a attached) Describe(_ context.Context, id string) (infra.Volume, error) {
	return infra.Volume{ID: id, Machine: a.to, State: infra.VolumeInUse}, nil
}

// A tag that a new machine has come to carry must not have that one stopped, while the lost one goes on.
func TestTheMachineThatIsStoppedIsTheOneThatHasTheVolume(t *testing.T) {
	lost, next := &host{running: true, id: "i-1"}, &host{running: true, id: "i-2"}
	on := &cluster.Cluster{Name: "c", Environment: "lab", Local: here(t), List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "n1", Host: lost}, {Name: "n2", Host: next}}, nil
	}}
	task := (&stage{}).task(t, "superdisk.fence", "node: n1", "to: n2", "volume: vol-1")
	for at, fine := range map[string]bool{"i-1": true, "i-2": true, "": true, "i-3": false} {
		on.Volumes = attached{to: at}
		_, err := task.Check(t.Context(), on)
		if fine && err != nil {
			t.Errorf("%q has the volume: %v", at, err)
		}
		if !fine {
			refused(t, err, "is attached to i-3")
		}
	}
	on.Volumes = attached{to: "i-1"}
	lost.unknown = true
	r, err := task.Check(t.Context(), on)
	if why := task.(action.ApprovalDemander).ApprovalReason(r); err != nil || !strings.Contains(why, "Plimsoll cannot see") {
		t.Errorf("a machine that its provider does not know: %q, %v", why, err)
	}
	if _, err := task.Act(t.Context(), on, call()); err != nil {
		t.Errorf("after a person said that it is gone: %v", err)
	}
}

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
	if err := verify(); err == nil || !strings.Contains(err.Error(), "still running") {
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
	if why := task.(action.ApprovalDemander).ApprovalReason(r); err != nil || !strings.Contains(why, "Plimsoll cannot see") {
		t.Errorf("a machine that cannot be seen: %q, %v", why, err)
	}
}
