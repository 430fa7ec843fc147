package web

import (
	"bytes"
	"html/template"
	"io"

	"plimsoll/report/chart"
)

// This file is the only one that says of text that it is markup: of pictures, reports and parts of pages that our own packages drew, which escape what
// they were given.

// markup is what a template writes as it is.
type markup = template.HTML

// picture draws a chart.
func picture(c chart.Chart, width, height int) template.HTML {
	return template.HTML(c.SVG(width, height)) //nolint:gosec // escaped by chart
}

// written is what a report's template wrote.
func written(write func(io.Writer) error) (template.HTML, error) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil //nolint:gosec // escaped by the report's template
}

// drawn is a part of a page that a template of the page wrote.
func drawn(part string) template.HTML { return template.HTML(part) } //nolint:gosec // escaped by the page's template
