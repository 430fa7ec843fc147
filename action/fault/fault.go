// Package fault holds the faults of servers, machines and volumes that are injected in a lab, as actions. They never run in production.
package fault

import (
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
)

// Actions lists them.
func Actions() []action.Action {
	return append(OnMachines(), powerAction, diskAction, restoreAction)
}

// OnMachines lists the faults of a machine with a kernel of its own, and of its volumes.
func OnMachines() []action.Action {
	return []action.Action{
		hangAction, slowAction, failAction, fillAction, corruptAction,
		killAction, bootAction, cutAction, skewAction,
	}
}

// allowed refuses where nothing may be broken.
func allowed(on *cluster.Cluster) error {
	if on.Environment == cluster.Production {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s is in production, and faults are not for production", on.Name), Advice: "use a lab"}
	}
	return nil
}

// host is a node's machine, where it may be broken.
func host(ctx context.Context, on *cluster.Cluster, node string) (cluster.FaultProneHost, error) {
	if err := allowed(on); err != nil {
		return nil, err
	}
	return on.Host(ctx, node)
}
