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

func replaceAction(every time.Duration) action.Action {
	return action.Action{
		Name: "kube.replace-node", Version: 1,
		About: "Replaces a node of Cassandra through cass-operator: its volume claim is deleted, and a new node takes over its tokens and streams its data from the others.",
		New:   func() action.Task { return &replace{every: every} },
	}
}

type replace struct {
	Pod string `yaml:"pod,required" doc:"The pod of the node, without its namespace."`

	every time.Duration
}

var (
	_ action.Verifier         = (*replace)(nil)
	_ action.InFlightWaiter   = (*replace)(nil)
	_ action.ApprovalDemander = (*replace)(nil)
)

func (a *replace) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// host is the host id that the operator knows of the pod's node; "" for none.
func (a *replace) host(s site) string {
	return s.Text(kube.Path{"status", "nodeStatuses", a.Pod, "hostID"})
}

// Check finds it needed for the node that is there now. That it was replaced already is not to be told from its state; who resumes a run
// finds the task by its name.
func (a *replace) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	s, err := find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"object": s.String(), "uid": s.UID(), "host": a.host(s)}, Intended: action.Facts{"pod": a.Pod, "host": action.Another},
	}
	if s.at.Operator != cluster.CassOperator {
		return f, s.lacks("replace a member", "delete the member's volume claim and pod as the operator's documentation describes")
	}
	if err := s.free(); err != nil {
		return f, err
	}
	if a.host(s) == "" {
		return f, &hint.PermanentError{Reason: fmt.Sprintf("%s has no node in pod %s", s, a.Pod), Advice: "status.nodeStatuses lists them"}
	}
	if err := a.othersWell(ctx, on, s); err != nil {
		return f, err
	}
	return f, s.tryTask(ctx, map[string]any{"name": "replace", "command": "replacenode", "args": map[string]any{"pod_name": a.Pod}})
}

// othersWell refuses while another node is not up and normal: the data of the new one comes from the others.
func (a *replace) othersWell(ctx context.Context, on *cluster.Cluster, s site) error {
	seen, err := ring(ctx, on)
	if err != nil {
		return err
	}
	for _, m := range seen.Members {
		if m.Host != a.host(s) && (!m.Up || m.Part != engine.Normal) {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("node %s is %s: data that only it and the replaced node have could be lost", m.Address, m.Code()),
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
	s, err := find(ctx, on)
	if err != nil {
		return nil, err
	}
	before, _ := c.Before["host"].(string)
	if before == "" {
		return nil, action.NothingDone{Err: fmt.Errorf("the node that ran in pod %s was not recorded", a.Pod)}
	}
	c.Progress(-1, "requesting the replacement of "+before)
	job := map[string]any{"name": "replace", "command": "replacenode", "args": map[string]any{"pod_name": a.Pod}}
	err = s.runTask(ctx, on, a.every, c, job, map[string]string{replacedLabel: before}, func(ctx context.Context, s site) (string, error) {
		return a.replaced(ctx, on, s, c.Token)
	})
	return action.Facts{"was": before, "token": c.Token}, err
}

// replacedLabel is the label of a task that says which node it replaces, by its host id.
const replacedLabel = "plimsoll.replaces"

// replaced tells what is waited for until another node has the pod, in the operator's eyes and in the ring.
func (a *replace) replaced(ctx context.Context, on *cluster.Cluster, s site, token string) (string, error) {
	task, err := s.api.Get(ctx, s.tasks(), taskName(token))
	if err != nil {
		return "", err
	}
	before := task.Text(kube.Path{"metadata", "labels", replacedLabel})
	if now := a.host(s); now == "" || now == before {
		return "the new node in pod " + a.Pod, nil
	}
	seen, err := ring(ctx, on)
	if err != nil {
		return "", err
	}
	if _, still := seen.Find(before); still {
		return "node " + before + " to leave the ring", nil
	}
	if m, there := seen.Find(a.host(s)); !there || !m.Up || m.Part != engine.Normal {
		return "node " + a.host(s) + " to be up and normal in the ring", nil
	}
	return "", nil
}

func (a *replace) Verify(ctx context.Context, on *cluster.Cluster, output action.Facts) error {
	token, _ := output["token"].(string)
	return verify(ctx, on, func(ctx context.Context, s site) (string, error) { return a.replaced(ctx, on, s, token) })
}

func (a *replace) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return settle(ctx, on, a.every, c)
}
