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
	"plimsoll/infra"
)

const (
	// mostTemplates is how many empty data folders are kept, of some 100 MB each. A person needs a few; this project's tests need a dozen.
	mostTemplates = 16
	// templateTime is how long another may take to make one before a node is given its own.
	templateTime = time.Minute
)

// makeData makes the node's empty data folder. Where servers can begin with a copy, what a server made once is kept in the cache and
// copied (docs/decisions/278): to make it takes MySQL two seconds of a processor.
func (m *member) makeData(ctx context.Context) error {
	launcher, ok := m.launcher.(engine.Cloner)
	if !ok || m.host.own() {
		return m.launcher.Init(ctx, m.host.machine(), m.Node)
	}
	name := launcher.Template(m.Node)
	if name == "" {
		return m.launcher.Init(ctx, m.deps.Machine, m.Node)
	}
	t := template{deps: m.deps, launcher: m.launcher, cloner: launcher, node: m.Node}
	t.node.Dir = path.Join(t.folder(), name)
	there, err := t.there(ctx)
	if err != nil {
		return err
	}
	if !there {
		if made, err := t.make(ctx, m); made || err != nil {
			return err
		}
	}
	return launcher.Clone(ctx, m.deps.Machine, t.node, m.Node)
}

// template is an empty data folder that nodes begin with a copy of. It stands where the data of a node of that folder would.
type template struct {
	deps     Deps
	launcher engine.Launcher
	cloner   engine.Cloner // the launcher too
	node     engine.Node
}

// folder is that of all templates.
func (t template) folder() string { return path.Join(t.deps.Cache, "empty-data") }

// there tells whether it is there; it is put in place whole.
func (t template) there(ctx context.Context) (bool, error) {
	files, err := t.deps.Machine.List(ctx, t.node.Data())
	if err != nil {
		return false, fmt.Errorf("look for an empty data folder: %w", err)
	}
	return len(files) > 0, nil
}

// make makes the node's own data folder and keeps a copy of it as the template, unless there are too many or somebody else is making
// it. Then it waits for that one; made is false if the template is there by now and the node has nothing yet.
func (t template) make(ctx context.Context, m *member) (made bool, err error) {
	if err := t.deps.Machine.MakeDir(ctx, t.folder()); err != nil {
		return false, fmt.Errorf("make the folder of empty data: %w", err)
	}
	patient, cancel := context.WithTimeout(ctx, templateTime)
	defer cancel()
	release, err := t.deps.Machine.Lock(patient, t.node.Dir+".lock")
	if errors.Is(err, infra.ErrLocked) && ctx.Err() == nil {
		return true, t.launcher.Init(ctx, t.deps.Machine, m.Node)
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if there, err := t.there(ctx); there || err != nil {
		return false, err
	}
	if err := t.launcher.Init(ctx, t.deps.Machine, m.Node); err != nil {
		return true, err
	}
	if err := t.keep(ctx, m.Node); err != nil { // the node has what it needs
		t.deps.say("%s: its empty data folder is not kept for others: %v", m.Name, err)
	}
	return true, nil
}

// keep keeps a copy of a node's data, which is still empty.
func (t template) keep(ctx context.Context, from engine.Node) error {
	all, err := t.deps.Machine.List(ctx, t.folder())
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(name string) bool { return strings.HasSuffix(name, ".lock") })
	if len(all) >= mostTemplates {
		return nil
	}
	if err := t.deps.Machine.MakeDir(ctx, t.node.Dir); err != nil {
		return err
	}
	return t.cloner.Clone(ctx, t.deps.Machine, from, t.node)
}
