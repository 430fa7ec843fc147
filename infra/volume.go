package infra

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/hint"
)

// Volumes is the port to a provider of volumes: disks that live apart from machines and are attached to them. A volume and a machine
// are named by the provider's own identifiers. An adapter must pass infratest.RunVolumes.
type Volumes interface {
	// Create makes a volume and returns when it is available. A spec whose token was used before is that volume again.
	Create(ctx context.Context, spec VolumeSpec) (Volume, error)
	// Describe returns a volume as it is now; ErrNoVolume if there is none.
	Describe(ctx context.Context, id string) (Volume, error)
	// List returns the volumes that carry all these tags, by id.
	List(ctx context.Context, tags map[string]string) ([]Volume, error)
	// Tag adds tags to a volume, over those of the same key.
	Tag(ctx context.Context, id string, tags map[string]string) error
	// Modify changes a volume's limits, attached or not; what is zero stays. A volume only grows.
	Modify(ctx context.Context, id string, change VolumeSpec) error
	// Attach returns when the machine sees the volume. ErrVolumeInUse if another machine has it; fine if this one has. ErrNotFenced
	// if it was taken by force from another machine, which is not seen to be stopped. ErrNotRunning or ErrNoMachine if this one must run for it and does not.
	Attach(ctx context.Context, id, machine string) error
	// Detach returns when the machine has let go of the volume. ErrVolumeBusy while something in the machine uses it;
	// ErrNotAttached if this machine does not have it.
	Detach(ctx context.Context, id, machine string) error
	// ForceDetach takes a volume from a machine that uses it or does not answer: what is under way fails.
	ForceDetach(ctx context.Context, id, machine string) error
	// Delete removes a volume and all that is on it; ErrVolumeInUse while it is attached; fine if it is not there.
	Delete(ctx context.Context, id string) error
}

// VolumeSpec is a volume to be made, or what of one is to change.
type VolumeSpec struct {
	Size       int64             `json:"size"`                 // bytes
	IOPS       int               `json:"iops,omitempty"`       // requests a second; 0: the provider's usual
	Throughput int64             `json:"throughput,omitempty"` // bytes a second; 0: the provider's usual
	Kind       string            `json:"kind,omitempty"`       // gp3, gp2, io2; "": the provider's usual
	Zone       string            `json:"zone,omitempty"`       // where it is made; "": where the provider has only one
	Tags       map[string]string `json:"tags,omitempty"`
	Token      string            `json:"token,omitempty"` // makes Create safe to repeat
}

// Volume is a volume as its provider describes it.
type Volume struct {
	VolumeSpec
	ID      string      `json:"id"`
	State   VolumeState `json:"state"`
	Machine string      `json:"machine,omitempty"` // it is attached to, or on its way
	Made    time.Time   `json:"made,omitzero"`
	// ForcedFrom is the machine from which it was taken by force, until it is attached again.
	ForcedFrom string `json:"forced_from,omitempty"`
}

// VolumeState is where a volume stands.
type VolumeState string

// The states of a volume.
const (
	VolumeCreating  VolumeState = "creating"
	VolumeAvailable VolumeState = "available" // attached to nothing
	VolumeAttaching VolumeState = "attaching"
	VolumeInUse     VolumeState = "in-use" // attached
	VolumeDetaching VolumeState = "detaching"
	VolumeError     VolumeState = "error"
)

// Serial is what a machine tells the volume by: its id without hyphens, as EBS has it.
func (v Volume) Serial() string { return VolumeSerial(v.ID) }

// VolumeSerial is what a machine tells a volume of that id by.
func VolumeSerial(id string) string { return strings.ReplaceAll(id, "-", "") }

var (
	// ErrNoVolume says that there is no volume of that id.
	ErrNoVolume = errors.New("no such volume")
	// ErrVolumeInUse says that a volume is attached to another machine, or to one at all.
	ErrVolumeInUse = errors.New("the volume is in use")
	// ErrVolumeBusy says that something in the machine uses the volume: a mounted file system, an array.
	ErrVolumeBusy = errors.New("the volume is busy")
	// ErrNoMachine says that the provider has no machine of that id.
	ErrNoMachine = errors.New("no such machine")
	// ErrNotRunning says that a machine does not run, and cannot do what was asked for before it does.
	ErrNotRunning = errors.New("the machine is not running")
	// ErrNotFenced says that the machine which had the volume may still run, and serve what it wrote elsewhere.
	ErrNotFenced = errors.New("the machine that it was detached from by force is not known to be stopped")
	// ErrNotAttached says that a machine does not have the volume.
	ErrNotAttached = errors.New("the volume is not attached to this machine")
)

