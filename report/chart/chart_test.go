package chart

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll/report/quantity"
)

var gap = math.NaN()

// outage is a series with a dip of one second, phases, an event and errors.
func outage() Chart {
	c := Chart{
		Title: "Throughput", X: Axis{Unit: quantity.Elapsed}, Y: Axis{Unit: quantity.PerSecond, Zero: true},
		Lines:   []Line{{Name: "throughput", Ink: 1}},
		Spans:   []Span{{0, 60, "baseline", Calm}, {60, 64, "lab/freeze", Disturbed}, {64, 120, "recovery", Recovery}},
		Marks:   []Mark{{60, "node.freeze <n1>"}},
		Trouble: Values{62.5},
	}
	for i := range 120 {
		v := 1000.0
		if i == 62 {
			v = 0
		}
		c.Xs, c.Lines[0].Values = append(c.Xs, float64(i)+0.5), append(c.Lines[0].Values, v)
	}
	return c
}

func curves() Chart {
	return Chart{
		Title: "Throughput", X: Axis{Label: "connections", Log: true, Ticks: []float64{4, 16, 64}}, Y: Axis{Zero: true}, Xs: Values{4, 16, 64},
		Lines: []Line{
			{Name: "off", Marked: true, Values: Values{100, 200, 300}, Low: Values{90, 190, 290}, High: Values{110, 210, 310}},
			{Name: "on", Ink: 1, Marked: true, Values: Values{80, gap, 200}, Low: Values{70, gap, 190}, High: Values{90, gap, 210}},
		},
	}
}

func TestTextKeepsASingleBadSecond(t *testing.T) {
	c := outage()
	got := c.Text(Canvas{Width: 80, Height: 8})
	rows := strings.Split(got, "\n")
	bottom := rows[7]
	if !strings.ContainsFunc(bottom, func(r rune) bool { return r >= 0x2801 && r <= 0x28FF }) {
		t.Errorf("the second without throughput does not reach the bottom:\n%s", got)
	}
	for _, word := range []string{"baseline", "lab/freeze", "recovery", "×", "▲", "0:00", "1,000/s"} {
		if !strings.Contains(got, word) {
			t.Errorf("no %q in\n%s", word, got)
		}
	}
}

func TestTextFitsItsCanvas(t *testing.T) {
	for name, c := range map[string]Chart{"outage": outage(), "curves": curves(), "empty": {Lines: []Line{{}}}, "one": {Xs: Values{1}, Lines: []Line{{Values: Values{5}}}}} {
		for _, width := range []int{30, 60, 200} {
			for row := range strings.SplitSeq(c.Text(Canvas{Width: width, Height: 5}), "\n") {
				if n := utf8.RuneCountInString(row); n > width && !strings.Contains(row, "●") { // the legend is the caller's to wrap
					t.Errorf("%s at %d columns: %d in %q", name, width, n, row)
				}
			}
		}
	}
}

func TestLongNamesAreWrittenInTwoRows(t *testing.T) {
	word := "innodb_flush_log_at_trx_commit=2,sync_binlog=1000"
	svg := Chart{Xs: []float64{0, 1}, Lines: []Line{
		{Name: "binlog row, synchronous, one lagging replica", Values: []float64{1, 2}}, {Name: word, Ink: 1, Values: []float64{1, 2}},
	}}.SVG(700, 260)
	for _, want := range []string{">binlog row, synchronous,<", ">one lagging replica<", "<title>" + word + "</title>innodb_"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in %s", want, svg)
		}
	}
}

func TestTextTellsLinesApartWithoutColour(t *testing.T) {
	got := curves().Text(Canvas{Width: 60, Height: 24})
	if strings.Count(got, "●") != 4 || strings.Count(got, "■") != 3 { // points and legend; a gap has none
		t.Errorf("markers:\n%s", got)
	}
}

func TestPaintAddsNothingThatTakesRoom(t *testing.T) {
	roles := map[Role]bool{}
	painted := outage().Text(Canvas{Width: 70, Height: 6, Paint: func(r Role, s string) string { roles[r] = true; return s }})
	if painted != outage().Text(Canvas{Width: 70, Height: 6}) {
		t.Error("painting changed the text")
	}
	for _, r := range []Role{1, Frame, Alarm} {
		if !roles[r] {
			t.Errorf("nothing was painted as %d", r)
		}
	}
}

func TestSVGIsWellFormedAndEscaped(t *testing.T) {
	for name, c := range map[string]Chart{"outage": outage(), "curves": curves(), "empty": {Lines: []Line{{}}}} {
		svg := c.SVG(700, 260)
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v in %s", name, err, svg)
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%s: a gap was drawn: %s", name, svg)
		}
	}
	if svg := outage().SVG(700, 260); !strings.Contains(svg, "node.freeze &lt;n1&gt;") || !strings.Contains(svg, ">lab/freeze<") {
		t.Errorf("the event or the short phase has lost its name: %s", svg)
	}
}

func TestSVGBreaksLinesAtGaps(t *testing.T) {
	c := Chart{Xs: Values{0, 1, 2, 3, 4}, Lines: []Line{{Values: Values{1, 2, gap, 2, 1}}}}
	svg := c.SVG(300, 100)
	_, path, _ := strings.Cut(svg, `class="line ink0" d="`)
	path, _, _ = strings.Cut(path, `"`)
	if strings.Count(path, "M") != 2 {
		t.Errorf("path %q, want two pieces", path)
	}
}

