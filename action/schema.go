package action

import (
	"reflect"
	"strings"

	"plimsoll/internal/document"
)

// Schema is the JSON Schema of the action's inputs, from their types. An expression may stand in the place of any value.
func (a Action) Schema() map[string]any {
	properties := map[string]any{}
	for _, f := range document.Fields(a.inputs()) {
		key := keyOf(f)
		property := map[string]any{"anyOf": []any{document.TypeSchema(f.Type), map[string]any{"type": "string", "pattern": `\$\{\{.*\}\}`}}}
		if doc := f.Tag.Get("doc"); doc != "" {
			property["description"] = doc
		}
		properties[key] = property
	}
	schema := map[string]any{
		"title": a.Name, "description": a.About, "type": "object", "properties": properties, "additionalProperties": false,
	}
	if required := a.Required(); len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// Required lists the inputs that must be given.
func (a Action) Required() []string {
	var keys []string
	for _, f := range document.Fields(a.inputs()) {
		if document.HasOption(f, "required") {
			keys = append(keys, keyOf(f))
		}
	}
	return keys
}

func keyOf(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return key
}
