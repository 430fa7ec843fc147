// Package cql holds the actions for rings of Cassandra and ScyllaDB: they give orders by nodetool and wait on what the members
// say over the protocol. Tested on Cassandra 5; ScyllaDB is not.
package cql

import "plimsoll/action"

// Actions lists them.
func Actions() []action.Action {
	return []action.Action{joinAction, decommissionAction, drainAction, startAction, cleanupAction, repairAction, wholeAction, settingAction,
		mayReturnAction, returnedAction, mayRetireAction}
}
