package report

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"plimsoll/analyze"
	"plimsoll/report/chart"
)

// Terminal is where text goes: how wide it is and whether it shows colours. The zero value is 80 columns without.
type Terminal struct {
	Width int
	Color bool
}

func (t Terminal) width() int {
	if t.Width <= 0 {
		return 80
	}
	return max(t.Width, 40)
}

// palette colours text with the sixteen colours that the reader's own terminal theme chose.
type palette struct {
	bold, dim           lipgloss.Style
	pass, fail, unknown lipgloss.Style
	inks                [chart.Inks]lipgloss.Style
}

func (t Terminal) palette() palette {
	profile := termenv.Ascii
	if t.Color {
		profile = termenv.ANSI
	}
	r := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(profile))
	r.SetColorProfile(profile)
	color := func(n string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(n)) }
	p := palette{
		bold: r.NewStyle().Bold(true), dim: r.NewStyle().Faint(true), // not the theme's grey: some have the background's colour there
		pass: color("2"), fail: color("1"), unknown: color("3"),
	}
	for i, n := range []string{"7", "4", "3", "2", "5", "6", "1", "14"} {
		p.inks[i] = color(n)
	}
	return p
}

// paint is how the charts are coloured.
func (p palette) paint(role chart.Role, text string) string {
	switch role {
	case chart.Frame:
		return p.dim.Render(text)
	case chart.Alarm:
		return p.fail.Render(text)
	default:
		return p.inks[role%chart.Inks].Render(text)
	}
}

func (p palette) answer(a analyze.Answer) lipgloss.Style {
	switch a {
	case analyze.Pass:
		return p.pass
	case analyze.Fail:
		return p.fail
	default:
		return p.unknown
	}
}

func (p palette) tone(t tone) lipgloss.Style {
	switch t {
	case good:
		return p.pass
	case worse:
		return p.fail
	default:
		return p.dim
	}
}
