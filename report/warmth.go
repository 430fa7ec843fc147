package report

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/result"

	"plimsoll/report/quantity"
)

// warmthTable is what each change left of the nodes' memory, side by side for the cells of a comparison. Of several rounds
// it shows the worst.
func warmthTable(v result.Verdict) table {
	t := table{Corner: "after", Note: "The share of the data set's pages that had been in a node's memory and still were when the change had ended; how long after " +
		"that its miss share was back where it had been; and the pages that it read from disk until the next change."}
	var found []warmth
	for _, p := range v.Phases {
		for _, w := range p.Warmth {
			found = append(found, warmth{p.Name, p.Cell, w})
		}
	}
	for _, w := range found {
		if column := columnOf(w.cell); !slices.Contains(t.Columns, column) {
			t.Columns = append(t.Columns, column)
		}
	}
	for _, w := range found {
		head := w.head(found)
		at := slices.IndexFunc(t.Rows, func(l line) bool { return l.Head == head })
		if at < 0 {
			at = len(t.Rows)
			t.Rows = append(t.Rows, line{Head: head, Ink: -1, Cells: make([]entry, len(t.Columns))})
		}
		t.Rows[at].Cells[slices.Index(t.Columns, columnOf(w.cell))] = worst(found, w)
	}
	return t
}

// warmth is one node after one change.
type warmth struct {
	change, cell string
	result.Warmth
}

func columnOf(cell string) string {
	if cell == "" {
		return "in memory"
	}
	return cell
}

// head names the change and the node's part; the node too, where several play it.
func (w warmth) head(all []warmth) string {
	head := w.change + ": " + w.Role
	if slices.ContainsFunc(all, func(o warmth) bool { return o.change == w.change && o.Role == w.Role && o.Node != w.Node }) {
		head += " " + w.Node
	}
	return head
}

// worst is what the rounds of a cell have in common at least.
func worst(all []warmth, of warmth) entry {
	share, misses, longest, everyTime, asked := 1.0, 0.0, time.Duration(0), true, false
	for _, w := range all {
		if w.change != of.change || w.cell != of.cell || w.Node != of.Node || w.Role != of.Role {
			continue
		}
		share, misses = min(share, w.Share), max(misses, w.Misses)
		asked = asked || w.Asked
		if w.Warm == nil {
			everyTime = false
		} else {
			longest = max(longest, *w.Warm)
		}
	}
	e := entry{Value: quantity.Share.Format(share)}
	switch {
	case !asked:
		e.Spread = "no requests"
	case !everyTime:
		e.Spread = "not warm in time"
	case longest == 0:
		e.Spread = "warm immediately"
	default:
		e.Spread = "warm after " + quantity.Duration(longest.Round(100*time.Millisecond))
	}
	if misses >= 0.5 {
		e.Spread += fmt.Sprintf(", %s pages read", quantity.Count.Format(misses))
	}
	return e
}
