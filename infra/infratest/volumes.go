package infratest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"plimsoll/infra"
)

// Attachable is what volumes can be attached to in a test.
type Attachable struct {
	Name   string        // as the provider has it
	Inside infra.Machine // the machine itself; nil if there is none behind the provider
	// Stop stops the machine and returns when it is stopped, as its provider shows it.
	Stop func(t *testing.T)
}

// RunVolumes holds a provider of volumes to its contract, with two machines in the same zone. The first is stopped in the end.
func RunVolumes(t *testing.T, volumes infra.Volumes, spec infra.VolumeSpec, one, two Attachable) {
	s := volumeSuite{volumes, spec, one, two}
	for name, test := range map[string]func(*testing.T, volumeSuite){
		"Create": volumesCreate,
		"Attach": volumesAttach,
		"Busy":   volumesBusy,
		"Force":  volumesForce,
		"Modify": volumesModify,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
	t.Run("Fence", func(t *testing.T) { volumesFence(t, s) })
}

type volumeSuite struct {
	infra.Volumes
	spec     infra.VolumeSpec
	one, two Attachable
}

// create makes a volume that goes with the test.
func (s volumeSuite) create(t *testing.T) infra.Volume {
	t.Helper()
	v, err := s.Create(t.Context(), s.spec)
	must(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if now, err := s.Describe(ctx, v.ID); err == nil && now.Machine != "" {
			must(t, s.ForceDetach(ctx, v.ID, now.Machine))
		}
		must(t, s.Delete(ctx, v.ID))
	})
	return v
}

func volumesCreate(t *testing.T, s volumeSuite) {
	ctx := t.Context()
	spec := s.spec
	spec.Token, spec.Tags = "volumes-create", map[string]string{"plimsoll/test": "create"}
	v, err := s.Create(ctx, spec)
	must(t, err)
	equal(t, "state", v.State, infra.VolumeAvailable)
	equal(t, "size", v.Size, spec.Size)
	again, err := s.Create(ctx, spec)
	must(t, err)
	equal(t, "the volume of the same token", again.ID, v.ID)
	must(t, s.Tag(ctx, v.ID, map[string]string{"role": "network"}))
	now, err := s.Describe(ctx, v.ID)
	must(t, err)
	if want := map[string]string{"plimsoll/test": "create", "role": "network"}; !maps.Equal(now.Tags, want) {
		t.Errorf("tags %v, want %v", now.Tags, want)
	}
	other := s.create(t)
	all, err := s.List(ctx, map[string]string{"plimsoll/test": "create"})
	must(t, err)
	if len(all) != 1 || all[0].ID != v.ID {
		t.Errorf("found by its tag: %v", all)
	}
	all, err = s.List(ctx, nil)
	must(t, err)
	if !slices.ContainsFunc(all, func(o infra.Volume) bool { return o.ID == other.ID }) {
		t.Errorf("%s is not among %v", other.ID, all)
	}
	must(t, s.Delete(ctx, v.ID))
	must(t, s.Delete(ctx, v.ID))
	for what, err := range map[string]error{
		"describe": second(s.Describe(ctx, v.ID)), "attach": s.Attach(ctx, v.ID, s.one.Name),
		"tag": s.Tag(ctx, v.ID, map[string]string{"a": "b"}), "modify": s.Modify(ctx, v.ID, infra.VolumeSpec{}),
	} {
		if !errors.Is(err, infra.ErrNoVolume) {
			t.Errorf("%s a volume that was deleted: %v, want ErrNoVolume", what, err)
		}
	}
}

func volumesAttach(t *testing.T, s volumeSuite) {
	ctx := t.Context()
	v := s.create(t)
	if err := s.Detach(ctx, v.ID, s.one.Name); !errors.Is(err, infra.ErrNotAttached) {
		t.Errorf("detach what is not attached: %v, want ErrNotAttached", err)
	}
	must(t, s.Attach(ctx, v.ID, s.one.Name))
	must(t, s.Attach(ctx, v.ID, s.one.Name))
	now, err := s.Describe(ctx, v.ID)
	must(t, err)
	equal(t, "state", now.State, infra.VolumeInUse)
	equal(t, "machine", now.Machine, s.one.Name)
	if err := s.Attach(ctx, v.ID, s.two.Name); !errors.Is(err, infra.ErrVolumeInUse) {
		t.Errorf("attach it elsewhere: %v, want ErrVolumeInUse", err)
	}
	if err := s.Delete(ctx, v.ID); !errors.Is(err, infra.ErrVolumeInUse) {
		t.Errorf("delete it while it is attached: %v, want ErrVolumeInUse", err)
	}
	if s.one.Inside != nil {
		d, err := infra.Device(ctx, s.one.Inside, v.Serial())
		must(t, err)
		equal(t, "size in the machine", d.Size, v.Size)
		in(t, s.one, "echo kept | dd of="+d.Path+" bs=4096 seek=3 conv=sync,fsync 2>&1")
	}
	if err := s.Detach(ctx, v.ID, s.two.Name); !errors.Is(err, infra.ErrNotAttached) {
		t.Errorf("detach it from another machine: %v, want ErrNotAttached", err)
	}
	must(t, s.Detach(ctx, v.ID, s.one.Name))
	now, err = s.Describe(ctx, v.ID)
	must(t, err)
	equal(t, "state when detached", now.State, infra.VolumeAvailable)
	if s.one.Inside != nil {
		if _, err := infra.Device(ctx, s.one.Inside, v.Serial()); !errors.Is(err, infra.ErrNotAttached) {
			t.Errorf("look for it when it is detached: %v, want ErrNotAttached", err)
		}
	}
	must(t, s.Attach(ctx, v.ID, s.two.Name))
	if s.two.Inside != nil {
		d, err := infra.Device(ctx, s.two.Inside, v.Serial())
		must(t, err)
		equal(t, "what was written", in(t, s.two, "dd if="+d.Path+" bs=4096 skip=3 count=1 2>/dev/null | head -1"), "kept")
	}
	must(t, s.Detach(ctx, v.ID, s.two.Name))
}

