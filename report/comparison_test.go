package report

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"plimsoll/result"

	"plimsoll/analyze"
)

// grid makes the cells of factors and variants; the throughput of cell i is 100+i.
func grid(variants []string, factors map[string][]string) []result.Cell {
	cells := []result.Cell{{Factors: map[string]string{}}}
	for _, name := range slices.Sorted(maps.Keys(factors)) {
		var next []result.Cell
		for _, c := range cells {
			for _, level := range factors[name] {
				d := c
				d.Factors = maps.Clone(c.Factors)
				d.Factors[name] = level
				next = append(next, d)
			}
		}
		cells = next
	}
	var out []result.Cell
	for _, c := range cells {
		for i, v := range variants {
			c.Variant, c.Control = v, i == 0 && len(variants) > 1
			c.Figures = []result.Figure{{Metric: "throughput", Unit: "per_second", Estimate: analyze.Estimate{Value: float64(100 + len(out)), Low: 90, High: 200}}}
			out = append(out, c)
		}
	}
	return out
}

func names(c comparison) (rows, columns []string) {
	for _, x := range c.Contenders {
		rows = append(rows, x.Name)
	}
	for _, l := range c.Levels {
		columns = append(columns, l.Text)
	}
	return rows, columns
}

// What the table calls a difference that cannot be told from none, the sentence above it calls so too.
func TestTheSentenceOfAComparisonSaysWhatIsNoDifference(t *testing.T) {
	cells := grid([]string{"a", "b"}, nil)
	lead := func(cells []result.Cell) string {
		c, _ := newComparison(cells)
		return c.lead()[0].Text
	}
	said := func(low, high float64) string {
		cells[1].Figures[0].Ratio = &analyze.Estimate{Value: 1.072, Low: low, High: high}
		return strings.ReplaceAll(lead(cells), "\u202f", " ")
	}
	if got, want := said(0.9, 1.2), " against a: throughput ≈ +7.2 %."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := said(1.05, 1.1), " against a: throughput +7.2 %."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestComparisonArrangesCells(t *testing.T) {
	for _, c := range []struct {
		what          string
		cells         []result.Cell
		factor        string
		rows, columns []string
	}{
		{"a number of connections", grid([]string{"a", "b"}, map[string][]string{"connections": {"16", "4", "128"}}), "connections", []string{"a", "b"}, []string{"4", "16", "128"}},
		{"no factor", grid([]string{"a", "b"}, nil), "", []string{"a", "b"}, []string{""}},
		{"no variant", grid([]string{""}, map[string][]string{"rate": {"500/s", "1000/s"}}), "rate", []string{""}, []string{"500/s", "1000/s"}},
		{"words", grid([]string{"a", "b"}, map[string][]string{"flush": {"on", "off"}}), "",
			[]string{"a, flush=on", "b, flush=on", "a, flush=off", "b, flush=off"}, []string{""}},
		{"numbers before words", grid([]string{"a", "b"}, map[string][]string{"connections": {"4", "8"}, "a.mode": {"x", "y", "z"}}), "connections",
			[]string{"a, a.mode=x", "b, a.mode=x", "a, a.mode=y", "b, a.mode=y", "a, a.mode=z", "b, a.mode=z"}, []string{"4", "8"}},
		{"sizes", grid([]string{"a", "b"}, map[string][]string{"config.pool": {"1G", "512M"}}), "config.pool", []string{"a", "b"}, []string{"512M", "1G"}},
	} {
		got, ok := newComparison(c.cells)
		if !ok {
			t.Errorf("%s: not compared", c.what)
			continue
		}
		rows, columns := names(got)
		if got.Factor != c.factor || !slices.Equal(rows, c.rows) || !slices.Equal(columns, c.columns) {
			t.Errorf("%s: factor %q, rows %q, columns %q; want %q, %q, %q", c.what, got.Factor, rows, columns, c.factor, c.rows, c.columns)
		}
		for _, x := range got.Contenders {
			for i, cell := range x.Cells {
				if cell == nil || cell.Factors[got.Factor] != got.Levels[i].Text {
					t.Errorf("%s: %s has a wrong cell at %s", c.what, x.Name, got.Levels[i].Text)
				}
			}
		}
	}
	if _, ok := newComparison(grid([]string{""}, nil)); ok {
		t.Error("one cell is compared")
	}
}

func TestControlHasTheSameOtherFactors(t *testing.T) {
	c, _ := newComparison(grid([]string{"off", "on"}, map[string][]string{"connections": {"4", "8"}, "mode": {"x", "y"}}))
	for row, x := range c.Contenders {
		control, ok := c.control(row)
		if x.Control {
			if ok {
				t.Errorf("%s is a control and has one", x.Name)
			}
			continue
		}
		if want := "off" + x.Name[len("on"):]; !ok || control.Name != want {
			t.Errorf("the control of %s is %q, want %q", x.Name, control.Name, want)
		}
	}
	if c.Contenders[0].Ink != 0 || c.Contenders[1].Ink == 0 || c.Contenders[2].Ink == c.Contenders[1].Ink {
		t.Errorf("inks %d %d %d", c.Contenders[0].Ink, c.Contenders[1].Ink, c.Contenders[2].Ink)
	}
}

func TestAgainstPrefersPairedRounds(t *testing.T) {
	cells := grid([]string{"off", "on"}, nil)
	c, _ := newComparison(cells)
	ratio, paired, ok := c.against(1, 0, "throughput")
	if !ok || paired != nil || math.Abs(ratio-1.01) > 1e-9 {
		t.Errorf("without paired rounds: %v %v %v", ratio, paired, ok)
	}
	cells[1].Figures[0].Ratio = &analyze.Estimate{Value: 0.8, Low: 0.7, High: 0.9}
	ratio, paired, ok = c.against(1, 0, "throughput")
	if !ok || paired == nil || ratio != 0.8 {
		t.Errorf("with paired rounds: %v %v %v", ratio, paired, ok)
	}
	if e := c.entry(1, 0, "throughput"); e.Tone != worse {
		t.Errorf("a loss of throughput is %q", e.Tone)
	}
	if got := c.measured(percentiles...); len(got) != 0 || percentiles[0] != "response_p50" {
		t.Errorf("measured are %v, and the list of all is now %v", got, percentiles)
	}
	if e := c.entry(1, 0, "response_p99"); e.Value != "–" {
		t.Errorf("a metric that was not measured is %q", e.Value)
	}
}

func TestToneNeedsAnIntervalWithoutOne(t *testing.T) {
	for _, c := range []struct {
		metric           string
		value, low, high float64
		want             tone
	}{
		{"throughput", 1.1, 1.05, 1.2, good},
		{"throughput", 0.9, 0.8, 0.95, worse},
		{"throughput", 0.99, 0.95, 1.02, same},
		{"response_p99", 1.2, 1.1, 1.3, worse},
		{"response_p99", 0.8, 0.7, 0.9, good},
		{"error_share", 2, 1.5, 3, worse},
		{"something", 2, 1.5, 3, ""},
	} {
		if got := toneOf(c.metric, &analyze.Estimate{Value: c.value, Low: c.low, High: c.high}); got != c.want {
			t.Errorf("%s × %v is %q, want %q", c.metric, c.value, got, c.want)
		}
	}
	if got := toneOf("throughput", nil); got != "" {
		t.Errorf("without an interval it is %q", got)
	}
}

func TestParseLevel(t *testing.T) {
	for text, want := range map[string]float64{"64": 64, "512M": 512 << 20, "1.5G": 1.5 * (1 << 30), "50%": 50, "500/s": 500, "2k": 2048} {
		if got, ok := parseLevel(text); !ok || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"on", "", "M", "1 2"} {
		if got, ok := parseLevel(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}
