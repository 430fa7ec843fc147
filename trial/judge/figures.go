package judge

import (
	"fmt"
	"maps"

	"plimsoll/result"
	"plimsoll/trial/expect"
	"plimsoll/trial/spec"

	"plimsoll/analyze"
)

// figureMetrics are what is shown of every cell and phase.
func figureMetrics(open bool) []expect.Metric {
	metrics := []expect.Metric{{Name: "throughput"}}
	for _, name := range []string{"p50", "p95", "p99", "p999"} {
		metrics = append(metrics, expect.Metric{Name: "quantile", Quantile: expect.Quantiles[name], Basis: result.Response})
	}
	if open { // in a closed loop both times are the same
		metrics = append(metrics, expect.Metric{Name: "quantile", Quantile: expect.Quantiles["p99"], Basis: result.Service})
	}
	return append(metrics, expect.Metric{Name: "error_share"})
}

// figureName is a metric's name in a figure: throughput, response_p99, response_mean, service_p99, error_share.
func figureName(m expect.Metric) string {
	switch m.Name {
	case "mean", "max":
		return string(m.Basis) + "_" + m.Name
	case "quantile":
	default:
		return m.Name
	}
	for name, q := range expect.Quantiles {
		if q == m.Quantile {
			return string(m.Basis) + "_" + name
		}
	}
	return string(m.Basis)
}

// Cells returns the cells as the result shows them, with every figure and its ratio to the control.
func Cells(t *spec.Trial, r *Recording, o analyze.Options) []result.Cell {
	out := make([]result.Cell, len(t.Cells))
	for i, c := range t.Cells {
		out[i] = Cell(t, c, r, o)
	}
	return out
}

func Cell(t *spec.Trial, c *spec.Cell, r *Recording, o analyze.Options) result.Cell {
	out := c.Cell
	out.Figures = []result.Figure{}
	whole := r.Rounds(c.Name, "", "", "")
	out.Rounds = Measured(whole)
	for _, seconds := range whole {
		for _, s := range seconds {
			out.Tally = out.Tally.Plus(s.Tally)
		}
	}
	if out.Rounds == 0 {
		return out
	}
	control := controlOf(t, c)
	for _, operation := range append([]string{""}, c.Workload.Operations()...) {
		if operation != "" && len(c.Workload.Operations()) == 1 {
			break // the one operation is all of them
		}
		for _, m := range figureMetrics(c.Load.Open()) {
			m.Operation = operation
			q := analyze.Quantity{Name: m.String(), Rounds: r.beside(besides(t, c), c.Name, operation), Statistic: m.Statistic()}
			f := result.Figure{Metric: figureName(m), Operation: operation, Unit: m.Unit(), Estimate: analyze.EstimateOf(q, o)}
			if control != nil && m.Positive() {
				base := analyze.Quantity{Name: m.String(), Rounds: r.beside(besides(t, c), control.Name, operation), Statistic: m.Statistic()}
				if Measured(base.Rounds) > 0 {
					ratio := analyze.RatioOf(q, base, o)
					f.Ratio = &ratio
				}
			}
			out.Figures = append(out.Figures, f)
		}
	}
	out.Writes = r.writes(c.Name)
	out.Figures = append(out.Figures, r.ledgerFigures(c.Name, 0, "", len(t.Timeline) > 0)...)
	return out
}

// besides are the cells whose figures stand beside each other: the variants at the same levels of the factors.
func besides(t *spec.Trial, c *spec.Cell) []string {
	var out []string
	for _, other := range t.Cells {
		if maps.Equal(other.Factors, c.Factors) {
			out = append(out, other.Name)
		}
	}
	return out
}

// beside are the rounds of a cell that every cell beside it has, of those that were measured at all: the rounds that its ratios are of.
func (r *Recording) beside(cells []string, cell, operation string) [][]analyze.Second {
	var all [][][]analyze.Second
	for _, name := range cells {
		if rounds := r.Rounds(name, "", "", operation); Measured(rounds) > 0 {
			all = append(all, rounds)
		}
	}
	return only(r.Rounds(cell, "", "", operation), inAll(all...))
}

