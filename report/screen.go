package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/report/terminal"
)

// screen lays the state of a trial out in a terminal's size: what matters most gets its room first.
type screen struct {
	terminal.Palette
	width, height int
}

// mostRows is how high a chart gets: higher ones are no easier to read.
const mostRows = 22

// draw returns exactly as many lines as fit.
func (s screen) draw(p *liveState, now time.Time) string {
	top := s.top(p, now)
	bottom := s.Dim.Render("Ctrl-C stops cleanly and keeps what was measured")
	room := s.height - len(top) - 1
	events := s.events(p, min(4, max(room-12, 0)))
	room -= len(events)
	cells := s.cells(p)
	if len(cells) > room-10 {
		cells = nil
	}
	room -= len(cells)
	all := append(top, s.charts(p, room)...)
	for len(all)+len(cells)+len(events)+1 < s.height {
		all = append(all, "")
	}
	all = append(append(append(all, cells...), events...), bottom)
	all = all[:min(len(all), s.height)]
	for i, l := range all {
		all[i] = lipgloss.NewStyle().MaxWidth(s.width).Render(strings.ReplaceAll(l, "\u202f", " "))
	}
	return strings.Join(all, "\n")
}

// top is the trial, its question, how far it is, and what it is busy with.
func (s screen) top(p *liveState, now time.Time) []string {
	clock := quantity.Elapsed.Format(now.Sub(p.began).Seconds())
	if left, ok := p.left(now); ok {
		clock += " · about " + roughly(left) + " left"
	}
	busy := p.what()
	if how := p.how(now); how != "" {
		busy += " · " + how
	}
	style := s.Bold
	if p.answer != nil {
		style = s.Answer(p.answer.Verdict).Bold(true)
		busy = sign(p.answer.Verdict) + " " + answer(*p.answer) + "  " + meaning(*p.answer)
	}
	return []string{
		s.spread(s.Bold.Render("⦵ "+p.plan.Trial)+"  "+s.Dim.Render(p.plan.Question), clock),
		s.bar(p.share(now)),
		style.Render("▸ " + busy),
		"",
	}
}

// spread puts one text to the left and one to the right, and shortens the left if they do not both fit.
func (s screen) spread(left, right string) string {
	if room := max(s.width-lipgloss.Width(right)-2, 0); lipgloss.Width(left) > room {
		left = lipgloss.NewStyle().MaxWidth(max(room-1, 0)).Render(left) + "…"
	}
	return left + strings.Repeat(" ", max(s.width-lipgloss.Width(left)-lipgloss.Width(right), 1)) + right
}

func (s screen) bar(share float64) string {
	done := int(share*float64(s.width) + 0.5)
	return s.Inks[1].Render(strings.Repeat("━", done)) + s.Dim.Render(strings.Repeat("─", max(s.width-done, 0)))
}

// charts are throughput and p99 of the run under way: beside each other where it is wide, else above each other.
func (s screen) charts(p *liveState, room int) []string {
	if room < 5 || len(p.run.rows) < 2 {
		return nil
	}
	u := p.window()
	wide := s.width >= 110 || s.width >= 70 && room < 16
	width, height := s.width, min(room/2, mostRows)
	if wide {
		width, height = s.width/2-1, min(room, mostRows)
	}
	t := newTimeline(u, 2*width)
	row, _ := p.latest()
	rate := t.throughput()
	rate.Y.Unit = quantity.Plain
	left := s.chart("throughput  "+quantity.Number(float64(row.Done+row.Late)/length(row))+" op/s", rate, width, height)
	tail := "p99 response"
	if row.Response.P99 > 0 {
		tail += "  " + quantity.Duration(row.Response.P99)
	}
	right := s.chart(tail, withoutService(t.latency("p99")), width, height)
	if wide {
		both := lipgloss.JoinHorizontal(lipgloss.Top, strings.Join(left, "\n"), "  ", strings.Join(right, "\n"))
		return strings.Split(both, "\n")
	}
	return append(left, right...)
}

// chart is a chart with its title in so many lines; what the phases need is taken from the lines of the picture.
func (s screen) chart(title string, c chart.Chart, width, height int) []string {
	around := 3 // title, axis and its labels
	if len(c.Spans) > 0 {
		around++
	}
	for _, span := range c.Spans {
		if span.Tint == chart.Disturbed {
			around++
			break
		}
	}
	c.Trouble, c.Marks = trimLegend(c, height-around)
	if len(c.Trouble)+len(c.Marks) > 0 {
		around++
	}
	drawn := c.Text(chart.Canvas{Width: width, Height: max(height-around, 2), Paint: s.Paint})
	out := []string{s.Bold.Render(title)}
	for l := range strings.SplitSeq(strings.TrimRight(drawn, "\n"), "\n") {
		out = append(out, lipgloss.NewStyle().MaxWidth(width).Render(l))
	}
	return out[:min(len(out), max(height, 3))]
}

// trimLegend leaves the signs and their legend out where the picture would become too low.
func trimLegend(c chart.Chart, room int) (chart.Values, []chart.Mark) {
	if room < 5 {
		return nil, nil
	}
	return c.Trouble, c.Marks
}

// cells is the table that fills up.
func (s screen) cells(p *liveState) []string {
	c, ok := newComparison(p.plan.Cells)
	if !ok {
		return nil
	}
	t := table{Corner: strings.TrimSpace(c.Factor + "  op/s")}
	for _, l := range c.Levels {
		t.Columns = append(t.Columns, l.Text+"  ")
	}
	for _, x := range c.Contenders {
		l := line{Head: x.Name, Ink: x.Ink}
		for _, cell := range x.Cells {
			e := entry{}
			if cell != nil {
				e.Value = "·"
				if f, ok := find(p.done[cell.Name].Figures, "throughput", ""); ok {
					e.Value, _ = write(f)
				}
				if cell.Name == p.stage.Cell && p.answer == nil {
					e.Value += " ◂"
				} else {
					e.Value += "  "
				}
			}
			l.Cells = append(l.Cells, e)
		}
		t.Rows = append(t.Rows, l)
	}
	out := &text{Palette: s.Palette, width: s.width}
	out.table(t)
	lines := strings.Split(strings.TrimRight(out.out.String(), "\n"), "\n")
	return append(append([]string{""}, lines...), "")
}

// events are the last things that happened.
func (s screen) events(p *liveState, most int) []string {
	var out []string
	for _, e := range p.recent[max(len(p.recent)-most, 0):] {
		out = append(out, s.Dim.Render(fmt.Sprintf("%7s  ", quantity.Elapsed.Format(e.Time.Sub(p.began).Seconds())))+eventName(e)+s.Dim.Render(parenthesis(detailsOf(e))))
	}
	return out
}
