package main

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/infra"
	"plimsoll/superdisk"
)

// judgeArrays holds the arrays of the node's machine against how they should stand.
func (t *diskTry) judgeArrays(ctx context.Context, node string, s superdisk.Status, want layout) error {
	d := t.d
	data, there := s.Find(arrayName)
	more := slices.DeleteFunc(slices.Clone(s.Arrays), func(a superdisk.Array) bool { return a.UUID == data.UUID })
	main := want
	if want == beside || want == notBeside { // the data has not been touched
		main = whole
		t.judgeSecond(ctx, node, more, want)
	} else if len(more) > 0 {
		t.trouble("%s has other arrays: %+v", node, more)
	}
	localID, err := d.volume(ctx, node, "local")
	if err != nil {
		return err
	}
	wrong := func(format string, args ...any) {
		t.trouble("want: %s; %s; the arrays are %+v", main, fmt.Sprintf(format, args...), s.Arrays)
	}
	leg := func(role superdisk.Role, volume string) {
		l, in := data.Leg(role)
		if !in || !l.InStep() || l.Faulty() || superdisk.VolumeID(infra.VolumeSerial(volume)) != l.Volume {
			wrong("the %s leg is %+v, not volume %s in step", role, l, volume)
		}
	}
	serves := main == whole || main == localOnly || main == networkOnly
	if there != serves {
		wrong("an array is there: %v", there)
		return nil
	}
	if serves && (!data.Running() || data.Mount != dataAt || data.Sync != nil) {
		wrong("it does not run, is not mounted at %s, or is being copied", dataAt)
	}
	if serves && data.Chunk == 0 {
		wrong("it has no bitmap")
	}
	switch main {
	case whole:
		leg(superdisk.Local, localID)
		leg(superdisk.Network, d.network)
		if !data.Whole() {
			wrong("it is not whole")
		}
		return t.compareLegs(ctx, node, data)
	case localOnly, networkOnly:
		role, volume := superdisk.Local, localID
		if main == networkOnly {
			role, volume = superdisk.Network, d.network
		}
		leg(role, volume)
		if data.Degraded != 1 || len(data.Legs) != 1 {
			wrong("it has another leg")
		}
	default:
		return t.judgeDisks(ctx, node, localID, main, wrong)
	}
	return nil
}

// judgeDisks looks at the disks of a machine without an array.
func (t *diskTry) judgeDisks(ctx context.Context, node, localID string, want layout, wrong func(string, ...any)) error {
	m := t.d.machines[node]
	at, err := superdisk.MountedOn(ctx, m, dataAt)
	if err != nil {
		return err
	}
	localDevice, err := t.d.device(ctx, node, localID)
	if err != nil {
		return err
	}
	if (at == localDevice) != (want == plainDisk) || at != localDevice && at != "" {
		wrong("%q is mounted at %s", at, dataAt)
	}
	networkDevice, err := t.d.device(ctx, node, t.d.network)
	if err != nil {
		wrong("the network volume is not on %s: %v", node, err)
		return nil
	}
	_, err = superdisk.ReadSuperblock(ctx, m, networkDevice)
	if isLeg := err == nil; isLeg != (want == waiting) {
		wrong("the network volume is a leg: %v (%v)", isLeg, err)
	}
	if want != retired && want != plainDisk {
		return nil
	}
	blank := []string{networkDevice}
	if want == retired {
		blank = append(blank, localDevice)
	}
	for _, device := range blank {
		if disk, err := superdisk.Examine(ctx, m, device); err != nil || disk.Array != "" {
			wrong("%s is not free: %+v, %v", device, disk, err)
		}
	}
	return nil
}

// judgeSecond looks at the array that superdisk/create makes beside the data.
func (t *diskTry) judgeSecond(ctx context.Context, node string, arrays []superdisk.Array, want layout) {
	if (len(arrays) == 1) != (want == beside) || len(arrays) > 1 {
		t.trouble("want: %s; the arrays beside the data are %+v", want, arrays)
		return
	}
	if want == beside {
		if a := arrays[0]; a.Name != second || !a.Whole() || a.Mount != spareAt || a.Files != "xfs" {
			t.trouble("want: %s; it is %+v", want, a)
		}
	}
	for _, name := range []string{localLeg, networkLeg} {
		id, err := t.d.volume(ctx, node, name)
		if err != nil {
			t.trouble("%v", err)
			continue
		}
		device, err := t.d.device(ctx, node, id)
		if err != nil {
			t.trouble("%v", err)
			continue
		}
		is, err := superdisk.Examine(ctx, t.d.machines[node], device)
		if err != nil || want == notBeside && is.Holds != "" {
			t.trouble("want: %s; %s holds %q, %v", want, name, is.Holds, err)
		}
	}
}
