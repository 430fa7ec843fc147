package main

import (
	"context"
	"errors"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/disk"
	"plimsoll/superdisk"
)

// layout is how an array and its server stand on a machine.
type layout string

const (
	whole       layout = "both legs are in step, and the server serves"
	localOnly   layout = "the local leg serves alone"
	networkOnly layout = "the network leg serves alone"
	plainDisk   layout = "the server serves from its local disk, and the network volume is blank"
	waiting     layout = "nothing runs, and the network volume is a leg"
	retired     layout = "nothing runs, and both disks are blank"
	beside      layout = "an empty array is mounted beside the data"
	notBeside   layout = "the disks beside the data are blank"
	either      layout = "both legs are in step, or the network leg serves alone"
)

// diskCase is a runbook, where it begins, and how everything stands when it has ended.
type diskCase struct {
	book   string
	begin  func(*disks, context.Context) error
	inputs func(*disks) []string
	done   layout
	undone layout
	moves  bool // to the other machine
	// serves is the step from which on the network leg alone has what was written: an undo then leaves the node with that leg.
	serves string
	// lasts says that a step whose act has ended is not undone any more.
	lasts bool
	// under happens while the run is under way, after its first entries; it may be called again.
	under func(*disks, context.Context) error
}

// diskCases are all of them. The runbooks of a group share a lab: most begin where another ends.
var diskCases = [][]diskCase{{
	{book: "superdisk/create", begin: (*disks).serving, done: beside, undone: notBeside, inputs: func(d *disks) []string {
		return []string{"node=" + d.at, "local=" + localLeg, "network=" + networkLeg, "mount=" + spareAt, "array=" + second}
	}},
	{book: "superdisk/detach-network", begin: (*disks).serving, done: localOnly, undone: whole, inputs: onNode},
	{book: "superdisk/reattach-network", begin: detached, done: whole, undone: localOnly, inputs: func(d *disks) []string {
		return []string{"node=" + d.at, "network=n1/network"}
	}},
	{book: "superdisk/give-up-hung", begin: (*disks).serving, done: localOnly, undone: whole, under: hang, inputs: func(d *disks) []string {
		return []string{"node=" + d.at, "after=2s", "for=1m"}
	}},
	{book: "superdisk/check", begin: (*disks).serving, done: whole, undone: whole, inputs: onNode},
	{book: "superdisk/start", begin: rested, done: whole, undone: waiting, inputs: func(d *disks) []string {
		return []string{"node=" + d.at, "uuid=" + d.uuid(), "mount=" + dataAt}
	}},
	{book: "superdisk/emergency-start", begin: (*disks).lost, done: networkOnly, undone: waiting, inputs: func(d *disks) []string {
		return []string{"node=" + d.at, "network=n1/network", "mount=" + dataAt}
	}},
	{book: "superdisk/rebuild", begin: (*disks).alone, done: whole, undone: networkOnly, inputs: func(d *disks) []string {
		return []string{"node=" + d.at, "local=local"}
	}},
	{book: "superdisk/migrate", begin: (*disks).plain, done: whole, undone: plainDisk, lasts: true, inputs: func(d *disks) []string {
		return []string{"node=" + d.at, "local=local", "network=n1/network", "mount=" + dataAt}
	}},
	{book: "superdisk/retire", begin: (*disks).serving, done: retired, undone: whole, inputs: func(d *disks) []string {
		return []string{"node=" + d.at, "uuid=" + d.uuid(), "local=local", "network=n1/network", "mount=" + dataAt}
	}},
}, {
	{book: "superdisk/replace-node", begin: spared, done: whole, undone: whole, moves: true, serves: "alone", inputs: func(d *disks) []string {
		return []string{"node=" + d.at, "to=" + other(d.at), "network=n1/network", "local=local", "mount=" + dataAt}
	}},
	{book: "superdisk/recover-node", begin: machineLost, done: whole, undone: waiting, moves: true, inputs: func(d *disks) []string {
		return []string{"lost=" + d.at, "to=" + other(d.at), "network=n1/network", "local=local", "mount=" + dataAt}
	}},
}}

