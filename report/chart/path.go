package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// band shades what lies between Low and High, broken at gaps.
func (d *drawing) band(l Line) {
	if l.Low == nil || l.High == nil {
		return
	}
	for from := 0; from < len(d.chart.Xs); {
		to := from
		for to < len(d.chart.Xs) && !math.IsNaN(d.py(d.bounded(l.Low[to]))+d.py(l.High[to])) {
			to++
		}
		if to-from > 1 {
			var b strings.Builder
			for j := from; j < to; j++ {
				d.point(&b, j, l.High[j], j == from)
			}
			for j := to - 1; j >= from; j-- {
				d.point(&b, j, d.bounded(l.Low[j]), false)
			}
			fmt.Fprintf(&d.out, `<path class="band ink%d" d="%sz"/>`, l.Ink%Inks, b.String())
		}
		from = to + 1
	}
}

func (d *drawing) line(l Line) {
	var b strings.Builder
	gap := true
	for j, v := range l.Values {
		if math.IsNaN(d.y.at(v)) {
			gap = true
			continue
		}
		d.point(&b, j, v, gap)
		gap = false
	}
	fmt.Fprintf(&d.out, `<path class="line ink%d" d="%s"/>`, l.Ink%Inks, b.String())
	if l.Marked {
		var b strings.Builder
		for j, v := range l.Values {
			if !math.IsNaN(d.y.at(v)) {
				b.WriteString(marker(l.Ink, d.px(d.chart.Xs[j]), d.py(v)))
			}
		}
		fmt.Fprintf(&d.out, `<path class="dots ink%d" d="%s"/>`, l.Ink%Inks, b.String())
	}
}

func (d *drawing) point(b *strings.Builder, j int, v float64, move bool) {
	command := byte('L')
	if move {
		command = 'M'
	}
	b.WriteByte(command)
	b.WriteString(short(d.px(d.chart.Xs[j])))
	b.WriteByte(' ')
	b.WriteString(short(d.py(v)))
}

// marker is the path of an ink's marker: so that lines can be told apart without colour.
func marker(ink int, x, y float64) string {
	at := "M" + short(x) + " " + short(y)
	switch ink % Inks {
	case 1: // square
		return at + "m-3.5 -3.5h7v7h-7z"
	case 2: // triangle
		return at + "m0 -4.5l4.5 8h-9z"
	case 3: // diamond
		return at + "m0 -5l5 5l-5 5l-5 -5z"
	case 4: // triangle upside down
		return at + "m0 4.5l4.5 -8h-9z"
	case 5: // plus
		return at + "m-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z"
	case 6: // flat
		return at + "m-5 -2h10v4h-10z"
	case 7: // upright
		return at + "m-2 -5h4v10h-4z"
	default: // circle
		return at + "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"
	}
}

// short writes a coordinate with one decimal.
func short(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// columns is for how many Latin letters a text needs room: Korean, Chinese and Japanese letters are twice as wide.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	if unicode.In(r, unicode.Hangul, unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return 2
	}
	return 1
}

// within is how many of the letters have room in n columns.
func within(letters []rune, n int) int {
	for i, r := range letters {
		if n -= columnsOf(r); n < 0 {
			return i
		}
	}
	return len(letters)
}

// fit shortens a text to n columns, to nothing where too little would be left to read.
func fit(s string, n int) string {
	letters := []rune(s)
	switch {
	case columns(s) <= n:
		return s
	case n < 4:
		return ""
	default:
		return string(letters[:within(letters, n-1)]) + "…"
	}
}

// inTwo breaks a text that needs more than n columns between words, and shortens what still has no room.
func inTwo(s string, n int) []string {
	letters := []rune(s)
	if columns(s) <= n {
		return []string{s}
	}
	for i := within(letters, n); i > 0; i-- {
		if letters[i] == ' ' {
			return []string{string(letters[:i]), fit(string(letters[i+1:]), n)}
		}
	}
	return []string{fit(s, n)}
}

// bounded is a band's lower edge as far as the axis shows it: on a log axis there is no zero.
func (d *drawing) bounded(v float64) float64 {
	if d.chart.Y.Log && v <= 0 {
		return d.y.from
	}
	return v
}
