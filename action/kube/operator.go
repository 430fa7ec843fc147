package kube

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// operator describes an operator: where its objects have what, how it says what it does, and what it can be asked for. The paths are those of
// its published schema. What is nil it has no way to do.
type operator struct {
	name     string
	kind     kube.Kind
	selector func(o kube.Object) string // of the pods of its servers

	stopped func(o kube.Object) string // why it does nothing now, or no server runs; "": they run, and it looks after them
	resume  string                     // what to do about it
	stuck   func(o kube.Object) string // what a person must mend; nil: it does not say
	busy    func(o kube.Object) string // what it waits for; "": it is done with the last change
	// counts asks the database how many members it has; what it waits for, "" when there are as many as wanted.
	counts func(ctx context.Context, on *cluster.Cluster, o kube.Object, want int64) (waits string, err error)

	size func(o kube.Object) []sizeField  // how many members are wanted
	fits func(r resource, to int64) error // refuses a size; nil: any will do

	restart       *restartField                          // nil: by a CassandraTask
	configuration *configuration                         // the servers' parameters
	suspend       kube.Path                              // true: it leaves the cluster alone
	primary       func(o kube.Object) (kube.Path, error) // the field that says which pod is the primary
	replaces      replacer                               // how a member is replaced whose data is lost
	maintenance   string                                 // the label that takes a member out of service, on the Service that is called as its pod

	// instead is what a person can do where it has no way, by the name of the action.
	instead map[string]string
}

// sizeField is a field that says how many members are wanted: in a rack, where the operator is told so, or in all.
type sizeField struct {
	rack string
	path kube.Path
}

// one is the size of an operator that has one field for it.
func one(dotted string) func(kube.Object) []sizeField {
	return func(kube.Object) []sizeField { return []sizeField{{path: kube.At(dotted)}} }
}

// restartField is a text in an operator's object that starts every server anew when it changes.
type restartField struct {
	field kube.Path
	shown string // the annotation of pods that has it
	can   func(o kube.Object) error
}

var operators = map[string]operator{
	cluster.CassOperator:          cassOperator,
	cluster.MariaDBOperator:       mariadbOperator,
	cluster.ScyllaOperator:        scyllaOperator,
	cluster.PerconaXtraDBOperator: perconaXtraDBOperator,
	cluster.PerconaServerOperator: perconaServerOperator,
}

// lacks refuses what an operator has no way to do.
func (r resource) lacks(action, what string) error {
	return &hint.PermanentError{Reason: fmt.Sprintf("%s has no way to %s", r.operator.name, what), Advice: r.operator.instead[action]}
}

// wanted is how many members there are to be, all racks together.
func (r resource) wanted() (n int64, err error) {
	for _, field := range r.operator.size(r.Object) {
		in, said := r.Int(field.path)
		if !said {
			return 0, fmt.Errorf("%s has no %s", r, field.path)
		}
		n += in
	}
	return n, nil
}

// pods are the cluster's, by name.
func (r resource) pods(ctx context.Context) ([]kube.Object, error) {
	return r.api.List(ctx, kube.Pods(r.at.Namespace), r.operator.selector(r.Object))
}

// labelled is a selector of pods that a StatefulSet has made, by labels and their values.
func labelled(labels ...string) string {
	return strings.Join(append(labels, "statefulset.kubernetes.io/pod-name"), ",")
}

// ready tells whether a pod serves.
func ready(pod kube.Object) bool {
	status, _ := pod.Condition("Ready")
	return status == "True" && !pod.Deleted()
}

// unseen is what is waited for while an operator has not seen the last change of its object; "" when it has.
func unseen(o kube.Object) string {
	if seen, _ := o.Int(kube.At("status.observedGeneration")); seen != o.Generation() {
		return fmt.Sprintf("the operator to see generation %d (it has seen %d)", o.Generation(), seen)
	}
	return ""
}

// waits is what the cluster waits for: that the operator has seen the last change and is done with it, that every pod serves, and that the
// database has its members; "" when nothing is.
func (r resource) waits(ctx context.Context, on *cluster.Cluster) (string, error) {
	if busy := r.operator.busy(r.Object); busy != "" {
		return busy, nil
	}
	want, err := r.wanted()
	if err != nil {
		return "", err
	}
	pods, err := r.pods(ctx)
	if err != nil {
		return "", err
	}
	serving := int64(0)
	for _, p := range pods {
		if ready(p) {
			serving++
		}
	}
	if serving != want || int64(len(pods)) != want {
		return fmt.Sprintf("all pods to be ready: %d of %d are", serving, want), nil
	}
	return r.operator.counts(ctx, on, r.Object, want)
}
