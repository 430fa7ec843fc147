package superdisk

import (
	"context"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra"
)

// A leg that is named in the place of the other is refused by the plan, and by the act before it does anything.
func TestTheWrongLegIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		look, leg, disk string
		prepare         func(m *pretend)
		why             string
	}{
		"the local disk as the network leg":              {"whole", "network", "/dev/ubda", nil, "/dev/ubda is the local leg of array sd, not its network leg"},
		"the network volume as the local leg":            {"whole", "local", "/dev/ubdb", nil, "/dev/ubdb is the network leg of array sd, not its local leg"},
		"the network volume that serves, as local leg":   {"network-alone", "local", "/dev/ubdb", nil, "/dev/ubdb is the network leg of array sd, not its local leg"},
		"the network volume that serves, as network leg": {"network-alone", "network", "/dev/ubdb", nil, "the other leg of array sd is missing"},
		"a network volume that was taken out, as local": {"network-alone", "local", "/dev/ubda", func(m *pretend) {
			m.pages["/dev/ubda"], m.pages["/dev/ubdb"] = m.recorded("left.superblock"), m.recorded("left.superblock")
			m.said["readlink -f"] = "size 2097152\ntype linux_raid_member\n"
		}, "/dev/ubda is the network leg of sd, not its local leg"},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, c.look)
			if c.prepare != nil {
				c.prepare(m)
			}
			task := m.task("superdisk.rebuild", "leg: "+c.leg, "volume: "+c.disk)
			_, err := task.Check(t.Context(), m.cluster(nil))
			refused(t, err, c.why)
			m.ran = nil
			_, err = task.Act(t.Context(), m.cluster(nil), call())
			refused(t, err, c.why)
			if m.did("mdadm") {
				t.Errorf("ran %q", m.ran)
			}
		})
	}
}

const twoDisks = "device ubda 2097152\ndevice ubdb 2097152 vol1\ndevice md127 1048576 540649c0\nholder md127\nmount /dev/ubda /srv\n"

// What a step needs and does not find is told to the plan, with what there is.
func TestWhatIsNotThereIsToldWithWhatThereIs(t *testing.T) {
	for name, c := range map[string]struct {
		step    []string
		prepare func(m *pretend)
		any     string
		why     string
	}{
		"no such disk": {[]string{"superdisk.rebuild", "volume: DISK"}, func(*pretend) {}, "volume n1/DISK on n1",
			"has no disk DISK; there is /dev/ubda (1024 MiB, mounted at /srv), /dev/ubdb (vol-1, 1024 MiB)"},
		"no such leg to start from": {[]string{"superdisk.start-alone", "volume: vol-9", "mount: /srv"}, (*pretend).hasNoArray, "volume vol9 on n1", "has no disk vol-9; there is /dev/ubda"},
		"no array":                  {[]string{"superdisk.wait-whole"}, (*pretend).hasNoArray, action.Array("n1"), "has no array sd, nor any other RAID1"},
		"an array that is not started": {[]string{"superdisk.check"}, func(m *pretend) { m.hasNoArray(); m.pages["/dev/ubdb"] = m.recorded("left.superblock") }, action.Array("n1"),
			"has no array sd that is started; /dev/ubdb is the network leg of array"},
		"another array":         {[]string{"superdisk.detach", "array: other"}, func(*pretend) {}, action.Array("n1"), "has no array other; it has sd ("},
		"no place for it":       {[]string{"superdisk.rebuild", "volume: /dev/ubdc"}, func(*pretend) {}, action.Array("n1"), "array sd has all its legs, and /dev/ubdc is none of them: local leg /dev/ubda"},
		"nothing to give up":    {[]string{"superdisk.give-up"}, (*pretend).hasNoArray, action.Array("n1"), "nor any other RAID1"},
		"no disk to make blank": {[]string{"superdisk.wipe", "volume: DISK", "uuid: " + recordedUUID}, func(*pretend) {}, "volume n1/DISK on n1", "has no disk DISK"},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, "whole")
			m.said["device $d"] = twoDisks
			c.prepare(m)
			array := "array: sd"
			with := append([]string{"node: n1"}, c.step[1:]...)
			if c.step[0] != "superdisk.wipe" && !strings.Contains(strings.Join(with, " "), "array:") {
				with = append(with, array)
			}
			r, err := (&stage{}).task(t, c.step[0], with...).Check(t.Context(), m.cluster(nil))
			if err != nil || r.State != action.Needed || len(r.Awaits) != 1 || !r.Awaits[0].From([]string{c.any}) || r.Awaits[0].From([]string{action.Array("n2"), "volume n1/network on n1"}) {
				t.Fatalf("%+v, %v", r, err)
			}
			refused(t, r.Awaits[0].Refusal, c.why)
		})
	}
}

// aside is a provider with volumes of its own.
type aside struct {
	infra.Volumes
	has []infra.Volume
}

func (a aside) List(_ context.Context, tags map[string]string) (all []infra.Volume, err error) {
	for _, v := range a.has {
		if v.Tags[cluster.NodeTag] == tags[cluster.NodeTag] && (tags[cluster.VolumeTag] == "" || v.Tags[cluster.VolumeTag] == tags[cluster.VolumeTag]) {
			all = append(all, v)
		}
	}
	return all, nil
}

func (a aside) Describe(_ context.Context, id string) (infra.Volume, error) {
	for _, v := range a.has {
		if v.ID == id {
			return v, nil
		}
	}
	return infra.Volume{}, infra.ErrNoVolume
}

