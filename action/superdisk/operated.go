package superdisk

import (
	"fmt"

	"plimsoll/cluster"
	"plimsoll/hint"
)

// notOperated refuses what takes an array from under a pod or puts one there. A pod holds the mount until its operator or the kubelet lets go of
// it, its volume claim binds it to one machine, and what moves the claim would have to delete it or its volume's object: no step does that.
func notOperated(on *cluster.Cluster) error {
	if on.Kubernetes == nil {
		return nil
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("an operator of Kubernetes runs cluster %s: its pods hold the mount of the array, and a volume claim binds each of them to its machine", on.Name),
		Advice: "docs/kubernetes.md says under \"A Super Disk under an operator\" how a node is moved by hand and its claim kept",
	}
}
