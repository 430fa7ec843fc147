// Package singlestore holds the actions that make a SingleStore cluster larger and smaller: they give orders by sdb-admin and SQL
// and wait on what the cluster shows. Written from SingleStore's documentation and tested on a stand-in alone, because no
// SingleStore could be had; what each action says of itself says so too.
package singlestore

import "plimsoll/action"

// Actions lists them.
func Actions() []action.Action {
	return []action.Action{createAction, addAction, rebalanceAction, removeAction, deleteAction, wholeAction}
}

// untried ends what every action says of itself.
const untried = " Experimental: tested on a stand-in, not on SingleStore."
