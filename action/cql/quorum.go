package cql

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/hint"
)

// rolesKeyspace keeps who may log in. One replica of a role is enough to be let in by, as the lab has it (auth_read_consistency_level).
const rolesKeyspace = "system_auth"

// unasked are the keyspaces for which no service waits: the servers' records of repairs and traces, and Plimsoll's own, whose claim is
// only looked at where it cannot be changed.
var unasked = []string{"system_distributed", "system_traces", "plimsoll"}

// away refuses to take a node away for a while where a keyspace would be without a quorum of its replicas meanwhile. The only node of
// a data centre is none that others could stand in for, however many replicas are asked for: whoever restarts it knows.
func away(all []keyspace, members []engine.Member, goes engine.Member, accepted string) error {
	others := map[string]int{} // that serve, in each data centre; "" is the whole ring
	for _, m := range without(members, goes) {
		if m.Up && m.Part == engine.Normal {
			others[m.DataCentre]++
			others[""]++
		}
	}
	allowed := listed(accepted)
	var names, texts []string
	for _, k := range all {
		if slices.Contains(unasked, k.name) || slices.Contains(allowed, k.name) {
			continue
		}
		for _, c := range slices.Compact([]string{goes.DataCentre, ""}) {
			n := k.replicas[c]
			left, wanted := min(n-1, others[c]), n/2+1
			if k.name == rolesKeyspace {
				wanted = 1
			}
			if n == 0 || others[c] == 0 || left >= wanted {
				continue
			}
			names = append(names, k.name)
			if said := fmt.Sprintf("%d of its %d replicas%s would be left", left, n, in(c)); k.name == rolesKeyspace {
				texts = append(texts, "accounts whose roles are stored only on it could not log in ("+k.name+": "+said+")")
			} else {
				texts = append(texts, fmt.Sprintf("keyspace %s would be without a quorum: %s, and it needs %d", k.name, said, wanted))
			}
		}
	}
	if len(texts) == 0 {
		return nil
	}
	names = slices.Compact(names)
	return &hint.PermanentError{
		Reason: "while the node is away " + strings.Join(texts, "; "),
		Advice: "reads and writes at LOCAL_QUORUM would fail until it is back. Raise the replication of each to 3 (ALTER KEYSPACE), on as many nodes, and run cql/repair. " +
			"Or name the keyspaces that may be unavailable for that time: accept_unavailable=" + strings.Join(names, ","),
	}
}

// listed are the names in a list with commas.
func listed(text string) (all []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}
