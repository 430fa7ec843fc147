package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/result"

	"plimsoll/analyze"
)

// comparison is the cells of a trial as a grid: what is compared by the levels of one factor.
type comparison struct {
	Factor     string  // whose levels are the columns; "" when none has numbers for levels
	Levels     []level // rising; one without a name when there is no factor
	Contenders []contender
}

type level struct {
	Text  string
	Value float64
}

// contender is one variant together with the levels of the factors that are not columns.
type contender struct {
	Name    string
	Ink     int
	Control bool
	Cells   []*result.Cell // one per level; nil where nothing was asked for
}

// newComparison arranges cells; ok is false when there is nothing to compare.
func newComparison(cells []result.Cell) (c comparison, ok bool) {
	if len(cells) < 2 {
		return c, false
	}
	c.chooseFactor(cells)
	for i := range cells {
		cell := &cells[i]
		name := c.rowName(cell)
		row := slices.IndexFunc(c.Contenders, func(x contender) bool { return x.Name == name })
		if row < 0 {
			row = len(c.Contenders)
			c.Contenders = append(c.Contenders, contender{Name: name, Control: cell.Control, Cells: make([]*result.Cell, len(c.Levels))})
		}
		column := slices.IndexFunc(c.Levels, func(l level) bool { return l.Text == cell.Factors[c.Factor] })
		c.Contenders[row].Cells[column] = cell
	}
	c.ink()
	return c, true
}

// chooseFactor takes the factor with the most levels among those whose levels are all numbers.
func (c *comparison) chooseFactor(cells []result.Cell) {
	c.Levels = []level{{}}
	factors := map[string][]level{}
	for _, cell := range cells {
		for name, text := range cell.Factors {
			value, ok := parseLevel(text)
			if !ok {
				value = math.NaN()
			}
			if !slices.ContainsFunc(factors[name], func(l level) bool { return l.Text == text }) {
				factors[name] = append(factors[name], level{text, value})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(factors)) {
		levels := factors[name]
		if len(levels) > len(c.Levels) && !slices.ContainsFunc(levels, func(l level) bool { return math.IsNaN(l.Value) }) {
			c.Factor, c.Levels = name, levels
		}
	}
	slices.SortFunc(c.Levels, func(a, b level) int { return cmp.Compare(a.Value, b.Value) })
}

// parseLevel reads 64, 512M, 1.5G, 50% and 500/s.
func parseLevel(text string) (float64, bool) {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "/s"), "%")
	factor := 1.0
	for i, suffix := range []string{"K", "M", "G", "T"} {
		for _, s := range []string{suffix, strings.ToLower(suffix)} {
			if head, ok := strings.CutSuffix(text, s); ok {
				text, factor = head, float64(int64(1)<<(10*(i+1)))
			}
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	return v * factor, err == nil
}

func (c *comparison) rowName(cell *result.Cell) string {
	var parts []string
	if cell.Variant != "" {
		parts = append(parts, cell.Variant)
	}
	for _, name := range slices.Sorted(maps.Keys(cell.Factors)) {
		if name != c.Factor {
			parts = append(parts, name+"="+cell.Factors[name])
		}
	}
	if len(parts) == 0 && c.Factor == "" { // what is compared has no variants: the instances that a watch recorded
		return cell.Name
	}
	return strings.Join(parts, ", ")
}

// ink gives the control the neutral ink and the others the rest in turn.
func (c *comparison) ink() {
	next := 1
	for i := range c.Contenders {
		if c.Contenders[i].Control && !slices.ContainsFunc(c.Contenders[:i], func(x contender) bool { return x.Control }) {
			continue
		}
		c.Contenders[i].Ink = next
		next++
	}
}

// control is the contender that another is compared with: the first variant with the same levels of the other factors.
func (c comparison) control(row int) (contender, bool) {
	if c.Contenders[row].Control {
		return contender{}, false
	}
	suffix := func(x contender) string {
		for _, cell := range x.Cells {
			if cell != nil {
				return strings.TrimPrefix(x.Name, cell.Variant)
			}
		}
		return x.Name
	}
	for _, x := range c.Contenders {
		if x.Control && suffix(x) == suffix(c.Contenders[row]) {
			return x, true
		}
	}
	return contender{}, false
}

// against is the ratio of a figure to the control's: on paired rounds where the result holds it, else of the two values,
// with no interval.
func (c comparison) against(row, column int, metric string) (ratio float64, paired *analyze.Estimate, ok bool) {
	cell := c.Contenders[row].Cells[column]
	control, is := c.control(row)
	if cell == nil || !is {
		return 0, nil, false
	}
	f, have := find(cell.Figures, metric, "")
	if !have {
		return 0, nil, false
	}
	if f.Ratio != nil {
		return f.Ratio.Value, f.Ratio, true
	}
	if control.Cells[column] == nil {
		return 0, nil, false
	}
	base, have := find(control.Cells[column].Figures, metric, "")
	if !have || base.Estimate.Value == 0 {
		return 0, nil, false
	}
	return f.Estimate.Value / base.Estimate.Value, nil, true
}

// measured lists those of the metrics that at least one cell has.
func (c comparison) measured(metrics ...string) []string {
	return slices.DeleteFunc(slices.Clone(metrics), func(m string) bool {
		for _, x := range c.Contenders {
			for _, cell := range x.Cells {
				if cell != nil {
					if _, ok := find(cell.Figures, m, ""); ok {
						return false
					}
				}
			}
		}
		return true
	})
}
