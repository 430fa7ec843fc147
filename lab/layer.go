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

// layer is the file system over a node's data, in a cluster that has such layers.
type layer struct {
	*foundation
	process infra.Process // that serves it; nil: it is not there
}

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
func (l *layer) layOver(ctx context.Context, n engine.Node) error {
	if !l.record.layered() {
		return nil
	}
	if l.process != nil {
		if alive, err := l.process.Alive(ctx); err != nil || alive {
			return err
		}
	}
	if err := l.lift(ctx, n); err != nil {
		return err
	}
	arguments := append(slices.Clone(l.deps.Layer[1:]), n.Data(), layerAside(n), layerReport(n))
	if l.record.Disk != nil {
		arguments = append(arguments, diskFile(n), diskState(n))
	}
	p, err := l.deps.Machine.Start(ctx, infra.Command{
		Path: l.deps.Layer[0], Args: arguments,
		Dir: n.Dir, Log: layerLog(n), Mark: layerMark(n),
	})
	if err != nil {
		return fmt.Errorf("mount the file system over its data: %w", err)
	}
	l.process = p
	if err := l.await(ctx, n); err != nil {
		return errors.Join(err, l.lift(context.WithoutCancel(ctx), n))
	}
	return nil
}

// await waits until the layer is there.
func (l *layer) await(ctx context.Context, n engine.Node) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return poll.Until(ctx, 5*time.Millisecond, func() (string, error) {
		mounted, err := layers(ctx, l.deps.Machine, n.Data())
		if err != nil || len(mounted) > 0 {
			return "", err
		}
		alive, err := l.process.Alive(ctx)
		if err != nil {
			return "", err
		}
		if !alive {
			said, _ := infra.Tail(ctx, l.deps.Machine, layerLog(n), 1<<10) // if it cannot be read it said nothing
			return "", fmt.Errorf("mount the file system over its data: %s", strings.TrimSpace(string(said)))
		}
		return "the file system is not mounted over its data yet", nil
	})
}

// lift takes the layer from a node that does not run. All that was written stays.
func (l *layer) lift(ctx context.Context, n engine.Node) error {
	if !l.record.layered() {
		return nil
	}
	if err := l.end(ctx, n, "TERM"); err != nil {
		return err
	}
	return unmount(ctx, l.deps.Machine, n.Data())
}

// end ends the process of the layer.
func (l *layer) end(ctx context.Context, n engine.Node, signal string) error {
	if l.process == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := l.process.Signal(ctx, signal); err != nil && !errors.Is(err, infra.ErrGone) {
		return fmt.Errorf("%s: unmount the file system from its data: %w", n.Name, err)
	}
	if err := l.process.Wait(ctx); err != nil {
		return fmt.Errorf("%s: unmount the file system from its data: %w", n.Name, err)
	}
	l.process = nil
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
