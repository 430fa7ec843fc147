package fleet

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"plimsoll/report/quantity"
	"plimsoll/report/terminal"
	"plimsoll/watch"
)

// Text writes the fleet as a table, worst first.
func Text(w io.Writer, f watch.Fleet, on terminal.Output) error {
	view := view{Palette: on.Palette(), width: on.Columns()}
	for _, line := range view.table(f, -1) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// view lays a fleet out in so many columns.
type view struct {
	terminal.Palette
	width int
	waits int // columns of what an instance waits for; 0: as it needs
	brief int // how little room the lags of several channels have: from 1 on only the worst is named, from 2 on it has no name
}

// column is one column of the table. Where there is no room for all, those with the lowest rank go first.
type column struct {
	head  string
	rank  int
	right bool
	value func(view, watch.Instance) string
}

// figure tells whether a column shows what was read of an instance, which can be old.
func (c column) figure() bool {
	return c.head != "INSTANCE" && c.head != "STATE" && c.head != "WAITS FOR"
}

// inks is the view in which the figures of an instance are laid out: without colours where they are old, since all of them are dimmed then.
func (v view) inks(i watch.Instance) view {
	if i.Old() {
		v.Palette = terminal.Output{}.Palette()
	}
	return v
}

// dimmed greys what is shown of an instance that is not polled.
func (v view) dimmed(i watch.Instance, text string) string {
	if !i.Old() || text == "" {
		return text
	}
	return v.Dim.Render(text)
}

var tableColumns = []column{
	{"INSTANCE", 100, false, func(v view, i watch.Instance) string { return i.Name }},
	{"STATE", 90, false, view.stateOrAge},
	{"LOAD", 95, false, view.load},
	{"STMT/S", 80, true, func(_ view, i watch.Instance) string { return value(i.Throughput, quantity.Plain) }},
	{"P99", 60, true, func(_ view, i watch.Instance) string { return value(i.P99, quantity.Seconds) }},
	{lagHead, 70, true, view.lag},
	{"IOPS", 50, true, view.iops},
	{"BURST LEFT", 55, true, view.dry},
	{"CONN", 40, true, view.connections},
	{"DISK", 45, true, func(_ view, i watch.Instance) string {
		if i.Disk == nil {
			return ""
		}
		if used, known := i.Disk.Used(); known {
			return quantity.Share.Format(used)
		}
		return ""
	}},
	{"DATA", 20, true, func(_ view, i watch.Instance) string {
		if i.Disk == nil {
			return ""
		}
		return value(i.Disk.Data, quantity.Bytes)
	}},
	{"WAITS FOR", 85, false, view.waitsFor},
}

const lagHead = "LAG"

// briefBelow is the rank from which on columns stay rather than the lags of more channels than the worst.
const briefBelow = 45

// What an instance waits for, or why that cannot be told, takes the room that is left: that much at least, and at most.
const leastWaits, mostWaits = 14, 60

// table is a line for the heads and one for each instance; the selected one is marked.
func (v view) table(f watch.Fleet, selected int) []string {
	columns := make([]column, len(tableColumns))
	copy(columns, tableColumns)
	v.waits = leastWaits
	for {
		lines, width := v.lay(columns, f, selected)
		if width <= v.width {
			v.waits = min(leastWaits+v.width-width, mostWaits)
			lines, _ = v.lay(columns, f, selected)
			return lines
		}
		if len(columns) <= 3 {
			return lines
		}
		lowest := 0
		for n, c := range columns {
			if c.rank < columns[lowest].rank {
				lowest = n
			}
		}
		if v.brief == 0 && columns[lowest].rank >= briefBelow || v.brief == 1 && columns[lowest].head == lagHead {
			v.brief++
			continue
		}
		columns = append(columns[:lowest:lowest], columns[lowest+1:]...)
	}
}

func (v view) lay(columns []column, f watch.Fleet, selected int) (lines []string, width int) {
	cells := make([][]string, len(f.Instances)+1)
	widths := make([]int, len(columns))
	for n, c := range columns {
		cells[0] = append(cells[0], v.Dim.Render(c.head))
		widths[n] = lipgloss.Width(c.head)
		for row, i := range f.Instances {
			in := v
			if c.figure() {
				in = v.inks(i)
			}
			text := strings.ReplaceAll(c.value(in, i), "\u202f", " ")
			if c.figure() {
				text = v.dimmed(i, text)
			}
			cells[row+1] = append(cells[row+1], text)
			widths[n] = max(widths[n], lipgloss.Width(text))
		}
	}
	for row, of := range cells {
		line := "  "
		if row-1 == selected && selected >= 0 {
			line = v.Inks[1].Render("▸ ")
		}
		for n, text := range of {
			space := strings.Repeat(" ", widths[n]-lipgloss.Width(text))
			if columns[n].right {
				text = space + text
			} else {
				text += space
			}
			line += text + "  "
		}
		lines = append(lines, line)
	}
	for _, w := range widths {
		width += w + 2
	}
	return lines, width + 2
}

func value(v *float64, unit quantity.Unit) string {
	if v == nil {
		return ""
	}
	return unit.Format(*v)
}

// stateOrAge is the state, and of an instance that is not polled how old its figures are: why it is not polled stands in the last column.
func (v view) stateOrAge(i watch.Instance) string {
	if i.Old() && i.Age > 0 {
		return v.Unknown.Render("‖ " + age(i) + " old")
	}
	return v.state(i)
}

func (v view) state(i watch.Instance) string {
	switch {
	case i.State == watch.Down:
		return v.Fail.Render("✗ down")
	case i.State == watch.Refused:
		return v.Fail.Render("✗ refused")
	case i.State == watch.Paused:
		return v.Unknown.Render("‖ not polled")
	case i.State == watch.Reduced:
		return v.Unknown.Render("‖ polled less")
	case i.State == watch.Unread:
		return v.Dim.Render("…")
	}
	critical, warnings := 0, 0
	for _, a := range i.Alerts {
		switch {
		case a.Silenced:
		case a.Severity == "critical":
			critical++
		case a.Severity == "warning":
			warnings++
		}
	}
	switch {
	case critical > 0:
		return v.Fail.Render("! " + counted(critical+warnings, "alert"))
	case warnings > 0:
		return v.Unknown.Render("! " + counted(warnings, "alert"))
	}
	return v.Pass.Render("✓ up")
}

// counted is so many of something.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// loadBar is how many cells a load of as many sessions as there are cores takes.
const loadBar = 10

// load is a bar of sessions by what they wait for, of which as many as there are cores fill it, and the figures.
func (v view) load(i watch.Instance) string {
	if i.Load == nil {
		return ""
	}
	figures := quantity.Number(i.Load.AAS)
	if i.Cores == 0 {
		return figures
	}
	bar := v.stack(i.Load.Waits, float64(i.Cores), loadBar)
	return fmt.Sprintf("%s %s/%d", bar, figures, i.Cores)
}

// stack is a bar in which a load of full takes all cells; what is beyond is cut, with a sign.
func (v view) stack(waits []watch.Wait, full float64, cells int) string {
	var bar strings.Builder
	at, sum := 0, 0.0
	for _, w := range waits {
		sum += w.AAS
		end := min(int(sum/full*float64(cells)+0.5), cells)
		if end > at {
			bar.WriteString(v.Inks[inkOf(w.Class)].Render(strings.Repeat("█", end-at)))
			at = end
		}
	}
	rest := v.Dim.Render(strings.Repeat("░", cells-at))
	if sum > full*1.05 {
		return bar.String() + v.Fail.Render("▶")
	}
	return bar.String() + rest + " "
}

// inkOf gives a class of wait its colour.
func inkOf(class string) int {
	switch class {
	case "cpu":
		return 3
	case "read", "write":
		return 1
	case "redo", "binlog", "semi-sync", "commit":
		return 2
	case "row lock", "table lock", "latch":
		return 6
	case "network":
		return 5
	}
	return 4
}

// mostLags are the channels whose lags are shown, the worst; where there is little room, leastLags.
const mostLags, leastLags = 3, 1

// lag is that of the channel that an instance follows; of several each by its name, the worst first.
func (v view) lag(i watch.Instance) string {
	all := i.WorstChannels()
	if len(all) == 1 {
		return v.lagOf(all[0])
	}
	most := mostLags
	if v.brief > 0 {
		most = leastLags
	}
	var texts []string
	for _, c := range all[:min(len(all), most)] {
		text := v.lagOf(c)
		if v.brief < 2 {
			text = cut(cmp.Or(c.Name, "default"), 12) + " " + text
		}
		texts = append(texts, text)
	}
	text := strings.Join(texts, " · ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" +%d", more)
	}
	return text
}

func (v view) lagOf(c watch.Channel) string {
	switch {
	case c.Stopped:
		return v.Fail.Render("stopped")
	case c.Connecting:
		return v.Fail.Render("not connected")
	case c.Lag == nil:
		return "–"
	case *c.Lag > 10:
		return v.Unknown.Render(value(c.Lag, quantity.Seconds))
	}
	return value(c.Lag, quantity.Seconds)
}

func (v view) iops(i watch.Instance) string {
	if i.IO == nil || i.IO.IOPS == nil {
		return ""
	}
	text := quantity.Number(*i.IO.IOPS)
	if i.IO.Limit != nil {
		text += "/" + quantity.Number(*i.IO.Limit)
	}
	if i.IO.Censored {
		return v.Fail.Render(text + " pinned")
	}
	return text
}

func (v view) dry(i watch.Instance) string {
	if i.IO == nil || i.IO.HoursToDry == nil {
		return ""
	}
	text := quantity.Duration(time.Duration(*i.IO.HoursToDry * float64(time.Hour)))
	if i.IO.Rough() {
		text = "≈" + text
	}
	if *i.IO.HoursToDry < 24 {
		return v.Fail.Render(text)
	}
	return text
}

func (v view) connections(i watch.Instance) string {
	text := value(i.Connections, quantity.Count)
	if i.MostConns != nil && text != "" {
		text += "/" + quantity.Count.Format(*i.MostConns)
		if *i.Connections > 0.8**i.MostConns {
			return v.Fail.Render(text)
		}
	}
	return text
}

// waitsFor is what an instance waits for most, or why it cannot be told.
func (v view) waitsFor(i watch.Instance) string {
	if i.State == watch.Down || i.State == watch.Refused || i.State == watch.Paused || i.State == watch.Reduced {
		return cut(i.Why, v.waits)
	}
	if i.Load == nil || i.Load.AAS < 0.05 {
		return v.Dim.Render("idle")
	}
	var names []string
	for _, w := range i.Load.Waits {
		if w.AAS >= 0.1*i.Load.AAS && len(names) < 3 {
			names = append(names, fmt.Sprintf("%s %.0f %%", w.Class, 100*w.AAS/i.Load.AAS))
		}
	}
	return cut(strings.Join(names, ", "), v.waits)
}

// cut shortens a text to so many signs.
func cut(text string, most int) string {
	signs := []rune(strings.Join(strings.Fields(text), " "))
	if len(signs) <= most {
		return string(signs)
	}
	return string(signs[:max(most-1, 0)]) + "…"
}
