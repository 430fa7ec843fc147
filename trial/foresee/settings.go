package foresee

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/trial/spec"
)

// SettingsOfLab has the servers' own programs read the settings of every cell and those that its changes give servers, and starts none. What is
// not installed yet is not asked. A release is asked once for all of its cells, and only if it does not take all of their settings for one after
// the other.
func SettingsOfLab(ctx context.Context, t *spec.Trial, parts spec.Parts, deps lab.Deps) []Foreseen {
	if t.Existing != nil {
		return nil
	}
	cells := map[engine.Release][]asking{}
	var releases []engine.Release
	for _, c := range t.Cells {
		release := engine.Release{Product: c.Cluster.Engine, Version: c.Cluster.Version}
		for _, a := range settingsIn(c, parts) {
			a.node.Dir = deps.Home
			same := func(other asking) bool { return maps.Equal(other.node.Config, a.node.Config) }
			if len(a.node.Config) == 0 || slices.ContainsFunc(cells[release], same) {
				continue
			}
			if cells[release] == nil {
				releases = append(releases, release)
			}
			cells[release] = append(cells[release], a)
		}
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
		for i := range cells[release] {
			cells[release][i].node.Dist = dist
			nodes = append(nodes, cells[release][i].node)
		}
		if !slices.ContainsFunc(nodes, loadsPlugin) {
			if rounded, err := checker.CheckSettings(ctx, deps.Machine, nodes...); err == nil && len(rounded) == 0 {
				continue
			}
		}
		for _, a := range cells[release] {
			rounded, err := checker.CheckSettings(ctx, deps.Machine, a.node)
			for _, r := range rounded {
				if a.own || r.Because == "" { // what a server chooses when it starts, it does not choose when it runs
					all = append(all, Foreseen{Of: a.of, Why: r.String()})
				}
			}
			switch {
			case err == nil:
			case a.own || !onlyAtStart(err):
				all = append(all, foreseen(t, a.of, err))
			default:
				all = append(all, misspelt(a.of, err)...)
			}
		}
	}
	return all
}

// onlyAtStart tells whether settings are refused as options of a server of the lab. A server that runs may take them: not every variable is an
// option too, and what a lab makes itself can be set.
func onlyAtStart(err error) bool {
	var reserved *engine.Reserved
	return engine.ClassOf(err) == engine.Missing || errors.As(err, &reserved)
}

// misspelt notes a variable that is no option of the program where one is like it. The server itself is asked before the load: not every variable is
// an option too.
func misspelt(of string, err error) []Foreseen {
	var refused *engine.RefusedSetting
	if engine.ClassOf(err) != engine.Missing || !errors.As(err, &refused) || refused.Near == "" {
		return nil
	}
	return []Foreseen{{Of: of, Why: err.Error() + " (did you mean " + refused.Near + "?)", Do: "this is from the options of the server's program; before the load, the trial asks the running server, and ends with COULD NOT RUN if that does not have the variable either"}}
}

// asking is what a server's program is asked about at once.
type asking struct {
	of   string // for people: whose settings
	own  bool   // the servers are started with them
	node engine.Node
}

// settingsIn are the settings of a cell, and then what each of its changes gives servers.
func settingsIn(c *spec.Cell, parts spec.Parts) []asking {
	node := engine.Node{
		Size: c.Cluster.Nodes, Number: 1, Name: "n1", Config: c.Cluster.Config, Alone: c.Cluster.Topology == spec.Separate,
	}
	all := []asking{{settingsOf(c.Name), true, node}}
	for _, call := range c.Calls() {
		if call.Refused != "" {
			continue
		}
		for _, given := range call.Settings(parts) {
			node.Config = given
			all = append(all, asking{"settings that " + call.Name() + " changes", false, node})
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
				continue
			}
			becomes, err := judge.Becomes(ctx, name, value)
			if err != nil {
				return all, err
			}
			if becomes != "" {
				all = append(all, Foreseen{Of: "setting " + name, Why: engine.Rounded{Setting: name, Wrote: value, Becomes: becomes}.String()})
			}
		}
	}
	return all, nil
}
