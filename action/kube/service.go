package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// Of scylla-operator: each of its pods has a Service of the same name, the member Service. What is to be done with one member is asked for by
// its labels.

// member is the Service of a pod.
func (r resource) member(ctx context.Context, pod string) (kube.Object, error) {
	o, err := r.memberNow(ctx, pod)
	if err == nil && o == nil || err == nil && o.Text(kube.Path{"metadata", "labels", "scylla/cluster"}) != r.Name() {
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("%s has no node in pod %s", r, pod), Advice: fmt.Sprintf("its pods are called %s-DATACENTER-RACK-0 and so on", r.Name())}
	}
	return o, err
}

// memberNow is the Service of a pod as long as there is one: the operator deletes it when it replaces the node, and makes another.
func (r resource) memberNow(ctx context.Context, pod string) (kube.Object, error) {
	o, err := r.api.Get(ctx, kube.Services(r.at.Namespace), pod)
	if errors.Is(err, kube.ErrNotFound) {
		return nil, nil
	}
	return o, err
}

// label is where a Service has a label.
func label(name string) kube.Path { return kube.Path{"metadata", "labels", name} }

// writeMember changes a member's Service as it was looked at; edits judges it anew when somebody else, the operator too, wrote it in between.
func (r resource) writeMember(ctx context.Context, pod string, edits func(o kube.Object) ([]kube.Edit, error)) error {
	for attempt := 1; ; attempt++ {
		o, err := r.member(ctx, pod)
		if err != nil {
			return err
		}
		all, err := edits(o)
		if err != nil || len(all) == 0 {
			return err
		}
		if err := cluster.StillOurs(ctx); err != nil {
			return err
		}
		_, err = r.api.Change(ctx, kube.Services(r.at.Namespace), o, all...)
		var conflict *kube.ConflictError
		if !errors.As(err, &conflict) || attempt == attempts {
			return err
		}
	}
}

const (
	scyllaReplace = "scylla/replace"
	scyllaHost    = "internal.scylla-operator.scylladb.com/host-id" // an annotation: the host id that the operator has seen
	replaceToken  = "plimsoll.replace"
)

// replaceLabel replaces a node by a label of its Service. The operator takes the label away when the new node serves, or deletes the Service
// with all its labels and makes another.
type replaceLabel struct{}

func (replaceLabel) host(ctx context.Context, r resource, pod string) (host, service string, err error) {
	o, err := r.member(ctx, pod)
	return hostOf(o), o.UID(), err
}

func (replaceLabel) edits(host, token string) []kube.Edit {
	return []kube.Edit{{Path: label(scyllaReplace), Value: ""}, {Path: label(replacedLabel), Value: host}, {Path: label(replaceToken), Value: taskName(token)}}
}

func (r replaceLabel) try(ctx context.Context, s resource, pod string) error {
	o, err := s.member(ctx, pod)
	if err != nil {
		return err
	}
	if o.Get(label(scyllaReplace)) != nil {
		return beingReplaced(pod)
	}
	return s.api.Try(ctx, kube.Services(s.at.Namespace), o, r.edits("", "check")...)
}

// ask sets the label once: a Service that knows of another node, or of none yet, is that of one who was asked already.
func (r replaceLabel) ask(ctx context.Context, s resource, pod, host, service, token string) error {
	if o, err := s.memberNow(ctx, pod); err != nil || o == nil {
		return err
	}
	return s.writeMember(ctx, pod, func(o kube.Object) ([]kube.Edit, error) {
		switch {
		case o.Text(label(replaceToken)) == taskName(token), hostOf(o) != host:
			return nil, nil
		case o.Get(label(scyllaReplace)) != nil:
			return nil, beingReplaced(pod)
		case service != "" && o.UID() != service:
			return nil, action.NothingDone{Err: &hint.PermanentError{
				Reason: fmt.Sprintf("the Service %s was deleted and created again since the replacement was planned", pod),
				Advice: "nothing was asked of the operator. Check that the node in pod " + pod + " is still the one to replace, then plan the replacement again",
			}}
		}
		return r.edits(host, token), nil
	})
}

func (replaceLabel) asked(ctx context.Context, r resource, pod, before, token string) (host, waits string, err error) {
	o, err := r.memberNow(ctx, pod)
	switch mark := o.Text(label(replaceToken)); {
	case err != nil:
	case o == nil:
		waits = "the operator to create the Service " + pod + " again"
	case mark == "" && hostOf(o) != before: // it is another Service than the one that was marked
	case mark != taskName(token):
		err = &hint.PermanentError{Reason: fmt.Sprintf("somebody else asked for another replacement of the node in pod %s", pod)}
	}
	if err == nil && waits == "" && o.Get(label(scyllaReplace)) != nil {
		waits = "the operator to take the label " + scyllaReplace + " from the Service " + pod
	}
	return cmp.Or(o.Text(label(replacedLabel)), before), waits, err
}

// hostOf is the host id of a member's node as the operator has seen it; "" for none.
func hostOf(o kube.Object) string { return o.Text(kube.Path{"metadata", "annotations", scyllaHost}) }

func beingReplaced(pod string) error {
	return &hint.PermanentError{Reason: fmt.Sprintf("the operator is already replacing the node in pod %s", pod), Advice: "wait until it has taken the label " + scyllaReplace + " from the Service " + pod}
}
