package uml

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/disk"
	"plimsoll/infra/disk/pace"
	"plimsoll/watch/storage"
)

// Volumes are sparse files in a folder of this host, which machines of this package can have. What is said of one stands in a file
// beside it.
type Volumes struct {
	Host   infra.Machine
	Folder string
	// Machine returns a machine by its name; ErrNotRunning if it does not run.
	Machine func(ctx context.Context, name string) (*Machine, error)
	Now     func() time.Time // nil: time.Now
}

var _ infra.Volumes = &Volumes{}

func (v *Volumes) image(id string) string  { return path.Join(v.Folder, id+".img") }
func (v *Volumes) record(id string) string { return path.Join(v.Folder, id+".json") }

// locked runs f while no other Plimsoll works on the volumes.
func (v *Volumes) locked(ctx context.Context, f func() error) (err error) {
	if err := v.Host.MakeDir(ctx, v.Folder); err != nil {
		return fmt.Errorf("make the volumes' folder: %w", err)
	}
	release, err := v.Host.Lock(ctx, path.Join(v.Folder, "lock"))
	if err != nil {
		return fmt.Errorf("work on the volumes: %w", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	return f()
}

func (v *Volumes) read(ctx context.Context, id string) (infra.Volume, error) {
	var volume infra.Volume
	if !strings.HasPrefix(id, "vol-") || strings.Contains(id, "/") {
		return volume, fmt.Errorf("%s: %w", id, infra.ErrNoVolume)
	}
	data, err := v.Host.ReadFile(ctx, v.record(id))
	if errors.Is(err, fs.ErrNotExist) {
		return volume, fmt.Errorf("%s: %w", id, infra.ErrNoVolume)
	}
	if err == nil {
		err = json.Unmarshal(data, &volume)
	}
	if err != nil {
		err = fmt.Errorf("read the description of volume %s: %w", id, err)
	}
	return volume, err
}

func (v *Volumes) write(ctx context.Context, volume infra.Volume) error {
	data, err := json.MarshalIndent(volume, "", "  ")
	if err == nil {
		err = v.Host.WriteFile(ctx, v.record(volume.ID), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the description of volume %s: %w", volume.ID, err)
	}
	return nil
}

// change writes what f makes of a volume.
func (v *Volumes) change(ctx context.Context, id string, f func(*infra.Volume) error) error {
	return v.locked(ctx, func() error {
		volume, err := v.read(ctx, id)
		if err != nil {
			return err
		}
		if err := f(&volume); err != nil {
			return err
		}
		return v.write(ctx, volume)
	})
}

// Create makes an empty volume.
func (v *Volumes) Create(ctx context.Context, spec infra.VolumeSpec) (volume infra.Volume, err error) {
	if spec.Size <= 0 || spec.Size%(1<<20) != 0 {
		return volume, hint.With(fmt.Errorf("a volume of %d bytes", spec.Size), "whole MiB, such as 2G")
	}
	if err := limits(spec).Validate(); err != nil {
		return volume, fmt.Errorf("create a volume: %w", err)
	}
	err = v.locked(ctx, func() error {
		all, err := v.list(ctx, nil)
		if err != nil {
			return err
		}
		if at := slices.IndexFunc(all, func(o infra.Volume) bool { return spec.Token != "" && o.Token == spec.Token }); at >= 0 {
			if volume = all[at]; volume.Size != spec.Size {
				return fmt.Errorf("create a volume: %s was created by the same step and has %d bytes, not %d", volume.ID, volume.Size, spec.Size)
			}
			return nil
		}
		now := v.Now
		if now == nil {
			now = time.Now
		}
		volume = infra.Volume{VolumeSpec: spec, ID: newID(), State: infra.VolumeAvailable, Made: now()}
		if err := v.size(ctx, volume.ID, spec.Size); err != nil {
			return err
		}
		return v.write(ctx, volume) // last: a file without it is of no volume
	})
	return volume, err
}

// newID is vol- and seventeen digits, as on EC2.
func newID() string {
	b := make([]byte, 9)
	_, _ = rand.Read(b) // never fails
	return "vol-" + hex.EncodeToString(b)[:17]
}

// size makes a volume's file that long, without taking room.
func (v *Volumes) size(ctx context.Context, id string, bytes int64) error {
	_, err := v.Host.Run(ctx, infra.Command{Path: "truncate", Args: []string{"-s", fmt.Sprint(bytes), v.image(id)}})
	if err != nil {
		return fmt.Errorf("make the file of volume %s: %w", id, err)
	}
	return nil
}

// Describe returns a volume.
func (v *Volumes) Describe(ctx context.Context, id string) (infra.Volume, error) {
	return v.read(ctx, id)
}

// List returns the volumes with these tags.
func (v *Volumes) List(ctx context.Context, tags map[string]string) ([]infra.Volume, error) {
	return v.list(ctx, tags)
}

func (v *Volumes) list(ctx context.Context, tags map[string]string) (all []infra.Volume, err error) {
	names, err := v.Host.List(ctx, v.Folder)
	if err != nil {
		return nil, fmt.Errorf("list the volumes: %w", err)
	}
	for _, name := range names {
		id, is := strings.CutSuffix(name, ".json")
		if !is {
			continue
		}
		volume, err := v.read(ctx, id)
		if errors.Is(err, infra.ErrNoVolume) {
			continue // it was just deleted
		}
		if err != nil {
			return nil, err
		}
		has := true
		for key, value := range tags {
			has = has && volume.Tags[key] == value
		}
		if has {
			all = append(all, volume)
		}
	}
	return all, nil
}

// Tag adds tags.
func (v *Volumes) Tag(ctx context.Context, id string, tags map[string]string) error {
	return v.change(ctx, id, func(volume *infra.Volume) error {
		if volume.Tags == nil {
			volume.Tags = map[string]string{}
		}
		maps.Copy(volume.Tags, tags)
		return nil
	})
}

// Modify changes limits at once. A volume that is attached cannot grow here: it is seen to be larger when it is attached again.
func (v *Volumes) Modify(ctx context.Context, id string, change infra.VolumeSpec) error {
	return v.change(ctx, id, func(volume *infra.Volume) error {
		if change.Size != 0 && change.Size != volume.Size {
			if change.Size < volume.Size || change.Size%(1<<20) != 0 {
				return fmt.Errorf("%s has %d bytes and cannot have %d: a volume can only grow, by whole MiB", id, volume.Size, change.Size)
			}
			if volume.Machine != "" {
				return hint.With(fmt.Errorf("grow %s: %w", id, infra.ErrVolumeInUse), "detach it first")
			}
			if err := v.size(ctx, id, change.Size); err != nil {
				return err
			}
			volume.Size = change.Size
		}
		if change.IOPS != 0 {
			volume.IOPS = change.IOPS
		}
		if change.Throughput != 0 {
			volume.Throughput = change.Throughput
		}
		if change.Kind != "" {
			volume.Kind = change.Kind
		}
		if volume.Machine == "" {
			return nil
		}
		now, err := v.conditions(ctx, *volume)
		if err != nil {
			return err
		}
		latency := now.Limits.Latency
		now.Limits = limits(volume.VolumeSpec)
		now.Limits.Latency = latency
		return v.set(ctx, *volume, now)
	})
}

// Delete removes a volume.
func (v *Volumes) Delete(ctx context.Context, id string) error {
	return v.locked(ctx, func() error {
		volume, err := v.read(ctx, id)
		if errors.Is(err, infra.ErrNoVolume) {
			return nil
		}
		if err != nil {
			return err
		}
		if volume.Machine != "" {
			return fmt.Errorf("%s is attached to %s: %w", id, volume.Machine, infra.ErrVolumeInUse)
		}
		return errors.Join(v.Host.Remove(ctx, v.record(id)), v.Host.Remove(ctx, v.image(id)))
	})
}

// limits are those of a volume of that kind.
func limits(s infra.VolumeSpec) pace.Limits {
	l := pace.Limits{}
	if s.Kind == "gp2" {
		l = pace.Of(storage.Volume{Type: s.Kind, GiB: float64(s.Size) / (1 << 30)})
		l.Latency = 0 // the machine's own way is long enough
	}
	if s.IOPS != 0 {
		l.IOPS, l.Burst = float64(s.IOPS), pace.Burst{}
	}
	if s.Throughput != 0 {
		l.Throughput = float64(s.Throughput)
	}
	return l
}

// Conditions are what the requests of an attached volume meet now.
func (v *Volumes) Conditions(ctx context.Context, id string) (disk.Conditions, error) {
	volume, err := v.read(ctx, id)
	if err != nil {
		return disk.Conditions{}, err
	}
	return v.conditions(ctx, volume)
}

// SetConditions gives an attached volume other conditions, until it is detached.
func (v *Volumes) SetConditions(ctx context.Context, id string, c disk.Conditions) error {
	volume, err := v.read(ctx, id)
	if err != nil {
		return err
	}
	return v.set(ctx, volume, c)
}

// Corrupt overwrites a part of an attached volume behind the machine's back.
func (v *Volumes) Corrupt(ctx context.Context, id string, offset int64, bytes []byte) error {
	volume, err := v.read(ctx, id)
	if err != nil {
		return err
	}
	_, err = v.order(ctx, volume, order{Do: doCorrupt, Offset: offset, Bytes: bytes})
	return err
}

func (v *Volumes) conditions(ctx context.Context, volume infra.Volume) (disk.Conditions, error) {
	r, err := v.order(ctx, volume, order{Do: doLocate})
	if err != nil || r.Conditions == nil {
		return disk.Conditions{}, err
	}
	return *r.Conditions, nil
}

func (v *Volumes) set(ctx context.Context, volume infra.Volume, c disk.Conditions) error {
	if err := c.Limits.Validate(); err != nil {
		return fmt.Errorf("%s: %w", volume.ID, err)
	}
	_, err := v.order(ctx, volume, order{Do: doCondition, Conditions: &c})
	return err
}

// order has the machine of a volume do something with it.
func (v *Volumes) order(ctx context.Context, volume infra.Volume, o order) (reply, error) {
	if volume.Machine == "" {
		return reply{}, fmt.Errorf("%s: %w", volume.ID, infra.ErrNotAttached)
	}
	m, err := v.Machine(ctx, volume.Machine)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = m.Close() }() // it was only asked
	o.Volume = volume.ID
	return m.send(ctx, o)
}
