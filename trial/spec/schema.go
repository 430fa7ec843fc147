package spec

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/document"
	"plimsoll/trial/expect"
	"plimsoll/workload"
)

// Schema is the JSON Schema of a trial file, for editors. It is made from the types that read the file.
func Schema(workloads []workload.Maker) map[string]any {
	s := structSchema(reflect.TypeFor[Spec]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Plimsoll trial"
	properties := s["properties"].(map[string]any)
	loads := properties["load"].(map[string]any)
	loads["additionalProperties"] = true
	names := []string{}
	var conditions []any
	for _, w := range workloads {
		names = append(names, w.Name)
		parameters := map[string]any{}
		for _, p := range w.Parameters {
			parameters[p.Name] = map[string]any{"description": p.Doc + " Default " + p.Default + "."}
		}
		conditions = append(conditions, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"workload": map[string]any{"const": w.Name}}},
			"then": map[string]any{"properties": parameters},
		})
	}
	slices.Sort(names)
	loads["allOf"] = conditions
	loads["properties"].(map[string]any)["workload"].(map[string]any)["examples"] = names
	return s
}

// durationPattern is what time.ParseDuration takes, as far as a schema can say it.
const durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`

func typeSchema(t reflect.Type) map[string]any {
	duration := map[string]any{"type": "string", "pattern": durationPattern}
	text := map[string]any{"type": "string"}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return duration
	case reflect.TypeFor[Warmup]():
		return anyOf(map[string]any{"const": "steady"}, duration)
	case reflect.TypeFor[Restore]():
		return map[string]any{"enum": []any{RestoreEach, RestoreNever}}
	case reflect.TypeFor[Arrivals]():
		return map[string]any{"enum": []any{Poisson, Uniform}}
	case reflect.TypeFor[Destination]():
		return map[string]any{"enum": []any{ToPrimary, ToAll}}
	case reflect.TypeFor[Reads]():
		return map[string]any{"enum": []any{ReadPrimary, ReadReplicas}}
	case reflect.TypeFor[expect.Expectation]():
		return text
	case reflect.TypeFor[Rate]():
		stage := map[string]any{"type": "object", "additionalProperties": false, "required": []string{"for"}, "properties": map[string]any{
			"rate": map[string]any{"type": "number"}, "ramp": map[string]any{"type": "string", "pattern": rampRates.String()}, "for": duration,
		}}
		return anyOf(map[string]any{"type": "number", "exclusiveMinimum": 0},
			map[string]any{"type": "string", "pattern": constantRate.String()},
			map[string]any{"type": "string", "pattern": ShareOfMax.String()},
			map[string]any{"type": "array", "items": stage, "minItems": 1})
	case reflect.TypeFor[Step]():
		properties := map[string]any{"run": text, "as": text, "with": map[string]any{"type": "object"}, "approve": map[string]any{"type": "boolean"}, "limit": duration, "refused": text}
		for _, name := range stretches {
			properties[name] = duration
		}
		return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	case reflect.TypeFor[*Ledger]():
		s := structSchema(reflect.TypeFor[Ledger]())
		s["additionalProperties"] = true // parameters of the workload
		return s
	case reflect.TypeFor[Prepare]():
		call := anyOf(text, structSchema(reflect.TypeFor[Call]()))
		return anyOf(text, structSchema(reflect.TypeFor[Call]()), map[string]any{"type": "array", "items": call})
	case reflect.TypeFor[Compare]():
		return map[string]any{
			"type": "object",
			"properties": map[string]any{"variant": map[string]any{
				"type": "object", "minProperties": 2, "additionalProperties": structSchema(reflect.TypeFor[Variant]()),
			}},
			"additionalProperties": map[string]any{"type": "array", "minItems": 1},
		}
	case reflect.TypeFor[*Machines]():
		return structSchema(reflect.TypeFor[Machines]())
	case reflect.TypeFor[map[string]Volume]():
		return map[string]any{"type": "object", "additionalProperties": anyOf(typeSchema(reflect.TypeFor[Size]()), structSchema(reflect.TypeFor[Volume]()))}
	case reflect.TypeFor[*Disk]():
		return structSchema(reflect.TypeFor[Disk]())
	case reflect.TypeFor[Share](), reflect.TypeFor[*Share]():
		return map[string]any{"type": []string{"string", "number"}}
	case reflect.TypeFor[Size]():
		return map[string]any{"type": []string{"string", "integer"}, "pattern": "^[0-9]+[KMGT]?$"}
	case reflect.TypeFor[*document.Node]():
		return map[string]any{"type": "object"}
	}
	switch t.Kind() {
	case reflect.Struct:
		return structSchema(t)
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": []string{"string", "number", "boolean"}}}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": typeSchema(t.Elem())}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	}
	return map[string]any{"type": []string{"string", "number"}}
}

func structSchema(t reflect.Type) map[string]any {
	properties := map[string]any{}
	var required []string
	for _, f := range document.Fields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		p := typeSchema(f.Type)
		if document.HasOption(f, "nonzero") && (p["type"] == "integer" || p["type"] == "number") {
			p["exclusiveMinimum"] = 0
		}
		if doc := f.Tag.Get("doc"); doc != "" {
			p["description"] = doc
		}
		properties[name] = p
		if document.HasOption(f, "required") {
			required = append(required, name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func anyOf(choices ...map[string]any) map[string]any { return map[string]any{"anyOf": choices} }
