package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/series"
)

// signal is one named series per node, reduced to what can be seen.
type signal struct {
	Name  string // after the group's prefix, in words
	Unit  quantity.Unit
	Chart chart.Chart
}

// signalGroup is the signals of one prefix: mysql, host, load.
type signalGroup struct {
	Name    string
	Signals []signal
	Still   []string // those that never changed, with their value
}

// signalGroups reduces points to at most so many buckets, from start to end, with a line of its own for each variant.
func signalGroups(points []series.Point, start, end time.Time, buckets int, variants variants) []signalGroup {
	byName := map[string][]series.Point{}
	for _, p := range points {
		byName[p.Signal] = append(byName[p.Signal], p)
	}
	names := make([]string, 0, len(byName))
	for name := range byName {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(last(a)-last(b), cmp.Compare(a, b)) })
	var groups []signalGroup
	for _, name := range names {
		prefix, rest, ok := strings.Cut(name, ".")
		if !ok {
			prefix, rest = "other", name
		}
		if len(groups) == 0 || groups[len(groups)-1].Name != prefix {
			groups = append(groups, signalGroup{Name: prefix})
		}
		g := &groups[len(groups)-1]
		s := newSignal(rest, byName[name], start, end, buckets, variants)
		if value, is := still(byName[name]); is {
			g.Still = append(g.Still, s.Name+" "+s.Unit.Format(value))
			continue
		}
		g.Signals = append(g.Signals, s)
	}
	return groups
}

// last puts the load generator's own signals behind those of the database and its host.
func last(name string) int {
	if strings.HasPrefix(name, guardPrefix) {
		return 1
	}
	return 0
}

func newSignal(name string, points []series.Point, start, end time.Time, buckets int, variants variants) signal {
	s := signal{}
	s.Name, s.Unit = unitOf(name)
	grid := chart.NewGrid(0, end.Sub(start).Seconds(), buckets)
	grid = widen(grid, points)
	s.Chart = chart.Chart{
		Title: s.Name, X: chart.Axis{Unit: quantity.Elapsed, To: end.Sub(start).Seconds()},
		Y: chart.Axis{Unit: s.Unit}, Xs: grid.Xs(),
	}
	nodes := map[string][]chart.Bucket{}
	var order []string
	inks := map[string]int{}
	for _, p := range points {
		node := p.Node
		variant, ink, is := variants.at(p.Time)
		switch {
		case is:
			node = join(p.Node+":", variant)
			inks[node] = ink
		case len(variants.inks) > 0: // read while the next one was made ready
			continue
		}
		if nodes[node] == nil {
			nodes[node], order = make([]chart.Bucket, grid.Count), append(order, node)
		}
		if i, ok := grid.Index(p.Time.Sub(start).Seconds()); ok {
			nodes[node][i].Add(p.Value, 1)
		}
	}
	slices.Sort(order)
	for i, node := range order {
		ink, ofVariant := inks[node]
		if !ofVariant {
			ink = (i + 1) % chart.Inks
		}
		l := chart.Line{Name: node, Ink: ink % chart.Inks, Values: make(chart.Values, grid.Count)}
		l.Low, l.High = make(chart.Values, grid.Count), make(chart.Values, grid.Count)
		ranges := false
		for j, b := range nodes[node] {
			l.Values[j] = b.Mean()
			l.Low[j], l.High[j] = b.Range()
			ranges = ranges || l.High[j] > l.Low[j]
		}
		if !ranges {
			l.Low, l.High = nil, nil
		}
		s.Chart.Lines = append(s.Chart.Lines, l)
	}
	return s
}

// widen makes buckets as long as the distance between readings, so that a signal read every ten seconds has no gaps.
func widen(g chart.Grid, points []series.Point) chart.Grid {
	var gaps []float64
	previous := map[string]time.Time{}
	for _, p := range points {
		if at, ok := previous[p.Node]; ok {
			gaps = append(gaps, p.Time.Sub(at).Seconds())
		}
		previous[p.Node] = p.Time
	}
	if len(gaps) == 0 {
		return g
	}
	slices.Sort(gaps)
	usual := gaps[len(gaps)*9/10] * 1.05
	if usual <= g.Width {
		return g
	}
	span := g.Width * float64(g.Count)
	return chart.NewGrid(g.From, g.From+span, max(int(span/usual), 1))
}

// still tells signals that never changed, and their value.
func still(points []series.Point) (float64, bool) {
	for _, p := range points {
		if p.Value != points[0].Value {
			return math.NaN(), false
		}
	}
	return points[0].Value, true
}

// unitOf reads the unit that a signal's name says.
func unitOf(name string) (string, quantity.Unit) {
	head, unit := series.SignalUnit(name)
	return inWords(head), quantity.Unit(unit)
}

func inWords(name string) string { return strings.NewReplacer("_", " ", ".", " ").Replace(name) }

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
