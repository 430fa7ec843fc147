package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/remote"
	"plimsoll/infra/uml"
)

// Volumes are those of the cluster's machines, which are called by the names of their nodes.
func (c *Cluster) Volumes() *uml.Volumes { return c.deps.volumes(c.Name()) }

func (d Deps) volumes(of string) *uml.Volumes {
	return &uml.Volumes{
		Host: d.Machine, Folder: path.Join(d.folder(of), "volumes"), Now: d.Now,
		Machine: func(ctx context.Context, name string) (*uml.Machine, error) {
			return uml.Open(ctx, d.Machine, path.Join(d.folder(of), name))
		},
	}
}

// MachineOf is where a node runs.
func (c *Cluster) MachineOf(node string) infra.Machine {
	members, err := c.pick([]string{node})
	if err != nil {
		return absent(node)
	}
	return c.on(members[0])
}

// OwnMachine is a node's machine, if it has one of its own.
func (c *Cluster) OwnMachine(node string) (*uml.Machine, error) {
	members, err := c.pick([]string{node})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if members[0].machine == nil {
		return nil, hint.With(fmt.Errorf("node %s of cluster %s has no machine of its own", node, c.Name()),
			"create the cluster with machines: lab up --machines, or cluster: {machines: {}} in a trial")
	}
	return members[0].machine, nil
}

// on is the machine of a node's server and files. What is meant for a machine that is not there must not be done on this one.
func (c *Cluster) on(m *member) infra.Machine {
	if !c.record.hasMachine(m.Name) {
		return c.deps.Machine
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.machine == nil {
		return absent(m.Name)
	}
	return m.machine
}

// absent is a machine that was never booted.
func absent(name string) infra.Machine {
	return remote.New(name, func(context.Context) (io.ReadWriteCloser, error) { return nil, uml.ErrNotRunning }, remote.Settings{})
}

func (c *Cluster) machineFolder(m *member) string { return path.Join(c.folder, m.Name) }

// reach takes a node's machine in hand, whether it runs or not.
func (c *Cluster) reach(ctx context.Context, m *member) error {
	if !c.record.hasMachine(m.Name) || m.machine != nil {
		return nil
	}
	machine, err := uml.At(ctx, c.deps.Machine, c.machineFolder(m))
	if errors.Is(err, uml.ErrNotRunning) {
		return nil
	}
	c.setMachine(m, machine)
	return err
}

func (c *Cluster) setMachine(m *member, machine *uml.Machine) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.machine = machine
}

// processes are those of a node's server.
func (c *Cluster) processes(ctx context.Context, m *member) ([]infra.Process, error) {
	if c.record.hasMachine(m.Name) {
		if m.machine == nil {
			return nil, nil
		}
		if running, err := m.machine.Running(ctx); err != nil || !running {
			return nil, err
		}
	}
	return c.on(m).Find(ctx, m.Dir)
}

// equip makes a node's machine, with empty volumes.
func (c *Cluster) equip(ctx context.Context, m *member) error {
	if !c.record.hasMachine(m.Name) {
		return nil
	}
	volumes := c.Volumes()
	for _, name := range slices.Sorted(maps.Keys(c.record.Machines.Volumes)) {
		spec := c.record.Machines.Volumes[name]
		spec.Token = m.Name + "/" + name
		spec.Tags = map[string]string{cluster.NodeTag: m.Name, cluster.VolumeTag: name}
		if _, err := volumes.Create(ctx, spec); err != nil {
			return err
		}
	}
	if err := c.boot(ctx, m); err != nil {
		return err
	}
	own, err := volumes.List(ctx, map[string]string{cluster.NodeTag: m.Name})
	if err != nil {
		return err
	}
	for _, v := range own {
		if err := volumes.Attach(ctx, v.ID, m.Name); err != nil {
			return err
		}
		if v.Tags[cluster.VolumeTag] == LocalVolume {
			c.deps.say("%s: make a file system on %s", m.Name, v.ID)
			d, err := infra.Device(ctx, m.machine, v.Serial())
			if err != nil {
				return err
			}
			if _, err := m.machine.Run(ctx, infra.Command{Path: "mkfs.xfs", Args: []string{"-q", d.Path}}); err != nil {
				return hint.With(fmt.Errorf("make a file system: %w", err), "apt-get install xfsprogs")
			}
		}
	}
	return c.mountData(ctx, m)
}

// raise has a node's machine run, with the volumes that it had and its data where it belongs.
func (c *Cluster) raise(ctx context.Context, m *member) error {
	if !c.record.hasMachine(m.Name) {
		return nil
	}
	if err := c.reach(ctx, m); err != nil {
		return err
	}
	if err := c.boot(ctx, m); err != nil {
		return err
	}
	return c.mountData(ctx, m)
}

// Boot starts machines that do not run, with the volumes that they had. Servers are not started.
func (c *Cluster) Boot(ctx context.Context, nodes ...string) error {
	return c.each(ctx, nodes, func(ctx context.Context, m *member) error {
		if !c.record.hasMachine(m.Name) {
			return fmt.Errorf("node %s of cluster %s has no machine of its own", m.Name, c.Name())
		}
		return errors.Join(c.reach(ctx, m), c.boot(ctx, m))
	})
}

