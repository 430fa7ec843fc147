package kube

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// Of cass-operator: what is to be done once is a CassandraTask (control.k8ssandra.io/v1alpha1). Its name is made from the token of the
// intention, so a second attempt finds the task of the first and adds none.

func (r resource) tasks() kube.Kind {
	return kube.Kind{Group: "control.k8ssandra.io", Version: "v1alpha1", Kind: "CassandraTask", Plural: "cassandratasks", Namespace: r.at.Namespace}
}

func taskName(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "plimsoll-" + hex.EncodeToString(sum[:])[:20]
}

// taskKept is how long the operator keeps a task that has ended: as long as a run may be resumed.
const taskKept = 14 * 24 * time.Hour

func (r resource) taskSpec(job map[string]any) map[string]any {
	return map[string]any{
		"datacenter":              map[string]any{"name": r.at.Name, "namespace": r.at.Namespace},
		"jobs":                    []any{job},
		"concurrencyPolicy":       "Forbid",
		"ttlSecondsAfterFinished": int(taskKept.Seconds()),
	}
}

func (r resource) tryTask(ctx context.Context, job map[string]any) error {
	if err := r.alone(ctx, ""); err != nil {
		return err
	}
	return r.api.TryCreate(ctx, r.tasks(), taskName("check"), r.taskSpec(job))
}

// alone refuses while another task of this data centre is under way, behind which ours would wait.
func (r resource) alone(ctx context.Context, own string) error {
	all, err := r.api.List(ctx, r.tasks(), "")
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.Name() == own || t.Text(kube.At("spec.datacenter.name")) != r.at.Name || t.Text(kube.At("status.completionTime")) != "" {
			continue
		}
		if failed, _ := t.Condition("Failed"); failed == "True" {
			continue
		}
		return &hint.PermanentError{Reason: fmt.Sprintf("CassandraTask %s/%s is in progress", r.at.Namespace, t.Name()), Advice: "wait until it ends, or delete it if it is not needed"}
	}
	return nil
}

// askTask makes a task once for a token. It keeps labels of what was so before.
func (r resource) askTask(ctx context.Context, token string, job map[string]any, labels map[string]string) error {
	_, err := r.api.Get(ctx, r.tasks(), taskName(token))
	if !errors.Is(err, kube.ErrNotFound) {
		return err
	}
	if err := r.alone(ctx, taskName(token)); err != nil {
		return action.NothingDone{Err: err}
	}
	return r.api.Create(ctx, r.tasks(), taskName(token), labels, r.taskSpec(job))
}

// taskDone looks whether a task is complete.
func taskDone(token string) look {
	return func(ctx context.Context, r resource) (string, error) { return r.taskWaits(ctx, token) }
}

// taskWaits is what a task waits for; "" when it is complete.
func (r resource) taskWaits(ctx context.Context, token string) (string, error) {
	t, err := r.api.Get(ctx, r.tasks(), taskName(token))
	if err != nil {
		return "", err
	}
	if failed, reason := t.Condition("Failed"); failed == "True" {
		return "", &hint.PermanentError{
			Reason: fmt.Sprintf("CassandraTask %s/%s failed (%s)", r.at.Namespace, t.Name(), reason),
			Advice: "kubectl describe cassandratask shows why: " + t.Name(),
		}
	}
	if complete, _ := t.Condition("Complete"); complete == "True" && t.Text(kube.At("status.completionTime")) != "" {
		return "", nil
	}
	succeeded, _ := t.Int(kube.At("status.succeeded"))
	return fmt.Sprintf("CassandraTask %s: %d pods are done", t.Name(), succeeded), nil
}

// replaceTask replaces a node by a task.
type replaceTask struct{}

func replaceJob(pod string) map[string]any {
	return map[string]any{"name": "replace", "command": "replacenode", "args": map[string]any{"pod_name": pod}}
}

func (replaceTask) host(_ context.Context, r resource, pod string) (host, service string, err error) {
	return r.Text(kube.Path{"status", "nodeStatuses", pod, "hostID"}), "", nil
}

func (replaceTask) try(ctx context.Context, r resource, pod string) error {
	return r.tryTask(ctx, replaceJob(pod))
}

func (replaceTask) ask(ctx context.Context, r resource, pod, host, _, token string) error {
	return r.askTask(ctx, token, replaceJob(pod), map[string]string{replacedLabel: host})
}

func (replaceTask) asked(ctx context.Context, r resource, _, _, token string) (string, string, error) {
	waits, err := r.taskWaits(ctx, token)
	if err != nil || waits != "" {
		return "", waits, err
	}
	task, err := r.api.Get(ctx, r.tasks(), taskName(token))
	return task.Text(kube.Path{"metadata", "labels", replacedLabel}), "", err
}
