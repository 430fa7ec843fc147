// Package mysql holds the actions for MySQL and MariaDB.
package mysql

import "plimsoll/runbook/action"

// Actions lists them.
func Actions() []action.Action {
	return []action.Action{setVariable}
}
