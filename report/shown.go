package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/result"

	"plimsoll/report/quantity"
	"plimsoll/series"
)

// shownTable is what the signals that expectations name did in each phase: the highest reading, and the mean. Of several rounds
// it shows the worst.
func shownTable(v result.Verdict) table {
	t := table{Corner: "signal", Note: "For each signal in an expectation: the highest reading and the mean of each phase, read once a second. " +
		"Gaps are named if they are longer than " + quantity.Duration(result.Silence) + ": the signal is unknown for that time."}
	type place struct{ signal, node, cell string }
	var rows []place
	found := map[place]map[string]result.Shown{}
	for _, p := range v.Phases {
		for _, s := range p.Signals {
			if !slices.Contains(t.Columns, p.Name) {
				t.Columns = append(t.Columns, p.Name)
			}
			at := place{s.Signal, s.Node, p.Cell}
			if found[at] == nil {
				found[at], rows = map[string]result.Shown{}, append(rows, at)
			}
			if worse, seen := found[at][p.Name]; !seen || s.Highest > worse.Highest {
				found[at][p.Name] = s
			}
		}
	}
	for _, at := range rows {
		_, head, _ := strings.Cut(at.signal, ".") // mysql.replica_lag_seconds.n1: replica lag n1
		head, _ = unitOf(head)
		if at.node != "" {
			head += " on " + at.node
		}
		if at.cell != "" {
			head += ", " + at.cell
		}
		l := line{Head: head, Ink: -1, Cells: make([]entry, len(t.Columns))}
		for i, phase := range t.Columns {
			if s, seen := found[at][phase]; seen {
				l.Cells[i] = shownEntry(s)
			}
		}
		t.Rows = append(t.Rows, l)
	}
	return t
}

func shownEntry(s result.Shown) entry {
	_, name := series.SignalUnit(s.Signal)
	unit := quantity.Unit(name)
	e := entry{Value: unit.Format(s.Highest), Spread: "mean " + unit.Format(s.Mean)}
	if s.Silent > result.Silence {
		e.Spread += fmt.Sprintf(", none for %s", quantity.Duration(s.Silent.Round(time.Second)))
	}
	return e
}
