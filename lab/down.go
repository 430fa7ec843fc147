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
	left, err := d.leftovers(ctx, name)
	if err != nil {
		return err
	}
	if !left.any() {
		return noCluster(name, ErrNoCluster)
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

// destroy ends all processes of a cluster and removes its folder, the record with it, last.
func (d Deps) destroy(ctx context.Context, name string) error {
	const rounds = 10 // each finds what the processes ended before it had just started
	for round := range rounds {
		processes, err := d.Machine.Find(ctx, d.folder(name))
		if err != nil {
			return fmt.Errorf("take down %s: %w", name, err)
		}
		if len(processes) == 0 {
			break
		}
		if round == rounds-1 {
			return fmt.Errorf("take down %s: %d processes are still there, the first is %d",
				name, len(processes), processes[0].ID())
		}
		d.say("%s: end %d processes", name, len(processes))
		if err := endAll(ctx, processes); err != nil {
			return fmt.Errorf("take down %s: %w", name, err)
		}
	}
	d.say("%s: remove its files", name)
	if err := d.Machine.Remove(ctx, d.folder(name)); err != nil {
		return fmt.Errorf("take down %s: %w", name, err)
	}
	return nil
}

// endAll asks processes to end and kills those that have not soon: their data is going to be removed, so nothing is lost
// by not waiting until it is written.
func endAll(ctx context.Context, processes []infra.Process) error {
	const grace = 2 * time.Second
	for _, p := range processes {
		for _, s := range []string{"TERM", "CONT"} {
			if err := p.Signal(ctx, s); err != nil && !errors.Is(err, infra.ErrGone) {
				return err
			}
		}
	}
	soon, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for _, p := range processes {
		if p.Wait(soon) == nil {
			continue
		}
		if err := finish(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
