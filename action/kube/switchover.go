package kube

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

func switchoverAction(every time.Duration) action.Action {
	return action.Action{
		Name: "kube.switchover", Version: 1, About: "Makes another pod the primary through its operator, and waits until the operator and the servers confirm it.",
		New: func() action.Task { return &switchover{every: every} },
	}
}

type switchover struct {
	Pod string `yaml:"pod,required" doc:"The new primary's pod, without its namespace."`

	every time.Duration
}

var (
	_ action.Undoer         = (*switchover)(nil)
	_ action.Verifier       = (*switchover)(nil)
	_ action.InFlightWaiter = (*switchover)(nil)
)

func (a *switchover) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// index is the number of a pod among those of the object.
func index(r resource, pod string) (int64, error) {
	ordinal, is := strings.CutPrefix(pod, r.at.Name+"-")
	n, err := strconv.ParseInt(ordinal, 10, 32)
	if size, _ := r.wanted(); !is || err != nil || n < 0 || n >= size {
		return 0, &hint.PermanentError{Reason: fmt.Sprintf("%s has no pod %s", r, pod), Advice: fmt.Sprintf("its pods are %s-0 to %s-%d", r.at.Name, r.at.Name, size-1)}
	}
	return n, nil
}

func (a *switchover) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, err := find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"object": r.String(), "uid": r.UID(), "primary": r.Text(kube.At("status.currentPrimary"))},
		Intended: action.Facts{"object": r.String(), "primary": a.Pod},
	}
	edits, err := a.edits(r, a.Pod)
	if err != nil {
		return f, err
	}
	waits, err := r.waits(ctx, on)
	switch {
	case err != nil:
		return f, err
	case len(edits) == 0 && waits == "":
		if waits, err = a.leads(ctx, on, r, a.Pod); err == nil && waits == "" {
			f.State = action.Satisfied
		}
		return f, err
	case len(edits) == 0: // asked for already
		f.Reason = "the operator is still waiting for " + waits
		return f, nil
	case waits != "":
		unsettled(&f, r, waits)
		return f, nil
	}
	return f, r.api.Try(ctx, r.kind, r.Object, edits...)
}

// edits are those that ask for the primary; none if it is asked for.
func (a *switchover) edits(r resource, pod string) ([]kube.Edit, error) {
	if r.operator.primary == nil {
		return nil, r.lacks("kube.switchover", "choose a primary")
	}
	field, err := r.operator.primary(r.Object)
	if err != nil {
		return nil, err
	}
	to, err := index(r, pod)
	if err != nil {
		return nil, err
	}
	if err := r.free(field); err != nil {
		return nil, err
	}
	if wanted, said := r.Int(field); said && wanted == to {
		return nil, nil
	}
	return []kube.Edit{{Path: field, Value: to}}, nil
}

func (a *switchover) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, a.become(ctx, on, c, a.Pod, nil)
}

func (a *switchover) become(ctx context.Context, on *cluster.Cluster, c action.Call, pod string, may judge) error {
	r, err := find(ctx, on)
	if err != nil {
		return err
	}
	if err := r.write(ctx, may, func(r resource) ([]kube.Edit, error) { return a.edits(r, pod) }); err != nil {
		return err
	}
	return r.await(ctx, on, a.every, c, func(ctx context.Context, r resource) (string, error) { return a.leads(ctx, on, r, pod) })
}

// leads tells what is waited for until a pod is the primary, in the operator's eyes and by what the servers say.
func (a *switchover) leads(ctx context.Context, on *cluster.Cluster, r resource, pod string) (string, error) {
	want, err := index(r, pod)
	if err != nil {
		return "", err
	}
	field, err := r.operator.primary(r.Object)
	if err != nil {
		return "", err
	}
	if wanted, _ := r.Int(field); wanted != want {
		return "", changedMeanwhile(r, field, want)
	}
	if is, known := r.Int(currentPrimary); !known || is != want {
		return "pod " + pod + " to become the primary; now it is " + r.Text(kube.At("status.currentPrimary")), nil
	}
	if r.Is(kube.At("spec.galera.enabled")) {
		return "", nil // all of its members take writes; which one is called the primary, no server knows
	}
	n, err := on.Primary(ctx)
	if errors.Is(err, cluster.ErrNoPrimary) {
		return "a server that reports that it is the primary", nil
	}
	if err == nil && n.Pod != "" && n.Pod != r.at.Namespace+"/"+pod {
		return fmt.Sprintf("the server of pod %s to become the primary; now it is node %s", pod, n.Name), nil
	}
	return "", err
}

func (a *switchover) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	return verify(ctx, on, func(ctx context.Context, r resource) (string, error) { return a.leads(ctx, on, r, a.Pod) })
}

func (a *switchover) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, _ := c.Before["primary"].(string)
	if before == "" {
		return errors.New("which pod was the primary was not recorded")
	}
	wanted := func(r resource) any {
		if to, said := r.Int(primaryField(r.Object)); said {
			return fmt.Sprintf("%s-%d", r.at.Name, to)
		}
		return before // as long as nobody says otherwise
	}
	same := stillOurs(c.Before, "the primary", wanted, a.Pod, before)
	return a.become(ctx, on, c, before, func(r resource) error {
		err := same(r)
		if action.RemainsOf(err) != nil { // who leads is no value to be passed over
			return &hint.PermanentError{Reason: err.Error(), Advice: "leave it as it is: plimsoll runbook cancel RUN --leave REASON"}
		}
		return err
	})
}

func (a *switchover) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return settle(ctx, on, a.every, c)
}
