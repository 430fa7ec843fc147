package cql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/hint"
)

// lastCopies refuses to put a node in the place of a dead one that had the only replica of something: its ranges would be there again,
// and empty. The servers go on in that case, with a line in a log.
func lastCopies(all []keyspace, dead, accepted string) error {
	allowed := listed(accepted)
	var names []string
	for _, k := range all {
		replicas := 0
		for _, n := range k.replicas {
			replicas += n
		}
		if replicas == 1 && !slices.Contains(unasked, k.name) && !slices.Contains(allowed, k.name) {
			names = append(names, k.name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s had the only replica of a part of %s, which would be lost", dead, strings.Join(names, ", ")),
		Advice: "start the dead node again if possible, and raise the replication (ALTER KEYSPACE, cql/repair) before it is replaced. " +
			"Or name the keyspaces that may lose data: accept_loss=" + strings.Join(names, ","),
	}
}

// keeps asks for the keyspaces, for lastCopies.
func (v view) keeps(ctx context.Context, dead, accepted string) error {
	all, err := keyspaces(ctx, v.ring.cluster, v.node)
	if err != nil {
		return err
	}
	return lastCopies(all, dead, accepted)
}
