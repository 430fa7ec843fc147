package foresee

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/catalog"
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
				return nil, &engine.Error{Kind: engine.Missing, Text: fmt.Sprintf("%s: there is no setting %s", n.Dist.Exact, name)}
			}
		}
		switch n.Config["known"] {
		case "1500":
			return []engine.Rounded{{Setting: "known", Wrote: "1500", Becomes: "1024"}}, nil
		case "abc":
			return nil, errors.New("known cannot be abc: valid is a number")
		case "2000":
			return []engine.Rounded{{Setting: "known", Wrote: "2000", Becomes: "8161", Because: "it follows"}}, nil
		case "made":
			return nil, fmt.Errorf("n1: %w", &engine.Reserved{Setting: "known", Why: "Plimsoll sets it"})
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

// What a change gives servers is read as their own settings are, and what a server rounds is told without a refusal. A variable that can be set
// need not be an option too.
func TestSettingsThatAChangeGivesAreRead(t *testing.T) {
	parts := catalog.Parts()
	product := parts.Products["mariadb"]
	product.Launcher = &asked{Launcher: product.Launcher}
	parts.Products["mariadb"] = product
	for _, c := range []struct{ config, change, of, why string }{
		{"{known: 1}", "mysql/set-variable, with: {name: known, value: 2}", "", ""},
		{"{known: 1500}", "lab/restart", "settings", "the server rounds known = 1500 and would run with 1024"},
		{"{known: abc}", "lab/restart", "settings", "known cannot be abc: valid is a number"},
		{"{known: 1}", "mysql/set-variable, with: {name: known, value: abc}", "settings that mysql/set-variable changes", "known cannot be abc: valid is a number"},
		{"{known: 1}", "mysql.set-variable, with: {name: known, value: abc}", "settings that mysql.set-variable changes", "known cannot be abc: valid is a number"},
		{"{known: 1}", "lab/reconfigure, with: {node: n1, config: {known: abc}}", "settings that lab/reconfigure changes", "known cannot be abc: valid is a number"},
		// What a server chooses when it starts, and what a lab makes itself: a change of a server that runs is left to it.
		{"{known: 2000}", "lab/restart", "settings", "the server would run with known = 8161 instead of 2000: it follows"},
		{"{known: 1}", "mysql/set-variable, with: {name: known, value: 2000}", "", ""},
		{"{known: made}", "lab/restart", "settings", "n1: setting known cannot be changed: Plimsoll sets it"},
		{"{known: 1}", "mysql/set-variable, with: {name: known, value: made}", "", ""},
		{"{known: 1}", "mysql/set-variable, with: {name: no_option, value: 1}", "", ""},
	} {
		text := "trial: t\ncluster: {engine: mariadb, config: " + c.config + "}\nload: {workload: oltp_point_select}\n" +
			"timeline: [{baseline: 10s}, {run: " + c.change + "}, {recovery: 10s}]\nexpect: [errors == 0]\n"
		trial, err := spec.Parse("trial.yaml", []byte(text), spec.Options{}, parts)
		if err != nil {
			t.Fatal(err)
		}
		all := SettingsOfLab(t.Context(), trial, parts, lab.Deps{})
		if c.why == "" && len(all) != 0 || c.why != "" && (len(all) != 1 || all[0].Of != c.of || all[0].Why != c.why || all[0].Must != strings.Contains(c.why, "cannot")) {
			t.Errorf("%s, %s: %+v", c.config, c.change, all)
		}
	}
}
