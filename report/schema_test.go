package report

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

func TestVerdictSchema(t *testing.T) {
	got, err := VerdictSchema("..")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("..", "docs", "schema", "verdict.schema.json"), got)

	var s struct {
		Definitions map[string]struct {
			Properties map[string]any `json:"properties"`
			Required   []string       `json:"required"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(got, &s); err != nil {
		t.Fatal(err)
	}
	// What other programs were promised.
	for name, keys := range map[string][]string{
		"Verdict": {"verdict", "reasons", "claims"},
		"Finding": {"expect", "verdict", "estimate", "low", "high", "confidence", "margin", "needs"},
	} {
		for _, key := range keys {
			if s.Definitions[name].Properties[key] == nil {
				t.Errorf("%s has no %s", name, key)
			}
		}
	}
}
