package superdisk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

var migrateAction = action.Action{
	Name: "superdisk.migrate", Version: 2,
	About: "Copies the data of a local disk onto an array that so far has only the network leg, and mounts the array in its place. The old disk stays unchanged; it becomes the local leg after it is wiped and rebuilt. Stop the programs that use the files first.",
	New: func() action.Task {
		return &migrate{create{array: array{Array: usual}, Chunk: usualChunk, Reserve: 64 << 20}}
	},
}

// migrate takes what create does: local is the disk that is mounted now.
type migrate struct{ create }

var _ action.Undoer = (*migrate)(nil)

// Traits says lasting: once the files are used on the array, the old disk has not what was written since.
func (s *migrate) Traits() action.Traits {
	return action.Traits{Effect: action.Lasting, Repeatable: true}
}

func (s *migrate) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := notOperated(on); err != nil {
		return action.CheckResult{}, err
	}
	m, status, a, found, err := s.look(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	local, network, err := s.legs(ctx, on, m)
	if err != nil {
		return action.CheckResult{}, refuse(err)
	}
	r := action.CheckResult{State: action.Needed, Observed: facts(a, found), Intended: action.Facts{"network": network, "mounted": s.Mount, "method": "files are copied from " + local}}
	if r.Observed["local_file_system"], err = superdisk.FileSystemUUID(ctx, m, local); err != nil { // for superdisk.erase
		return r, err
	}
	if err := s.ours(a, found, network); err != nil {
		return r, err
	}
	switch {
	case found && a.Mount == s.Mount:
		left, err := superdisk.FillingOf(ctx, m, s.Mount)
		if err != nil || left == superdisk.Filled {
			r.Reason = "only the mark of the copy is removed: it was interrupted after the array was mounted"
			return r, err
		}
		r.State = action.Satisfied
		return recorded(ctx, on, a, r)
	case !status.Kernel.Fit:
		return r, &hint.PermanentError{Reason: status.Kernel.Why, Advice: "start the machine with another kernel"}
	case !found:
		if err := toldApart(ctx, m, local, network); err != nil {
			return r, err
		}
		if err := superdisk.Blank(ctx, m, network); err != nil {
			return r, refuse(err)
		}
		if err := s.holds(ctx, m, local, network); err != nil {
			return r, err
		}
	}
	if r.Reason, err = s.fstab(ctx, m); err != nil {
		return r, err
	}
	if found {
		half, err := s.halfMade(ctx, m, a)
		if err != nil {
			return r, err
		}
		r.Reason = strings.Join(slices.DeleteFunc([]string{r.Reason, half}, func(why string) bool { return why == "" }), "; ")
	}
	switch source, err := superdisk.MountedOn(ctx, m, s.Mount); {
	case err == nil && source == "" && found:
		r.Reason = "it was interrupted while the array was being mounted in place of " + local
	case err != nil || source != local:
		return r, errors.Join(err, &hint.PermanentError{Reason: fmt.Sprintf("%s is mounted from %q, not from %s", s.Mount, source, local), Advice: "name the disk that it is mounted from"})
	}
	return r, nil
}

// holds refuses an array that has no room for what is to be copied to it, while the server still runs.
func (s *migrate) holds(ctx context.Context, m infra.Machine, local, network string) error {
	at, err := superdisk.MountedOn(ctx, m, s.Mount)
	if err != nil || at != local {
		return err // that is told below
	}
	size, err := superdisk.Design{Local: local, Network: network, Reserve: s.Reserve}.Size(ctx, m)
	if err != nil {
		return refuse(err)
	}
	used, err := superdisk.Used(ctx, m, s.Mount)
	if err != nil {
		return err
	}
	return refuse(superdisk.Holds(size, used, s.Mount))
}

// fstab says what a start of the machine would mount at the place, "" if it is nothing.
func (s *migrate) fstab(ctx context.Context, m infra.Machine) (string, error) {
	data, err := m.ReadFile(ctx, "/etc/fstab")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) > 1 && !strings.HasPrefix(words[0], "#") && words[1] == s.Mount && words[0] != s.path() {
			return fmt.Sprintf("/etc/fstab mounts %s at %s: replace it by %s, or the next start of the machine mounts the old disk", words[0], s.Mount, s.path()), nil
		}
	}
	return "", err
}

