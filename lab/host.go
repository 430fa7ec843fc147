package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/remote"
	"plimsoll/infra/uml"
)

// host is where a node's server and its files are: the lab's machine, or one with a kernel of its own that is called as the node is.
type host struct {
	*foundation
	name string

	mu   sync.Mutex
	line *uml.Machine // to its own machine; nil: it has none, or it was never booted
}

// own tells whether it is a machine of the node alone.
func (h *host) own() bool { return h.record.hasMachine(h.name) }

// machine is the machine of the node's server and files. What is meant for one that is not there must not be done on the lab's.
func (h *host) machine() infra.Machine {
	if !h.own() {
		return h.deps.Machine
	}
	if m := h.booted(); m != nil {
		return m
	}
	return absent(h.name)
}

// absent is a machine that was never booted.
func absent(name string) infra.Machine {
	return remote.New(name, func(context.Context) (io.ReadWriteCloser, error) { return nil, uml.ErrNotRunning }, remote.Settings{})
}

// booted is its own machine, which may have ended since; nil if there is none.
func (h *host) booted() *uml.Machine {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.line
}

func (h *host) set(m *uml.Machine) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.line = m
}

// known is its own machine, and an error with a hint if there is none.
func (h *host) known() (*uml.Machine, error) {
	if m := h.booted(); m != nil {
		return m, nil
	}
	return nil, hint.With(fmt.Errorf("node %s of cluster %s has no machine of its own", h.name, h.record.Name),
		"create a cluster with machines: plimsoll lab up "+h.record.Dist.Product+" --machines --name NAME, or cluster: {machines: {}} in a trial")
}

// folder is where its own machine is kept.
func (h *host) folder() string { return path.Join(h.record.folder, h.name) }

func (h *host) volumes() *uml.Volumes { return h.deps.volumes(h.record.Name) }

func (d Deps) volumes(of string) *uml.Volumes {
	return &uml.Volumes{
		Host: d.Machine, Folder: path.Join(d.folder(of), "volumes"), Now: d.Now,
		Machine: func(ctx context.Context, name string) (*uml.Machine, error) {
			return uml.Open(ctx, d.Machine, path.Join(d.folder(of), name))
		},
	}
}

// reach connects to the node's own machine, whether it runs or not.
func (h *host) reach(ctx context.Context) error {
	if !h.own() || h.booted() != nil {
		return nil
	}
	m, err := uml.At(ctx, h.deps.Machine, h.folder())
	if errors.Is(err, uml.ErrNotRunning) {
		return nil
	}
	h.set(m)
	return err
}

// processes are those of the node's server.
func (h *host) processes(ctx context.Context, n engine.Node) ([]infra.Process, error) {
	if h.own() {
		m := h.booted()
		if m == nil {
			return nil, nil
		}
		if running, err := m.Running(ctx); err != nil || !running {
			return nil, err
		}
	}
	return h.machine().Find(ctx, n.Dir)
}

// vanished tells whether a server is gone because its machine is.
func (h *host) vanished(ctx context.Context) bool {
	m := h.booted()
	if m == nil {
		return false
	}
	running, err := m.Running(ctx)
	return err == nil && !running
}

// leave closes the line to the node's own machine, which runs on.
func (h *host) leave() {
	if m := h.booted(); m != nil {
		_ = m.Close() // nothing is under way
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
