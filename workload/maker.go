package workload

import (
	"plimsoll/engine"
	"plimsoll/internal/document"
)

// Maker makes a workload out of what a user asks of it.
type Maker struct {
	Name       string
	Summary    string      // one line
	Parameters []Parameter // that New reads, for reference pages
	// New reads the parameters, a mapping or nil, for workloads on this engine.
	New func(params *document.Node, e engine.Engine) (Workload, error)
}

// Make returns the Maker of a workload whose parameters are a struct: yaml tags name them, doc tags explain them, min, max
// and oneof tags bound them, and what defaults holds is taken for those that are not given. build also gets the node, to
// tell what was given and to place its own refusals.
func Make[P any](name, summary string, defaults P, build func(p P, given *document.Node, e engine.Engine) (Workload, error)) Maker {
	return Maker{
		Name:       name,
		Summary:    summary,
		Parameters: describe(defaults),
		New: func(given *document.Node, e engine.Engine) (Workload, error) {
			if given == nil || given.Kind == document.Nothing {
				given = &document.Node{Kind: document.Mapping}
			}
			p := defaults
			if err := decode(given, &p); err != nil {
				return nil, err
			}
			return build(p, given, e)
		},
	}
}

// NeedSQL refuses an engine that does not speak SQL.
func NeedSQL(name string, given *document.Node, e engine.Engine) error {
	if _, ok := e.(engine.Relational); ok {
		return nil
	}
	return document.Problems{given.Errorf("%s needs an engine that speaks SQL, %s does not", name, e.Name()).
		WithHint("the ycsb workloads and kv run on it")}
}
