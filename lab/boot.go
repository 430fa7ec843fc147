package lab

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/uml"
)

// equip makes the node's own machine, with empty volumes.
func (h *host) equip(ctx context.Context, n engine.Node) error {
	if !h.own() {
		return nil
	}
	volumes := h.volumes()
	for _, name := range slices.Sorted(maps.Keys(h.record.Machines.Volumes)) {
		spec := h.record.Machines.Volumes[name]
		spec.Token = h.name + "/" + name
		spec.Tags = map[string]string{cluster.NodeTag: h.name, cluster.VolumeTag: name}
		if _, err := volumes.Create(ctx, spec); err != nil {
			return err
		}
	}
	if err := h.boot(ctx, n); err != nil {
		return err
	}
	own, err := volumes.List(ctx, map[string]string{cluster.NodeTag: h.name})
	if err != nil {
		return err
	}
	for _, v := range own {
		if err := volumes.Attach(ctx, v.ID, h.name); err != nil {
			return err
		}
		if v.Tags[cluster.VolumeTag] == LocalVolume {
			if err := h.format(ctx, v); err != nil {
				return err
			}
		}
	}
	return h.mountData(ctx)
}

// format makes a file system on an attached volume.
func (h *host) format(ctx context.Context, v infra.Volume) error {
	h.deps.say("%s: make a file system on %s", h.name, v.ID)
	d, err := infra.Device(ctx, h.booted(), v.Serial())
	if err != nil {
		return err
	}
	if _, err := h.booted().Run(ctx, infra.Command{Path: "mkfs.xfs", Args: []string{"-q", d.Path}}); err != nil {
		return hint.With(fmt.Errorf("make a file system: %w", err), "apt-get install xfsprogs")
	}
	return nil
}

// raise has the node's own machine run, with the volumes that it had and its data where it belongs.
func (h *host) raise(ctx context.Context, n engine.Node) error {
	if !h.own() {
		return nil
	}
	if err := h.reach(ctx); err != nil {
		return err
	}
	if err := h.boot(ctx, n); err != nil {
		return err
	}
	return h.mountData(ctx)
}

// boot starts the node's own machine, if it does not run, with the volumes that it had.
func (h *host) boot(ctx context.Context, n engine.Node) error {
	if m := h.booted(); m != nil {
		if running, err := m.Running(ctx); err != nil || running {
			return err
		}
		if err := m.Close(); err != nil {
			return err
		}
	}
	kernel, err := uml.Fetch(ctx, h.deps.Machine, h.deps.Cache, h.deps.Say)
	if err != nil {
		return err
	}
	address, err := netip.ParseAddr(n.Address)
	if err != nil {
		return err
	}
	h.deps.say("%s: boot its machine", h.name)
	folder := h.folder()
	if err := uml.End(ctx, h.deps.Machine, folder); err != nil { // what may be left of one that was killed
		return err
	}
	m, err := uml.Boot(ctx, h.deps.Machine, folder, uml.Spec{
		Name: h.name, Memory: h.record.Machines.Memory, Address: address, Kernel: kernel, Program: h.deps.Monitor, Mark: folder,
		Shared: []string{h.deps.Cache, path.Dir(n.Dist.Root), path.Dir(h.deps.Monitor[0])}, // this program copies a leg there, too
	})
	if err != nil {
		return err
	}
	h.set(m)
	ports := []int{n.Port}
	if tooled, ok := h.launcher.(engine.Tooled); ok {
		ports = append(ports, tooled.PeerPorts(n)...)
	}
	for _, port := range ports {
		if err := m.Expose(ctx, port); err != nil {
			return err
		}
	}
	return h.attachAgain(ctx)
}

// attachAgain gives a machine that was booted the volumes that it had.
func (h *host) attachAgain(ctx context.Context) error {
	volumes := h.volumes()
	all, err := volumes.List(ctx, nil)
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.Machine == h.name {
			if err := volumes.Attach(ctx, v.ID, h.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// mountData puts the data where it belongs, unless something is there: the local volume, if it holds a file system by itself.
func (h *host) mountData(ctx context.Context) error {
	local, err := h.volumes().List(ctx, map[string]string{cluster.NodeTag: h.name, cluster.VolumeTag: LocalVolume})
	if err != nil {
		return err
	}
	device := ""
	for _, v := range local {
		if d, err := infra.Device(ctx, h.booted(), v.Serial()); err == nil && v.Machine == h.name && len(d.Holders) == 0 {
			device = d.Path
		}
	}
	const script = `mkdir -p "$1"; grep -q " $1 " /proc/self/mounts || mount -t xfs -o noatime "$2" "$1"`
	if _, err := h.booted().Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", script, "sh", dataMount, device}}); err != nil {
		return hint.With(fmt.Errorf("mount its data: %w", err),
			"the local volume has no file system of its own: if its data is on an array, assemble and mount the array at "+dataMount)
	}
	return nil
}

// scrap takes the node's own machine away, with its volumes.
func (h *host) scrap(ctx context.Context) error {
	if !h.own() {
		return nil
	}
	if m := h.booted(); m != nil {
		if err := m.Close(); err != nil {
			return err
		}
		h.set(nil)
	}
	if err := uml.End(ctx, h.deps.Machine, h.folder()); err != nil {
		return err
	}
	volumes := h.volumes()
	all, err := volumes.List(ctx, nil)
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.Machine == h.name {
			if err := volumes.ForceDetach(ctx, v.ID, h.name); err != nil {
				return err
			}
			v.Machine = ""
		}
		if v.Tags[cluster.NodeTag] == h.name && v.Machine == "" {
			if err := volumes.Delete(ctx, v.ID); err != nil {
				return err
			}
		}
	}
	return nil
}
