package kube

import (
	"context"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

func enterMaintenanceAction(every time.Duration) action.Action {
	return action.Action{
		Name: "kube.enter-maintenance", Version: 1,
		About: "Takes a node out of service for manual work on its disk or its server: no client reaches it, and Kubernetes does not restart its pod. Its volume claim must stay.",
		New:   func() action.Task { return &maintenance{on: true, every: every} },
	}
}

func leaveMaintenanceAction(every time.Duration) action.Action {
	return action.Action{
		Name: "kube.leave-maintenance", Version: 1,
		About: "Puts a node back into service, and waits until its pod is ready and the ring shows it up and normal. Refused if its volume claim was deleted meanwhile.",
		New:   func() action.Task { return &maintenance{every: every} },
	}
}

type maintenance struct {
	Pod string `yaml:"pod,required" doc:"The pod of the node, without its namespace."`

	on    bool
	every time.Duration
}

var (
	_ action.Undoer   = (*maintenance)(nil)
	_ action.Verifier = (*maintenance)(nil)
)

// claimLabel is the label of a member's Service that says by its uid which claim of a volume the node had when its maintenance began.
const claimLabel = "plimsoll.claim"

// dataClaim is how scylla-operator calls the claim of a pod's data.
func dataClaim(pod string) string { return "data-" + pod }

func (a *maintenance) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// member is the Service of the pod, with its cluster.
func (a *maintenance) member(ctx context.Context, on *cluster.Cluster) (resource, kube.Object, error) {
	r, err := find(ctx, on)
	if err != nil {
		return r, nil, err
	}
	if r.operator.maintenance == "" {
		return r, nil, r.lacks("kube.enter-maintenance", "take one node out of service")
	}
	o, err := r.member(ctx, a.Pod)
	return r, o, err
}

func (r resource) maintained(member kube.Object) bool {
	return member.Get(label(r.operator.maintenance)) != nil
}

func (a *maintenance) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, o, err := a.member(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"object": r.String(), "pod": a.Pod, "maintenance": r.maintained(o)},
		Intended: action.Facts{"object": r.String(), "pod": a.Pod, "maintenance": a.on},
	}
	if r.maintained(o) == a.on {
		f.State = action.Satisfied
		return f, nil
	}
	if a.on {
		if waits, err := r.waits(ctx, on); err != nil || waits != "" {
			if err == nil {
				unsettled(&f, r, waits)
			}
			return f, err
		}
	}
	edits, err := a.edits(ctx, r, o, a.on)
	if err == nil {
		err = r.api.Try(ctx, kube.Services(r.at.Namespace), o, edits...)
	}
	return f, err
}

// edits are those of the member's Service. To begin, what would delete the claim meanwhile must be switched off; to end, the claim must be the
// one that it was.
func (a *maintenance) edits(ctx context.Context, r resource, member kube.Object, on bool) ([]kube.Edit, error) {
	if r.Deleted() {
		return nil, r.free()
	}
	claim, err := r.api.Get(ctx, kube.Claims(r.at.Namespace), dataClaim(a.Pod))
	if err != nil {
		return nil, err
	}
	switch was := member.Text(label(claimLabel)); {
	case claim.Deleted() || !on && was != "" && was != claim.UID():
		return nil, &hint.PermanentError{
			Reason: fmt.Sprintf("the volume claim %s/%s was deleted: the node in pod %s would return without its data", r.at.Namespace, claim.Name(), a.Pod),
			Advice: "have the operator replace the node, with data from the others: kube/replace-node",
		}
	case !on:
		return []kube.Edit{{Path: label(r.operator.maintenance)}, {Path: label(claimLabel)}}, nil
	case r.Is(kube.At("spec.automaticOrphanedNodeCleanup")):
		return nil, &hint.PermanentError{
			Reason: fmt.Sprintf("spec.automaticOrphanedNodeCleanup of %s is true: if the node's machine goes away, the operator deletes its volume claim by itself", r),
			Advice: "set it to false while you work on the node",
		}
	case member.Get(label(scyllaReplace)) != nil:
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("the operator is replacing the node in pod %s", a.Pod), Advice: "wait until it has"}
	}
	return []kube.Edit{{Path: label(r.operator.maintenance), Value: ""}, {Path: label(claimLabel), Value: claim.UID()}}, nil
}

func (a *maintenance) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, a.become(ctx, on, c, a.on)
}

func (a *maintenance) become(ctx context.Context, on *cluster.Cluster, c action.Call, maintained bool) error {
	r, _, err := a.member(ctx, on)
	if err != nil {
		return err
	}
	err = r.writeMember(ctx, a.Pod, func(o kube.Object) ([]kube.Edit, error) {
		if r.maintained(o) == maintained {
			return nil, nil
		}
		return a.edits(ctx, r, o, maintained)
	})
	if err != nil {
		return err
	}
	if !maintained {
		return r.await(ctx, on, a.every, c, a.serves(on))
	}
	return r.awaitOnly(ctx, a.every, c, a.away)
}

// away looks whether the pod is out of service: it runs, and is not ready.
func (a *maintenance) away(ctx context.Context, r resource) (string, error) {
	r, err := r.again(ctx)
	if err != nil {
		return "", err
	}
	o, err := r.member(ctx, a.Pod)
	if err != nil {
		return "", err
	}
	if !r.maintained(o) {
		return "", changedMeanwhileMember(a.Pod, r.operator.maintenance)
	}
	pod, err := r.api.Get(ctx, kube.Pods(r.at.Namespace), a.Pod)
	if err == nil && ready(pod) {
		return "pod " + a.Pod + " to leave service", nil
	}
	return "", err
}

// serves looks whether the node is back in the ring.
func (a *maintenance) serves(on *cluster.Cluster) look {
	return func(ctx context.Context, r resource) (string, error) {
		o, err := r.member(ctx, a.Pod)
		if err != nil {
			return "", err
		}
		if r.maintained(o) {
			return "", changedMeanwhileMember(a.Pod, r.operator.maintenance)
		}
		host := o.Text(kube.Path{"metadata", "annotations", scyllaHost})
		seen, err := ring(ctx, on)
		if err != nil {
			return "", err
		}
		if m, there := seen.Find(host); !there || !m.Up || m.Part != engine.Normal {
			return "node " + host + " to be up and normal in the ring", nil
		}
		return "", nil
	}
}

func changedMeanwhileMember(pod, label string) error {
	return &hint.PermanentError{Reason: fmt.Sprintf("somebody else changed the label %s of the Service %s", label, pod), Advice: "agree with them on it, then plimsoll runbook resume RUN"}
}

func (a *maintenance) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	if !a.on {
		return verify(ctx, on, a.serves(on))
	}
	r, _, err := a.member(ctx, on)
	if err != nil {
		return err
	}
	waits, err := a.away(ctx, r)
	if err == nil && waits != "" {
		err = fmt.Errorf("%s waits for %s", r, waits)
	}
	return err
}

func (a *maintenance) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, ok := c.Before["maintenance"].(bool)
	if !ok {
		return fmt.Errorf("whether pod %s was in maintenance was not recorded", a.Pod)
	}
	return a.become(ctx, on, c, before)
}
