package superdisk

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

var createAction = action.Action{
	Name: "superdisk.create", Version: 1,
	About: "Creates a RAID1 from a blank local disk and a blank network volume, makes an XFS on it, and mounts it.",
	New:   func() action.Task { return &create{array: array{Array: usual}, Chunk: usualChunk, Reserve: 64 << 20} },
}

type create struct {
	array

	Local   string `yaml:"local,required" doc:"The local disk: a device, or the serial number of its disk."`
	Network string `yaml:"network,required" doc:"The network volume: its id, or a device."`
	Mount   string `yaml:"mount,required" doc:"Where it is mounted."`
	Chunk   int64  `yaml:"bitmap_chunk" doc:"Bytes of one chunk of the write-intent bitmap: a leg that comes back is updated in whole chunks. Default 4 MiB."`
	Reserve int64  `yaml:"reserve" doc:"Bytes left free at the end of the smaller leg, so that a later machine's disk may be slightly smaller. Default 64 MiB."`
}

var (
	_ action.Undoer    = (*create)(nil)
	_ action.Validator = (*create)(nil)
)

func (c *create) Validate() error {
	if c.Chunk < 64<<10 || c.Chunk&(c.Chunk-1) != 0 {
		return errors.New("bitmap_chunk is a power of two, from 65536 on")
	}
	if !strings.HasPrefix(c.Mount, "/") || strings.ContainsAny(c.Array, "/ :") {
		return errors.New("mount must be an absolute path, array a plain name")
	}
	return nil
}

func (c *create) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// legs finds the two devices.
func (c *create) legs(ctx context.Context, on *cluster.Cluster, m infra.Machine) (local, network string, err error) {
	if local, err = c.device(ctx, on, m, c.Local); err != nil {
		return "", "", err
	}
	network, err = c.device(ctx, on, m, c.Network)
	if err == nil && local == network {
		err = fmt.Errorf("both legs are %s", local)
	}
	return local, network, err
}

// toldApart refuses two disks as legs of one array that tell one serial number: the record would take one for the other, and a leg that is out of step for
// one that has everything.
func toldApart(ctx context.Context, m infra.Machine, device, other string) error {
	disks, err := infra.Devices(ctx, m)
	if err != nil {
		return err
	}
	serials := map[string]string{}
	for _, d := range disks {
		serials[d.Path] = d.Serial
	}
	if serials[device] == "" || serials[device] != serials[other] {
		return nil
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s and %s of %s both report the serial number %s, by which Plimsoll records which leg is in step", device, other, m.Name(), serials[device]),
		Advice: "if one is a copy of the other, detach it or give it a serial number of its own; use two disks that report different serial numbers, or none",
	}
}

func (c *create) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := notOperated(on); err != nil {
		return action.CheckResult{}, err
	}
	m, s, a, found, err := c.look(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	local, network, err := c.legs(ctx, on, m)
	if err != nil {
		return action.CheckResult{}, refuse(err)
	}
	r := action.CheckResult{State: action.Needed, Observed: facts(a, found), Intended: action.Facts{"local": local, "network": network, "mounted": c.Mount}}
	switch {
	case found && !c.own(a, local, network):
		r.State, r.Reason = action.Unknown, fmt.Sprintf("there is already an array %s with other legs", c.Array)
	case found && a.Mount == c.Mount:
		r.State = action.Satisfied
		return recorded(ctx, on, a, r)
	case found && a.Mount != "":
		return r, &hint.PermanentError{Reason: fmt.Sprintf("array %s is mounted at %s, not at %s", a.Label(), a.Mount, c.Mount), Advice: "unmount it there, or name the place where it is mounted"}
	case found:
		r.Reason = "the array exists but is not mounted"
		half, err := c.halfMade(ctx, m, a)
		if half != "" {
			r.Reason += "; " + half
		}
		return r, err
	case !s.Kernel.Fit:
		return r, &hint.PermanentError{Reason: s.Kernel.Why, Advice: "start the machine with another kernel"}
	default:
		if err := toldApart(ctx, m, local, network); err != nil {
			return r, err
		}
		for _, device := range []string{local, network} {
			if err := superdisk.Blank(ctx, m, device); err != nil {
				return r, refuse(err)
			}
		}
	}
	return r, err
}

// halfMade says that the file system of an array is made anew, "" if it is not.
func (c *create) halfMade(ctx context.Context, m infra.Machine, a superdisk.Array) (string, error) {
	if a.Mount != "" || !a.Running() {
		return "", nil
	}
	half, err := superdisk.HalfMade(ctx, m, a.Device)
	if err != nil || !half {
		return "", err
	}
	return "its XFS is incomplete, and is created again", nil
}

// own says that an array consists of these two legs.
func (c *create) own(a superdisk.Array, local, network string) bool {
	l, hasLocal := a.Leg(superdisk.Local)
	n, hasNetwork := a.Leg(superdisk.Network)
	return len(a.Legs) == 2 && hasLocal && hasNetwork && l.Device == local && n.Device == network
}

