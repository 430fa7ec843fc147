package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/analyze"
)

// claims asks every expectation of every cell it speaks of: an expectation that names no level of a factor holds at each
// of them, one that names no variant for each of them.
func (t *Trial) claims(r *recording) []analyze.Claim {
	var out []analyze.Claim
	for _, e := range t.expectations {
		for _, place := range t.places(e) {
			claim := analyze.Claim{Text: e.text + place.suffix(), Estimate: e.estimate, Ratio: e.ratio, Unit: e.unit, Op: e.op, Margin: e.margin}
			for _, m := range e.metrics {
				claim.Quantities = append(claim.Quantities, t.quantity(m, place, r))
			}
			out = append(out, claim)
		}
	}
	return out
}

// place is where a claim is made: the variant and levels that stand for what its metrics leave open.
type place struct {
	variant string
	levels  map[string]string
	open    []string // factors that the claim leaves open, in order
	named   bool     // the variant was left open too
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
	if len(parts) == 0 {
		return ""
	}
	return " at " + strings.Join(parts, ", ")
}

func (t *Trial) places(e comparison) []place {
	openVariant := len(t.Compare.Variants) > 0 && slices.ContainsFunc(e.metrics, func(m Metric) bool { return m.Variant == "" })
	var open []string
	for _, f := range t.Compare.Factors {
		if slices.ContainsFunc(e.metrics, func(m Metric) bool { return m.At[f.Name] == "" }) {
			open = append(open, f.Name)
		}
	}
	var out []place
	seen := map[string]bool{}
	for _, c := range t.cells {
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
func (t *Trial) cellOf(m Metric, p place) *cell {
	want := maps.Clone(p.levels)
	maps.Copy(want, m.At)
	variant := m.Variant
	if variant == "" {
		variant = p.variant
	}
	for _, c := range t.cells {
		if c.Variant == variant && maps.Equal(c.Factors, want) {
			return c
		}
	}
	panic("trial: no cell at " + fmt.Sprint(variant, want))
}

func (t *Trial) quantity(m Metric, p place, r *recording) analyze.Quantity {
	c := t.cellOf(m, p)
	q := analyze.Quantity{Name: m.String(), Rounds: r.rounds(c.Name, m.Phase, m.Operation)}
	switch {
	case m.Name == "recovery_time":
		q.Exact = r.recoveryTime(c.Name, m.Phase)
	case m.exact() && len(q.Rounds) > 0:
		n := m.count(slices.Concat(q.Rounds...))
		q.Exact = &n
	default:
		q.Statistic = m.statistic()
	}
	return q
}
