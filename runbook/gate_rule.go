package runbook

import (
	"strings"

	"plimsoll/cluster"
	"plimsoll/internal/document"
)

// Production is the environment that gates are for.
const Production = cluster.Production

// Gate is what a runbook must have passed before it may run in production.
type Gate struct {
	Rehearsals int          `yaml:"rehearsals" doc:"Consecutive passed trials of exactly this text, with these inputs and versions of its actions, on this product and minor version and this class of topology."`
	MaxAge     document.Age `yaml:"max_age" doc:"How old they may be, such as 14d. Default: any age."`
	None       string       `yaml:"none" doc:"In place of both: the reason why the runbook may run in production without rehearsals. The plan shows it."`
}

// UnmarshalDocument reads {rehearsals: 3, max_age: 14d} or {none: REASON}.
func (g *Gate) UnmarshalDocument(n *document.Node) error {
	const expected = "expected {rehearsals: 3, max_age: 14d}, or {none: REASON}"
	if n.Kind != document.Mapping {
		return n.Errorf("gate %s, %s", n.Said(), expected)
	}
	type plain Gate // without this method
	if err := n.Decode((*plain)(g)); err != nil {
		return err
	}
	switch none := n.Get("none"); {
	case none != nil && len(n.Entries) > 1:
		return none.Errorf("none and another key, %s", expected)
	case none != nil && strings.TrimSpace(g.None) == "":
		return none.Errorf("none has no reason, %s", expected)
	case none == nil && g.Rehearsals < 1:
		return n.Errorf("%d rehearsals, expected at least 1; the gate of a runbook that needs none is {none: REASON}", g.Rehearsals)
	}
	return nil
}
