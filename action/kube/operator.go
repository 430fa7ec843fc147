package kube

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/infra/kube"
)

// operator is what is known of an operator: where its objects have what, and how it says what it does. The paths are those of its
// published schema.
type operator struct {
	name      string
	kind      kube.Kind
	size      kube.Path // how many members are wanted
	parameter configuration
	selector  func(o kube.Object) string
	paused    func(o kube.Object) string // why it does nothing now; "": it does
	resume    string                     // what to do about it
	stuck     func(o kube.Object) string // what a person must mend; "": nothing
	busy      func(o kube.Object) string // what it waits for; "": it is done with the last change
	// shrinks refuses to take members away; nil: it always can.
	shrinks func(o kube.Object, to int64) error
	// grows refuses to add members; nil: it always can.
	grows func(o kube.Object) error
	// counts asks the database how many members it has; what it waits for, "" when there are as many as wanted.
	counts func(ctx context.Context, on *cluster.Cluster, o kube.Object, want int64) (waits string, err error)
}

var operators = map[string]operator{cluster.CassOperator: cassOperator, cluster.MariaDBOperator: mariadbOperator}

// pods are the cluster's, by name.
func (s site) pods(ctx context.Context) ([]kube.Object, error) {
	return s.api.List(ctx, kube.Pods(s.at.Namespace), s.operator.selector(s.Object))
}

// ready tells whether a pod serves.
func ready(pod kube.Object) bool {
	status, _ := pod.Condition("Ready")
	return status == "True" && !pod.Deleted()
}

// waits is what the cluster waits for: that the operator has seen the last change and is done with it, that every pod serves, and that the
// database has its members; "" when nothing is.
func (s site) waits(ctx context.Context, on *cluster.Cluster) (string, error) {
	if busy := s.operator.busy(s.Object); busy != "" {
		return busy, nil
	}
	want, ok := s.Int(s.operator.size)
	if !ok {
		return "", fmt.Errorf("%s has no %s", s, s.operator.size)
	}
	pods, err := s.pods(ctx)
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
	return s.operator.counts(ctx, on, s.Object, want)
}
