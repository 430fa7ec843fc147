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
	templated, ok := m.launcher.(engine.Templated)
	if !ok || m.host.own() {
		return m.launcher.Init(ctx, m.host.machine(), m.Node)
	}
	name := templated.Template(m.Node)
	if name == "" {
		return m.launcher.Init(ctx, m.deps.Machine, m.Node)
	}
	template := m.Node
	template.Dir = path.Join(m.deps.templates(), name)
	there, err := m.deps.hasTemplate(ctx, template)
	if err != nil {
		return err
	}
	if !there {
		if made, err := m.makeTemplate(ctx, template); made || err != nil {
			return err
		}
	}
	return templated.Clone(ctx, m.deps.Machine, template, m.Node)
}

// makeTemplate makes the node's own data folder and keeps a copy of it as the template, unless there are too many or somebody else is
// making it. Then it waits for that one; made is false if the template is there by now and the node has nothing yet.
func (m *member) makeTemplate(ctx context.Context, template engine.Node) (made bool, err error) {
	if err := m.deps.Machine.MakeDir(ctx, m.deps.templates()); err != nil {
		return false, fmt.Errorf("make the folder of empty data: %w", err)
	}
	patient, cancel := context.WithTimeout(ctx, templateTime)
	defer cancel()
	release, err := m.deps.Machine.Lock(patient, template.Dir+".lock")
	if errors.Is(err, infra.ErrLocked) && ctx.Err() == nil {
		return true, m.launcher.Init(ctx, m.deps.Machine, m.Node)
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if there, err := m.deps.hasTemplate(ctx, template); there || err != nil {
		return false, err
	}
	if err := m.launcher.Init(ctx, m.deps.Machine, m.Node); err != nil {
		return true, err
	}
	if err := m.keepTemplate(ctx, template); err != nil { // the node has what it needs
		m.deps.say("%s: its empty data folder is not kept for others: %v", m.Name, err)
	}
	return true, nil
}

// keepTemplate keeps a copy of the node's data, which is still empty.
func (m *member) keepTemplate(ctx context.Context, template engine.Node) error {
	all, err := m.deps.Machine.List(ctx, m.deps.templates())
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(name string) bool { return strings.HasSuffix(name, ".lock") })
	if len(all) >= mostTemplates {
		return nil
	}
	if err := m.deps.Machine.MakeDir(ctx, template.Dir); err != nil {
		return err
	}
	return m.launcher.(engine.Templated).Clone(ctx, m.deps.Machine, m.Node, template)
}

// templates is the folder of empty data folders, each made once by a server.
func (d Deps) templates() string { return path.Join(d.Cache, "empty-data") }

// hasTemplate tells whether a template is there; it is put in place whole.
func (d Deps) hasTemplate(ctx context.Context, template engine.Node) (bool, error) {
	files, err := d.Machine.List(ctx, template.Data())
	if err != nil {
		return false, fmt.Errorf("look for an empty data folder: %w", err)
	}
	return len(files) > 0, nil
}
