package catalog

import (
	"slices"

	"plimsoll/runbook"
	"plimsoll/runbook/action"
	"plimsoll/runbook/action/mysql"
)

// Actions are what the steps of a runbook can use.
func Actions() []action.Action {
	return slices.Concat(
		action.Generic(),
		action.Servers(),
		mysql.Actions(),
	)
}

// Marker keeps a run's claim in a cluster itself, where the engine has a place for it; nil where it has none.
func Marker(site *action.Site) runbook.Marker {
	if site.Engine != nil && site.Engine.Name() == "mysql" {
		return mysql.Marker{Site: site}
	}
	return nil
}
