package superdisk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

var startAloneAction = action.Action{
	Name: "superdisk.start-alone", Version: 1,
	About: "Starts an array from one leg alone, on any machine, and mounts its file system. A leg that is recorded as out of step is refused.",
	New:   func() action.Task { return &startAlone{array: array{Array: usual}, Chunk: usualChunk, Stale: "no"} },
}

type startAlone struct {
	array

	Volume string `yaml:"volume,required" doc:"The leg: the id of its volume, or a device."`
	UUID   string `yaml:"uuid" doc:"The array's UUID, if it is known: a leg of another array is refused."`
	Mount  string `yaml:"mount,required" doc:"Where it is mounted."`
	Chunk  int64  `yaml:"bitmap_chunk" doc:"Bytes of one chunk of the new write-intent bitmap. Default 4 MiB."`
	Stale  string `yaml:"accept_stale" doc:"yes: serve the leg's data although it is recorded as out of step; writes since then are lost. Default no."`
}

var (
	_ action.Undoer           = (*startAlone)(nil)
	_ action.ApprovalDemander = (*startAlone)(nil)
	_ action.Validator        = (*startAlone)(nil)
)

func (s *startAlone) Validate() error {
	if s.Stale != "yes" && s.Stale != "no" {
		return errors.New("accept_stale is yes or no")
	}
	return nil
}

// Traits says reversible: what was written meanwhile is on the leg, and the array may be stopped again.
func (s *startAlone) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (s *startAlone) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := notOperated(on); err != nil {
		return action.CheckResult{}, err
	}
	m, status, a, found, err := s.look(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	r := action.CheckResult{State: action.Needed, Observed: facts(a, found), Intended: action.Facts{"mounted": s.Mount, "serves": s.Volume}}
	if found && a.Running() {
		if err := s.serves(ctx, on, m, a); err != nil {
			return r, err
		}
		if a.Mount == s.Mount {
			r.State = action.Satisfied
			return recorded(ctx, on, a, r)
		}
	}
	if !status.Kernel.Fit {
		return r, &hint.PermanentError{Reason: status.Kernel.Why, Advice: "start the machine with another kernel"}
	}
	device, super, err := s.leg(ctx, on, m)
	if errors.Is(err, infra.ErrNotAttached) {
		return awaitsDisk(ctx, on, m, s.Node, s.Volume, r), nil
	}
	if err != nil {
		return r, err
	}
	r.Observed["leg"], r.Observed["leg_array"] = device, super.UUID()
	why, certain, err := s.doubt(ctx, on, m, device, super)
	if err != nil {
		return r, err
	}
	r.Reason = why
	if certain && s.Stale != "yes" {
		return r, &hint.PermanentError{Reason: why,
			Advice: "start from the other leg if it is available; accept_stale=yes serves this one, and loses the writes since then"}
	}
	r.Observed["in_doubt"] = why != ""
	return r, nil
}

// serves refuses an array of that name which runs without the leg: it is another's, or another leg's.
func (s *startAlone) serves(ctx context.Context, on *cluster.Cluster, m infra.Machine, a superdisk.Array) error {
	device, err := s.device(ctx, on, m, s.Volume)
	if err != nil && !errors.Is(err, infra.ErrNotAttached) {
		return err
	}
	if leg, in := a.On(device); err == nil && in && !leg.Faulty() && (s.UUID == "" || a.UUID == s.UUID) {
		return nil
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("array %s (%s) runs on %s already, and %s is not a leg of it", a.Label(), a.UUID, m.Name(), s.Volume),
		Advice: "check it with plimsoll superdisk status; stop it if it is not needed (superdisk.stop), or give the array another name"}
}

// leg finds the device and proves that it is a leg of the array that is meant.
func (s *startAlone) leg(ctx context.Context, on *cluster.Cluster, m infra.Machine) (string, superdisk.Superblock, error) {
	device, err := s.device(ctx, on, m, s.Volume)
	if err != nil {
		return "", superdisk.Superblock{}, err
	}
	super, err := superdisk.ReadSuperblock(ctx, m, device)
	switch {
	case err != nil:
		return device, super, &hint.PermanentError{Reason: err.Error(), Advice: "name the volume that is a leg of the array"}
	case s.UUID != "" && super.UUID() != s.UUID:
		return device, super, &hint.PermanentError{Reason: fmt.Sprintf("%s is a leg of array %s (%s), not of %s", s.Volume, super.Name(), super.UUID(), s.UUID),
			Advice: "it belongs to another array: name the right volume"}
	case super.Level() != 1 || super.Slots() != 2:
		return device, super, &hint.PermanentError{Reason: fmt.Sprintf("%s is a leg of a RAID%d of %d", s.Volume, super.Level(), super.Slots()), Advice: "a Super Disk is a RAID1 of two"}
	case super.Slot() < 0:
		return device, super, &hint.PermanentError{Reason: s.Volume + " is a spare, or was dropped by its array", Advice: "start from the other leg"}
	case super.Recovering():
		return device, super, &hint.PermanentError{Reason: s.Volume + " was being brought into step, which did not end: it has only a part of the data", Advice: "start from the other leg"}
	}
	return device, super, nil
}

