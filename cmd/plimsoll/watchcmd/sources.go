package watchcmd

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/infra"
	"plimsoll/infra/aws"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/superdisk"
	"plimsoll/trial/underway"
	"plimsoll/watch"
	"plimsoll/watch/cloud"
	"plimsoll/watch/collect"
	"plimsoll/watch/settings"
	"plimsoll/watch/storage"
)

// Finder finds the instances to be watched: of the named clusters, else of the whole inventory, what is found at AWS, and every lab
// cluster that runs, but for those of trials, whose servers are killed on purpose. It can be asked again.
type Finder struct {
	Names   []string
	Deps    lab.Deps
	Set     *settings.Settings
	Log     *slog.Logger
	regions map[aws.Options]*cloud.Region // that are asked once a minute for all of their instances
	overdue map[string]bool               // clones that were told of
	labs    map[string][]watch.Source     // that ran when they were looked for last
}

// Find is what is to be watched now; nothing at all is an error.
func (f *Finder) Find(ctx context.Context, inv *inventory.Inventory) ([]watch.Source, error) {
	all, err := f.find(ctx, inv)
	if err == nil && len(all) == 0 {
		err = console.UsageError{Text: "there are no instances to watch", Hint: "add clusters to " + inventory.File + ", or start one with plimsoll lab up mariadb; the cluster of a trial is watched if it is named"}
	}
	return all, err
}

func (f *Finder) find(ctx context.Context, inv *inventory.Inventory) ([]watch.Source, error) {
	names, deps, set := f.Names, f.Deps, f.Set
	all, err := f.atAWS(ctx, inv)
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		all, names = namedOf(all, names)
		if len(names) == 0 {
			return all, nil
		}
	}
	made, err := lab.List(ctx, deps)
	if err != nil {
		return nil, err
	}
	listed := document.SortedKeys(inv.Clusters)
	trials, err := underway.List(ctx, deps.Machine, deps.Home)
	if err != nil {
		return nil, err
	}
	labs, dead := f.ofLabs(made, trials)
	all = append(all, dead...)
	if len(names) > 0 {
		if listed, labs, err = choose(ctx, names, listed, labs, inv, deps); err != nil {
			return nil, err
		}
	}
	for _, name := range listed {
		of, err := inventorySources(ctx, name, inv.Clusters[name], deps, set.Queries)
		if err != nil {
			return nil, err
		}
		all = append(all, f.beside(ctx, of, name, inv.Clusters[name])...)
	}
	for _, name := range labs {
		of, err := labSources(ctx, name, home.Called(home.LabPrefix+name, inv), deps, set.Queries)
		if err != nil {
			return nil, err
		}
		if f.labs == nil {
			f.labs = map[string][]watch.Source{}
		}
		f.labs[name] = of
		all = append(all, of...)
	}
	return all, nil
}

// ofLabs are the clusters of the lab that run, and what was watched of those whose servers have died: they are down until they are taken down. Those of
// trials are left out, unless they are named: a trial kills servers on purpose.
func (f *Finder) ofLabs(made []lab.Status, trials []underway.Trial) (running []string, dead []watch.Source) {
	for _, c := range made {
		ofTrial := slices.ContainsFunc(trials, func(t underway.Trial) bool { return slices.Contains(t.Labs, c.Name) })
		switch runs := slices.ContainsFunc(c.Nodes, func(n lab.NodeStatus) bool { return n.State == lab.Running }); {
		case c.Broken != "", ofTrial && len(f.Names) == 0:
		case runs:
			running = append(running, c.Name)
		default:
			dead = append(dead, f.labs[c.Name]...)
		}
	}
	return running, dead
}

// namedOf are the sources of the clusters that are named, and the names that are left.
func namedOf(all []watch.Source, names []string) (some []watch.Source, left []string) {
	for _, name := range names {
		before := len(some)
		for _, s := range all {
			if s.Instance.Cluster == name {
				some = append(some, s)
			}
		}
		if len(some) == before {
			left = append(left, name)
		}
	}
	return some, left
}