// interrupted is where a run is killed in a step, so that its undo has the most to do.
func (c diskCase) interrupted(step string) moment {
	if c.lasts {
		return moment{entry: "intended/" + step, after: true}
	}
	return moment{entry: "acted/" + step, before: true}
}

func onNode(d *disks) []string { return []string{"node=" + d.at} }

// stands is the array as it stands on the machine with the data.
func (d *disks) stands(ctx context.Context) (superdisk.Array, error) {
	s, err := superdisk.Inspect(ctx, d.machines[d.at])
	a, _ := s.Find(arrayName)
	return a, err
}

// detached begins without the network leg, as superdisk/detach-network leaves it.
func detached(d *disks, ctx context.Context) error {
	a, err := d.stands(ctx)
	if err != nil {
		return err
	}
	v, err := d.volumes.Describe(ctx, d.network)
	if err != nil {
		return err
	}
	if leg, in := a.Leg(superdisk.Local); in && leg.InStep() && a.Mount == dataAt && len(a.Legs) == 1 && v.Machine == d.at {
		return d.started(ctx)
	}
	if err := d.serving(ctx); err != nil {
		return err
	}
	return d.do(ctx, "superdisk/detach-network", onNode(d)...)
}

// rested begins with both legs in step, of which no array runs, as after a start of the machine.
func rested(d *disks, ctx context.Context) error {
	if err := d.serving(ctx); err != nil {
		return err
	}
	_, err := d.machines[d.at].sh(ctx, still)
	return err
}

// lost begins without the server, the array and the local disk: only the network leg is left.
func (d *disks) lost(ctx context.Context) error {
	a, err := d.stands(ctx)
	if err != nil {
		return err
	}
	network, in := a.Leg(superdisk.Network)
	if ready := in && network.InStep() || a.UUID == "" && d.waits(ctx); !ready {
		if err := d.serving(ctx); err != nil {
			return err
		}
	}
	return d.blank(ctx, d.at)
}

// waits tells whether the network volume is a leg, and nothing runs: it is what an undone emergency start leaves.
func (d *disks) waits(ctx context.Context) bool {
	device, err := d.device(ctx, d.at, d.network)
	if err != nil {
		return false
	}
	_, err = superdisk.ReadSuperblock(ctx, d.machines[d.at], device)
	return err == nil
}

// alone begins with the network leg serving, and a blank local disk.
func (d *disks) alone(ctx context.Context) error {
	a, err := d.stands(ctx)
	if err != nil {
		return err
	}
	if leg, in := a.Leg(superdisk.Network); in && leg.InStep() && len(a.Legs) == 1 && a.Mount == dataAt {
		if err := d.wipeLocal(ctx); err != nil {
			return err
		}
		return d.started(ctx)
	}
	if err := d.lost(ctx); err != nil {
		return err
	}
	return d.do(ctx, "superdisk/emergency-start", "node="+d.at, "network=n1/network", "mount="+dataAt)
}

// spared begins with a spare machine beside the one that serves.
func spared(d *disks, ctx context.Context) error {
	if err := d.serving(ctx); err != nil {
		return err
	}
	if err := d.present(ctx, other(d.at), false); err != nil {
		return err
	}
	return d.blank(ctx, other(d.at))
}

// machineLost begins with the machine of the node lost while it served.
func machineLost(d *disks, ctx context.Context) error {
	if err := spared(d, ctx); err != nil {
		return err
	}
	return d.do(ctx, "lose.yaml", onNode(d)...)
}

// hang has the network leg not answer, until it is taken away.
func hang(d *disks, ctx context.Context) error {
	err := d.volumes.SetConditions(ctx, d.network, disk.Conditions{Hang: true})
	if errors.Is(err, infra.ErrNotAttached) {
		return nil // it was taken away
	}
	return err
}

// calm ends what happens under a run.
func (d *disks) calm(ctx context.Context) error {
	err := d.volumes.SetConditions(ctx, d.network, disk.Conditions{})
	if errors.Is(err, infra.ErrNotAttached) {
		return nil
	}
	return err
}

// soon is how long after its first entry something happens to a run.
const soon = 300 * time.Millisecond