func (c *create) Act(ctx context.Context, on *cluster.Cluster, call action.Call) (action.Facts, error) {
	m, _, a, found, err := c.look(ctx, on)
	if err != nil {
		return nil, err
	}
	local, network, err := c.legs(ctx, on, m)
	if err != nil {
		return nil, refuse(err)
	}
	if found && !c.own(a, local, network) {
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("there is already an array %s with other legs", c.Array), Advice: "give the array another name"}
	}
	if !found {
		call.Progress(0, "making the array")
		err := superdisk.Create(ctx, m, superdisk.Design{Name: c.Array, Local: local, Network: network, Chunk: c.Chunk, Reserve: c.Reserve})
		if err != nil {
			return nil, refuse(err)
		}
	}
	if a.Mount == "" {
		call.Progress(0.5, "making the file system")
		if err := superdisk.FormatBlank(ctx, m, c.path()); err != nil {
			return nil, err
		}
		if err := superdisk.Mount(ctx, m, c.path(), c.Mount); err != nil {
			return nil, err
		}
	}
	if err := note(ctx, on, m); err != nil {
		return nil, err
	}
	_, a, err = c.there(ctx, on)
	return action.Facts{"array": a.UUID, "device": a.Device}, err
}

// Undo takes the array apart as long as nothing lies on it, unless it was there before the step.
func (c *create) Undo(ctx context.Context, on *cluster.Cluster, call action.Call) error {
	if wasMounted(call, c.Mount) {
		return nil
	}
	if ran(call) { // the step has only mounted it
		return c.takeBack(ctx, on, call, c.Mount)
	}
	m, _, a, found, err := c.look(ctx, on)
	if err != nil {
		return err
	}
	local, network, err := c.legs(ctx, on, m)
	if err != nil {
		return refuse(err)
	}
	if found {
		if !c.own(a, local, network) {
			return &hint.PermanentError{Reason: "the array has other legs now", Advice: "plimsoll superdisk status"}
		}
		if err := c.takeDown(ctx, m, a); err != nil {
			return err
		}
	}
	for _, device := range []string{local, network} {
		if err := c.wipe(ctx, m, device, found); err != nil {
			return err
		}
	}
	return nil
}

// wipe takes from a disk that it was a leg of the array; stopped says that the array was stopped just now, and is ours.
func (c *create) wipe(ctx context.Context, m infra.Machine, device string, stopped bool) error {
	super, err := superdisk.ReadSuperblock(ctx, m, device)
	if errors.Is(err, superdisk.ErrNoSuperblock) {
		return nil
	}
	if err == nil && !stopped {
		err = c.mayWipe(ctx, m, device, super)
	}
	if err != nil {
		return err
	}
	return superdisk.Wipe(ctx, m, device)
}

// mayWipe refuses a leg of an array that is not assembled, unless it is ours and was erased by an undo that was cut off.
func (c *create) mayWipe(ctx context.Context, m infra.Machine, device string, super superdisk.Superblock) error {
	empty, err := superdisk.EmptyLeg(ctx, m, device, super, c.Array)
	look := "start the array to see its contents (superdisk/start -i uuid=" + super.UUID() + "), and repeat the undo"
	if super.ServedAlone() { // both legs are needed for that; superdisk/emergency-start would serve files of which a copy may have brought the half
		look = fmt.Sprintf("assemble the array from this leg (mdadm --assemble --run %s %s) and repeat the undo, which looks at its contents", c.path(), device)
	}
	if err == nil && !empty {
		err = &hint.PermanentError{
			Reason: fmt.Sprintf("%s is a leg of array %s (%s), which is not assembled on %s: Plimsoll cannot look at its contents", device, super.Name(), super.UUID(), m.Name()),
			Advice: look,
		}
	}
	return err
}

// aside is where the array is mounted while it is looked at or filled.
func (c *create) aside() string { return "/run/plimsoll-superdisk/" + c.Array }

// takeDown stops the array, if there is nothing on it.
func (c *create) takeDown(ctx context.Context, m infra.Machine, a superdisk.Array) error {
	if !a.Running() {
		return &hint.PermanentError{Reason: fmt.Sprintf("array %s is %s: Plimsoll cannot look at its contents", a.Label(), a.State), Advice: "start it (superdisk.start) to see its contents"}
	}
	var left []string
	look := func(at string) (err error) {
		left, err = m.List(ctx, at)
		return err
	}
	var err error
	if a.Mount != "" {
		err = look(a.Mount)
	} else {
		err = superdisk.Aside(ctx, m, a.Device, c.aside(), look)
	}
	if err != nil {
		return hint.With(fmt.Errorf("read the contents of array %s: %w", a.Label(), err), "mount it at "+c.Mount+" to see its contents; Plimsoll does not take the array apart before that")
	}
	if len(left) > 0 {
		return &hint.PermanentError{Reason: fmt.Sprintf("array %s contains %d files and folders now", a.Label(), len(left)), Advice: "move them away if you really want to remove the array"}
	}
	if a.Mount != "" {
		if err := superdisk.Unmount(ctx, m, a.Mount); err != nil {
			return err
		}
	}
	if err := superdisk.Erase(ctx, m, a.Device); err != nil { // else its file system would be found on the next array of these legs
		return err
	}
	return superdisk.Stop(ctx, m, a.Device)
}