// ours refuses an array of that name which is mounted elsewhere, or which has not the network volume as its leg: files of another are on it.
func (s *migrate) ours(a superdisk.Array, found bool, network string) error {
	_, in := a.On(network)
	switch {
	case !found:
		return nil
	case in && (a.Mount == "" || a.Mount == s.Mount || a.Mount == s.aside()):
		return nil
	case in:
		return &hint.PermanentError{Reason: fmt.Sprintf("array %s is mounted at %s, not at %s", a.Label(), a.Mount, s.Mount), Advice: "unmount it there, or name the place where it is to be mounted"}
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("array %s (%s) exists already, and %s is not a leg of it", a.Label(), a.UUID, s.Network), Advice: "give the array another name"}
}

func (s *migrate) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	m, _, a, found, err := s.look(ctx, on)
	if err != nil {
		return nil, err
	}
	local, network, err := s.legs(ctx, on, m)
	if err != nil {
		return nil, refuse(err)
	}
	if err := s.ours(a, found, network); err != nil {
		return nil, err
	}
	if !found {
		c.Progress(0, "creating the array with the network leg alone")
		d := superdisk.Design{Name: s.Array, Local: local, Network: network, Chunk: s.Chunk, Reserve: s.Reserve}
		if err := superdisk.CreateAlone(ctx, m, d); err != nil {
			return nil, refuse(err)
		}
	}
	if a.Mount == "" {
		if err := superdisk.FormatBlank(ctx, m, s.path()); err != nil {
			return nil, err
		}
		if err := superdisk.Mount(ctx, m, s.path(), s.aside()); err != nil {
			return nil, err
		}
	}
	if a.Mount != s.Mount {
		err = s.fill(ctx, m, local, c)
	} else {
		err = superdisk.Unmark(ctx, m, s.Mount)
	}
	if err != nil {
		return nil, err
	}
	_, a, err = s.there(ctx, on)
	return action.Facts{"array": a.UUID, "device": a.Device}, errors.Join(err, note(ctx, on, m))
}

// fill copies the files to the array, which is mounted aside, and mounts it in the place of the old disk. An array that may have served
// since it was filled is never copied to: its files are the newer ones.
func (s *migrate) fill(ctx context.Context, m infra.Machine, local string, c action.Call) error {
	state, err := superdisk.FillingOf(ctx, m, s.aside())
	if err != nil {
		return err
	}
	at, err := superdisk.MountedOn(ctx, m, s.Mount)
	if err != nil {
		return err
	}
	switch {
	case state == superdisk.Filled && at == "": // it was cut off before it was mounted
		return s.swap(ctx, m)
	case state == superdisk.Filled || state == superdisk.Foreign:
		if err := superdisk.Unmount(ctx, m, s.aside()); err != nil {
			return err
		}
		return s.served()
	case state == superdisk.Empty:
		if err := superdisk.MarkFilling(ctx, m, s.aside(), superdisk.Begun); err != nil {
			return err
		}
	}
	c.Progress(-1, "copying files")
	if err := s.source(ctx, m, local); err != nil {
		return err
	}
	if err := superdisk.CopyFiles(ctx, m, s.Mount, s.aside(), action.Mark(c)); err != nil {
		return err
	}
	if err := unmount(ctx, m, s.Mount); err != nil {
		return err
	}
	if err := superdisk.MarkFilling(ctx, m, s.aside(), superdisk.Filled); err != nil { // from here on nothing is written to the old disk
		return err
	}
	return s.swap(ctx, m)
}

// served refuses an array that has files which no copy that is under way brought there.
func (s *migrate) served() error {
	return &hint.PermanentError{
		Reason: fmt.Sprintf("array %s already has files: it may have served, and then its data is newer than that of the old disk", s.Array),
		Advice: fmt.Sprintf("mount %[1]s elsewhere and compare the files. To continue with the array, unmount %[2]s and mount %[1]s there, in /etc/fstab too; if its files are not needed, remove them and run this again",
			s.path(), s.Mount),
	}
}

// source mounts the old disk again where it was, if an act that was cut off had unmounted it: what it has is copied once more.
func (s *migrate) source(ctx context.Context, m infra.Machine, local string) error {
	at, err := superdisk.MountedOn(ctx, m, s.Mount)
	switch {
	case err != nil:
		return err
	case at == "":
		return superdisk.Mount(ctx, m, local, s.Mount)
	case at != local:
		return &hint.PermanentError{Reason: fmt.Sprintf("%s is mounted from %s, not from %s", s.Mount, at, local), Advice: "name the disk that it is mounted from"}
	}
	return nil
}

// swap mounts the array where the old disk was.
func (s *migrate) swap(ctx context.Context, m infra.Machine) error {
	if err := superdisk.Unmount(ctx, m, s.aside()); err != nil {
		return err
	}
	if err := superdisk.Mount(ctx, m, s.path(), s.Mount); err != nil {
		return err
	}
	return superdisk.Unmark(ctx, m, s.Mount)
}

