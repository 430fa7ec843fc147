package sink

import (
	"fmt"
	"time"
)

// policyOf is the policy of a data stream for OpenSearch's index state management: a new index a day, or when one has 20 GB, and none
// that is older than documents are kept.
func policyOf(stream string, keep time.Duration) map[string]any {
	return map[string]any{"policy": map[string]any{
		"description": "Plimsoll's documents: one index per day, old indexes are deleted", "default_state": "written",
		"states": []any{
			map[string]any{
				"name": "written", "actions": []any{map[string]any{"rollover": map[string]any{"min_index_age": "1d", "min_primary_shard_size": "20gb"}}},
				"transitions": []any{map[string]any{"state_name": "deleted", "conditions": map[string]any{"min_rollover_age": fmt.Sprintf("%dh", int(keep.Hours()))}}},
			},
			map[string]any{"name": "deleted", "actions": []any{map[string]any{"delete": map[string]any{}}}, "transitions": []any{}},
		},
		"ism_template": []any{map[string]any{"index_patterns": []string{stream}, "priority": 200}},
	}}
}
