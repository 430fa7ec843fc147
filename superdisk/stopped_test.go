package superdisk

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
)

// shelf is a machine with disks: ubda with a mounted file system, ubdb and ubdc with superblocks, ubdd blank, ubde that fails.
type shelf struct {
	infra.Machine
	t *testing.T
}

func (shelf) Name() string { return "m1" }

func (m shelf) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	line := strings.Join(append([]string{c.Path}, c.Args...), " ")
	switch {
	case strings.Contains(line, "/sys/class/block"):
		return infra.Output{Stdout: []byte("ubda\nubdb\nubdc\nubdd\nubde\n")}, nil
	case strings.Contains(line, "/sys/block"):
		return infra.Output{Stdout: []byte("device ubda 100 AWS0\ndevice ubdb 100 vol0abc\ndevice ubdc 100 AWS1\ndevice ubdd 100 AWS2\ndevice ubde 100 AWS3\nmount /dev/ubda /mnt/data xfs rw 0 0\n")}, nil
	case strings.Contains(line, "/dev/ubdb"):
		return infra.Output{Stdout: blob(m.t, "alone.superblock")}, nil
	case strings.Contains(line, "/dev/ubdc"):
		return infra.Output{Stdout: blob(m.t, "stale.superblock")}, nil
	case strings.Contains(line, "/dev/ubdd"):
		return infra.Output{Stdout: make([]byte, SuperblockSize)}, nil
	case strings.Contains(line, "/dev/ubde"):
		return infra.Output{}, errors.New("input/output error")
	}
	m.t.Errorf("it ran %s", line)
	return infra.Output{}, nil
}

// A machine that was started anew runs no array, and its legs are found by what they say of themselves. A disk that fails hides none of them.
func TestLegsOfAnArrayThatIsStoppedAreFound(t *testing.T) {
	d, err := FindStopped(t.Context(), shelf{t: t}, Status{})
	if err != nil || len(d.Stopped) != 1 || len(d.Stopped[0].Legs) != 2 || d.Stopped[0].Name != "sd" {
		t.Fatalf("%+v, %v", d, err)
	}
	local, network := d.Stopped[0].Legs[0], d.Stopped[0].Legs[1]
	if local.Device != "/dev/ubdc" || local.Volume != "AWS1" || local.Role != Local || local.Alone || local.Updated.IsZero() {
		t.Errorf("the local leg is %+v", local)
	}
	if network.Device != "/dev/ubdb" || network.Volume != "vol-0abc" || network.Role != Network || !network.Alone || network.Slot != 1 {
		t.Errorf("the network leg is %+v", network)
	}
	if len(d.Mounted) != 1 || d.Mounted[0] != (Mounted{"/dev/ubda", "AWS0", "/mnt/data"}) {
		t.Errorf("mounted are %+v", d.Mounted)
	}
	if len(d.Unread) != 1 || !strings.Contains(d.Unread[0], "/dev/ubde of m1: input/output error") {
		t.Errorf("not read are %q", d.Unread)
	}
	advice := d.Stopped[0].Advise(Record{}, time.Now())
	if !strings.Contains(advice.Do, "superdisk/emergency-start --cluster CLUSTER -i node=NODE -i network=vol-0abc -i uuid="+d.Stopped[0].UUID+" -i mount=FILL_IN") {
		t.Errorf("advice %+v", advice)
	}
	running := Status{Arrays: []Array{{State: "clean", Legs: []Leg{{Device: "/dev/ubdb"}}}}}
	if d, err = FindStopped(t.Context(), shelf{t: t}, running); err != nil || len(d.Stopped) != 1 || len(d.Stopped[0].Legs) != 1 {
		t.Errorf("a leg of an array that runs is found as one that is stopped: %+v, %v", d, err)
	}
}

// Nothing is started from a leg that has only a part, and copies of a leg are told from legs.
func TestWhichLegOfAnArrayThatIsStoppedIsStarted(t *testing.T) {
	local, network := StoppedLeg{Device: "/dev/vda", Role: Local, Slot: 0}, StoppedLeg{Device: "/dev/vdb", Role: Network, Slot: 1}
	part, alone := local, network
	part.Copied, alone.Alone = true, true
	snapshot := alone
	snapshot.Device = "/dev/vdc"
	for want, legs := range map[string][]StoppedLeg{
		"no record says whether its legs were in step; by their superblocks they were: neither has served without the other": {local, network},
		"only its network leg is on this machine; no record says whether this leg was in step":                               {network},
		"the local leg /dev/vda is out of step, by its own superblock":                                                       {part, network},
		"the local leg /dev/vda is not to be started: it was being brought into step, which did not end":                     {part},
		"the network leg /dev/vdb served last, without the other one":                                                        {local, alone},
		"2 disks say that they are legs of this array, and some are copies of others":                                        {alone, snapshot},
		"3 disks say that they are legs of this array, and some are copies of others":                                        {local, alone, snapshot},
	} {
		if got := (Stopped{UUID: "u", Legs: legs}).Advise(Record{}, time.Now()); !strings.Contains(got.Text, want) {
			t.Errorf("%+v: %q, want %q", legs, got.Text, want)
		}
	}
	seen := LegRecord{InStep: true, Seen: time.Now()}
	r := Record{Legs: map[string]LegRecord{"local": seen, "network": seen}}
	if got := (Stopped{UUID: "u", Legs: []StoppedLeg{local, network}}).Advise(r, time.Now()); !strings.Contains(got.Text, "and both legs were in step: neither") {
		t.Errorf("recorded as in step: %q", got.Text)
	}
}
