package lab

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/internal/poll"
	"plimsoll/lab/forgetful"
)

// In a forgetful cluster a process of its own serves a file system that is mounted over a node's data folder while the
// server runs, and gone while it does not. It carries a mark below the node's, and the mount lies in the cluster's folder:
// both are found whatever became of the Plimsoll that made them.

func layerMark(n engine.Node) string   { return path.Join(n.Dir, "layer") }
func layerLog(n engine.Node) string    { return path.Join(n.Dir, "layer.log") }
func layerAside(n engine.Node) string  { return path.Join(n.Dir, "removed") }
func layerReport(n engine.Node) string { return path.Join(n.Dir, "forgotten.json") }

// patience is how long a layer may take to be there, or to go when nobody uses it.
const patience = time.Minute

// checkLayer refuses a forgetful cluster where there cannot be one.
func (d Deps) checkLayer(ctx context.Context) error {
	const what = "power failures and disks with limits need Plimsoll's own file system"
	if len(d.Layer) == 0 {
		return fmt.Errorf("%s, and this Plimsoll was started without the program for it", what)
	}
	run := func(program string, arguments ...string) (string, error) {
		out, err := d.Machine.Run(ctx, infra.Command{Path: program, Args: arguments})
		return strings.TrimSpace(string(out.Stdout)), err
	}
	const otherwise = "; without it, only the kill of a process (lab/kill) can be tested, on disks at full speed"
	if _, err := run("test", "-c", "/dev/fuse"); err != nil {
		return hint.With(fmt.Errorf("%s, and there is no /dev/fuse here", what), "load the kernel's module: modprobe fuse"+otherwise)
	}
	user, err := run("id", "-u")
	if err != nil {
		return fmt.Errorf("ask who runs the lab: %w", err)
	}
	if _, err := run("fusermount3", "--version"); err != nil && user != "0" {
		return hint.With(fmt.Errorf("%s, and fusermount3, which mounts it, is not installed", what), "apt-get install fuse3"+otherwise)
	}
	return nil
}

// layOver lays the layer over a node's data, if the cluster is forgetful. One that is there goes on: it is that of a server
// that ended by itself.
func (c *Cluster) layOver(ctx context.Context, m *member) error {
	if !c.record.layered() {
		return nil
	}
	if m.layer != nil {
		if alive, err := m.layer.Alive(ctx); err != nil || alive {
			return err
		}
	}
	if err := c.lift(ctx, m); err != nil {
		return err
	}
	arguments := append(slices.Clone(c.deps.Layer[1:]), m.Data(), layerAside(m.Node), layerReport(m.Node))
	if c.record.Disk != nil {
		arguments = append(arguments, diskFile(m.Node), diskState(m.Node))
	}
	p, err := c.deps.Machine.Start(ctx, infra.Command{
		Path: c.deps.Layer[0], Args: arguments,
		Dir: m.Dir, Log: layerLog(m.Node), Mark: layerMark(m.Node),
	})
	if err != nil {
		return fmt.Errorf("lay the file system over its data: %w", err)
	}
	m.layer = p
	if err := c.awaitLayer(ctx, m); err != nil {
		return errors.Join(err, c.lift(context.WithoutCancel(ctx), m))
	}
	return nil
}

// awaitLayer waits until the layer is there.
func (c *Cluster) awaitLayer(ctx context.Context, m *member) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return poll.Until(ctx, 5*time.Millisecond, func() (string, error) {
		mounted, err := layers(ctx, c.deps.Machine, m.Data())
		if err != nil || len(mounted) > 0 {
			return "", err
		}
		alive, err := m.layer.Alive(ctx)
		if err != nil {
			return "", err
		}
		if !alive {
			said, _ := infra.Tail(ctx, c.deps.Machine, layerLog(m.Node), 1<<10) // if it cannot be read it said nothing
			return "", fmt.Errorf("lay the file system over its data: %s", strings.TrimSpace(string(said)))
		}
		return "the file system is not over its data yet", nil
	})
}

// lift takes the layer from a node that does not run. All that was written stays.
func (c *Cluster) lift(ctx context.Context, m *member) error {
	if !c.record.layered() {
		return nil
	}
	if err := endLayer(ctx, m, "TERM"); err != nil {
		return err
	}
	return unmount(ctx, c.deps.Machine, m.Data())
}

// endLayer ends the process of a node's layer.
func endLayer(ctx context.Context, m *member, signal string) error {
	if m.layer == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := m.layer.Signal(ctx, signal); err != nil && !errors.Is(err, infra.ErrGone) {
		return fmt.Errorf("%s: take the file system from its data: %w", m.Name, err)
	}
	if err := m.layer.Wait(ctx); err != nil {
		return fmt.Errorf("%s: take the file system from its data: %w", m.Name, err)
	}
	m.layer = nil
	return nil
}

// layers are the paths at and below one on which a layer is mounted, whether or not its process lives.
func layers(ctx context.Context, m infra.Machine, at string) ([]string, error) {
	mounts, err := infra.Mounts(ctx, m)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, mount := range mounts {
		if mount.Type == "fuse."+forgetful.Name && (mount.Path == at || strings.HasPrefix(mount.Path, at+"/")) {
			all = append(all, mount.Path)
		}
	}
	return all, nil
}

// unmount takes away the layers at and below a path whose process has gone.
func unmount(ctx context.Context, m infra.Machine, at string) error {
	mounted, err := layers(ctx, m, at)
	if err != nil {
		return err
	}
	for _, path := range slices.Backward(mounted) {
		_, err := m.Run(ctx, infra.Command{Path: "umount", Args: []string{"-l", path}})
		if err == nil {
			continue
		}
		if _, other := m.Run(ctx, infra.Command{Path: "fusermount3", Args: []string{"-u", "-z", path}}); other != nil {
			return fmt.Errorf("unmount %s: %w", path, errors.Join(err, other))
		}
	}
	return nil
}
