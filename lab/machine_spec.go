package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
)

// Machines says which nodes of a cluster have a machine with a kernel of its own, and what that is like.
type Machines struct {
	On      []string                    `json:"on,omitempty"` // nodes by name, those too that are made later; none: all. The servers of the others are processes of the lab's machine
	Memory  int64                       `json:"memory"`       // bytes of each; 0: what the server needs and 1 GiB at least
	Volumes map[string]infra.VolumeSpec `json:"volumes"`      // of each, by their names; local, 4 GiB unless it is said, holds the data
}

// LocalVolume is the volume of a machine that holds its server's data, unless somebody moves it.
const LocalVolume = "local"

// dataMount is where the data lies in a machine, whatever it lies on.
const dataMount = "/mnt/data"

func (m Machines) withDefaults() (Machines, error) {
	m.Volumes = maps.Clone(m.Volumes)
	if m.Volumes == nil {
		m.Volumes = map[string]infra.VolumeSpec{}
	}
	if m.Volumes[LocalVolume].Size == 0 {
		local := m.Volumes[LocalVolume]
		local.Size = 4 << 30
		m.Volumes[LocalVolume] = local
	}
	if m.Memory != 0 && m.Memory < 512<<20 {
		return m, fmt.Errorf("%s of memory for a machine, expected 512 MiB at least", SizeText(m.Memory))
	}
	for _, node := range m.On {
		if !validNode.MatchString(node) {
			return m, fmt.Errorf("a machine for node %q: nodes of a lab are called n1, n2, …", node)
		}
	}
	for name, v := range m.Volumes {
		if !validName.MatchString(name) {
			return m, fmt.Errorf("volume name %q, expected lower-case letters, digits and hyphens", name)
		}
		if v.Size < 320<<20 || v.Size%(1<<20) != 0 {
			return m, fmt.Errorf("volume %s of %d bytes, expected whole MiB and 320 at least", name, v.Size)
		}
	}
	return m, nil
}

var validNode = regexp.MustCompile(`^n[1-9][0-9]?$`)

// hasMachine tells whether a node has a machine of its own.
func (r *record) hasMachine(node string) bool {
	return r.Machines != nil && (len(r.Machines.On) == 0 || slices.Contains(r.Machines.On, node))
}

// machines counts the nodes that have one.
func (r *record) machines() (count int) {
	for _, n := range r.Nodes {
		if r.hasMachine(n.name()) {
			count++
		}
	}
	return count
}

// A kernel and what answers in it take an eighth of a machine's memory, and beside that so much.
const besideServer = 96 << 20

// forServer is what a machine leaves to its server.
func (m *Machines) forServer() int64 { return m.Memory - m.Memory/8 - besideServer }

// fit gives machines of which nobody said it the memory that a server needs, in steps of a quarter of a GiB.
func (m *Machines) fit(launcher engine.Launcher, n engine.Node) error {
	if m.Memory != 0 {
		return nil
	}
	n.Memory, n.Confined = 0, true
	needs, err := launcher.Needs(n)
	if err != nil {
		return InputError{fmt.Errorf("%s: %w", n.Name, err)}
	}
	const step = 256 << 20
	m.Memory = max(1<<30, ((needs.Memory+besideServer)*8/7+step-1)/step*step)
	return nil
}

// checkMachines refuses machines for which there is no room or no program.
func (d Deps) checkMachines(ctx context.Context, r *record) error {
	nodes, m := r.machines(), r.Machines
	if len(d.Monitor) == 0 {
		return errors.New("machines of their own need the plimsoll program, and this process was started without it")
	}
	space, err := d.Machine.Space(ctx, d.clusters())
	if err != nil {
		return err
	}
	if all := int64(nodes) * m.Memory; all > space.MemoryFree {
		return hint.With(fmt.Errorf("%w: %s would need %s, and %s is free", ErrTooLittleMemory, count(nodes), SizeText(all), SizeText(space.MemoryFree)),
			"give machines less memory, or use fewer nodes")
	}
	return nil
}
