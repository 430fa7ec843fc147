package kube

import (
	"context"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

func replaceAction(every time.Duration) action.Action {
	return action.Action{
		Name: "kube.replace-node", Version: 1,
		About: "Replaces a node of Cassandra or ScyllaDB through its operator: its volume claim is deleted, and a new node takes over its tokens and streams its data from the others.",
		New:   func() action.Task { return &replace{every: every} },
	}
}

type replace struct {
	Pod string `yaml:"pod,required" doc:"The pod of the node, without its namespace."`

	every time.Duration
}

// replacer is how an operator is asked to replace the node of a pod. What it is asked for is marked with the token of the intention, so that a
// second attempt finds it, and with the host id of the node that is to go.
type replacer interface {
	// host is the host id that the operator knows of the pod's node, "" for none; and the UID of the Service that is to bear the request, ""
	// where an object of its own does.
	host(ctx context.Context, r resource, pod string) (host, service string, err error)
	// try has the API judge the request.
	try(ctx context.Context, r resource, pod string) error
	// ask asks once for a token, however often it is called, and nothing of another Service than the one that was looked at.
	ask(ctx context.Context, r resource, pod, host, service, token string) error
	// asked is the host id of the node that is to go, which is before where the mark is gone with what bore it, and what the request waits
	// for; "" when the operator is done with it.
	asked(ctx context.Context, r resource, pod, before, token string) (host, waits string, err error)
}

var (
	_ action.Verifier         = (*replace)(nil)
	_ action.InFlightWaiter   = (*replace)(nil)
	_ action.ApprovalDemander = (*replace)(nil)
)

// replacedLabel is the label of what was asked for that says which node it replaces, by its host id.
const replacedLabel = "plimsoll.replaces"

func (a *replace) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// Check finds it needed for the node that is there now. That it was replaced already is not to be told from its state; who resumes a run
// finds what was asked for by its token.
func (a *replace) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, err := find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	if r.operator.replaces == nil {
		return action.CheckResult{}, r.lacks("kube.replace-node", "replace a member")
	}
	host, service, err := r.operator.replaces.host(ctx, r, a.Pod)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"object": r.String(), "uid": r.UID(), "host": host}, Intended: action.Facts{"pod": a.Pod, "host": action.Another},
	}
	if service != "" {
		f.Observed["service"] = service
	}
	if err := r.free(); err != nil {
		return f, err
	}
	if host == "" {
		return f, &hint.PermanentError{Reason: fmt.Sprintf("%s has no node in pod %s", r, a.Pod), Advice: "see the object's status: its pods are those of its racks"}
	}
	if err := othersWell(ctx, on, host); err != nil {
		return f, err
	}
	return f, r.operator.replaces.try(ctx, r, a.Pod)
}

// othersWell refuses while another node is not up and normal: the data of the new one comes from the others.
func othersWell(ctx context.Context, on *cluster.Cluster, host string) error {
	seen, err := ring(ctx, on)
	if err != nil {
		return err
	}
	for _, m := range seen.Members {
		if m.Host != host && (!m.Up || m.Part != engine.Normal) {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("node %s is %s: data that only it and node %s have could be lost", m.Address, m.Code(), host),
				Advice: "bring that node back first",
			}
		}
	}
	return nil
}

// ApprovalReason tells what is deleted.
func (a *replace) ApprovalReason(f action.CheckResult) string {
	return fmt.Sprintf("the volume claim of pod %s is deleted with all data of node %v; the new node streams it from the others", a.Pod, f.Observed["host"])
}

func (a *replace) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, err := find(ctx, on)
	if err != nil {
		return nil, err
	}
	before, _ := c.Before["host"].(string)
	if before == "" {
		return nil, action.NothingDone{Err: fmt.Errorf("the node that ran in pod %s was not recorded", a.Pod)}
	}
	c.Progress(-1, "requesting the replacement of "+before)
	service, _ := c.Before["service"].(string)
	if err := r.operator.replaces.ask(ctx, r, a.Pod, before, service, c.Token); err != nil {
		return nil, err
	}
	err = r.await(ctx, on, a.every, c, a.replaced(on, before, c.Token))
	return action.Facts{"was": before, "token": c.Token}, err
}

// replaced tells what is waited for until another node has the pod, in the operator's eyes and in the ring.
func (a *replace) replaced(on *cluster.Cluster, was, token string) look {
	return func(ctx context.Context, r resource) (string, error) {
		before, waits, err := r.operator.replaces.asked(ctx, r, a.Pod, was, token)
		if err != nil || waits != "" {
			return waits, err
		}
		now, _, err := r.operator.replaces.host(ctx, r, a.Pod)
		if err != nil {
			return "", err
		}
		if now == "" || now == before {
			return "the new node in pod " + a.Pod, nil
		}
		seen, err := ring(ctx, on)
		if err != nil {
			return "", err
		}
		if _, still := seen.Find(before); still {
			return "node " + before + " to leave the ring", nil
		}
		if m, there := seen.Find(now); !there || !m.Up || m.Part != engine.Normal {
			return "node " + now + " to be up and normal in the ring", nil
		}
		return "", nil
	}
}

func (a *replace) Verify(ctx context.Context, on *cluster.Cluster, output action.Facts) error {
	was, _ := output["was"].(string)
	token, _ := output["token"].(string)
	return verify(ctx, on, a.replaced(on, was, token))
}

func (a *replace) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return settle(ctx, on, a.every, c)
}