// BlockDevice is a disk as a machine's kernel sees it.
type BlockDevice struct {
	Path    string   `json:"path"` // /dev/vda: of this boot only, and not to be kept
	Serial  string   `json:"serial,omitempty"`
	Size    int64    `json:"size"`
	Holders []string `json:"holders,omitempty"` // devices built on it: md0, dm-1
	Mounted []string `json:"mounted,omitempty"` // where, itself or a partition of it
}

// Device finds a volume in a machine by its serial. Names of devices change with every attach and boot, and mean nothing. It is
// ErrNotAttached if the kernel does not show the volume.
func Device(ctx context.Context, m Machine, serial string) (BlockDevice, error) {
	all, err := Devices(ctx, m)
	if err != nil {
		return BlockDevice{}, err
	}
	d, there, err := WithSerial(m.Name(), all, serial)
	if err == nil && !there {
		err = fmt.Errorf("%s on %s: %w", serial, m.Name(), ErrNotAttached)
	}
	return d, err
}

// WithSerial finds the one disk of a machine that tells one of these serials. Two that do are refused: nobody can tell which of them is meant.
func WithSerial(machine string, all []BlockDevice, serials ...string) (d BlockDevice, there bool, err error) {
	for _, other := range all {
		switch {
		case other.Serial == "" || !slices.Contains(serials, other.Serial):
		case there:
			return BlockDevice{}, false, hint.With(fmt.Errorf("%s and %s of %s both report the serial number %s", d.Path, other.Path, machine, d.Serial),
				"of two paths to one disk, name the device that multipath has made of them (/dev/mapper/...); detach a disk that is a copy of another, or give it a serial number of its own; two disks of one controller are told apart by their devices alone: name the device")
		default:
			d, there = other, true
		}
	}
	return d, there, nil
}

// Devices returns the disks of a Linux machine, by name: those that say a serial, and arrays. The paths that the kernel itself joins to one
// disk are left out: they tell that disk's serial, and nobody can open them.
func Devices(ctx context.Context, m Machine) ([]BlockDevice, error) {
	// One command, as over a long way each would cost its time, in which the shell itself reads what has one line, as each program that it
	// starts costs time too.
	const look = `cd /sys/block && for d in *; do
		for f in "$d/serial" "$d/device/serial" "$d/md/uuid"; do
			serial=; { read -r serial <"$f"; } 2>/dev/null; [ -z "$serial" ] || break
		done
		size=; read -r size <"$d/size"
		echo "device $d $size $serial"
		hidden=; { read -r hidden <"$d/hidden"; } 2>/dev/null; [ "$hidden" != 1 ] || echo hidden
		for h in "$d"/holders/* "$d"/"$d"*/holders/*; do [ -e "$h" ] && echo "holder ${h##*/}"; done
	done
	sed 's/^/mount /' /proc/self/mounts; sed -n 's/^\(\/dev\/[^ ]*\).*/mount \1 swap/p' /proc/swaps`
	out, err := m.Run(ctx, Command{Path: "sh", Args: []string{"-c", look}})
	if err != nil {
		return nil, fmt.Errorf("list the disks of %s: %w", m.Name(), err)
	}
	return parseDevices(string(out.Stdout))
}

func parseDevices(said string) ([]BlockDevice, error) {
	all := map[string]*BlockDevice{}
	var current *BlockDevice
	for line := range strings.Lines(said) {
		words := strings.Fields(line)
		switch {
		case len(words) >= 3 && words[0] == "device":
			var sectors int64
			if _, err := fmt.Sscan(words[2], &sectors); err != nil {
				return nil, fmt.Errorf("read the size of %s: %w", words[1], err)
			}
			current = &BlockDevice{Path: "/dev/" + words[1], Size: sectors * 512, Serial: strings.Join(words[3:], " ")}
			all[current.Path] = current
		case len(words) == 1 && words[0] == "hidden" && current != nil:
			delete(all, current.Path)
		case len(words) == 2 && words[0] == "holder" && current != nil:
			current.Holders = append(current.Holders, words[1])
		case len(words) >= 3 && words[0] == "mount":
			if d := whole(all, words[1]); d != nil {
				d.Mounted = append(d.Mounted, plainPath.Replace(words[2]))
			}
		}
	}
	var found []BlockDevice
	for _, at := range slices.Sorted(maps.Keys(all)) {
		found = append(found, *all[at])
	}
	return found, nil
}

// whole is the disk of a device or of a partition, nvme1n1 of nvme1n1p2.
func whole(all map[string]*BlockDevice, device string) *BlockDevice {
	if d := all[device]; d != nil {
		return d
	}
	for at, d := range all {
		rest, is := strings.CutPrefix(device, at)
		if at[len(at)-1] <= '9' && is { // sda1, and nvme1n1p1
			rest, is = strings.CutPrefix(rest, "p")
		}
		if is && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return d
		}
	}
	return nil
}
