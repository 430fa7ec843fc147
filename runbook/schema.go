package runbook

import (
	"plimsoll/action"
	"plimsoll/internal/document"
)

// Schema is the JSON Schema of a runbook file, for editors. It is made from the types that read the file, and from the inputs of the
// actions that steps can use.
func Schema(actions []action.Action) document.Schema {
	s := document.SchemaOf[Runbook]("Plimsoll runbook")
	step := s["$defs"].(document.Schema)["Step"].(document.Schema)
	var names []string
	var conditions []any
	for _, a := range actions {
		names = append(names, a.Name)
		inputs := a.Schema()
		delete(inputs, "required") // of its step, and an editor shows what is missing while it is written
		conditions = append(conditions, document.Schema{
			"if":   document.Schema{"properties": document.Schema{"uses": document.Schema{"const": a.Name}}, "required": []string{"uses"}},
			"then": document.Schema{"properties": document.Schema{"with": inputs}},
		})
	}
	step["allOf"] = conditions
	step["properties"].(document.Schema)["uses"].(document.Schema)["examples"] = names
	return s
}

// DocumentSchema lists the locks.
func (*Lock) DocumentSchema() document.Schema { return document.EnumSchema(LockCluster, LockNone) }

// DocumentSchema lists the types.
func (*InputType) DocumentSchema() document.Schema { return document.EnumSchema(inputTypes...) }

// DocumentSchema says what a wait takes.
func (*Backoff) DocumentSchema() document.Schema {
	return document.Schema{"type": "string", "pattern": `^[0-9.]+[a-zµ]+(\.\.[0-9.]+[a-zµ]+)?$`}
}

// DocumentSchema lists what becomes of a run that failed.
func (*OnFailure) DocumentSchema() document.Schema {
	return document.EnumSchema(FailureStops, FailureUndoes)
}

// DocumentSchema says what a guardrail takes.
func (*Guardrail) DocumentSchema() document.Schema { return document.StructSchema[Guardrail]() }

// DocumentSchema lists what a breach does.
func (*GuardThen) DocumentSchema() document.Schema { return document.EnumSchema(GuardPause, GuardStop) }

// DocumentSchema says what a gate takes.
func (*Gate) DocumentSchema() document.Schema { return document.StructSchema[Gate]() }

// DocumentSchema says what an approval takes.
func (*Approval) DocumentSchema() document.Schema { return document.StructSchema[Approval]() }

// DocumentSchema says which values a rehearsal may count for.
func (*Alike) DocumentSchema() document.Schema {
	text := document.TextSchema()
	of := func(keys ...string) document.Schema {
		all := document.Schema{}
		for _, key := range keys {
			all[key] = text
		}
		return document.Schema{"type": "object", "additionalProperties": false, "properties": all, "required": keys}
	}
	return document.AnyOf(document.EnumSchema("place"), of("any"), of("from", "to", "why"))
}
