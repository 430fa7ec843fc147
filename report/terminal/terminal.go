// Package terminal knows what a person's terminal shows: its width, its colours, and no text that would steer it.
package terminal

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"plimsoll/analyze"
	"plimsoll/report/chart"
)

// Output is where text goes: how wide it is and whether it shows colours. The zero value is 80 columns without.
type Output struct {
	Width int
	Color bool
}

// Columns is how many there are.
func (t Output) Columns() int {
	if t.Width <= 0 {
		return 80
	}
	return max(t.Width, 40)
}

// Palette colours text with the sixteen colours that the reader's own terminal theme chose.
type Palette struct {
	Bold, Dim           lipgloss.Style
	Pass, Fail, Unknown lipgloss.Style
	Inks                [chart.Inks]lipgloss.Style
}

// Palette is the one in which this output shows text.
func (t Output) Palette() Palette {
	profile := termenv.Ascii
	if t.Color {
		profile = termenv.ANSI
	}
	r := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(profile))
	r.SetColorProfile(profile)
	color := func(n string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(n)) }
	p := Palette{
		Bold: r.NewStyle().Bold(true), Dim: r.NewStyle().Faint(true), // not the theme's grey: some have the background's colour there
		Pass: color("2"), Fail: color("1"), Unknown: color("3"),
	}
	for i, n := range []string{"7", "4", "3", "2", "5", "6", "1", "14"} {
		p.Inks[i] = color(n)
	}
	return p
}

// Paint is how the charts are coloured.
func (p Palette) Paint(role chart.Role, text string) string {
	switch role {
	case chart.Frame:
		return p.Dim.Render(text)
	case chart.Alarm:
		return p.Fail.Render(text)
	default:
		return p.Inks[role%chart.Inks].Render(text)
	}
}

// Answer is the colour of a verdict.
func (p Palette) Answer(a analyze.Answer) lipgloss.Style {
	switch a {
	case analyze.Pass:
		return p.Pass
	case analyze.Fail:
		return p.Fail
	default:
		return p.Unknown
	}
}
