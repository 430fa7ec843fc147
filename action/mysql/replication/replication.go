// Package replication holds the actions that change which server of a MySQL or MariaDB cluster is the primary, and which
// follow it.
package replication

import "plimsoll/action"

// Actions lists them.
func Actions() []action.Action {
	return []action.Action{
		applyRelayLogAction, caughtUpAction, checkSwitchoverAction, cloneAction, confirmDeadAction, copyAction, demoteAction,
		detachAction, fenceAction, pickDonorAction, pickReplicaAction, promoteAction, replicateAction, repointAction,
	}
}

// notKept is what is shown when nothing is kept for after a restart.
const notKept = "NULL"
