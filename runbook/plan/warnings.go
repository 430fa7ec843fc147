package plan

import (
	"context"
	"slices"

	"plimsoll/action"
	"plimsoll/cluster"
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

// warnings are the cautions of a task, without those of a table that a step before it may make.
func (m *tablesMade) warnings(ctx context.Context, on *cluster.Cluster, task action.Task) []string {
	cautioned, ok := task.(action.Cautioned)
	if !ok {
		return nil
	}
	var all []string
	for _, c := range cautioned.Cautions(ctx, on) {
		if about := c.Table != (action.Table{}); !about || !m.any && !slices.Contains(m.tables, c.Table) {
			all = append(all, c.Text)
		}
	}
	return all
}
