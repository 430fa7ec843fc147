package foresee

import (
	"context"
	"maps"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/trial/spec"
)

// SettingsOfLab has the servers' own programs read the settings of every cell, and starts none. What is not installed yet is not asked. A
// release is asked once for all of its cells, and only if it does not take all of their settings for one after the other.
func SettingsOfLab(ctx context.Context, t *spec.Trial, parts spec.Parts, deps lab.Deps) []Foreseen {
	if t.Existing != nil {
		return nil
	}
	type cell struct {
		name string
		node engine.Node
	}
	cells := map[engine.Release][]cell{}
	var releases []engine.Release
	for _, c := range t.Cells {
		release := engine.Release{Product: c.Cluster.Engine, Version: c.Cluster.Version}
		same := func(other cell) bool { return maps.Equal(other.node.Config, c.Cluster.Config) }
		if len(c.Cluster.Config) == 0 || slices.ContainsFunc(cells[release], same) {
			continue
		}
		if cells[release] == nil {
			releases = append(releases, release)
		}
		cells[release] = append(cells[release], cell{c.Name, engine.Node{
			Size: c.Cluster.Nodes, Number: 1, Name: "n1", Dir: deps.Home, Config: c.Cluster.Config, Alone: c.Cluster.Topology == spec.Separate,
		}})
	}
	var all []Foreseen
	for _, release := range releases {
		launcher := parts.Products[release.Product].Launcher
		checker, can := launcher.(engine.SettingsChecker)
		if !can {
			continue
		}
		dist, err := launcher.Find(ctx, deps.Machine, release, deps.Cache)
		if err != nil {
			continue // it is fetched first, or the lab says what is wrong
		}
		var nodes []engine.Node
		for _, c := range cells[release] {
			c.node.Dist = dist
			nodes = append(nodes, c.node)
		}
		if !slices.ContainsFunc(nodes, loadsPlugin) && checker.CheckSettings(ctx, deps.Machine, nodes...) == nil {
			continue
		}
		for i, c := range cells[release] {
			if err := checker.CheckSettings(ctx, deps.Machine, nodes[i]); err != nil {
				all = append(all, foreseen(t, settingsOf(c.name), err))
			}
		}
	}
	return all
}

// settingsOf names the settings of a cell, of which there may be one without a name.
func settingsOf(cell string) string {
	if cell == "" {
		return "settings"
	}
	return "settings of " + cell
}

// loadsPlugin tells whether the settings of one cell may load a plugin, which would make the program know settings that it does not know in
// another cell.
func loadsPlugin(n engine.Node) bool {
	for name := range n.Config {
		if strings.Contains(name, "plugin") {
			return true
		}
	}
	return false
}

// SettingsAt asks a server that runs which settings of the cells it does not have or take.
func SettingsAt(ctx context.Context, t *spec.Trial, db engine.Database) ([]Foreseen, error) {
	judge, can := engine.As[engine.Configurable](db)
	if !can {
		return nil, nil
	}
	var all []Foreseen
	seen := map[string]bool{}
	for _, c := range t.Cells {
		for _, name := range slices.Sorted(maps.Keys(c.Cluster.Config)) {
			value := c.Cluster.Config[name]
			if seen[name+"="+value] || name == "log_bin" || strings.HasPrefix(name, "loose_") { // which the lab translates; which may be missing
				continue
			}
			seen[name+"="+value] = true
			why, err := judge.WhyInvalid(ctx, name, value)
			if err != nil {
				return all, err
			}
			if why != "" {
				all = append(all, Foreseen{Of: "setting " + name, Why: why, Must: true})
			}
		}
	}
	return all, nil
}