// boot starts a machine that does not run.
func (c *Cluster) boot(ctx context.Context, m *member) error {
	if m.machine != nil {
		if running, err := m.machine.Running(ctx); err != nil || running {
			return err
		}
		if err := m.machine.Close(); err != nil {
			return err
		}
	}
	kernel, err := uml.Fetch(ctx, c.deps.Machine, c.deps.Cache, c.deps.Say)
	if err != nil {
		return err
	}
	address, err := netip.ParseAddr(m.Address)
	if err != nil {
		return err
	}
	c.deps.say("%s: boot its machine", m.Name)
	folder := c.machineFolder(m)
	if err := uml.End(ctx, c.deps.Machine, folder); err != nil { // what may be left of one that was killed
		return err
	}
	machine, err := uml.Boot(ctx, c.deps.Machine, folder, uml.Spec{
		Name: m.Name, Memory: c.record.Machines.Memory, Address: address, Kernel: kernel, Program: c.deps.Monitor, Mark: folder,
		Shared: []string{c.deps.Cache, path.Dir(m.Dist.Root), path.Dir(c.deps.Monitor[0])}, // this program copies a leg there, too
	})
	if err != nil {
		return err
	}
	c.setMachine(m, machine)
	ports := []int{m.Port}
	if more, ok := c.launcher.(engine.Meshed); ok {
		ports = append(ports, more.PeerPorts(m.Node)...)
	}
	for _, port := range ports {
		if err := machine.Expose(ctx, port); err != nil {
			return err
		}
	}
	volumes := c.Volumes()
	all, err := volumes.List(ctx, nil)
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.Machine == m.Name {
			if err := volumes.Attach(ctx, v.ID, m.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// mountData puts the data where it belongs, unless something is there: the local volume, if it holds a file system by itself.
func (c *Cluster) mountData(ctx context.Context, m *member) error {
	local, err := c.Volumes().List(ctx, map[string]string{cluster.NodeTag: m.Name, cluster.VolumeTag: LocalVolume})
	if err != nil {
		return err
	}
	device := ""
	for _, v := range local {
		if d, err := infra.Device(ctx, m.machine, v.Serial()); err == nil && v.Machine == m.Name && len(d.Holders) == 0 {
			device = d.Path
		}
	}
	const script = `mkdir -p "$1"; grep -q " $1 " /proc/self/mounts || mount -t xfs -o noatime "$2" "$1"`
	if _, err := m.machine.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", script, "sh", dataMount, device}}); err != nil {
		return hint.With(fmt.Errorf("mount its data: %w", err),
			"the local volume has no file system of its own: if its data is on an array, assemble and mount the array at "+dataMount)
	}
	return nil
}

// KillMachine ends nodes' machines at once, as the loss of an instance would: what was not on their volumes is gone.
func (c *Cluster) KillMachine(ctx context.Context, nodes ...string) error {
	return c.each(ctx, nodes, func(ctx context.Context, m *member) error {
		machine, err := c.OwnMachine(m.Name)
		if err != nil {
			return err
		}
		c.mu.Lock()
		m.forget()
		c.mu.Unlock()
		c.deps.say("%s: kill its machine", m.Name)
		return machine.Kill(ctx)
	})
}

// scrap takes a node's machine away, with its volumes.
func (c *Cluster) scrap(ctx context.Context, m *member) error {
	if !c.record.hasMachine(m.Name) {
		return nil
	}
	if m.machine != nil {
		if err := m.machine.Close(); err != nil {
			return err
		}
		c.setMachine(m, nil)
	}
	if err := uml.End(ctx, c.deps.Machine, c.machineFolder(m)); err != nil {
		return err
	}
	volumes := c.Volumes()
	all, err := volumes.List(ctx, nil)
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.Machine == m.Name {
			if err := volumes.ForceDetach(ctx, v.ID, m.Name); err != nil {
				return err
			}
			v.Machine = ""
		}
		if v.Tags[cluster.NodeTag] == m.Name && v.Machine == "" {
			if err := volumes.Delete(ctx, v.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// vanished tells whether a server is gone because its machine is.
func (c *Cluster) vanished(ctx context.Context, m *member) bool {
	c.mu.Lock()
	machine := m.machine
	c.mu.Unlock()
	if machine == nil {
		return false
	}
	running, err := machine.Running(ctx)
	return err == nil && !running
}

// leave closes the lines to machines, which run on.
func (c *Cluster) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.members {
		if m.machine != nil {
			_ = m.machine.Close() // nothing is under way
		}
	}
}

// machineStates tells which nodes' machines run, and their servers.
func (d Deps) machineStates(ctx context.Context, r *record, nodes []NodeStatus) {
	for i := range nodes {
		if !r.hasMachine(nodes[i].Name) {
			continue
		}
		nodes[i].State, nodes[i].PID, nodes[i].Machine = Stopped, 0, Stopped
		m, err := uml.Open(ctx, d.Machine, path.Join(d.folder(r.Name), nodes[i].Name))
		if err != nil {
			continue // it does not run
		}
		nodes[i].Machine = Running
		found, err := m.Find(ctx, dataMount)
		if err == nil {
			for _, p := range found {
				if p.Leads() && !strings.Contains(strings.TrimPrefix(p.Mark(), dataMount), "/") {
					nodes[i].State, nodes[i].PID = Running, p.ID()
				}
			}
		}
		_ = m.Close() // it was only asked
	}
}
