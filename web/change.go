package web

import (
	"fmt"
	"reflect"

	"plimsoll/action"
	"plimsoll/internal/document"
	"plimsoll/runbook/journal"
)

// change is one fact of a step: what was observed and what is intended.
type change struct {
	Name string `json:"name"`
	Was  string `json:"was,omitempty"`
	Will string `json:"will,omitempty"`
	Same bool   `json:"same,omitempty"`
}

// changesOf lays observed and intended beside each other, those that change first.
func changesOf(observed, intended action.Facts) []change {
	var changing, staying []change
	for _, name := range document.SortedKeys(intended) {
		was, known := observed[name]
		c := change{Name: name, Will: textOf(intended[name])}
		if known {
			is, willBe := action.InOneUnit(was, intended[name])
			c.Was, c.Will, c.Same = textOf(is), textOf(willBe), reflect.DeepEqual(was, intended[name])
		}
		if c.Same {
			staying = append(staying, c)
		} else {
			changing = append(changing, c)
		}
	}
	for _, name := range document.SortedKeys(observed) {
		if _, said := intended[name]; !said {
			staying = append(staying, change{Name: name, Was: textOf(observed[name]), Same: true})
		}
	}
	return append(changing, staying...)
}

func textOf(v any) string {
	if text := fmt.Sprint(v); text != "" {
		return text
	}
	return "–"
}

func factsOf(f action.Facts) []fact {
	var all []fact
	for _, name := range document.SortedKeys(f) {
		all = append(all, fact{name, textOf(f[name])})
	}
	return all
}

// planRow is a step of a plan as a person reads it.
type planRow struct {
	Step     string        `json:"step"`
	Uses     string        `json:"uses"`
	Cluster  string        `json:"cluster,omitempty"` // if not the run's own
	Means    string        `json:"means"`             // changes, already, later, skipped, trouble, approval
	Effect   action.Effect `json:"effect,omitempty"`
	Changes  []change      `json:"changes,omitempty"`
	Later    []string      `json:"later,omitempty"`
	Approval string        `json:"approval,omitempty"`
	Caution  string        `json:"caution,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Advice   string        `json:"advice,omitempty"`
}

// Stays tells whether nothing in the runbook takes the step back once it is done.
func (p planRow) Stays() bool { return p.Effect.Stays() || p.Effect == action.Lasting }

func planRows(p journal.Plan) []planRow {
	var rows []planRow
	for _, s := range p.Steps {
		row := planRow{
			Step: s.Key, Uses: s.Uses, Cluster: s.Cluster, Effect: s.Effect, Later: s.Later, Approval: s.Approval, Caution: s.Caution,
			Reason: s.Reason, Advice: s.Advice, Changes: changesOf(s.Observed, s.Intended),
		}
		if s.Idle() {
			row.Approval, row.Caution = "", "" // nobody is asked
		}
		switch {
		case s.Failed, s.State == action.Unknown:
			row.Means = "trouble"
		case s.Skip, s.Unasked:
			row.Means = "skipped"
		case len(s.Later) > 0:
			row.Means = "later"
		case s.State == action.Satisfied:
			row.Means = "already"
		case s.Uses == "":
			row.Means = "approval"
		default:
			row.Means = "changes"
		}
		rows = append(rows, row)
	}
	return rows
}
