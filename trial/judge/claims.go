package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/analyze"
	"plimsoll/trial/expect"
	"plimsoll/trial/spec"
)

// claims asks every expectation of every cell it speaks of: an expectation that names no level of a factor holds at each
// of them, one that names no variant for each of them, and one on a signal that names no node on each that shows it.
func claims(t *spec.Trial, r *Recording) []analyze.Claim {
	var out []analyze.Claim
	for _, e := range t.Expectations {
		for _, place := range places(t, e) {
			for _, node := range nodes(t, e, place, r) {
				place.node = node
				claim := analyze.Claim{Text: e.Text + place.suffix(), Estimate: e.Estimate, Ratio: e.Ratio, Unit: e.Unit, Op: e.Op, Margin: e.Margin}
				claim.Rounds = roundsOf(t, e, place, r)
				for _, m := range e.Metrics {
					claim.Quantities = append(claim.Quantities, quantity(t, m, e, place, r))
				}
				out = append(out, claim)
			}
		}
	}
	return out
}

// roundsOf is how many rounds all cells of an expectation have.
func roundsOf(t *spec.Trial, e expect.Comparison, p place, r *Recording) int {
	least := t.Phases.Rounds
	for _, m := range e.Metrics {
		least = min(least, Measured(r.Rounds(cellOf(t, m, p).Name, "", "", "")))
	}
	return least
}

// nodes are those that an expectation is asked of: "" where it names them, or where none is known.
func nodes(t *spec.Trial, e expect.Comparison, p place, r *Recording) []string {
	var nodes []string
	for _, m := range e.Metrics {
		if m.OfSignal() && m.Node == "" {
			nodes = append(nodes, r.showing(cellOf(t, m, p).Name, m.Signal)...)
		}
	}
	if len(nodes) == 0 {
		return []string{""}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// impossible tells whether an expectation fails whatever its one metric was, known to be at least value (beyond is 1) or at most
// value (beyond is -1).
func impossible(c expect.Comparison, value, beyond float64) bool {
	if len(c.Metrics) != 1 {
		return false
	}
	found, further := c.Estimate([]float64{value}), c.Estimate([]float64{value + beyond})
	rises, falls := further > found, further < found
	switch c.Op {
	case "<":
		return rises && found >= c.Margin
	case "<=":
		return rises && found > c.Margin
	case ">":
		return falls && found <= c.Margin
	case ">=":
		return falls && found < c.Margin
	case "==":
		return rises && found > c.Margin || falls && found < c.Margin
	}
	return false
}

// place is where a claim is made: the variant and levels that stand for what its metrics leave open.
type place struct {
	variant string
	levels  map[string]string
	open    []string // factors that the claim leaves open, in order
	named   bool     // the variant was left open too
	node    string   // that signals are of which name none
}

// suffix says where, if the expectation does not.
func (p place) suffix() string {
	var parts []string
	if p.named {
		parts = append(parts, p.variant)
	}
	for _, f := range p.open {
		parts = append(parts, f+"="+p.levels[f])
	}
	text := ""
	if len(parts) > 0 {
		text = " at " + strings.Join(parts, ", ")
	}
	if p.node != "" {
		text += " on " + p.node
	}
	return text
}

func places(t *spec.Trial, e expect.Comparison) []place {
	openVariant := len(t.Compare.Variants) > 0 && slices.ContainsFunc(e.Metrics, func(m expect.Metric) bool { return m.Variant == "" })
	var open []string
	for _, f := range t.Compare.Factors {
		if slices.ContainsFunc(e.Metrics, func(m expect.Metric) bool { return m.At[f.Name] == "" }) {
			open = append(open, f.Name)
		}
	}
	var out []place
	seen := map[string]bool{}
	for _, c := range t.Cells {
		p := place{open: open, levels: map[string]string{}, named: openVariant}
		if openVariant {
			p.variant = c.Variant
		}
		for _, f := range open {
			p.levels[f] = c.Factors[f]
		}
		if key := fmt.Sprint(p); !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out
}

// cellOf finds the cell that a metric means at a place.
func cellOf(t *spec.Trial, m expect.Metric, p place) *spec.Cell {
	want := maps.Clone(p.levels)
	maps.Copy(want, m.At)
	variant := m.Variant
	if variant == "" {
		variant = p.variant
	}
	for _, c := range t.Cells {
		if c.Variant == variant && maps.Equal(c.Factors, want) {
			return c
		}
	}
	panic("trial: no cell at " + fmt.Sprint(variant, want))
}

// quantity is what was measured of a metric. A service that was not back within the data has recovered later than that: enough
// to refute, not to prove.
func quantity(t *spec.Trial, m expect.Metric, e expect.Comparison, p place, r *Recording) analyze.Quantity {
	c := cellOf(t, m, p)
	if m.OfSignal() {
		return r.level(m, e, c.Name, cmp.Or(m.Node, p.node))
	}
	q := analyze.Quantity{Name: m.String(), Rounds: r.Rounds(c.Name, m.Phase, m.Step, m.Operation)}
	switch {
	case m.OfLedger():
		q.Exact = r.told(m, c.Name, 0, m.Phase)
	case m.Name == "recovery_time" && c.Ledger != nil:
		q.Of, q.Exact = analyze.OfWrites, r.told(m, c.Name, 0, m.Phase)
	case m.Name == "recovery_time" || m.Name == "impact_time":
		took, back, found := r.recoveryTime(c.Name, m.Phase)
		switch q.Of = analyze.OfService; {
		case found && back:
			q.Exact = &took
		case found && impossible(e, took, 1):
			q.Exact, q.AtLeast = &took, true
		case found:
			q.Rounds, q.Lacks = nil, fmt.Sprintf("a longer recovery phase: throughput, response times or errors had not recovered within %s",
				time.Duration(took*float64(time.Millisecond)).Round(Second))
		default:
			q.Rounds, q.Statistic = nil, m.Statistic()
		}
	case m.Name == "warmth":
		q.Exact = r.warmth(c.Name, m.Phase, m.Node)
	case m.Name == "warm_time":
		q.Exact = r.warmTime(c.Name, m.Phase, m.Node)
	case m.Counted() && Measured(q.Rounds) > 0:
		n := m.Count(slices.Concat(q.Rounds...))
		q.Exact = &n
	default:
		q.Statistic = m.Statistic()
	}
	if q.Exact == nil && q.Statistic == nil { // it has no value, which is no reason to guess one
		q.Rounds, q.Statistic = nil, analyze.Throughput()
	}
	return q
}
