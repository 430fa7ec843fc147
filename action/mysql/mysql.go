// Package mysql holds the actions for MySQL and MariaDB.
package mysql

import (
	"slices"

	"plimsoll/action"
	"plimsoll/action/mysql/bufferpool"
	"plimsoll/action/mysql/channel"
	"plimsoll/action/mysql/online"
	"plimsoll/action/mysql/replication"
)

// Actions lists them.
func Actions() []action.Action {
	return slices.Concat([]action.Action{setVariable}, bufferpool.Actions(), replication.Actions(), channel.Actions(), online.Actions())
}
