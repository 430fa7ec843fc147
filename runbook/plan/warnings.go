package plan

import (
	"context"
	"slices"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/runbook/journal"
)

// tablesMade are the tables that the steps before one make.
type tablesMade struct {
	tables []action.Table
	any    bool // one of them may make others, which nobody can tell
}

// by notes what a step makes that acts.
func (m *tablesMade) by(task action.Task) {
	maker, tells := task.(action.TableMaker)
	if !tells {
		m.any = m.any || task.Traits().Effect != action.None
		return
	}
	tables, known := maker.Makes()
	m.tables, m.any = append(m.tables, tables...), m.any || !known
}

// warnings are the cautions of a task, without those of a table that a step before it may make, and the tables that it lacks.
func (m *tablesMade) warnings(ctx context.Context, on *cluster.Cluster, task action.Task) (all []string, lacks []journal.AbsentTable) {
	cautioned, ok := task.(action.Cautioned)
	if !ok {
		return nil, nil
	}
	for _, c := range cautioned.Cautions(ctx, on) {
		about := c.Table != (action.Table{})
		if about && (m.any || slices.Contains(m.tables, c.Table)) {
			continue
		}
		all = append(all, c.Text)
		if about {
			lacks = append(lacks, journal.AbsentTable{Table: c.Table, Why: c.Text})
		}
	}
	return all, lacks
}
