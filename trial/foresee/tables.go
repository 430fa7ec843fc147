package foresee

import (
	"slices"

	"plimsoll/action"
	"plimsoll/internal/document"
	"plimsoll/runbook/execute"
	"plimsoll/trial/spec"
)

// neededTables looks for the tables that the SQL of a timeline needs. A fault makes none, so that they can be looked for after one too.
type neededTables struct {
	as   Found // how the first runbook finds the cluster
	made []action.Table
	any  bool // an earlier runbook may have made others, or the load makes some
}

// tablesFor begins with none made. A load of a person's own SQL may make some while it goes on.
func tablesFor(t *spec.Trial, first Found) neededTables {
	own := slices.ContainsFunc(t.Cells, func(c *spec.Cell) bool { return document.IsPath(c.Source) })
	return neededTables{as: first, any: own}
}

// lacking are the tables that a runbook's steps need and that are not there, unless what was executed before may make them; nil of a runbook that
// could not be planned.
func (s *neededTables) lacking(name string, p *execute.Prepared) (all []Foreseen) {
	if p == nil {
		s.any = true
		return nil
	}
	plan := p.Header.Plan
	for _, step := range plan.Steps {
		for _, l := range step.Lacks {
			if s.any || slices.Contains(s.made, l.Table) {
				continue
			}
			all = append(all, s.as.foretells(Foreseen{Of: name, Why: l.Why, Do: "correct the name of the table, or create the table in an earlier step of the trial"}, false, true))
		}
	}
	s.made, s.any = append(s.made, plan.Makes...), s.any || plan.MakesAny
	return all
}
