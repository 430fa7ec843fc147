package report

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"

	"plimsoll/analyze"
	"plimsoll/result"
)

func TestVerdictSchema(t *testing.T) {
	got, err := verdictSchema("..")
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
		"Verdict":     {"verdict", "reasons", "claims"},
		"JudgedClaim": {"expect", "verdict", "estimate", "low", "high", "confidence", "margin", "needs"},
	} {
		for _, key := range keys {
			if s.Definitions[name].Properties[key] == nil {
				t.Errorf("%s has no %s", name, key)
			}
		}
	}
}

// verdictSchema is the JSON Schema of verdict.json, made from the types that write it. Given the folder of the module's
// source, it carries their comments as descriptions.
func verdictSchema(source string) ([]byte, error) {
	r := &jsonschema.Reflector{
		AllowAdditionalProperties: true, // what is added later must not break a reader of today
		Mapper:                    answerSchema,
		Anonymous:                 true, // the schema does not depend on what this module is called
	}
	for _, pkg := range []string{"series", "analyze", "result"} {
		if source == "" {
			break
		}
		if err := r.AddGoComments("plimsoll/"+pkg, source+"/"+pkg); err != nil {
			return nil, fmt.Errorf("read the comments of %s: %w", pkg, err)
		}
	}
	s := r.Reflect(result.Verdict{})
	s.Title = "Plimsoll verdict"
	nullable(s)
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	return append(b, '\n'), nil
}

// answerSchema lists the verdicts.
func answerSchema(t reflect.Type) *jsonschema.Schema {
	if t != reflect.TypeFor[analyze.Answer]() {
		return nil
	}
	s := &jsonschema.Schema{Type: "string"}
	for _, a := range answers {
		s.Enum = append(s.Enum, a)
	}
	return s
}

// nullable allows null for the numbers that are null where too little was measured.
func nullable(s *jsonschema.Schema) {
	for name, fields := range map[string][]string{"JudgedClaim": {"estimate", "low", "high"}, "Estimate": {"value", "low", "high"}} {
		for _, field := range fields {
			p, ok := s.Definitions[name].Properties.Get(field)
			if !ok {
				continue
			}
			p.Type = ""
			p.OneOf = []*jsonschema.Schema{{Type: "number"}, {Type: "null"}}
		}
	}
}
