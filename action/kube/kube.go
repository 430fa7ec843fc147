// Package kube changes clusters that an operator of Kubernetes runs, in the operator's own way: by fields of its object, or by a task for
// it. What belongs to the operator, pods and StatefulSets, is left to it. What was done is told by what the operator says of the last
// change, by the pods, and by the database itself.
package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// DefaultEvery is the time between two looks at what an operator does, which takes minutes.
const DefaultEvery = 5 * time.Second

// Actions lists what operators can be asked for.
func Actions(every time.Duration) []action.Action {
	return []action.Action{
		scaleAction(every), restartAction(every), parameterAction(every), switchoverAction(every), replaceAction(every), pauseAction(every), resumeAction(every),
		enterMaintenanceAction(every), leaveMaintenanceAction(every),
	}
}

// site is a cluster's object as it was read, with the operator that runs it.
type resource struct {
	kube.Object
	api      kube.API
	at       cluster.Kubernetes
	operator operator
	kind     kube.Kind
}

// find reads the object of a cluster.
func find(ctx context.Context, on *cluster.Cluster) (r resource, err error) {
	if on.Kubernetes == nil {
		return r, &hint.PermanentError{
			Reason: fmt.Sprintf("Plimsoll does not know which object of Kubernetes cluster %s is", on.Name),
			Advice: "set it in plimsoll.yaml: kubernetes: {namespace: NAMESPACE, operator: mariadb, name: NAME}",
		}
	}
	r.at = *on.Kubernetes
	known := false
	if r.operator, known = operators[r.at.Operator]; !known {
		return r, &hint.PermanentError{Reason: fmt.Sprintf("Plimsoll does not know the operator %q", r.at.Operator)}
	}
	r.kind = r.operator.kind
	r.kind.Namespace = r.at.Namespace
	r.api = kube.NewAPI(on.Local, kube.Access{Config: r.at.Config, Context: r.at.Context})
	return r.again(ctx)
}

// again is the cluster's object as it is now.
func (r resource) again(ctx context.Context) (resource, error) {
	o, err := r.api.Get(ctx, r.kind, r.at.Name)
	r.Object = o
	return r, err
}

func (r resource) String() string {
	return fmt.Sprintf("%s %s/%s", r.kind.Kind, r.at.Namespace, r.at.Name)
}

// free refuses an object that the operator does not look after now, or of which somebody else keeps the fields that are meant.
func (r resource) free(fields ...kube.Path) error {
	if r.Deleted() {
		return &hint.PermanentError{Reason: r.String() + " is being deleted"}
	}
	if why := r.operator.stopped(r.Object); why != "" {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s: %s, so a change would have no effect", r, why), Advice: r.operator.resume}
	}
	if r.operator.stuck != nil {
		if why := r.operator.stuck(r.Object); why != "" {
			return &hint.PermanentError{Reason: fmt.Sprintf("%s: %s", r, why), Advice: "fix that first; the operator's documentation describes how"}
		}
	}
	for _, field := range fields {
		if keeper := r.Keeper(field); keeper != "" {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("%s of %s is managed by %s, which would revert the change", field, r, keeper),
				Advice: "change it in the repository that " + keeper + " applies",
			}
		}
	}
	return nil
}

// unsettled is a check's answer while something else goes on.
func unsettled(f *action.CheckResult, r resource, waits string) {
	f.State, f.Reason = action.Unknown, fmt.Sprintf("the operator is still working on an earlier change of %s: it is waiting for %s", r, waits)
}

// attempts is how often a change is judged again because others, the operator itself too, wrote the object in between.
const attempts = 5

// write makes a change of the object as it was looked at. When it was changed since, it is looked at again: it is judged anew, and edits
// returns none when the change is there.
func (r resource) write(ctx context.Context, may judge, edits func(r resource) ([]kube.Edit, error)) error {
	for attempt := 1; ; attempt++ {
		if may != nil {
			if err := may(r); err != nil {
				return err
			}
		}
		all, err := edits(r)
		if err != nil || len(all) == 0 {
			return err
		}
		if err := cluster.StillOurs(ctx); err != nil {
			return err
		}
		_, err = r.api.Change(ctx, r.kind, r.Object, all...)
		var conflict *kube.ConflictError
		if !errors.As(err, &conflict) || attempt == attempts {
			return err
		}
		if r, err = r.again(ctx); err != nil {
			return err
		}
	}
}
