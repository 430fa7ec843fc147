package spec

import (
	"slices"

	"plimsoll/internal/document"
	"plimsoll/workload"
)

// Schema is the JSON Schema of a trial file, for editors. It is made from the types that read the file.
func Schema(workloads []workload.Maker) document.Schema {
	s := document.SchemaOf[Spec]("Plimsoll trial")
	loads := s["properties"].(document.Schema)["load"].(document.Schema)
	names := []string{}
	var conditions []any
	for _, w := range workloads {
		names = append(names, w.Name)
		parameters := document.Schema{}
		for _, p := range w.Parameters {
			parameters[p.Name] = document.Schema{"description": p.Doc + " Default " + p.Default + "."}
		}
		conditions = append(conditions, document.Schema{
			"if":   document.Schema{"properties": document.Schema{"workload": document.Schema{"const": w.Name}}},
			"then": document.Schema{"properties": parameters},
		})
	}
	slices.Sort(names)
	loads["allOf"] = conditions
	loads["properties"].(document.Schema)["workload"].(document.Schema)["examples"] = names
	return s
}

// DocumentSchema says what a load takes: its own keys, and parameters of the workload.
func (*Load) DocumentSchema() document.Schema { return open(document.StructSchema[Load]()) }

// DocumentSchema says what a ledger takes: its own keys, and parameters of the workload.
func (*Ledger) DocumentSchema() document.Schema { return open(document.StructSchema[Ledger]()) }

// open lets a mapping have other keys too.
func open(s document.Schema) document.Schema {
	s["additionalProperties"] = true
	return s
}

// DocumentSchema says what a warm-up takes.
func (*Warmup) DocumentSchema() document.Schema {
	return document.AnyOf(document.Schema{"const": "steady"}, document.DurationSchema())
}

// DocumentSchema lists the ways to restore.
func (*Restore) DocumentSchema() document.Schema {
	return document.EnumSchema(RestoreEach, RestoreNever)
}

// DocumentSchema lists the arrivals.
func (*Arrivals) DocumentSchema() document.Schema { return document.EnumSchema(Poisson, Uniform) }

// DocumentSchema lists the destinations.
func (*Destination) DocumentSchema() document.Schema { return document.EnumSchema(ToPrimary, ToAll) }

// DocumentSchema lists who answers reads.
func (*Reads) DocumentSchema() document.Schema {
	return document.EnumSchema(ReadPrimary, ReadReplicas)
}

// DocumentSchema lists the topologies.
func (*Topology) DocumentSchema() document.Schema { return document.EnumSchema(Separate) }

// DocumentSchema says what a rate takes.
func (*Rate) DocumentSchema() document.Schema {
	number := document.Schema{"type": "number", "exclusiveMinimum": 0}
	stage := document.Schema{"type": "object", "additionalProperties": false, "required": []string{"for"}, "properties": document.Schema{
		"rate": document.Schema{"type": "number"}, "ramp": document.Schema{"type": "string", "pattern": rampRates.String()}, "for": document.DurationSchema(),
	}}
	return document.AnyOf(number,
		document.Schema{"type": "string", "pattern": constantRate.String()},
		document.Schema{"type": "string", "pattern": ShareOfMax.String()},
		document.Schema{"type": "array", "items": stage, "minItems": 1})
}

// DocumentSchema says what a step of a timeline takes: a period, or what is run.
func (*Step) DocumentSchema() document.Schema {
	properties := callSchema()["properties"].(document.Schema)
	for _, name := range periods {
		properties[name] = document.DurationSchema()
	}
	return document.Schema{"type": "object", "additionalProperties": false, "properties": properties}
}

// DocumentSchema says what is prepared: a name, a call or a list of them.
func (*Prepare) DocumentSchema() document.Schema {
	one := []document.Schema{document.TextSchema(), callSchema()}
	return document.AnyOf(one[0], one[1], document.Schema{"type": "array", "items": document.AnyOf(one...)})
}

func callSchema() document.Schema {
	s := document.StructSchema[Call]()
	s["properties"].(document.Schema)["run"] = document.AnyOf(document.TextSchema(), document.Schema{"type": "object"}) // {sql: …} and {command: …}
	return s
}

// DocumentSchema says what a comparison takes: factors by name, and variants.
func (*Compare) DocumentSchema() document.Schema {
	return document.Schema{
		"type": "object",
		"properties": document.Schema{"variant": document.Schema{
			"type": "object", "minProperties": 2, "additionalProperties": document.StructSchema[Variant](),
		}},
		"additionalProperties": document.Schema{"type": "array", "minItems": 1},
	}
}

// DocumentSchema says what a volume takes: a size, or a mapping.
func (*Volume) DocumentSchema() document.Schema {
	return document.AnyOf((*document.Size)(nil).DocumentSchema(), document.StructSchema[Volume]())
}
