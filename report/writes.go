package report

import (
	"cmp"
	"fmt"
	"slices"

	"plimsoll/result"

	"plimsoll/report/quantity"
)

// writes is what a ledger said of acknowledged writes.
type writes struct {
	Lead   []remark
	Tables []table
}

// writeMetrics are the figures of a ledger, with how a table calls them.
var writeMetrics = []struct{ metric, name string }{
	{"lost_writes", "lost"}, {"recovery_point", "recovery point"}, {"recovery_time", "longest write gap"},
	{"duplicated_writes", "duplicated"}, {"corrupt_writes", "corrupt"}, {"stale_reads", "stale reads"},
}

// newWrites is nil where no ledger was kept.
func newWrites(r *result.Result) *writes {
	all := table{Corner: "cell", Columns: []string{"acknowledged", "unacknowledged", "of which present"}}
	shown := shownWrites(r.Verdict.Cells)
	for _, m := range shown {
		all.Columns = append(all.Columns, m.name)
	}
	w := &writes{}
	for _, c := range r.Verdict.Cells {
		if c.Writes == nil {
			continue
		}
		head := cmp.Or(c.Name, name(r))
		l := line{Head: head, Ink: -1, Cells: plainEntries(count(c.Writes.Acknowledged), count(c.Writes.InDoubt), count(c.Writes.Found))}
		for _, m := range shown {
			l.Cells = append(l.Cells, writeEntry(c.Figures, m.metric))
		}
		all.Rows = append(all.Rows, l)
		if s := fate(c); s != "" {
			w.Lead = append(w.Lead, remark{head, s})
		}
	}
	if len(all.Rows) == 0 {
		return nil
	}
	w.Tables = []table{all}
	if t := changeWrites(r); len(t.Rows) > len(all.Rows) {
		w.Tables = append(w.Tables, t)
	}
	return w
}

// shownWrites are the metrics that any of the cells has.
func shownWrites(cells []result.Cell) []struct{ metric, name string } {
	return slices.DeleteFunc(slices.Clone(writeMetrics), func(m struct{ metric, name string }) bool {
		return !slices.ContainsFunc(cells, func(c result.Cell) bool {
			_, any := find(c.Figures, m.metric, "")
			return any
		})
	})
}

func count(n int64) string { return quantity.Count.Format(float64(n)) }

func writeEntry(figures []result.Figure, metric string) entry {
	f, any := find(figures, metric, "")
	if !any {
		return entry{Value: "–"}
	}
	return entry{Value: quantity.Unit(f.Unit).Format(f.Estimate.Value)}
}

// fate says in a sentence what was not as it was acknowledged, "" if all was.
func fate(c result.Cell) string {
	figure := func(metric string) float64 {
		f, _ := find(c.Figures, metric, "")
		return f.Estimate.Value
	}
	s := ""
	if lost := figure("lost_writes"); lost > 0 {
		s = fmt.Sprintf(": %s of %s acknowledged writes %s lost", quantity.Count.Format(lost), count(c.Writes.Acknowledged), areIs(lost))
		if point := figure("recovery_point"); point > 0 {
			s += fmt.Sprintf(", the oldest %s old when the database stopped answering", quantity.Milliseconds.Format(point))
		}
		s += "."
	}
	for _, m := range writeMetrics[3:] {
		if n := figure(m.metric); n > 0 {
			s += map[bool]string{true: ": ", false: " "}[s == ""] + fmt.Sprintf("%s %s.", quantity.Count.Format(n), m.name)
		}
	}
	return s
}

func areIs(n float64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// changeWrites tells the changes of a timeline apart.
func changeWrites(r *result.Result) table {
	t := table{Corner: "change"}
	for _, m := range writeMetrics {
		t.Columns = append(t.Columns, m.name)
	}
	for _, p := range r.Verdict.Phases {
		if _, any := find(p.Figures, "lost_writes", ""); !any {
			continue
		}
		head := p.Name
		if len(r.Verdict.Cells) > 1 || rounds(r) > 1 {
			head += ", " + roundName(p.Cell, p.Round)
		}
		l := line{Head: head, Ink: -1}
		for _, m := range writeMetrics {
			l.Cells = append(l.Cells, writeEntry(p.Figures, m.metric))
		}
		t.Rows = append(t.Rows, l)
	}
	return t
}

// aboutLedger says how writes were counted, "" if none were.
func aboutLedger(r *result.Result) string {
	if !slices.ContainsFunc(r.Verdict.Cells, func(c result.Cell) bool { return c.Writes != nil }) {
		return ""
	}
	return "Every acknowledged write was recorded with its checksum and time, and read back at the end from the server that was serving then. " +
		"A write that ended in an error is unacknowledged: it does not count as lost, whether it is present or not. The recovery point is how much older the oldest lost write is than the last " +
		"acknowledgement before the database stopped answering; the longest write gap is the longest time from one acknowledged write to the next after a change began, whether or not any write failed (recovery_time in an expectation). Both are measured by the client, to the millisecond."
}
