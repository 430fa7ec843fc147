package series

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// EventSchema is the JSON Schema of a line of events.jsonl.
func EventSchema() map[string]any {
	var kinds []any
	for _, k := range eventKinds {
		properties := map[string]any{"kind": map[string]any{"const": string(k.Kind)}}
		if k.Name != "" {
			properties["name"] = map[string]any{"type": "string", "description": k.Name}
		}
		if detail := k.Detail; !slices.Contains(detail, "*") {
			keys := map[string]any{}
			for _, key := range detail {
				keys[key] = map[string]any{}
			}
			properties["detail"] = map[string]any{"type": "object", "properties": keys, "additionalProperties": false}
		}
		kinds = append(kinds, map[string]any{"description": k.Means, "properties": properties})
	}
	text := map[string]any{"type": "string"}
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "An event of a Plimsoll result: a line of events.jsonl",
		"type": "object", "required": []any{"time", "kind"}, "additionalProperties": false,
		"properties": map[string]any{
			"time": map[string]any{"type": "string", "format": "date-time"}, "kind": text, "name": text, "node": text, "cell": text,
			"round": map[string]any{"type": "integer", "minimum": 1}, "detail": map[string]any{"type": "object"},
		},
		"oneOf": kinds,
	}
}

// WriteEventReference writes a page that lists every kind of event.
func WriteEventReference(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Events\n\nThe events of a trial, for programs that read `events.jsonl` of a result. Each line has `time` and `kind`, and where they apply `name`, `node`,\n" +
		"`cell`, `round` and `detail`. The schema is `schema/event.schema.json`. Ignore kinds and keys that you do not know: later versions may add\nsome. This page is generated from the code.\n")
	var groups []EventGroup
	for _, k := range eventKinds {
		if !slices.Contains(groups, k.Group) {
			groups = append(groups, k.Group)
		}
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n| kind | in reports | meaning | name | detail |\n|---|---|---|---|---|\n", strings.ToUpper(string(g[:1]))+string(g[1:]))
		for _, k := range eventKinds {
			if k.Group != g {
				continue
			}
			detail := strings.Join(k.Detail, ", ")
			if slices.Contains(k.Detail, "*") {
				detail = "one key for each name"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Kind, k.Words, k.Means, k.Name, detail)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
