package web

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"path"
	"slices"
	"time"

	"plimsoll/report"
)

// sheets are the style sheets of pages: one for each kind of page, so that a page is few requests. Later files hold over earlier ones.
var sheets = map[string][]string{
	"page.css":   {"tokens.css", "chart.css", "page.css"},
	"curves.css": {"tokens.css", "chart.css", "uplot.css", "page.css"},
	"result.css": {"tokens.css", "chart.css", "uplot.css", "report.css", "page.css"},
}

// ofReport are the report's own style sheets and scripts, by the names under which they are known here.
var ofReport = map[string]string{"tokens.css": "tokens.css", "chart.css": "chart.css", "report.css": "page.css", "report.js": "page.js", "uplot.css": "uPlot.min.css", "uplot.js": "uPlot.iife.min.js"}

// kinds are the types of what pages ask for, by how the names end.
var kinds = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// asset is a style sheet or a script. A browser that has it asks whether it is still the same.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	kind := kinds[path.Ext(name)]
	if kind == "" {
		return errNoPage
	}
	var data []byte
	for _, file := range slices.Concat(sheets[name], unbundled(name)) {
		text, err := assetFile(file)
		if err != nil {
			return errNoPage
		}
		data = append(data, text...)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	tag := fmt.Sprintf("W/%q", fmt.Sprintf("%x", sha256.Sum256(data))) // weak: it is that of the text, compressed or not
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag { // none of it is sent
		w.Header().Set("Vary", "Accept-Encoding")
	} else {
		data = compressed(w, r, data)
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
	return nil
}

// unbundled is the file of a name that is no sheet of several.
func unbundled(name string) []string {
	if _, bundled := sheets[name]; bundled {
		return nil
	}
	return []string{name}
}

func assetFile(name string) ([]byte, error) {
	if ours, of := ofReport[name]; of {
		return report.Asset(ours)
	}
	return files.ReadFile("assets/" + name)
}
