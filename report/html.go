package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"plimsoll/result"

	"plimsoll/series/foreign"
)

//go:embed assets
var assets embed.FS

// MaxBytes is how large report.html may become: small enough to mail.
const MaxBytes = 2_000_000

// HTML writes report.html: one page that needs nothing but itself.
func HTML(w io.Writer, r *result.Result, beside ...foreign.Recording) error {
	t, err := pageTemplate()
	if err != nil {
		return err
	}
	laid := newBesides(r, beside)
	// Long series are drawn with fewer points until the page is small enough; spikes survive, see chart.Bucket.
	for d := (detail{timeline: 3000, signal: 12000, spark: 20000, events: 1000}); ; d = d.half() {
		var b bytes.Buffer
		if err := t.Execute(&b, newPage(r, laid, d)); err != nil {
			return fmt.Errorf("render report.html: %w", err)
		}
		if b.Len() < MaxBytes || d.timeline < 100 {
			_, err := w.Write(b.Bytes())
			return err
		}
	}
}

func (d detail) half() detail { return detail{d.timeline / 2, d.signal / 2, d.spark / 2, d.events / 2} }

// pageTemplate is the page with its style sheet and scripts written into it. It is parsed once: that takes longer than most reports.
var pageTemplate = sync.OnceValues(parsePage)

func parsePage() (*template.Template, error) {
	functions := template.FuncMap{
		"lower":  class,
		"prose":  prose,
		"style":  func(name string) (template.CSS, error) { s, err := asset(name); return template.CSS(s), err }, //nolint:gosec // our own file
		"script": func(name string) (template.JS, error) { s, err := asset(name); return template.JS(s), err },   //nolint:gosec // our own file
		"licensed": func(name, licence string) (template.JS, error) {
			terms, err := asset(licence)
			if err != nil {
				return "", err
			}
			s, err := asset(name)
			return template.JS("/*\n" + terms + "\n*/\n" + s), err //nolint:gosec // our own files
		},
	}
	t, err := template.New("page.html").Funcs(functions).ParseFS(assets, "assets/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse page: %w", err)
	}
	return t, nil
}

// commands splits a sentence at its backquotes: every second part is a command. One that has an odd number of them has none.
func commands(text string) []string {
	if strings.Count(text, "`")%2 == 1 {
		return []string{text}
	}
	return strings.Split(text, "`")
}

// prose is a sentence in which what stands in backquotes is a command: it is shown as code, whole, to be copied.
func prose(text string) template.HTML {
	var b strings.Builder
	for i, part := range commands(text) {
		if part = template.HTMLEscapeString(part); i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String()) //nolint:gosec // escaped part by part
}

func asset(name string) (string, error) {
	b, err := assets.ReadFile("assets/" + name)
	return string(b), err
}
