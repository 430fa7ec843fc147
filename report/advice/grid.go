package advice

import (
	"strings"
	"unicode/utf8"
)

// grid is a table of texts: the first column and the last are words, the others numbers.
type grid struct {
	head []string
	rows [][]string
}

func newGrid(head ...string) *grid { return &grid{head: head} }

func (g *grid) row(cells ...string) { g.rows = append(g.rows, cells) }

// text writes it with aligned columns.
func (g *grid) text() string {
	widths := make([]int, len(g.head))
	lines := append([][]string{g.head}, g.rows...)
	for _, l := range lines {
		for i, cell := range l {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		line := ""
		for i, cell := range l {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch i {
			case 0:
				line += cell + gap
			case len(l) - 1:
				line += "  " + cell
			default:
				line += "  " + gap + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func (g *grid) markdown() string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + strings.ReplaceAll(c, "|", `\|`) + " |")
		}
		b.WriteByte('\n')
	}
	line(g.head)
	b.WriteString("|" + strings.Repeat(" --- |", len(g.head)) + "\n")
	for _, r := range g.rows {
		line(r)
	}
	return b.String()
}

// fold breaks a sentence between words.
func fold(text string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width > 0 && column+1+n > width:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
	return b.String()
}
