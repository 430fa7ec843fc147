// Package superdisk holds the actions that make, break, repair and move Super Disks: what package superdisk can do to an array
// on a machine, as steps of runbooks.
package superdisk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

// Actions lists them.
func Actions() []action.Action {
	return []action.Action{
		createAction, stopAction, startAction, startAloneAction, detachAction, rebuildAction, waitWholeAction, checkAction, wipeAction,
		migrateAction, eraseAction, giveUpAction, fenceAction, fitsAction, needsStartAction,
	}
}

// array is what every action here takes.
type array struct {
	Node  string `yaml:"node,required" doc:"The node whose machine it is."`
	Array string `yaml:"array" doc:"The array's name, as under /dev/md, or its UUID. Default: superdisk."`
}

// usual is the name of an array of which nothing else is said.
const usual = "superdisk"

// usualChunk is how many bytes a chunk of the write-intent bitmap has of which nothing else is said.
const usualChunk = 4 << 20

func (a array) path() string { return superdisk.Path(a.Array) }

// look inspects the machine; found tells whether the array is there.
func (a array) look(ctx context.Context, on *cluster.Cluster) (m infra.Machine, s superdisk.Status, is superdisk.Array, found bool, err error) {
	if m, err = on.Machine(ctx, a.Node); err != nil {
		return m, s, is, false, err
	}
	if s, err = superdisk.Inspect(ctx, m); err != nil {
		return m, s, is, false, err
	}
	is, found = s.Find(a.Array)
	return m, s, is, found, nil
}

// there is look where the array must be.
func (a array) there(ctx context.Context, on *cluster.Cluster) (infra.Machine, superdisk.Array, error) {
	m, s, is, found, err := a.look(ctx, on)
	if err == nil && !found {
		err = &hint.PermanentError{Reason: fmt.Sprintf("%s has no array %s", s.Machine, a.Array), Advice: "plimsoll superdisk status shows those it has"}
	}
	return m, is, err
}

// noArray is the finding of a step whose array is not there now.
func (a array) noArray(ctx context.Context, m infra.Machine, s superdisk.Status) action.CheckResult {
	return a.awaitsArray(ctx, m, s, action.CheckResult{Observed: facts(superdisk.Array{}, false)})
}

// records are where looks are recorded: outside every array.
func records(on *cluster.Cluster) (superdisk.Records, error) {
	folder, err := superdisk.Folder(os.Getenv)
	return superdisk.Records{Machine: on.Local, Folder: folder, Volumes: on.Volumes}, err
}

// note records what the machine's arrays are like now.
func note(ctx context.Context, on *cluster.Cluster, m infra.Machine) error {
	kept, err := records(on)
	if err != nil {
		return err
	}
	s, err := superdisk.Inspect(ctx, m)
	if err != nil {
		return err
	}
	return kept.Settle(ctx, s)
}

// alone starts an array from the leg of that key. That the others are out of step is recorded before it: should we be killed in between, none of them
// counts as one that has everything. A start that does not come about leaves the record as it was.
func (a array) alone(ctx context.Context, on *cluster.Cluster, m infra.Machine, uuid, key string, start func() error) error {
	kept, err := records(on)
	if err != nil {
		return err
	}
	before, err := kept.StartsAlone(ctx, uuid, key, time.Now().UTC())
	if err != nil {
		return err
	}
	if err := start(); err != nil {
		s, unseen := superdisk.Inspect(ctx, m)
		if unseen != nil || slices.ContainsFunc(s.Arrays, func(is superdisk.Array) bool { return is.UUID == uuid && is.Running() }) {
			return errors.Join(err, unseen)
		}
		return errors.Join(err, kept.Restore(ctx, before))
	}
	return nil
}

// serialOf is the serial number of a device's disk, by which its leg is recorded; "" if it tells none.
func serialOf(ctx context.Context, m infra.Machine, device string) (string, error) {
	disks, err := infra.Devices(ctx, m)
	for _, d := range disks {
		if d.Path == device {
			return superdisk.VolumeID(d.Serial), nil
		}
	}
	return "", err
}

// leaves records that a leg is taken out, before it is.
func leaves(ctx context.Context, on *cluster.Cluster, m infra.Machine, a superdisk.Array, leg superdisk.Leg) error {
	kept, err := records(on)
	if err != nil {
		return err
	}
	return kept.Leaves(ctx, superdisk.Status{Machine: m.Name(), At: time.Now().UTC()}, a, leg)
}

