package foresee

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/trial/spec"
)

// SettingsOfLab has the servers' own programs read the settings of every cell, and starts none. What is not installed yet is not asked.
func SettingsOfLab(ctx context.Context, t *spec.Trial, parts spec.Parts, deps lab.Deps) []Foreseen {
	if t.Existing != nil {
		return nil
	}
	var all []Foreseen
	var asked []string
	for _, c := range t.Cells {
		key := fmt.Sprint(c.Cluster.Engine, c.Cluster.Version, c.Cluster.Config)
		if len(c.Cluster.Config) == 0 || slices.Contains(asked, key) {
			continue
		}
		asked = append(asked, key)
		launcher := parts.Products[c.Cluster.Engine].Launcher
		checker, can := launcher.(engine.SettingsChecker)
		if !can {
			continue
		}
		dist, err := launcher.Find(ctx, deps.Machine, engine.Release{Product: c.Cluster.Engine, Version: c.Cluster.Version}, deps.Cache)
		if err != nil {
			continue // it is fetched first, or the lab says what is wrong
		}
		node := engine.Node{
			Size: c.Cluster.Nodes, Number: 1, Name: "n1", Dir: deps.Home, Config: c.Cluster.Config, Dist: dist, Alone: c.Cluster.Topology == spec.Separate,
		}
		if err := checker.CheckSettings(ctx, deps.Machine, node); err != nil {
			all = append(all, foreseen(t, strings.TrimSpace("settings of "+c.Name), err))
		}
	}
	return all
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
