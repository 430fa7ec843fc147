package report

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"

	"plimsoll/report/terminal"
)

// table writes a table. Each row takes a second line where its cells have something to add to their values. Columns that
// do not fit stand in further tables below, each with the first column again.
func (t *text) table(tb table) {
	head := utf8.RuneCountInString(tb.Corner)
	for _, l := range tb.Rows {
		head = max(head, utf8.RuneCountInString(l.Head))
	}
	if tb.Title != "" {
		t.linef("%s", t.Bold.Render(tb.Title))
	}
	for from := 0; from < len(tb.Columns); {
		to, used := from, head+2
		for to < len(tb.Columns) {
			w := tb.columnWidth(to)
			if to > from && used+w > t.width {
				break
			}
			used, to = used+w, to+1
		}
		t.columns(tb, head, from, to)
		from = to
	}
	if tb.Note != "" {
		t.wrap("", "", t.Dim.Render(tb.Note))
	}
}

// columnWidth is that of a column with the gap before it.
func (tb table) columnWidth(i int) int {
	w := utf8.RuneCountInString(tb.Columns[i])
	for _, l := range tb.Rows {
		if i < len(l.Cells) {
			value, below := l.Cells[i].lines()
			w = max(w, utf8.RuneCountInString(value), utf8.RuneCountInString(below))
		}
	}
	return w + 2
}

// lines are an entry's value, and what stands below it: how uncertain it is and how it changed, in percent without spaces.
func (e entry) lines() (value, below string) {
	spread, change := e.below()
	return e.Value, strings.TrimSpace(spread + " " + change)
}

func (e entry) below() (spread, change string) {
	close := strings.NewReplacer("\u202f%", "%", "±\u202f", "±", "≈ ", "≈")
	return close.Replace(e.Spread), close.Replace(e.signedChange())
}

func (t *text) columns(tb table, head, from, to int) {
	title := "  " + padRight(tb.Corner, head)
	for i := from; i < to; i++ {
		title += padLeft(tb.Columns[i], tb.columnWidth(i))
	}
	t.linef("%s", t.Dim.Render(title))
	for _, l := range tb.Rows {
		values, below, more := "  "+padRight(l.Head, head), strings.Repeat(" ", head+2), false
		for i := from; i < to; i++ {
			var e entry
			if i < len(l.Cells) {
				e = l.Cells[i]
			}
			value, extra := e.lines()
			w := tb.columnWidth(i)
			if value = padLeft(value, w); e.Tone != "" && e.Change == "" {
				value = toned(t.Palette, e.Tone).Render(value)
			}
			values += value
			spread, change := e.below()
			var styled []string
			if spread != "" {
				styled = append(styled, t.Dim.Render(spread))
			}
			if change != "" {
				styled = append(styled, toned(t.Palette, e.Tone).Render(change))
			}
			below += strings.Repeat(" ", max(w-utf8.RuneCountInString(extra), 0)) + strings.Join(styled, " ")
			more = more || extra != ""
		}
		t.linef("%s", strings.TrimRight(values, " "))
		if more {
			t.linef("%s", strings.TrimRight(below, " "))
		}
	}
	t.linef("")
}

func padRight(s string, n int) string {
	return s + strings.Repeat(" ", max(n-utf8.RuneCountInString(s), 0))
}

func padLeft(s string, n int) string {
	return strings.Repeat(" ", max(n-utf8.RuneCountInString(s), 0)) + s
}

// toned is the style of a tone.
func toned(p terminal.Palette, t tone) lipgloss.Style {
	switch t {
	case good:
		return p.Pass
	case worse:
		return p.Fail
	default:
		return p.Dim
	}
}
