package volume

import (
	"context"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra"
)

// detaching is a provider whose one volume somebody has.
type detaching struct {
	provider
	asked bool
}

func (d *detaching) Detach(_ context.Context, _, machine string) error {
	d.asked = true
	if d.has.Machine != machine {
		return infra.ErrNotAttached
	}
	d.has.Machine = ""
	return nil
}

// A volume that another machine has is not said to be free. The provider is a fake: a real one says the same of every volume.
func TestAVolumeThatAnotherMachineHasIsNotSaidToBeDetached(t *testing.T) {
	p := &detaching{provider: provider{has: infra.Volume{ID: "vol-1", Machine: "m2", State: infra.VolumeInUse}}}
	on := &cluster.Cluster{Name: "c", Volumes: p, List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{{Name: "n1"}}, nil }}
	d := &detach{onMachine: onMachine{Volume: "vol-1", Node: "n1", Machine: "m1"}}
	f, err := d.Check(t.Context(), on)
	if err != nil || f.State != action.Satisfied || f.Intended["attached_to"] != "m2" || !strings.Contains(f.Reason, "attached to m2, not to m1") {
		t.Errorf("beside m2: %+v, %v", f, err)
	}
	p.has.Machine = "m1"
	if f, err := d.Check(t.Context(), on); err != nil || f.State != action.Needed {
		t.Errorf("on m1: %+v, %v", f, err)
	}
	if _, err := d.Act(t.Context(), on, action.Call{}); err != nil || !p.asked {
		t.Fatalf("asked %v, %v", p.asked, err)
	}
	if f, err := d.Check(t.Context(), on); err != nil || f.State != action.Satisfied || f.Reason != "" || f.Intended["attached_to"] != "nothing" {
		t.Errorf("on no machine: %+v, %v", f, err)
	}
}