// A disk that cannot become the local leg is refused before a node is stopped or started for it.
func TestADiskThatDoesNotFitIsRefusedBeforeItIsNeeded(t *testing.T) {
	of := func(name, id string) infra.Volume {
		return infra.Volume{ID: id, VolumeSpec: infra.VolumeSpec{Tags: map[string]string{cluster.NodeTag: "n1", cluster.VolumeTag: name}}}
	}
	volumes := aside{has: []infra.Volume{of("network", "vol-1"), of("elsewhere", "vol-2")}}
	for name, c := range map[string]struct {
		with  []string
		disk  string // what is seen of it
		state action.State
		why   string // "": it is not refused
	}{
		"large enough":                   {[]string{"volume: /dev/ubda", "network: /dev/ubdb"}, "size 2097152\n", action.Satisfied, ""},
		"too small":                      {[]string{"volume: /dev/ubda", "network: /dev/ubdb"}, "size 131072\n", "", "/dev/ubda has 64 MiB, and a leg of sd needs"},
		"mounted":                        {[]string{"volume: /dev/ubda", "network: /dev/ubdb"}, "size 2097152\nmount /srv\n", "", "it is mounted on /srv"},
		"the network volume itself":      {[]string{"volume: vol-1", "network: network"}, "", "", "vol-1 and network are one volume"},
		"to the machine where it is":     {[]string{"volume: /dev/ubda", "network: /dev/ubdb", "from: n1"}, "", "", "from n1 to itself"},
		"the network volume is not here": {[]string{"volume: /dev/ubda", "network: elsewhere"}, "size 131072\n", action.Needed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, "whole")
			m.hasNoArray()
			m.pages["/dev/ubdb"] = m.recorded("left.superblock")
			m.said["device $d"], m.said["readlink -f"] = twoDisks, c.disk
			r, err := (&stage{}).task(t, "superdisk.fits", append([]string{"node: n1"}, c.with...)...).Check(t.Context(), m.cluster(volumes))
			switch {
			case c.why != "":
				refused(t, err, c.why)
			case err != nil || r.State != c.state || c.state == action.Needed && !strings.Contains(r.Reason, "is known when volume elsewhere is attached"):
				t.Errorf("%+v, %v", r, err)
			}
			if len(m.ran) > 0 && m.did("mdadm") {
				t.Errorf("ran %q", m.ran)
			}
		})
	}
}

// Two machines have two disks of one name, and one disk of a machine has several names.
func TestTheNameOfADeviceIsOfOneMachine(t *testing.T) {
	for name, c := range map[string]struct {
		with []string
		why  string
	}{
		"of two machines":                  {[]string{"volume: /dev/ubdb", "network: /dev/ubdb", "from: n2"}, ""},
		"of one machine":                   {[]string{"volume: /dev/ubdb", "network: /dev/ubdb"}, "/dev/ubdb and /dev/ubdb are one volume"},
		"by its device and serial number":  {[]string{"volume: /dev/ubdb", "network: vol-1"}, "/dev/ubdb and vol-1 are one volume"},
		"the same, where it may be moving": {[]string{"volume: /dev/ubdb", "network: vol-1", "from: n2"}, "/dev/ubdb and vol-1 are one volume"},
	} {
		t.Run(name, func(t *testing.T) {
			m, from := pretends(t, "whole"), pretends(t, "whole")
			m.said["device $d"], m.said["readlink -f"] = twoDisks, "size 2097152\n"
			from.said["device $d"] = strings.ReplaceAll(twoDisks, "vol1", "vol2")
			from.pages["/dev/ubdb"] = from.recorded("left.superblock")
			on := m.cluster(nil)
			on.List = func(context.Context) ([]cluster.Node, error) {
				return []cluster.Node{{Name: "n1", Machine: m}, {Name: "n2", Machine: from}}, nil
			}
			r, err := (&stage{}).task(t, "superdisk.fits", append([]string{"node: n1"}, c.with...)...).Check(t.Context(), on)
			if c.why != "" {
				refused(t, err, c.why)
			} else if err != nil || r.State != action.Satisfied {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// A leg of the array that is to be removed is not left with its data because another disk was named in its place.
func TestALegIsNotLeftUnwiped(t *testing.T) {
	for name, c := range map[string]struct {
		volume, leg string
		legs        []string // devices with the superblock of the network leg
		state       action.State
		why         string
	}{
		"the leg":                              {"/dev/ubdb", "network", []string{"/dev/ubdb"}, action.Needed, ""},
		"wiped before":                         {"/dev/ubdb", "network", nil, action.Satisfied, ""},
		"a blank disk in the place of the leg": {"/dev/ubda", "network", []string{"/dev/ubdb"}, "", "/dev/ubda is not a leg of array " + recordedUUID + ", and its network leg is /dev/ubdb"},
		"not checked":                          {"/dev/ubda", "", []string{"/dev/ubdb"}, action.Satisfied, ""},
		"the other leg":                        {"/dev/ubdb", "local", []string{"/dev/ubdb"}, "", "/dev/ubdb is the network leg of array " + recordedUUID + ", not its local leg"},
		"lost":                                 {"", "local", []string{"/dev/ubdb"}, action.Satisfied, ""},
		"said to be lost, and on the machine":  {"", "network", []string{"/dev/ubdb"}, "", "no network leg of array " + recordedUUID + " is named, and its network leg is /dev/ubdb"},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, "whole")
			m.said["device $d"], m.said["readlink -f"], m.said["for b in *"] = twoDisks, "size 2097152\n", "ubda\nubdb\n"
			for _, device := range c.legs {
				m.pages[device] = m.recorded("left.superblock")
			}
			r, err := (&stage{}).task(t, "superdisk.wipe", "node: n1", `volume: "`+c.volume+`"`, "uuid: "+recordedUUID, `leg: "`+c.leg+`"`).Check(t.Context(), m.cluster(nil))
			if c.why != "" {
				refused(t, err, c.why)
			} else if err != nil || r.State != c.state {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
