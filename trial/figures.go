package trial

import (
	"fmt"
	"maps"

	"plimsoll/result"

	"plimsoll/analyze"
)

// figureMetrics are what is shown of every cell and phase.
func figureMetrics(open bool) []Metric {
	metrics := []Metric{{Name: "throughput"}}
	for _, name := range []string{"p50", "p95", "p99", "p999"} {
		metrics = append(metrics, Metric{Name: "quantile", Quantile: quantiles[name], Basis: result.Response})
	}
	if open { // in a closed loop both times are the same
		metrics = append(metrics, Metric{Name: "quantile", Quantile: quantiles["p99"], Basis: result.Service})
	}
	return append(metrics, Metric{Name: "error_share"})
}

// figureName is a metric's name in a figure: throughput, response_p99, response_mean, service_p99, error_share.
func (m Metric) figureName() string {
	switch m.Name {
	case "mean", "max":
		return string(m.Basis) + "_" + m.Name
	case "quantile":
	default:
		return m.Name
	}
	for name, q := range quantiles {
		if q == m.Quantile {
			return string(m.Basis) + "_" + name
		}
	}
	return string(m.Basis)
}

// describe returns the cells as the result shows them, with every figure and its ratio to the control.
func (t *Trial) describe(r *recording, o analyze.Options) []result.Cell {
	out := make([]result.Cell, len(t.cells))
	for i, c := range t.cells {
		out[i] = t.describeCell(c, r, o)
	}
	return out
}

func (t *Trial) describeCell(c *cell, r *recording, o analyze.Options) result.Cell {
	out := c.Cell
	out.Figures = []result.Figure{}
	whole := r.rounds(c.Name, "", "", "")
	out.Rounds = measured(whole)
	for _, seconds := range whole {
		for _, s := range seconds {
			out.Tally = out.Tally.Plus(s.Tally)
		}
	}
	if out.Rounds == 0 {
		return out
	}
	control := t.controlOf(c)
	for _, operation := range append([]string{""}, c.workload.Operations()...) {
		if operation != "" && len(c.workload.Operations()) == 1 {
			break // the one operation is all of them
		}
		for _, m := range figureMetrics(c.load.Open()) {
			m.Operation = operation
			q := analyze.Quantity{Name: m.String(), Rounds: r.beside(t.besides(c), c.Name, operation), Statistic: m.statistic()}
			f := result.Figure{Metric: m.figureName(), Operation: operation, Unit: m.unit(), Estimate: analyze.EstimateOf(q, o)}
			if control != nil && m.positive() {
				base := analyze.Quantity{Name: m.String(), Rounds: r.beside(t.besides(c), control.Name, operation), Statistic: m.statistic()}
				if measured(base.Rounds) > 0 {
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
func (t *Trial) besides(c *cell) []string {
	var out []string
	for _, other := range t.cells {
		if maps.Equal(other.Factors, c.Factors) {
			out = append(out, other.Name)
		}
	}
	return out
}

// beside are the rounds of a cell that every cell beside it has, of those that were measured at all: the rounds that its ratios are of.
func (r *recording) beside(cells []string, cell, operation string) [][]analyze.Second {
	var all [][][]analyze.Second
	for _, name := range cells {
		if rounds := r.rounds(name, "", "", operation); measured(rounds) > 0 {
			all = append(all, rounds)
		}
	}
	return only(r.rounds(cell, "", "", operation), inAll(all...))
}

// leftOut says which rounds of a trial that was cut off are in no figure, because a cell beside theirs does not have them.
func (t *Trial) leftOut(r *recording) []string {
	var out []string
	for _, c := range t.cells {
		rounds, shown := r.rounds(c.Name, "", "", ""), r.beside(t.besides(c), c.Name, "")
		var both []int
		for i := range shown {
			if len(shown[i]) > 0 {
				both = append(both, i+1)
			}
		}
		if alone := others(rounds, both); len(alone) > 0 {
			out = append(out, fmt.Sprintf("%s: %s left out of its figures and ratios, which are of %s: the cells beside it were measured in no other.",
				c.Name, roundsInWords(alone)+map[bool]string{true: " is", false: " are"}[len(alone) == 1], roundsInWords(both)))
		}
	}
	return out
}

// controlOf is the control's cell with the same factors, nil for the control itself and where nothing is compared.
func (t *Trial) controlOf(c *cell) *cell {
	if c.Control || len(t.Compare.Variants) == 0 {
		return nil
	}
	for _, other := range t.cells {
		if other.Control && maps.Equal(other.Factors, c.Factors) {
			return other
		}
	}
	return nil
}

// phases lists every stretch, with its figures where the cells are not what is looked at; what followed a baseline is held
// against it.
func (t *Trial) phases(r *recording, o analyze.Options) []result.Phase {
	var out []result.Phase
	open := map[string]bool{}
	for _, c := range t.cells {
		open[c.Name] = c.load.Open()
	}
	for _, s := range r.phases {
		p := result.Phase{Name: s.phase, Cell: s.cell, Round: s.round, From: s.from, To: s.to, Warmth: s.warmth}
		if s.phase != warmup {
			p.Signals = r.shown(s)
		}
		if (len(t.Timeline) > 0 || !t.Compare.Compares()) && s.phase != warmup {
			p.Figures = phaseFigures(s.all, open[s.cell], o)
			if s.change {
				p.Impact, p.Dips = r.impact(s, o), r.dips(s, o)
				p.Figures = append(p.Figures, r.ledgerFigures(s.cell, s.round, s.phase, true)...)
			}
		}
		out = append(out, p)
		for _, step := range s.steps {
			p := result.Phase{Name: s.phase + "/" + step.key, Of: s.phase, Cell: s.cell, Round: s.round, From: step.from, To: step.to}
			if step.to.Sub(step.from) >= second { // what is shorter has no second of its own
				p.Figures = phaseFigures(s.during(step.key, s.all), open[s.cell], o)
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
		q := analyze.Quantity{Name: m.String(), Rounds: [][]analyze.Second{seconds}, Statistic: m.statistic()}
		out = append(out, result.Figure{Metric: m.figureName(), Unit: m.unit(), Estimate: analyze.EstimateOf(q, o)})
	}
	return out
}

// impact holds a change, and what came after it up to the next change, against the baseline of its round.
func (r *recording) impact(change *phaseRecord, o analyze.Options) *analyze.Impact {
	baseline, during := r.around(change)
	if len(baseline) < 3 || len(during) < 3 {
		return nil
	}
	impactOf := analyze.ImpactOf
	if change.open {
		impactOf = analyze.ImpactOnArrivals
	}
	impact := impactOf(baseline, during, o)
	return &impact
}

// recoveryTime is the longest time from when a change began to be felt until all was as before, in milliseconds; where it was not
// within the data, until the end of that. What was not felt is recovered at once. Nothing is found without something to compare with.
func (r *recording) recoveryTime(cell, phase string) (longest float64, back, found bool) {
	back = true
	for _, s := range r.phases {
		if s.cell != cell || !s.change || phase != "" && s.phase != phase {
			continue
		}
		impact := r.impact(s, analyze.Options{})
		if impact == nil {
			return 0, false, false
		}
		back = back && impact.Over()
		longest, found = max(longest, millis(impact.Longest())), true
	}
	return longest, back, found
}
