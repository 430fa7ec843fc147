package report

import (
	"slices"
	"strings"

	"plimsoll/series"
)

// guardPrefix begins the signals in which the load generator says how it fared itself.
const guardPrefix = "load."

// guardTable sums up the load generator's own readings; it has no rows where there are none.
func guardTable(points []series.Point) table {
	t := table{Title: "Was the load generator itself a bottleneck?", Columns: []string{"mean", "worst"}}
	sums := map[string]*struct{ n, sum, most float64 }{}
	var names []string
	for _, p := range points {
		if !strings.HasPrefix(p.Signal, guardPrefix) {
			continue
		}
		name := p.Signal
		if strings.HasPrefix(p.Node, "loader ") { // one of several
			name = p.Node + ", " + name
		}
		s := sums[name]
		if s == nil {
			s = &struct{ n, sum, most float64 }{}
			sums[name], names = s, append(names, name)
		}
		s.n++
		s.sum += p.Value
		s.most = max(s.most, p.Value)
	}
	slices.Sort(names)
	for _, name := range names {
		s := sums[name]
		head, unit := unitOf(strings.Replace(name, guardPrefix, "", 1))
		t.Rows = append(t.Rows, line{Head: head, Ink: -1, Cells: plainEntries(unit.Format(s.sum/s.n), unit.Format(s.most))})
	}
	return t
}
