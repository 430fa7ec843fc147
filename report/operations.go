package report

import (
	"cmp"
	"slices"

	"plimsoll/result"

	"plimsoll/report/quantity"
	"plimsoll/series"
)

// operations is what a cell's operations came to, all rounds together, warm-up left out.
type operations struct {
	names   []string // in the order of the rows, all of them together first
	tallies map[string]series.Tally
}

// operationsOf adds the seconds up by cell.
func operationsOf(rows []result.Row) map[string]*operations {
	cells := map[string]*operations{}
	for i := range rows {
		row := &rows[i]
		if row.Phase == "warmup" {
			continue
		}
		o := cells[row.Cell]
		if o == nil {
			o = &operations{tallies: map[string]series.Tally{}}
			cells[row.Cell] = o
		}
		t, known := o.tallies[row.Operation]
		switch {
		case known:
		case row.Operation == everything:
			o.names = append([]string{everything}, o.names...)
		default:
			o.names = append(o.names, row.Operation)
		}
		o.tallies[row.Operation] = t.Plus(row.Tally)
	}
	return cells
}

// operationMetrics are shown of every operation.
var operationMetrics = []string{"throughput", "response_p50", "response_p95", "response_p99"}

// operationTables has a table for every cell that tells operations apart.
func operationTables(r *result.Result) []table {
	measured := operationsOf(r.Seconds)
	var all []table
	for _, c := range r.Verdict.Cells {
		if o := measured[c.Name]; o != nil && !slices.Equal(o.names, []string{everything}) {
			all = append(all, o.table(cmp.Or(c.Name, name(r)), c.Figures))
		}
	}
	return all
}

func (o *operations) table(title string, figures []result.Figure) table {
	t := table{Title: title, Columns: []string{"scheduled", "done", "errors", "late", "skipped"}}
	shown := slices.DeleteFunc(slices.Clone(operationMetrics), func(m string) bool {
		return !slices.ContainsFunc(figures, func(f result.Figure) bool { return f.Metric == m })
	})
	for _, m := range shown {
		t.Columns = append(t.Columns, called(m))
	}
	names := o.names
	only := len(names) == 2 && names[0] == everything // then all of them are this one, and the figures are all's
	if only {
		names = names[1:]
	}
	for _, operation := range names {
		l := line{Head: operation, Ink: -1, Cells: tallyEntries(o.tallies[operation])}
		if only {
			operation = everything
		}
		for _, m := range shown {
			var e entry
			if f, ok := find(figures, m, operation); ok {
				e.Value, e.Spread = write(f)
			}
			l.Cells = append(l.Cells, e)
		}
		t.Rows = append(t.Rows, l)
	}
	return t
}

func tallyEntries(t series.Tally) []entry {
	var texts []string
	for _, n := range []int64{t.Scheduled, t.Done, t.Errors, t.Late, t.Skipped} {
		texts = append(texts, quantity.Count.Format(float64(n)))
	}
	return plainEntries(texts...)
}