func volumesBusy(t *testing.T, s volumeSuite) {
	if s.one.Inside == nil {
		t.Skip("there is no machine behind this provider")
	}
	ctx := t.Context()
	v := s.create(t)
	must(t, s.Attach(ctx, v.ID, s.one.Name))
	d, err := infra.Device(ctx, s.one.Inside, v.Serial())
	must(t, err)
	in(t, s.one, "mkfs.xfs -q "+d.Path+" && mkdir -p /mnt/busy && mount "+d.Path+" /mnt/busy")
	if err := s.Detach(ctx, v.ID, s.one.Name); !errors.Is(err, infra.ErrVolumeBusy) {
		t.Errorf("detach what is mounted: %v, want ErrVolumeBusy", err)
	}
	in(t, s.one, "echo still there >/mnt/busy/file && sync && umount /mnt/busy")
	must(t, s.Detach(ctx, v.ID, s.one.Name))
}

func volumesForce(t *testing.T, s volumeSuite) {
	ctx := t.Context()
	v := s.create(t)
	must(t, s.Attach(ctx, v.ID, s.one.Name))
	if s.one.Inside != nil {
		d, err := infra.Device(ctx, s.one.Inside, v.Serial())
		must(t, err)
		in(t, s.one, "mkfs.xfs -q "+d.Path+" && mkdir -p /mnt/force && mount "+d.Path+" /mnt/force && echo kept >/mnt/force/file && sync")
	}
	must(t, s.ForceDetach(ctx, v.ID, s.one.Name))
	if s.one.Inside != nil {
		in(t, s.one, "! dd if=/dev/zero of=/mnt/force/more bs=1M count=8 conv=fsync 2>/dev/null; umount /mnt/force")
	}
	now, err := s.Describe(ctx, v.ID)
	must(t, err)
	equal(t, "from where it was taken", now.ForcedFrom, s.one.Name)
	if err := s.Attach(ctx, v.ID, s.two.Name); !errors.Is(err, infra.ErrNotFenced) {
		t.Errorf("attach it elsewhere while the machine that it was taken from runs: %v, want ErrNotFenced", err)
	}
	must(t, s.Attach(ctx, v.ID, s.one.Name)) // which is fine: it is that machine's again
	must(t, s.Detach(ctx, v.ID, s.one.Name))
	must(t, s.Attach(ctx, v.ID, s.two.Name))
	if s.two.Inside != nil {
		d, err := infra.Device(ctx, s.two.Inside, v.Serial())
		must(t, err)
		equal(t, "what was written before", in(t, s.two, "mkdir -p /mnt/force && mount "+d.Path+" /mnt/force && cat /mnt/force/file && umount /mnt/force"), "kept")
	}
	must(t, s.Detach(ctx, v.ID, s.two.Name))
}

// volumesFence stops a machine, after which a volume that was taken from it by force may go elsewhere, and not before.
func volumesFence(t *testing.T, s volumeSuite) {
	ctx := t.Context()
	v := s.create(t)
	must(t, s.Attach(ctx, v.ID, s.one.Name))
	must(t, s.ForceDetach(ctx, v.ID, s.one.Name))
	if err := s.Attach(ctx, v.ID, s.two.Name); !errors.Is(err, infra.ErrNotFenced) {
		t.Errorf("attach it elsewhere while the machine that it was taken from runs: %v, want ErrNotFenced", err)
	}
	s.one.Stop(t)
	must(t, s.Attach(ctx, v.ID, s.two.Name))
	now, err := s.Describe(ctx, v.ID)
	must(t, err)
	equal(t, "its machine", now.Machine, s.two.Name)
	equal(t, "from where it was taken, when it is another's", now.ForcedFrom, "")
	must(t, s.Detach(ctx, v.ID, s.two.Name))
}

func volumesModify(t *testing.T, s volumeSuite) {
	ctx := t.Context()
	v := s.create(t)
	must(t, s.Modify(ctx, v.ID, infra.VolumeSpec{Size: 2 * s.spec.Size}))
	now, err := s.Describe(ctx, v.ID)
	must(t, err)
	equal(t, "size", now.Size, 2*s.spec.Size)
	if err := s.Modify(ctx, v.ID, infra.VolumeSpec{Size: s.spec.Size}); err == nil {
		t.Error("it shrank")
	}
}

// in runs a line of shell in a machine.
func in(t *testing.T, a Attachable, line string) string {
	t.Helper()
	return suite{a.Inside, "/"}.shell(t, line)
}

func second[T any](_ T, err error) error { return err }
