package volume

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
)

// moving is a provider whose one volume is attached and detached as it is asked to.
type moving struct{ detaching }

func (p *moving) Attach(_ context.Context, _, machine string) error {
	if p.has.Machine != "" && p.has.Machine != machine {
		return infra.ErrVolumeInUse
	}
	p.has.Machine, p.has.State = machine, infra.VolumeInUse
	return nil
}

// The undo of an act that found everything as intended takes nothing back: what was so before the step stays.
func TestAnUndoLeavesWhatWasSoBefore(t *testing.T) {
	m1 := onMachine{Volume: "vol-1", Node: "n1", Machine: "m1"}
	for name, c := range map[string]struct {
		task interface {
			action.Task
			action.Undoer
		}
		before  infra.Volume // at the check
		then    infra.Volume // at the act
		attempt int
		want    string // where it is after the undo
	}{
		"attached by this step":                     {&attach{onMachine: m1}, infra.Volume{}, infra.Volume{}, 1, ""},
		"attached by somebody else after the check": {&attach{onMachine: m1}, infra.Volume{}, infra.Volume{Machine: "m1", State: infra.VolumeInUse}, 1, "m1"},
		"attached by an attempt before":             {&attach{onMachine: m1}, infra.Volume{}, infra.Volume{Machine: "m1", State: infra.VolumeInUse}, 2, ""},
		"somebody else's attach was under way":      {&attach{onMachine: m1}, infra.Volume{Machine: "m1", State: infra.VolumeAttaching}, infra.Volume{Machine: "m1", State: infra.VolumeInUse}, 2, "m1"},
		"a detach was under way":                    {&attach{onMachine: m1}, infra.Volume{Machine: "m1", State: infra.VolumeDetaching}, infra.Volume{}, 1, ""},
		"detached by this step":                     {&detach{onMachine: m1}, infra.Volume{Machine: "m1", State: infra.VolumeInUse}, infra.Volume{Machine: "m1", State: infra.VolumeInUse}, 1, "m1"},
		"detached by somebody else after the check": {&detach{onMachine: m1}, infra.Volume{Machine: "m1", State: infra.VolumeInUse}, infra.Volume{}, 1, ""},
		"detached by an attempt before":             {&detach{onMachine: m1}, infra.Volume{Machine: "m1", State: infra.VolumeInUse}, infra.Volume{}, 2, "m1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &moving{}
			on := &cluster.Cluster{Name: "c", Volumes: p, List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{{Name: "n1"}}, nil }}
			c.before.ID, c.then.ID = "vol-1", "vol-1"
			p.has = c.before
			r, err := c.task.Check(t.Context(), on)
			if err != nil || r.State != action.Needed {
				t.Fatalf("%+v, %v", r, err)
			}
			p.has = c.then
			call := action.Call{Attempt: c.attempt, Before: r.Observed, Progress: func(float64, string) {}}
			if call.Output, err = c.task.Act(t.Context(), on, call); err != nil {
				t.Fatal(err)
			}
			if err := c.task.Undo(t.Context(), on, call); err != nil || p.has.Machine != c.want {
				t.Errorf("it is on %q, want %q: %v", p.has.Machine, c.want, err)
			}
		})
	}
}

// A machine still shows the disk of a volume whose detach hangs: the provider decides whether it is attached.
func TestADiskWhoseDetachHangsIsNotAttached(t *testing.T) {
	const shown = "device vda 2097152 vol9\ndevice vdb 2097152 vol1\n"
	for name, c := range map[string]struct {
		volume string
		is     infra.Volume
		state  action.State
		why    string
	}{
		"attached":                         {"network", infra.Volume{Machine: "m1", State: infra.VolumeInUse}, action.Satisfied, ""},
		"detached":                         {"network", infra.Volume{State: infra.VolumeAvailable}, action.Needed, ""},
		"being detached, by its id":        {"vol-1", infra.Volume{Machine: "m1", State: infra.VolumeDetaching}, action.Needed, ""},
		"attached elsewhere":               {"vol-1", infra.Volume{Machine: "m2", State: infra.VolumeInUse}, action.Needed, ""},
		"attached, as a device":            {"/dev/vdb", infra.Volume{Machine: "m1", State: infra.VolumeInUse}, action.Satisfied, ""},
		"detached, as a device":            {"/dev/vdb", infra.Volume{State: infra.VolumeAvailable}, "", "/dev/vdb of m1 is volume vol-1, which its provider says is available, attached to nothing"},
		"elsewhere, by its serial number":  {"vol1", infra.Volume{Machine: "m2", State: infra.VolumeInUse}, "", "attached to m2: the detach of its disk has not ended"},
		"a disk of the machine, no volume": {"/dev/vda", infra.Volume{State: infra.VolumeAvailable}, action.Satisfied, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.is.ID, c.is.Tags = "vol-1", map[string]string{cluster.VolumeTag: "network"}
			on := attaches(&named{has: c.is}, shown)
			a := &attach{onMachine: onMachine{Volume: c.volume, Node: "n1", Machine: "m1"}, Present: true}
			r, err := a.Check(t.Context(), on)
			if c.why != "" {
				var refused *hint.PermanentError
				if !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.why) || refused.Advice == "" {
					t.Errorf("%+v, %v", r, err)
				}
				return
			}
			if err != nil || r.State != c.state {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