// doubt looks the leg up as it is recorded, however the step calls it.
func (s *startAlone) doubt(ctx context.Context, on *cluster.Cluster, m infra.Machine, device string, super superdisk.Superblock) (why string, certain bool, err error) {
	record, key, err := s.recordedAs(ctx, on, m, device, super)
	if err != nil {
		return "", false, err
	}
	why, certain = record.Doubt(key, time.Now())
	return why, certain, nil
}

// recordedAs is what is recorded of the array, and the key of the leg in it: by its disk's serial number, else what the step calls it.
func (s *startAlone) recordedAs(ctx context.Context, on *cluster.Cluster, m infra.Machine, device string, super superdisk.Superblock) (superdisk.Record, string, error) {
	kept, err := records(on)
	if err != nil {
		return superdisk.Record{}, "", err
	}
	key, err := s.key(ctx, on, m, device)
	if err != nil {
		return superdisk.Record{}, "", err
	}
	var keys []string
	if key != "" {
		keys = append(keys, key)
	}
	record, err := kept.Of(ctx, super.UUID(), keys...)
	if err != nil {
		return record, "", err
	}
	if _, known := record.Legs[key]; !known {
		key = s.byRole(record, super)
	}
	return record, key, nil
}

// key is the serial number of the leg's disk; what the step calls it, if the disk tells none and it is called by an id.
func (s *startAlone) key(ctx context.Context, on *cluster.Cluster, m infra.Machine, device string) (string, error) {
	serial, err := serialOf(ctx, m, device)
	if err != nil || serial != "" {
		return serial, err
	}
	id, err := volumeOf(ctx, on, s.Node, s.Volume)
	if err != nil || strings.HasPrefix(id, "/") {
		return "", err
	}
	return superdisk.VolumeID(id), nil
}

// byRole is the key of a leg that is recorded under no name of its own: of those of its role one that is out of step, for nothing says
// that it is another.
func (s *startAlone) byRole(record superdisk.Record, super superdisk.Superblock) string {
	role := superdisk.Local
	if super.WriteMostly() {
		role = superdisk.Network
	}
	for _, key := range slices.Sorted(maps.Keys(record.Legs)) {
		if leg := record.Legs[key]; leg.Role == role && !leg.InStep {
			return key
		}
	}
	return string(role) // a disk that tells no serial number is recorded by its role
}

// ApprovalReason has a person decide about a leg of which it is not known whether it has everything.
func (s *startAlone) ApprovalReason(r action.CheckResult) string {
	if doubt, _ := r.Observed["in_doubt"].(bool); doubt {
		return r.Reason
	}
	return ""
}

func (s *startAlone) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	m, _, a, found, err := s.look(ctx, on)
	if err != nil {
		return nil, err
	}
	out := action.Facts{}
	if found && a.Running() {
		if err := s.serves(ctx, on, m, a); err != nil {
			return nil, err
		}
		if a.Mount == "" && a.Degraded > 0 && a.Sync == nil { // an act that was cut off may have ended before it had made the bitmap anew, or without one
			if err := s.refresh(ctx, on, m, a); err != nil {
				return nil, err
			}
		}
	} else {
		device, super, err := s.leg(ctx, on, m)
		if err != nil {
			return nil, refuse(err)
		}
		_, key, err := s.recordedAs(ctx, on, m, device, super)
		if err != nil {
			return nil, err
		}
		if err := superdisk.StopHolders(ctx, m, device); err != nil { // what the machine has assembled of it by itself
			return nil, err
		}
		err = s.alone(ctx, on, m, super.UUID(), key, func() error { return superdisk.StartAlone(ctx, m, s.Array, device, s.Chunk) })
		if err != nil {
			return nil, err
		}
		out["array"] = super.UUID()
	}
	if a.Mount == "" {
		if err := mountWhole(ctx, m, s.path(), s.Mount); err != nil {
			return nil, err
		}
	}
	return out, note(ctx, on, m)
}

// refresh makes the bitmap of an array anew that runs from one leg and is not mounted.
func (s *startAlone) refresh(ctx context.Context, on *cluster.Cluster, m infra.Machine, a superdisk.Array) error {
	leg, serves := a.Survivor()
	if !serves {
		return fmt.Errorf("array %s has no leg that is in step", a.Label())
	}
	return s.alone(ctx, on, m, a.UUID, leg.Key(), func() error { return superdisk.FreshBitmap(ctx, m, s.path(), s.Chunk) })
}

// Undo stops it again, if it is the array of the leg: that is as it was but for what was written.
func (s *startAlone) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	if wasMounted(c, s.Mount) {
		return nil
	}
	m, _, a, found, err := s.look(ctx, on)
	if err != nil {
		return err
	}
	if uuid, _ := c.Before["leg_array"].(string); cmp.Or(s.UUID, uuid) != "" {
		if err := s.same(m, a, found, cmp.Or(s.UUID, uuid)); err != nil {
			return err
		}
	}
	return s.takeBack(ctx, on, c, s.Mount)
}
