package report

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files and the schema anew")

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

// golden compares with a file, or writes it when asked to.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not current; go generate ./report writes it anew\n%s", file, firstDifference(string(want), string(got)))
	}
}