// choose sorts names into those of the inventory and those of labs.
func choose(ctx context.Context, names, listed, labs []string, inv *inventory.Inventory, deps lab.Deps) (ofInventory, ofLabs []string, err error) {
	for _, name := range names {
		bare, isLab := strings.CutPrefix(name, home.LabPrefix)
		switch {
		case !isLab && slices.Contains(listed, bare):
			ofInventory = append(ofInventory, bare)
		case slices.Contains(labs, bare):
			ofLabs = append(ofLabs, bare)
		default:
			return nil, nil, home.NoCluster(ctx, name, inv, deps, fmt.Errorf("%s: %w that runs", bare, lab.ErrNoCluster))
		}
	}
	return ofInventory, ofLabs, nil
}

func inventorySources(ctx context.Context, name string, c inventory.Cluster, deps lab.Deps, queries []collect.Query) ([]watch.Source, error) {
	password, err := c.Password.Value(ctx, deps.Machine)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	var all []watch.Source
	for _, n := range c.Nodes {
		if n.Spare {
			continue
		}
		source, err := catalog.WatchSource(watch.Instance{
			Name: name + "/" + n.Name, Cluster: name, Node: n.Name, Address: n.Address, Environment: c.Environment, Cores: n.Cores,
		}, c.Target(n, password), queries)
		if err != nil {
			return nil, fmt.Errorf("cluster %s: %w", name, err)
		}
		if on := machineOf(c, n, deps); on != nil {
			source = withDisk(source, on)
			if reach, _ := c.MachineOf(n); reach.Pod == "" { // which sees the arrays of a machine that is not its own
				if source, err = withSuperDisks(source, on, deps); err != nil {
					return nil, err
				}
			}
		}
		if n.Volume != nil {
			source.Volume, source.Derive = n.Volume, watch.FollowStorage(storage.NewModel(*n.Volume), &storage.Week{})
		}
		all = append(all, source)
	}
	return all, nil
}

// machineOf is the machine that a node runs on; nil: it is not known.
func machineOf(c inventory.Cluster, n inventory.Node, deps lab.Deps) infra.Machine {
	if n.Machine == inventory.Local {
		return deps.Machine
	}
	reach, known := c.MachineOf(n)
	if !known {
		return nil
	}
	m, err := catalog.WatchedMachine(n.Machine, reach, deps.Machine)
	if err != nil {
		return nil // what is wrong with it, machine check says
	}
	return m
}

// withDisk adds the room where an instance keeps its data to what is read of it.
func withDisk(s watch.Source, on collect.Runner) watch.Source {
	if c := collect.Disk(s.Collectors, on); c != nil {
		s.Collectors = append(s.Collectors, c)
	}
	return s
}

// withSuperDisks adds the Super Disks of its machine.
func withSuperDisks(s watch.Source, on infra.Machine, deps lab.Deps) (watch.Source, error) {
	folder, err := superdisk.Folder(os.Getenv)
	if err != nil {
		return s, err
	}
	s.Collectors = append(s.Collectors, collect.SuperDisk(on, superdisk.Records{Machine: deps.Machine, Folder: folder}))
	return s, nil
}

func labSources(ctx context.Context, name, shown string, deps lab.Deps, queries []collect.Query) ([]watch.Source, error) {
	cluster, err := lab.Look(ctx, name, deps)
	if err != nil {
		return nil, err
	}
	space, err := deps.Machine.Space(ctx, deps.Home)
	if err != nil {
		return nil, fmt.Errorf("ask for the cores of this machine: %w", err)
	}
	var all []watch.Source
	for _, n := range cluster.Nodes() {
		target, err := cluster.Target(n.Name)
		if err != nil {
			return nil, err
		}
		source, err := catalog.WatchSource(watch.Instance{
			Name: shown + "/" + n.Name, Cluster: shown, Node: n.Name, Address: strings.Join(target.Addresses, " "), Environment: "lab", Cores: space.Cores,
		}, target, queries)
		if err != nil {
			return nil, err
		}
		on := cluster.Server(n.Name).Machine()
		source = withDisk(source, on)
		if on.Name() != deps.Machine.Name() { // whose arrays are a person's own
			if source, err = withSuperDisks(source, on, deps); err != nil {
				return nil, err
			}
		}
		all = append(all, source)
	}
	return all, nil
}
