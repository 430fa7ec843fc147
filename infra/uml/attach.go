package uml

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/disk"
)

// Attach gives a volume to a machine.
func (v *Volumes) Attach(ctx context.Context, id, machine string) error {
	return v.locked(ctx, func() error {
		volume, err := v.read(ctx, id)
		if err != nil {
			return err
		}
		if volume.Machine != "" && volume.Machine != machine {
			return fmt.Errorf("%s is attached to %s: %w", id, volume.Machine, infra.ErrVolumeInUse)
		}
		if err := v.fenced(ctx, volume, machine); err != nil {
			return err
		}
		m, err := v.Machine(ctx, machine)
		if err != nil {
			return fmt.Errorf("attach %s to %s: %w", id, machine, err)
		}
		defer func() { _ = m.Close() }() // it was only asked
		volume.Machine, volume.State = machine, infra.VolumeAttaching
		if err := v.write(ctx, volume); err != nil { // first: should we be killed, it is known who may have it
			return err
		}
		if err := m.plug(ctx, volume, v.image(id)); err != nil {
			return fmt.Errorf("attach %s to %s: %w", id, machine, err)
		}
		volume.State, volume.ForcedFrom = infra.VolumeInUse, ""
		return v.write(ctx, volume)
	})
}

// fenced refuses a volume that was taken by force from another machine, which still runs.
func (v *Volumes) fenced(ctx context.Context, volume infra.Volume, machine string) error {
	if volume.ForcedFrom == "" || volume.ForcedFrom == machine {
		return nil
	}
	old, err := v.Machine(ctx, volume.ForcedFrom)
	if errors.Is(err, ErrNotRunning) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("see whether %s is stopped: %w", volume.ForcedFrom, err)
	}
	return hint.With(errors.Join(fmt.Errorf("volume %s was detached by force from %s, which is running: %w", volume.ID, volume.ForcedFrom, infra.ErrNotFenced), old.Close()),
		"stop "+volume.ForcedFrom+" first (superdisk.fence): otherwise two machines serve as the same node")
}

// plug gives the machine a volume and waits until it shows it.
func (m *Machine) plug(ctx context.Context, volume infra.Volume, path string) error {
	r, err := m.send(ctx, order{Do: doPlug, Volume: volume.ID, Path: path, Conditions: &disk.Conditions{Limits: limits(volume.VolumeSpec)}})
	if err != nil {
		return err
	}
	if _, err := infra.Device(ctx, m, volume.Serial()); !errors.Is(err, infra.ErrNotAttached) {
		return err // it was there before
	}
	if err := m.driver(ctx, "bind", r.Slot); err != nil {
		return err
	}
	return m.until(ctx, func(ctx context.Context) (bool, error) {
		_, err := infra.Device(ctx, m, volume.Serial())
		if errors.Is(err, infra.ErrNotAttached) {
			return false, nil
		}
		return err == nil, err
	})
}

// driver has the machine's kernel take a slot's device, or let go of it.
func (m *Machine) driver(ctx context.Context, do string, slot int) error {
	const script = `echo "virtio-uml.$2" >"/sys/bus/platform/drivers/virtio-uml/$1"`
	_, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", script, "sh", do, fmt.Sprint(slot)}})
	if err != nil {
		return fmt.Errorf("%s the device: %w", do, err)
	}
	return nil
}

// until asks again and again until it is so.
func (m *Machine) until(ctx context.Context, isSo func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if so, err := isSo(ctx); so || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Detach takes a volume from a machine that does not use it.
func (v *Volumes) Detach(ctx context.Context, id, machine string) error {
	return v.part(ctx, id, machine, "", func(m *Machine, serial string) error {
		d, err := infra.Device(ctx, m, serial)
		if err != nil && !errors.Is(err, infra.ErrNotAttached) {
			return err
		}
		for _, users := range [][]string{d.Holders, d.Mounted} {
			if len(users) > 0 {
				return hint.With(fmt.Errorf("it is used by %v: %w", users, infra.ErrVolumeBusy),
					"unmount it or take it out of its array first, or detach it by force")
			}
		}
		if err != nil { // an attach or a detach was cut off: the machine's kernel has no such disk, and cannot let go of it
			return m.pull(ctx, id)
		}
		return m.unplug(ctx, id)
	})
}

// ForceDetach takes a volume from a machine, whatever it does with it: all its requests fail from now on.
func (v *Volumes) ForceDetach(ctx context.Context, id, machine string) error {
	return v.part(ctx, id, machine, machine, func(m *Machine, _ string) error {
		if _, err := m.send(ctx, order{Do: doCondition, Volume: id, Conditions: &disk.Conditions{Gone: true}}); err != nil {
			if errors.Is(err, infra.ErrNotAttached) {
				return nil
			}
			return err
		}
		const grace = 20 * time.Second // for a machine that is busy
		limited, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		if err := m.unplug(limited, id); err == nil || ctx.Err() != nil {
			return err
		}
		return m.pull(ctx, id)
	})
}

// pull takes a volume away from a machine whose kernel does not let go of it.
func (m *Machine) pull(ctx context.Context, id string) error {
	_, err := m.send(ctx, order{Do: doPull, Volume: id})
	if errors.Is(err, infra.ErrNotAttached) {
		return nil
	}
	return err
}

// unplug has the machine let go of a volume and waits until it has.
func (m *Machine) unplug(ctx context.Context, id string) error {
	r, err := m.send(ctx, order{Do: doLocate, Volume: id})
	if errors.Is(err, infra.ErrNotAttached) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := m.driver(ctx, "unbind", r.Slot); err != nil {
		return err
	}
	return m.until(ctx, func(ctx context.Context) (bool, error) {
		_, err := m.send(ctx, order{Do: doLocate, Volume: id})
		if errors.Is(err, infra.ErrNotAttached) {
			return true, nil
		}
		return false, err
	})
}

// part takes a volume from a machine, by force if forced names it. One that does not run has no hold on it.
func (v *Volumes) part(ctx context.Context, id, machine, forced string, from func(m *Machine, serial string) error) error {
	return v.locked(ctx, func() error {
		volume, err := v.read(ctx, id)
		if err != nil {
			return err
		}
		if volume.Machine != machine {
			return fmt.Errorf("%s and %s: %w", id, machine, infra.ErrNotAttached)
		}
		m, err := v.Machine(ctx, machine)
		if err == nil {
			err = errors.Join(from(m, volume.Serial()), m.Close())
		}
		if err != nil && !errors.Is(err, ErrNotRunning) {
			return fmt.Errorf("detach %s from %s: %w", id, machine, err)
		}
		volume.Machine, volume.State, volume.ForcedFrom = "", infra.VolumeAvailable, forced
		return v.write(ctx, volume)
	})
}