// AwaitInFlight waits for a copy that goes on though its Plimsoll died.
func (s *migrate) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	m, err := on.Machine(ctx, s.Node)
	if err != nil {
		return err
	}
	return action.AwaitProcesses(ctx, m, c)
}

// Undo takes the array apart as long as the files are not used on it, and mounts the old disk again if that was not mounted any more.
func (s *migrate) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	if wasMounted(c, s.Mount) {
		return nil
	}
	m, _, a, found, err := s.look(ctx, on)
	if err != nil {
		return err
	}
	if found && a.Mount == s.Mount {
		return &hint.PermanentError{Reason: "the files are on the array now, and writes since then are only there", Advice: "continue with superdisk/rebuild -i node=" + s.Node + ", which adds the local leg"}
	}
	local, network, err := s.legs(ctx, on, m)
	if err != nil {
		return err
	}
	if found {
		if err := s.unmake(ctx, m, a, network); err != nil {
			return err
		}
	}
	if err := s.source(ctx, m, local); err != nil {
		return err
	}
	return s.wipe(ctx, m, network, found)
}

// unmake stops the array, if it has nothing but the files of a copy that was cut off.
func (s *migrate) unmake(ctx context.Context, m infra.Machine, a superdisk.Array, network string) error {
	if err := s.ours(a, true, network); err != nil {
		return err
	}
	if err := s.unfilled(ctx, m, a); err != nil {
		return err
	}
	if a.Mount != "" {
		if err := superdisk.Unmount(ctx, m, a.Mount); err != nil {
			return err
		}
	}
	if err := superdisk.Erase(ctx, m, a.Device); err != nil {
		return err
	}
	return superdisk.Stop(ctx, m, a.Device)
}

// unfilled refuses an array that has anything but the files of a copy that was cut off.
func (s *migrate) unfilled(ctx context.Context, m infra.Machine, a superdisk.Array) error {
	look := func(at string) error {
		left, err := superdisk.FillingOf(ctx, m, at)
		if err == nil && left != superdisk.Empty && left != superdisk.Begun {
			err = s.served()
		}
		return err
	}
	if a.Mount != "" {
		return look(a.Mount)
	}
	return superdisk.Aside(ctx, m, a.Device, s.aside(), look)
}

var eraseAction = action.Action{
	Name: "superdisk.erase", Version: 1,
	About: "Wipes the file system signature of an unmounted disk, so that the disk can become a leg. The data on it is lost.",
	New:   func() action.Task { return &erase{} },
}

type erase struct {
	Node   string `yaml:"node,required" doc:"The node whose machine it is."`
	Volume string `yaml:"volume,required" doc:"The disk: a device, or the id of a volume."`
	Holds  string `yaml:"holds" doc:"The UUID of its file system: a disk with another one is refused, because device names can change. Default: any."`
}

func (e *erase) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (e *erase) look(ctx context.Context, on *cluster.Cluster) (infra.Machine, superdisk.Disk, error) {
	m, err := on.Machine(ctx, e.Node)
	if err != nil {
		return m, superdisk.Disk{}, err
	}
	device, err := deviceOf(ctx, on, m, e.Node, e.Volume)
	if err != nil {
		return m, superdisk.Disk{}, refuse(err)
	}
	d, err := superdisk.Examine(ctx, m, device)
	if err == nil && d.Holds != "" && e.Holds != "" {
		err = e.meant(ctx, m, device)
	}
	return m, d, err
}

// meant refuses a disk with another file system than the one that is named.
func (e *erase) meant(ctx context.Context, m infra.Machine, device string) error {
	uuid, err := superdisk.FileSystemUUID(ctx, m, device)
	if err != nil || uuid == e.Holds {
		return err
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s of %s is not erased: it holds file system %q, not %s", device, m.Name(), uuid, e.Holds),
		Advice: "another disk has this name now: find the right one (blkid), and name it by its serial number",
	}
}

func (e *erase) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, d, err := e.look(ctx, on)
	r := action.CheckResult{State: action.Needed, Observed: action.Facts{"device": d.Device, "holds": d.Holds}, Intended: action.Facts{"holds": "nothing"}}
	switch {
	case err != nil:
	case d.Holds == "":
		r.State = action.Satisfied
	case d.Used:
		r.Reason = d.Holds // an earlier step may free it
	}
	return r, err
}

func (e *erase) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	m, d, err := e.look(ctx, on)
	if err != nil || d.Holds == "" {
		return nil, err
	}
	if d.Used || d.Array != "" {
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("%s is not erased: %s", d.Device, d.Holds), Advice: "name the disk that is no longer needed"}
	}
	return nil, superdisk.Erase(ctx, m, d.Device)
}
