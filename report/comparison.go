package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/analyze"
	"plimsoll/trial"
)

// comparison is the cells of a trial as a grid: what is compared by the levels of one factor.
type comparison struct {
	Factor     string // whose levels are the columns; "" when there is none
	Numeric    bool   // the levels are numbers, and rise
	Levels     []level
	Contenders []contender
}

type level struct {
	Text  string
	Value float64 // the number, or the position of a level that is none
}

// contender is one variant together with the levels of the factors that are not columns.
type contender struct {
	Name    string
	Ink     int
	Control bool
	Cells   []*trial.Cell // one per level; nil where nothing was asked for
}

// newComparison arranges cells; ok is false when there is nothing to compare.
func newComparison(cells []trial.Cell) (c comparison, ok bool) {
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
			c.Contenders = append(c.Contenders, contender{Name: name, Control: cell.Control, Cells: make([]*trial.Cell, len(c.Levels))})
		}
		column := slices.IndexFunc(c.Levels, func(l level) bool { return l.Text == cell.Factors[c.Factor] })
		c.Contenders[row].Cells[column] = cell
	}
	c.ink()
	return c, true
}

// chooseFactor takes the numeric factor with the most levels, else any with the most.
func (c *comparison) chooseFactor(cells []trial.Cell) {
	levels := map[string][]level{}
	for _, cell := range cells {
		for _, name := range slices.Sorted(maps.Keys(cell.Factors)) {
			text := cell.Factors[name]
			if !slices.ContainsFunc(levels[name], func(l level) bool { return l.Text == text }) {
				levels[name] = append(levels[name], level{Text: text})
			}
		}
	}
	c.Levels = []level{{}}
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		isNumeric := number(levels[name])
		switch {
		case len(levels[name]) < 2 && len(levels) > 1:
			continue
		case c.Factor != "" && c.Numeric && !isNumeric:
			continue
		case c.Factor != "" && c.Numeric == isNumeric && len(levels[name]) <= len(c.Levels):
			continue
		}
		c.Factor, c.Numeric, c.Levels = name, isNumeric, levels[name]
	}
	if c.Numeric {
		slices.SortFunc(c.Levels, func(a, b level) int { return cmp.Compare(a.Value, b.Value) })
	}
}

// number fills in the levels' values: the numbers they are, or their positions if one is none.
func number(levels []level) bool {
	all := true
	for i := range levels {
		var ok bool
		if levels[i].Value, ok = parseLevel(levels[i].Text); !ok {
			all = false
		}
	}
	if !all {
		for i := range levels {
			levels[i].Value = float64(i)
		}
	}
	return all
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

func (c *comparison) rowName(cell *trial.Cell) string {
	var parts []string
	if cell.Variant != "" {
		parts = append(parts, cell.Variant)
	}
	for _, name := range slices.Sorted(maps.Keys(cell.Factors)) {
		if name != c.Factor {
			parts = append(parts, name+"="+cell.Factors[name])
		}
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
	return slices.DeleteFunc(metrics, func(m string) bool {
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
