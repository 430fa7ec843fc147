package cql

import (
	"context"
	"encoding/json"
	"fmt"

	"plimsoll/cluster"
)

// held is how many bytes of data a node has in its files, not compressed, as work on them counts: of one keyspace, or of all
// that are not local. None where the node does not tell.
func held(ctx context.Context, on *cluster.Cluster, n cluster.Node, of string) (int64, error) {
	only := map[string]bool{of: true}
	args := []string{"tablestats", "-F", "json"}
	if of != "" {
		args = append(args, of)
	} else {
		all, err := keyspaces(ctx, on, n.Name)
		if err != nil {
			return 0, err
		}
		for _, k := range all {
			only[k.name] = true
		}
	}
	text, err := tool(ctx, n, args...)
	if err != nil {
		return 0, err
	}
	return parseHeld([]byte(text), only)
}

// parseHeld adds up what nodetool tablestats -F json tells of the tables in some keyspaces. Whether they were repaired has nothing
// to do with it, but only so it tells their size before compression.
func parseHeld(text []byte, only map[string]bool) (all int64, err error) {
	var said map[string]json.RawMessage // besides keyspaces, the number of tables
	if err := json.Unmarshal(text, &said); err != nil {
		return 0, fmt.Errorf("read nodetool tablestats: %w", err)
	}
	for name, one := range said {
		if !only[name] {
			continue
		}
		var keyspace struct {
			Tables map[string]struct {
				Repaired   int64 `json:"bytes_repaired"`
				Unrepaired int64 `json:"bytes_unrepaired"`
				Pending    int64 `json:"bytes_pending_repair"`
			} `json:"tables"`
		}
		if err := json.Unmarshal(one, &keyspace); err != nil {
			return 0, fmt.Errorf("read nodetool tablestats of %s: %w", name, err)
		}
		for _, t := range keyspace.Tables {
			all += t.Repaired + t.Unrepaired + t.Pending
		}
	}
	return all, nil
}
