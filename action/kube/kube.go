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
type site struct {
	kube.Object
	api      kube.API
	at       cluster.Kubernetes
	operator operator
	kind     kube.Kind
}

// find reads the object of a cluster.
func find(ctx context.Context, on *cluster.Cluster) (s site, err error) {
	if on.Kubernetes == nil {
		return s, &hint.PermanentError{
			Reason: fmt.Sprintf("Plimsoll does not know which object of Kubernetes cluster %s is", on.Name),
			Advice: "set it in plimsoll.yaml: kubernetes: {namespace: NAMESPACE, operator: mariadb, name: NAME}",
		}
	}
	s.at = *on.Kubernetes
	known := false
	if s.operator, known = operators[s.at.Operator]; !known {
		return s, &hint.PermanentError{Reason: fmt.Sprintf("Plimsoll does not know the operator %q", s.at.Operator)}
	}
	s.kind = s.operator.kind
	s.kind.Namespace = s.at.Namespace
	s.api = kube.NewAPI(on.Local, kube.Access{Config: s.at.Config, Context: s.at.Context})
	return s.again(ctx)
}

// again is the cluster's object as it is now.
func (s site) again(ctx context.Context) (site, error) {
	o, err := s.api.Get(ctx, s.kind, s.at.Name)
	s.Object = o
	return s, err
}

func (s site) String() string { return fmt.Sprintf("%s %s/%s", s.kind.Kind, s.at.Namespace, s.at.Name) }

// free refuses an object that the operator does not look after now, or of which somebody else keeps the fields that are meant.
func (s site) free(fields ...kube.Path) error {
	if s.Deleted() {
		return &hint.PermanentError{Reason: s.String() + " is being deleted"}
	}
	if why := s.operator.stopped(s.Object); why != "" {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s: %s, so a change would have no effect", s, why), Advice: s.operator.resume}
	}
	if s.operator.stuck != nil {
		if why := s.operator.stuck(s.Object); why != "" {
			return &hint.PermanentError{Reason: fmt.Sprintf("%s: %s", s, why), Advice: "fix that first; the operator's documentation describes how"}
		}
	}
	for _, field := range fields {
		if keeper := s.Keeper(field); keeper != "" {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("%s of %s is managed by %s, which would revert the change", field, s, keeper),
				Advice: "change it in the repository that " + keeper + " applies",
			}
		}
	}
	return nil
}

// unsettled is a check's answer while something else goes on.
func unsettled(f *action.CheckResult, s site, waits string) {
	f.State, f.Reason = action.Unknown, fmt.Sprintf("the operator is still working on an earlier change of %s: it is waiting for %s", s, waits)
}

// attempts is how often a change is judged again because others, the operator itself too, wrote the object in between.
const attempts = 5

// write makes a change of the object as it was looked at. When it was changed since, it is looked at again: it is judged anew, and edits
// returns none when the change is there.
func (s site) write(ctx context.Context, may judge, edits func(s site) ([]kube.Edit, error)) error {
	for attempt := 1; ; attempt++ {
		if may != nil {
			if err := may(s); err != nil {
				return err
			}
		}
		all, err := edits(s)
		if err != nil || len(all) == 0 {
			return err
		}
		if err := cluster.StillOurs(ctx); err != nil {
			return err
		}
		_, err = s.api.Change(ctx, s.kind, s.Object, all...)
		var conflict *kube.ConflictError
		if !errors.As(err, &conflict) || attempt == attempts {
			return err
		}
		if s, err = s.again(ctx); err != nil {
			return err
		}
	}
}