func TestValuesJSON(t *testing.T) {
	got, err := json.Marshal(Values{gap, 0, 1234567.8, 86399.5, 0.000123456, -3.14159265, math.Inf(1)})
	if err != nil {
		t.Fatal(err)
	}
	if want := "[null,0,1234568,86399.5,0.00012346,-3.1416,null]"; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestScales(t *testing.T) {
	for _, c := range []struct {
		axis   Axis
		values Values
		want   []float64
	}{
		{Axis{Zero: true}, Values{10, 1050}, []float64{0, 500, 1000}},
		{Axis{}, Values{98, 103}, []float64{98, 100, 102}},
		{Axis{Zero: true}, Values{0, 0}, []float64{0, 0.5, 1}},
		{Axis{}, Values{7, 7}, []float64{6, 6.5, 7, 7.5}},
		{Axis{Zero: true, Unit: quantity.Bytes}, Values{0, 5 << 30}, []float64{0, 2 << 30, 4 << 30}},
		{Axis{Log: true}, Values{3, 900}, []float64{10, 100, 1000}},
		{Axis{Log: true}, Values{0, gap, 12, 15}, []float64{10, 20}},
	} {
		got := Chart{Y: c.axis, Xs: make(Values, len(c.values)), Lines: []Line{{Values: c.values}}}.yScale(3).ticks
		if len(got) != len(c.want) {
			t.Errorf("%+v of %v: ticks %v, want %v", c.axis, c.values, got, c.want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("%+v of %v: ticks %v, want %v", c.axis, c.values, got, c.want)
			}
		}
	}
}

func TestAScaleHasMoreThanOneTick(t *testing.T) {
	for _, most := range []float64{1, 39, 101, 422, 499, 501, 999} {
		for n := 1; n <= 4; n++ {
			s := Chart{Y: Axis{Zero: true}, Lines: []Line{{Values: Values{0, most}}}}.yScale(n)
			if len(s.ticks) < 2 || s.at(most) > 1+1e-9 {
				t.Errorf("up to %v with about %d ticks: %v, and it ends at %v", most, n, s.ticks, s.to)
			}
		}
	}
}

func TestScaleHoldsAllValues(t *testing.T) {
	for _, axis := range []Axis{{}, {Zero: true}, {Log: true}} {
		values := Values{0.003, 17, 998, 4.2e6}
		s := Chart{Y: axis, Lines: []Line{{Values: values}}}.yScale(5)
		for _, v := range values {
			if at := s.at(v); at < -1e-9 || at > 1+1e-9 {
				t.Errorf("%+v: %v stands at %v", axis, v, at)
			}
		}
	}
}

func TestGridCoversItsStretch(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		n        int
		width    float64
		count    int
	}{
		{0, 90, 100, 1, 90},
		{0, 90.4, 100, 1, 91},
		{0, 90, 50, 2, 45},
		{0, 86400, 600, 300, 288},
		{0, 1e6, 10, 1e5, 10},
		{0, 0, 10, 1, 1},
	} {
		g := NewGrid(c.from, c.to, c.n)
		if g.Width != c.width || g.Count != c.count {
			t.Errorf("%v to %v in %d: %v × %d, want %v × %d", c.from, c.to, c.n, g.Width, g.Count, c.width, c.count)
		}
		if _, ok := g.Index(c.to - 1e-3); !ok && c.to > 0 {
			t.Errorf("%v to %v in %d: the end is outside", c.from, c.to, c.n)
		}
	}
}

func TestBucketKeepsExtremes(t *testing.T) {
	var b Bucket
	if low, high := b.Range(); !math.IsNaN(b.Mean()) || !math.IsNaN(low) || !math.IsNaN(high) {
		t.Error("an empty bucket is not a gap")
	}
	b.Add(10, 1)
	b.Add(gap, 1)
	b.Add(2, 0.5)
	b.Add(40, 0.5)
	low, high := b.Range()
	if low != 2 || high != 40 || math.Abs(b.Mean()-15.5) > 1e-12 {
		t.Errorf("%v to %v, mean %v", low, high, b.Mean())
	}
}

func TestABandThatIsNotDrawnTakesNoRoom(t *testing.T) {
	c := Chart{Y: Axis{Zero: true}, Xs: Values{1, 2}, Lines: []Line{{Values: Values{70, 60}, Low: Values{1, 1}, High: Values{400, 300}, Marked: true}}}
	if drawn := c.Text(Canvas{Width: 40, Height: 8}); strings.Contains(drawn, "00 ┤") || !strings.Contains(drawn, "0 ┤") {
		t.Errorf("the axis goes to where nothing is drawn:\n%s", drawn)
	}
}

// On an axis that is not of time a mark is no event: the legend says which stands where.
func TestMarksOnAnotherAxisAreNamed(t *testing.T) {
	c := Chart{
		X: Axis{Unit: quantity.Bytes}, Xs: Values{1 << 30, 2 << 30, 4 << 30}, Lines: []Line{{Name: "reads", Values: Values{9, 5, 1}}},
		Marks: []Mark{{At: 4 << 30, Name: "under 5 %"}, {At: 1 << 30, Name: "today"}},
	}
	if got := c.Text(Canvas{Width: 60, Height: 5}); !strings.Contains(got, "▲ today (1.00 GiB), under 5 % (4.00 GiB)") || strings.Contains(got, "event") {
		t.Error(got)
	}
}
