package report

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/result"
)

// Body writes what report.html says of a result, for a page that has its own head: page.css, uPlot.min.css, uPlot.iife.min.js and page.js
// of Asset belong to it, and the figures' data is in it.
func Body(w io.Writer, r *result.Result) error {
	t, err := pageTemplate()
	if err != nil {
		return err
	}
	p := newPage(r, newBesides(r, nil), detail{timeline: 3000, signal: 12000, spark: 20000, events: 1000})
	if err := t.ExecuteTemplate(w, "served", p); err != nil {
		return fmt.Errorf("render the result: %w", err)
	}
	return nil
}

// Class is a result's verdict for the style sheet.
func Class(r *result.Result) string { return classOf(r.Verdict) }

// Answer is a verdict's word, as the report says it.
func Answer(v result.Verdict) string { return answer(v) }

// VersusBody writes two results side by side, for a page that has page.css of Asset.
func VersusBody(w io.Writer, v *result.Versus) error {
	t, err := pageTemplate()
	if err != nil {
		return err
	}
	var tables []table
	differ := 0
	for from := 0; from < len(v.Differences); {
		to := from
		for to < len(v.Differences) && place(v.Differences[to]) == place(v.Differences[from]) {
			if v.Differences[to].Differs {
				differ++
			}
			to++
		}
		tables = append(tables, differences(v.Differences[from:to]))
		from = to
	}
	err = t.ExecuteTemplate(w, "versus", struct {
		Supported string
		Tables    []table
		Notes     []string
	}{strings.TrimSpace(invalid(v.Invalid) + " " + supported(differ, len(v.Differences))), tables, v.Notes})
	if err != nil {
		return fmt.Errorf("render the comparison: %w", err)
	}
	return nil
}

// Asset is a style sheet or script of the page.
func Asset(name string) ([]byte, error) { return assets.ReadFile("assets/" + name) }
