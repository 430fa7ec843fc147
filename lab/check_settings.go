package lab

import (
	"context"

	"plimsoll/engine"
)

// checkSettings has a server's own program, where it can be asked, refuse settings before anything is made or stopped for them, and says which
// the server rounds.
func (d Deps) checkSettings(ctx context.Context, launcher engine.Launcher, n engine.Node) error {
	checker, can := launcher.(engine.SettingsChecker)
	if !can || len(n.Config) == 0 {
		return nil
	}
	rounded, err := checker.CheckSettings(ctx, d.Machine, n)
	if err != nil {
		return err
	}
	for _, r := range rounded {
		d.say("%s", r)
	}
	return nil
}