// fail has md give a leg up that is recorded as out of step from then on.
func fail(ctx context.Context, on *cluster.Cluster, m infra.Machine, a superdisk.Array, leg superdisk.Leg) error {
	if err := leaves(ctx, on, m, a, leg); err != nil {
		return err
	}
	if err := superdisk.Fail(ctx, m, a.Device, leg.Device); err != nil {
		return errors.Join(refuse(err), note(ctx, on, m))
	}
	return nil
}

// recorded makes of an array that is as it should be one that needs the act, if the record of its legs says otherwise: an act that was cut off had
// not come to that, and a leg that is out of step would count as one that has everything. The act comes to the record again.
func recorded(ctx context.Context, on *cluster.Cluster, a superdisk.Array, r action.CheckResult) (action.CheckResult, error) {
	kept, err := records(on)
	if err != nil {
		return r, err
	}
	told, err := kept.Tells(ctx, a)
	if err == nil && !told {
		r.State, r.Reason = action.Needed, "the record of its legs is not up to date: only Plimsoll's record of its legs is written; the array stays as it is"
	}
	return r, err
}

// ran tells whether the array was assembled before the run first acted, whether mounted or not: an undo leaves it so. The kernel knows no UUID of what is half
// assembled.
func ran(c action.Call) bool {
	uuid, _ := c.Before["array"].(string)
	return uuid != "none" && strings.Trim(uuid, "0:") != ""
}

// wasMounted tells whether the array was mounted there before the run first acted: the run has only recorded it, and there is nothing to undo.
func wasMounted(c action.Call, at string) bool { return c.Before["mounted"] == at }

// Brings says that a task works on the machine's array: a later step may find one that it did not, or another.
func (a array) Brings(context.Context, *cluster.Cluster) []string {
	return []string{action.Array(a.Node)}
}

// facts is what stays the same of an array while nobody changes it.
func facts(a superdisk.Array, found bool) action.Facts {
	if !found {
		return action.Facts{"array": "none"}
	}
	var legs []string
	for _, l := range a.Legs {
		legs = append(legs, fmt.Sprintf("%s %s %s", l.Role, l.Device, strings.Join(l.State, "+")))
	}
	f := action.Facts{"array": a.UUID, "legs": strings.Join(legs, ", "), "missing": a.Degraded, "mounted": a.Mount}
	return f
}

// refuse makes of an error that no retry can mend one that says so.
func refuse(err error) error {
	var advised interface{ Hint() string }
	if errors.As(err, &advised) {
		return &hint.PermanentError{Reason: err.Error(), Advice: advised.Hint()}
	}
	return err
}

// device finds what a step calls a disk: a device, a volume's id, a disk's serial number, or the name of a volume among those that are
// tagged as the node's.
func (a array) device(ctx context.Context, on *cluster.Cluster, m infra.Machine, name string) (string, error) {
	return deviceOf(ctx, on, m, a.Node, name)
}

func deviceOf(ctx context.Context, on *cluster.Cluster, m infra.Machine, node, name string) (string, error) {
	id, err := volumeOf(ctx, on, node, name)
	if err != nil {
		return "", err
	}
	device, err := superdisk.Resolve(ctx, m, id)
	return device, err
}

// examined is what stands on the disk that a step names. One that the machine has not is awaited, by the result.
func examined(ctx context.Context, on *cluster.Cluster, m infra.Machine, node, name string, r action.CheckResult) (superdisk.Disk, action.CheckResult, error) {
	device, err := deviceOf(ctx, on, m, node, name)
	if errors.Is(err, infra.ErrNotAttached) {
		return superdisk.Disk{}, awaitsDisk(ctx, on, m, node, name, r), nil
	}
	if err != nil {
		return superdisk.Disk{}, r, refuse(err)
	}
	d, err := superdisk.Examine(ctx, m, device)
	return d, r, refuse(err)
}

// volumeOf is the id of a volume that is called by its name, and any other name as it is.
func volumeOf(ctx context.Context, on *cluster.Cluster, node, name string) (string, error) {
	if on.Volumes == nil || strings.HasPrefix(name, "/") {
		return name, nil
	}
	owner, short := cluster.VolumeOwner(node, name)
	all, err := on.Volumes.List(ctx, map[string]string{cluster.NodeTag: owner, cluster.VolumeTag: short})
	if err != nil || len(all) == 0 {
		return name, err
	}
	if len(all) > 1 {
		return "", &hint.PermanentError{Reason: fmt.Sprintf("node %s has %d volumes %s", owner, len(all), short), Advice: "name one by its id, such as " + all[0].ID}
	}
	return all[0].ID, nil
}
