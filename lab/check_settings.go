package lab

import (
	"context"
	"errors"
	"maps"
	"slices"

	"plimsoll/engine"
)

// checkSettings has a server's own program, where it can be asked, refuse settings before anything is made or stopped for them, and says which
// the server rounds. It is asked once for nodes with the same settings.
func (d Deps) checkSettings(ctx context.Context, launcher engine.Launcher, nodes ...engine.Node) error {
	checker, can := launcher.(engine.SettingsChecker)
	if !can {
		return nil
	}
	for i, n := range nodes {
		same := func(other engine.Node) bool { return maps.Equal(other.Config, n.Config) }
		if len(n.Config) == 0 || slices.ContainsFunc(nodes[:i], same) {
			continue
		}
		rounded, err := checker.CheckSettings(ctx, d.Machine, n)
		if refused := (*engine.RefusedSetting)(nil); errors.As(err, &refused) {
			return InputError{err}
		}
		if err != nil {
			return err
		}
		for _, r := range rounded {
			d.say("%s", r)
		}
	}
	return nil
}

// checkChanged is that of the settings of a node that are other than those it has now: what it has, a server may have taken for years. They are
// read among all of them first, because one setting, a plugin, can make another known.
func (d Deps) checkChanged(ctx context.Context, launcher engine.Launcher, now, proposed engine.Node) error {
	changed := maps.Clone(proposed.Config)
	maps.DeleteFunc(changed, func(name, value string) bool { is, has := now.Config[name]; return has && is == value })
	if len(changed) == 0 || d.checkSettings(ctx, launcher, proposed) == nil {
		return nil
	}
	proposed.Config = changed
	return d.checkSettings(ctx, launcher, proposed)
}
