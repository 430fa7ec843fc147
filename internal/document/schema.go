package document

import (
	"maps"
	"reflect"
	"slices"
)

// Schema is a JSON Schema of draft 2020-12, as it is encoded.
type Schema = map[string]any

// Described is a type that reads itself from a node: it says what it takes, for editors. Every Unmarshaler should be one.
type Described interface{ DocumentSchema() Schema }

// SchemaOf is the schema of a file that Decode reads into a T. It is made from the types: their keys, what is required, their doc tags.
func SchemaOf[T any](title string) Schema {
	g := generator{open: map[reflect.Type]bool{}, definitions: Schema{}}
	s := g.structOf(reflect.TypeFor[T]())
	if ref, itself := s["$ref"]; itself {
		s = maps.Clone(g.definitions[reflect.TypeFor[T]().Name()].(Schema))
		s["$comment"] = ref
	}
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = title
	if len(g.definitions) > 0 {
		s["$defs"] = g.definitions
	}
	return s
}

// StructSchema is the schema of a struct by its fields, also of one that reads itself.
func StructSchema[T any]() Schema {
	g := generator{open: map[reflect.Type]bool{}, definitions: Schema{}}
	return g.structOf(reflect.TypeFor[T]())
}

// TypeSchema is the schema of what Decode reads into a value of a type that does not hold itself.
func TypeSchema(t reflect.Type) Schema {
	g := generator{open: map[reflect.Type]bool{}, definitions: Schema{}}
	return g.typeOf(t)
}

// DurationSchema is that of what time.ParseDuration takes, as far as a schema can say it.
func DurationSchema() Schema {
	return Schema{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
}

// TextSchema is that of a text, which may be written without quotes.
func TextSchema() Schema { return Schema{"type": []string{"string", "number", "boolean"}} }

// EnumSchema is that of one of some words.
func EnumSchema[T ~string](words ...T) Schema { return Schema{"enum": words} }

// AnyOf is what fits one of several schemas.
func AnyOf(choices ...Schema) Schema { return Schema{"anyOf": choices} }

type generator struct {
	open        map[reflect.Type]bool // structs that are being described
	definitions Schema                // of those that hold themselves, by their names
}

func (g *generator) typeOf(t reflect.Type) Schema {
	if described, is := reflect.New(t).Interface().(Described); is {
		return described.DocumentSchema()
	}
	switch {
	case t == nodeType:
		return Schema{} // whoever takes it reads it
	case t == durationType:
		return DurationSchema()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.typeOf(t.Elem())
	case reflect.Struct:
		return g.structOf(t)
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": g.typeOf(t.Elem())}
	case reflect.Slice:
		return Schema{"type": "array", "items": g.typeOf(t.Elem())}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return Schema{"type": "integer"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	}
	return TextSchema()
}

func (g *generator) structOf(t reflect.Type) Schema {
	ref := Schema{"$ref": "#/$defs/" + t.Name()}
	if g.open[t] {
		g.definitions[t.Name()] = nil // it is filled in where it was begun
		return ref
	}
	g.open[t] = true
	defer delete(g.open, t)
	properties, required := Schema{}, []string{}
	for _, f := range Fields(t) {
		p := maps.Clone(g.typeOf(f.Type))
		if HasOption(f, "nonzero") && slices.Contains([]any{"integer", "number"}, p["type"]) {
			p["exclusiveMinimum"] = 0
		}
		if doc := f.Tag.Get("doc"); doc != "" {
			p["description"] = doc
		}
		properties[key(f)] = p
		if HasOption(f, "required") {
			required = append(required, key(f))
		}
	}
	s := Schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	if _, holdsItself := g.definitions[t.Name()]; holdsItself {
		g.definitions[t.Name()] = s
		return ref
	}
	return s
}

// DocumentSchema says what an age takes.
func (a *Age) DocumentSchema() Schema {
	return AnyOf(Schema{"type": "string", "pattern": "^[0-9]+d$"}, DurationSchema())
}
