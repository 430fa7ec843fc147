// Package mysql holds the actions for MySQL and MariaDB.
package mysql

import (
	"slices"

	"plimsoll/runbook/action"
	"plimsoll/runbook/action/mysql/bufferpool"
	"plimsoll/runbook/action/mysql/channel"
	"plimsoll/runbook/action/mysql/replication"
)

// Actions lists them.
func Actions() []action.Action {
	return slices.Concat([]action.Action{setVariable}, bufferpool.Actions(), replication.Actions(), channel.Actions())
}
