package report

import (
	"cmp"
	"slices"

	"plimsoll/report/quantity"
	"plimsoll/series"
	"plimsoll/trial"
)

// operationTables has a table of operations for every cell in which something was measured.
func operationTables(r *trial.Result) []table {
	tallies := map[string]map[string]series.Tally{} // by cell and operation
	order := map[string][]string{}
	for _, row := range r.Seconds {
		if row.Phase == "warmup" {
			continue
		}
		if tallies[row.Cell] == nil {
			tallies[row.Cell] = map[string]series.Tally{}
		}
		t, known := tallies[row.Cell][row.Operation]
		if !known {
			order[row.Cell] = append(order[row.Cell], row.Operation)
		}
		tallies[row.Cell][row.Operation] = t.Plus(row.Tally)
	}
	var all []table
	for _, c := range r.Verdict.Cells {
		t := table{Title: cmp.Or(c.Name, name(r)), Columns: []string{"scheduled", "done", "errors", "late", "skipped"}}
		figures := false
		for _, name := range order[c.Name] {
			l := line{Head: name, Ink: -1, Cells: tallyEntries(tallies[c.Name][name])}
			for _, metric := range operationMetrics {
				var e entry
				if f, ok := find(c.Figures, metric, name); ok {
					e.Value, e.Spread = write(f)
					figures = true
				}
				l.Cells = append(l.Cells, e)
			}
			t.Rows = append(t.Rows, l)
		}
		if figures {
			for _, m := range operationMetrics {
				t.Columns = append(t.Columns, title(m))
			}
		} else {
			for i := range t.Rows {
				t.Rows[i].Cells = t.Rows[i].Cells[:len(t.Columns)]
			}
		}
		if len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	return all
}

var operationMetrics = []string{"throughput", "response_p50", "response_p95", "response_p99"}

func tallyEntries(t series.Tally) []entry {
	var texts []string
	for _, n := range []int64{t.Scheduled, t.Done, t.Errors, t.Late, t.Skipped} {
		texts = append(texts, quantity.Count.Format(float64(n)))
	}
	return plainEntries(texts...)
}

// onlyAll tells tables whose single row is that of all operations: they say nothing new.
func onlyAll(tables []table) bool {
	return !slices.ContainsFunc(tables, func(t table) bool {
		return slices.ContainsFunc(t.Rows, func(l line) bool { return l.Head != everything })
	})
}