// LeftOut says which rounds of a trial that was cut off are in no figure, because a cell beside theirs does not have them.
func LeftOut(t *spec.Trial, r *Recording) []string {
	var out []string
	for _, c := range t.Cells {
		rounds, shown := r.Rounds(c.Name, "", "", ""), r.beside(besides(t, c), c.Name, "")
		var both []int
		for i := range shown {
			if len(shown[i]) > 0 {
				both = append(both, i+1)
			}
		}
		if alone := others(rounds, both); len(alone) > 0 {
			out = append(out, fmt.Sprintf("%s: %s left out of its figures and ratios, which are from %s: the other cells were not measured in more rounds.",
				c.Name, roundsInWords(alone)+map[bool]string{true: " is", false: " are"}[len(alone) == 1], roundsInWords(both)))
		}
	}
	return out
}

// controlOf is the control's cell with the same factors, nil for the control itself and where nothing is compared.
func controlOf(t *spec.Trial, c *spec.Cell) *spec.Cell {
	if c.Control || len(t.Compare.Variants) == 0 {
		return nil
	}
	for _, other := range t.Cells {
		if other.Control && maps.Equal(other.Factors, c.Factors) {
			return other
		}
	}
	return nil
}

// phases lists every period, with its figures where the cells are not what is looked at; what followed a baseline is held
// against it.
func phases(t *spec.Trial, r *Recording, o analyze.Options) []result.Phase {
	var out []result.Phase
	open := map[string]bool{}
	for _, c := range t.Cells {
		open[c.Name] = c.Load.Open()
	}
	for _, s := range r.Phases {
		p := result.Phase{Name: s.Phase, Cell: s.Cell, Round: s.Round, From: s.From, To: s.To, Warmth: s.warmth}
		if s.Phase != expect.Warmup {
			p.Signals = r.shown(s)
		}
		if (len(t.Timeline) > 0 || !t.Compare.Compares()) && s.Phase != expect.Warmup {
			p.Figures = phaseFigures(s.All, open[s.Cell], o)
			if s.Change {
				p.Impact, p.Dips = r.impact(s, o), r.dips(s, o)
				p.Figures = append(p.Figures, r.ledgerFigures(s.Cell, s.Round, s.Phase, true)...)
			}
		}
		out = append(out, p)
		for _, step := range s.Steps {
			p := result.Phase{Name: s.Phase + "/" + step.Key, Of: s.Phase, Cell: s.Cell, Round: s.Round, From: step.From, To: step.To}
			if step.To.Sub(step.From) >= Second { // what is shorter has no second of its own
				p.Figures = phaseFigures(s.during(step.Key, s.All), open[s.Cell], o)
			}
			out = append(out, p)
		}
	}
	return out
}

func phaseFigures(seconds []analyze.Second, open bool, o analyze.Options) []result.Figure {
	if len(seconds) == 0 {
		return nil
	}
	var out []result.Figure
	for _, m := range figureMetrics(open) {
		q := analyze.Quantity{Name: m.String(), Rounds: [][]analyze.Second{seconds}, Statistic: m.Statistic()}
		out = append(out, result.Figure{Metric: figureName(m), Unit: m.Unit(), Estimate: analyze.EstimateOf(q, o)})
	}
	return out
}

// impact holds a change, and what came after it up to the next change, against the baseline of its round.
func (r *Recording) impact(change *PhaseRecord, o analyze.Options) *analyze.Impact {
	baseline, during := r.around(change)
	if len(baseline) < 3 || len(during) < 3 {
		return nil
	}
	impactOf := analyze.ImpactOf
	if change.Open {
		impactOf = analyze.ImpactOnArrivals
	}
	impact := impactOf(baseline, during, o)
	return &impact
}

// recoveryTime is the longest time from when a change began to be felt until all was as before, in milliseconds; where it was not
// within the data, until the end of that. What was not felt is recovered at once. Nothing is found without something to compare with.
func (r *Recording) recoveryTime(cell, phase string) (longest float64, back, found bool) {
	back = true
	for _, s := range r.Phases {
		if s.Cell != cell || !s.Change || phase != "" && s.Phase != phase {
			continue
		}
		impact := r.impact(s, analyze.Options{})
		if impact == nil {
			return 0, false, false
		}
		back = back && impact.Over()
		longest, found = max(longest, expect.Millis(impact.Longest())), true
	}
	return longest, back, found
}
