package foresee

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/lab"
	"plimsoll/trial/spec"
)

// asked is a product whose program knows one setting, and counts how often it is started.
type asked struct {
	engine.Launcher
	finds, checks int
}

func (a *asked) Find(_ context.Context, _ infra.Machine, r engine.Release, _ string) (engine.Distribution, error) {
	a.finds++
	return engine.Distribution{Release: r, Exact: "1.0"}, nil
}

func (a *asked) CheckSettings(_ context.Context, _ infra.Machine, nodes ...engine.Node) ([]engine.Rounded, error) {
	a.checks++
	for _, n := range nodes {
		for name := range n.Config {
			if n.Dist.Exact == "" || name != "known" && name != "plugin_load_add" && !(name == "audit_mode" && slices.ContainsFunc(nodes, loadsPlugin)) {
				return nil, fmt.Errorf("%s: there is no setting %s", n.Dist.Exact, name)
			}
		}
	}
	return nil, nil
}

// The program is asked once for all cells, and cell by cell only where it does not take a setting, so that the cell is named.
func TestSettingsOfAllCellsAreReadAtOnce(t *testing.T) {
	product := &asked{}
	parts := spec.Parts{Products: map[string]spec.Product{"mariadb": {Launcher: product}}}
	var trial spec.Trial
	add := func(name, setting, value string) {
		c := &spec.Cell{Cluster: spec.Cluster{Engine: "mariadb", Nodes: 1, Config: map[string]string{setting: value}}}
		c.Name = name
		trial.Cells = append(trial.Cells, c)
	}
	for i := range 12 {
		add(fmt.Sprint("cell ", i), "known", fmt.Sprint(i))
	}
	if all := SettingsOfLab(t.Context(), &trial, parts, lab.Deps{}); len(all) != 0 || product.finds != 1 || product.checks != 1 {
		t.Errorf("%v, after the program was looked for %d times and asked %d times", all, product.finds, product.checks)
	}
	add("with a plugin", "plugin_load_add", "it")
	add("without it", "audit_mode", "1")
	if all := SettingsOfLab(t.Context(), &trial, parts, lab.Deps{}); len(all) != 1 || all[0].Of != "settings of without it" {
		t.Errorf("a plugin of another cell hides that its setting is not known: %+v", all)
	}
	trial.Cells = nil
	add("", "unknown", "1")
	if all := SettingsOfLab(t.Context(), &trial, parts, lab.Deps{}); len(all) != 1 || all[0].Of != "settings" {
		t.Errorf("a cell without a name: %+v", all)
	}
	trial.Cells = nil
	for i := range 12 {
		add(fmt.Sprint("cell ", i), "known", fmt.Sprint(i))
	}
	product.finds, product.checks = 0, 0
	add("the odd one", "unknown", "1")
	add("another like it", "unknown", "1")
	all := SettingsOfLab(t.Context(), &trial, parts, lab.Deps{})
	if len(all) != 1 || all[0].Of != "settings of the odd one" || all[0].Why != "1.0: there is no setting unknown" || !all[0].Must {
		t.Errorf("%+v", all)
	}
}
