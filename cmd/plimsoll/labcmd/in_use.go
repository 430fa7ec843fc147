package labcmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/runbook/journal"
)

// inUse refuses to take a lab down under a run that a process executes on it now: on the lab itself, or on a cluster of the inventory that
// names its servers. Runs that nobody executes are listed, for they cannot go on without it.
func inUse(ctx context.Context, of *lab.Cluster) (left []string, err error) {
	inv, err := inventory.Open()
	if err != nil {
		return nil, err
	}
	names := clustersOn(of, inv)
	err = runs.With(ctx, func(ctx context.Context, d *runs.Service) error {
		all, err := d.Store.Runs(ctx)
		if err != nil {
			return err
		}
		for _, r := range all {
			st, err := d.State(ctx, r.ID)
			if err != nil || st.Outcome != "" || st.Header.At.Before(lab.Made(of)) || !slices.ContainsFunc(st.Header.AllClusters(), func(name string) bool { return slices.Contains(names, name) }) {
				continue // a damaged run is told by runbook status
			}
			executed, _, err := d.Executed(ctx, r.ID)
			if err != nil {
				return err
			}
			if executed {
				return &usedError{lab: of.Name(), cluster: st.Header.Cluster, run: r.ID, status: journal.InWords(st.Status())}
			}
			left = append(left, r.ID)
		}
		return nil
	})
	return left, err
}

// clustersOn are the names by which runs know a lab: its own, and those of clusters of the inventory that have one of its servers.
func clustersOn(of *lab.Cluster, inv *inventory.Inventory) []string {
	names := []string{home.Called(home.LabPrefix+of.Name(), inv)}
	for name, c := range inv.Clusters {
		if slices.ContainsFunc(c.Nodes, func(n inventory.Node) bool {
			return slices.ContainsFunc(of.Nodes(), func(own lab.Node) bool { return net.JoinHostPort(own.Address, strconv.Itoa(own.Port)) == n.Address })
		}) {
			names = append(names, name)
		}
	}
	return names
}

// usedError is a lab on which a run is being executed.
type usedError struct{ lab, cluster, run, status string }

func (e *usedError) Error() string {
	text := fmt.Sprintf("cluster %s is in use: run %s works on it (%s)", e.lab, e.run, e.status)
	if e.cluster != e.lab {
		text = fmt.Sprintf("cluster %s is in use: run %s works on its servers, as cluster %s (%s)", e.lab, e.run, e.cluster, e.status)
	}
	return text
}

// Hint says what to do.
func (e *usedError) Hint() string {
	return fmt.Sprintf("end the run first: plimsoll runbook cancel %s; or remove the cluster all the same, which interrupts the run: plimsoll lab down %s --force", e.run, e.lab)
}

// mayGo tells whether a lab may be taken down, and says which runs cannot go on without it. What cannot be found out keeps nobody from
// tidying up.
func mayGo(ctx context.Context, c console.Streams, name string, deps lab.Deps) error {
	of, err := lab.Look(ctx, name, deps)
	if err != nil {
		return nil //nolint:nilerr // there is none, or it is broken: no run works on it
	}
	left, err := inUse(ctx, of)
	if used := (*usedError)(nil); errors.As(err, &used) {
		return used
	}
	if err != nil {
		fmt.Fprintf(c.Err, "Whether a run works on cluster %s is not known: %v\n", name, err)
	}
	for _, run := range left {
		fmt.Fprintf(c.Err, "Run %[1]s, which no process executes, cannot continue without cluster %[2]s; to end it: plimsoll runbook cancel %[1]s --leave REASON\n", run, name)
	}
	return nil
}
