package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/infra"
)

// Down ends a cluster and removes all of it: what its record names, and every process that carries its mark, whatever
// became of the Plimsoll that started it.
func Down(ctx context.Context, name string, deps Deps) (err error) {
	d, err := deps.withDefaults()
	if err != nil {
		return err
	}
	if err := checkName(name); err != nil {
		return err
	}
	unlock, err := d.lockCluster(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return d.takeDown(ctx, name)
}

// DownByForce is Down of a cluster that another Plimsoll may have in hand: its servers vanish under that one.
func DownByForce(ctx context.Context, name string, deps Deps) error {
	if err := Down(ctx, name, deps); !errors.Is(err, infra.ErrLocked) {
		return err
	}
	d, err := deps.withDefaults()
	if err != nil {
		return err
	}
	return d.takeDown(ctx, name)
}

func (d Deps) takeDown(ctx context.Context, name string) error {
	left, err := d.leftovers(ctx, name)
	if err != nil {
		return err
	}
	if !left.any() {
		return d.noCluster(ctx, name, ErrNoCluster)
	}
	return d.destroy(ctx, name)
}

// leftovers is what there is of a cluster.
type leftovers struct {
	folder    bool
	processes []infra.Process
}

func (l leftovers) any() bool { return l.folder || len(l.processes) > 0 }

func (d Deps) leftovers(ctx context.Context, name string) (leftovers, error) {
	names, err := d.Machine.List(ctx, d.clusters())
	if err != nil {
		return leftovers{}, fmt.Errorf("list clusters: %w", err)
	}
	processes, err := d.Machine.Find(ctx, d.folder(name))
	return leftovers{slices.Contains(names, name), processes}, err
}

// destroy ends all processes of a cluster and removes its folder, until there is nothing of either: what a killed Plimsoll
// was just starting carries its mark a moment later, and may write where files are being removed.
func (d Deps) destroy(ctx context.Context, name string) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	const rounds = 50
	for round := 1; ; round++ {
		err := d.clear(ctx, name)
		if err == nil {
			var left leftovers
			if left, err = d.leftovers(ctx, name); err == nil && !left.any() {
				return nil
			}
		}
		if round == rounds {
			return fmt.Errorf("take down %s: processes keep restarting: %w", name, err)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("take down %s: %w", name, ctx.Err()), err)
		}
	}
}

// clear ends the processes that there are and removes the folder as it is.
func (d Deps) clear(ctx context.Context, name string) error {
	processes, err := d.Machine.Find(ctx, d.folder(name))
	if err != nil {
		return err
	}
	if len(processes) > 0 {
		d.say("%s: stopping its processes", name)
		if err := endAll(ctx, processes); err != nil {
			return err
		}
	}
	if err := unmount(ctx, d.Machine, d.folder(name)); err != nil {
		return err
	}
	d.say("%s: deleting its files", name)
	return d.Machine.Remove(ctx, d.folder(name))
}

// endAll kills processes: their data is going to be removed, and what a server writes as it ends would be written for nothing.
func endAll(ctx context.Context, processes []infra.Process) error {
	for _, p := range processes {
		if err := p.Signal(ctx, "KILL"); err != nil && !errors.Is(err, infra.ErrGone) {
			return err
		}
	}
	for _, p := range processes {
		if err := p.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}
