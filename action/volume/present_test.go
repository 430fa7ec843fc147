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

// lists is a machine that has these disks.
type lists struct {
	infra.Machine
	disks string
}

func (lists) Name() string { return "m1" }
func (l lists) Run(context.Context, infra.Command) (infra.Output, error) {
	return infra.Output{Stdout: []byte(l.disks)}, nil
}

// named is a provider with one volume, of a node.
type named struct {
	infra.Volumes
	has      infra.Volume
	attached string
}

func (p *named) List(_ context.Context, tags map[string]string) ([]infra.Volume, error) {
	if tags[cluster.NodeTag] != "n1" || tags[cluster.VolumeTag] != "" && tags[cluster.VolumeTag] != "network" {
		return nil, nil
	}
	return []infra.Volume{p.has}, nil
}

func (p *named) Describe(_ context.Context, id string) (infra.Volume, error) {
	if id != p.has.ID {
		return infra.Volume{}, infra.ErrNoVolume
	}
	return p.has, nil
}

func (p *named) Attach(_ context.Context, id, machine string) error {
	p.attached = id + " to " + machine
	return nil
}

func attaches(p infra.Volumes, disks string) *cluster.Cluster {
	return &cluster.Cluster{Name: "c", Volumes: p, List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "n1", Machine: lists{disks: disks}}}, nil
	}}
}

// A disk that the machine has already needs no provider; one that it has not is attached where one is known, and refused where none is.
func TestADiskThatIsThereIsNotAttachedAgain(t *testing.T) {
	const without, with = "device vda 2097152 vol9\n", "device vda 2097152 vol9\ndevice vdb 2097152 vol1\n"
	for name, c := range map[string]struct {
		volume, disks string
		provider      bool
		state         action.State
		why           string
	}{
		"there, by its name":                {"network", with, true, action.Satisfied, ""},
		"there, by its serial number":       {"vol-1", with, false, action.Satisfied, ""},
		"there, as a device":                {"/dev/vdb", with, false, action.Satisfied, ""},
		"not there":                         {"network", without, true, action.Needed, ""},
		"not there, and no provider":        {"vol-1", without, false, "", "m1 has no disk vol-1, and Plimsoll knows no provider that attaches it"},
		"a device that is not there":        {"/dev/vdb", without, true, "", "m1 has no disk /dev/vdb"},
		"a volume that there is not at all": {"VOL", without, true, action.Needed, "there is no volume VOL; n1 has network (vol-1)"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &named{has: infra.Volume{ID: "vol-1", VolumeSpec: infra.VolumeSpec{Tags: map[string]string{cluster.VolumeTag: "network"}}}}
			if c.disks == with {
				p.has.Machine, p.has.State = "m1", infra.VolumeInUse
			}
			on := attaches(nil, c.disks)
			if c.provider {
				on.Volumes = p
			}
			a := &attach{onMachine: onMachine{Volume: c.volume, Node: "n1"}, Present: true}
			r, err := a.Check(t.Context(), on)
			if len(r.Awaits) > 0 {
				if r.State != c.state || !r.Awaits[0].From([]string{"volume n1/" + c.volume}) || r.Awaits[0].From([]string{"volume n1/other"}) {
					t.Errorf("%+v", r)
				}
				err = r.Awaits[0].Refusal
			}
			var refused *hint.PermanentError
			if c.why != "" {
				if !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.why) || refused.Advice == "" {
					t.Errorf("%+v, %v", r, err)
				}
				return
			}
			if err != nil || r.State != c.state {
				t.Fatalf("%+v, %v", r, err)
			}
			if _, err := a.Act(t.Context(), on, action.Call{}); err != nil || (p.attached == "vol-1 to m1") != c.provider {
				t.Errorf("attached %q, %v", p.attached, err)
			}
		})
	}
}

// A volume that an earlier step of the runbook creates can be attached by a later one.
func TestAVolumeThatIsCreatedBeforeIsAttached(t *testing.T) {
	on := attaches(&named{}, "")
	r, err := (&attach{onMachine: onMachine{Volume: "small", Node: "n1"}}).Check(t.Context(), on)
	if err != nil || len(r.Awaits) != 1 || !r.Awaits[0].From((&create{Node: "n1", Name: "small"}).Brings(t.Context(), on)) {
		t.Errorf("%+v, %v", r, err)
	}
}

// Of two disks that tell one serial number, as two paths to a volume or a copy of a disk, none is taken for the one that is meant.
func TestOfTwoDisksWithOneSerialNumberNoneIsThere(t *testing.T) {
	const twice = "device vda 2097152 vol7\ndevice vdb 2097152 vol7\n"
	for said, refusal := range map[string]bool{"vol-7": true, "vol7": true, "/dev/vdb": false} {
		r, err := (&attach{onMachine{Volume: said, Node: "n1"}, true}).Check(t.Context(), attaches(nil, twice))
		var permanent *hint.PermanentError
		if refused := errors.As(err, &permanent) && strings.Contains(permanent.Reason, "/dev/vda and /dev/vdb of m1 both report the serial number vol7") && permanent.Advice != ""; refused != refusal {
			t.Errorf("%s: %+v, %v", said, r, err)
		}
	}
}
