package action

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/hint"
)

// Operated refuses what would put an operator of Kubernetes out of step: it does this itself, and takes back what others do. It may be done
// while a person has paused the operator. instead is the runbook that asks the operator for it; "" if there is none.
func Operated(ctx context.Context, on *cluster.Cluster, what, instead string) error {
	k := on.Kubernetes
	if k == nil {
		return nil
	}
	if k.Paused != nil {
		if paused, err := k.Paused(ctx); err != nil || paused {
			return err
		}
	}
	advice := "pause the operator first: plimsoll runbook run kube/pause --cluster " + on.Name
	if instead != "" {
		advice = "make the change through the operator: plimsoll runbook run " + instead + " --cluster " + on.Name
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("an operator of Kubernetes runs cluster %s and could revert this step, which would %s", on.Name, what), Advice: advice}
}
