// Package channel builds replication between servers that are not one cluster: an external replica from a snapshot, a replica of several
// sources, the cut-over to a replica and the way back, and the proof that two servers hold the same rows.
package channel

import "plimsoll/action"

// Actions lists them.
func Actions() []action.Action {
	return []action.Action{
		keepBinlogs, releaseBinlogs, restoreSnapshot, attach, compareRows, cutOver, checkSources, seed, addChannel,
	}
}
