package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/report/reporttest"
	"plimsoll/trial"
)

// samples are the results that every rendering is tested with.
func samples() map[string]*trial.Result {
	return map[string]*trial.Result{
		"comparison": reporttest.Comparison(), "timeline": reporttest.Timeline(),
		"interrupted": reporttest.Interrupted(), "settings": reporttest.Settings(),
	}
}

func writePage(t *testing.T, r *trial.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBrowser(t *testing.T) {
	b := newBrowser(t)
	for name, r := range samples() {
		file := writePage(t, r)
		for kind, l := range map[string]look{
			"desktop": {width: 1280, height: 900}, "dark": {width: 1280, height: 900, dark: true},
			"phone": {width: 360, height: 740, phone: true}, "noscript": {width: 1280, height: 900, noScripts: true},
		} {
			b.open(file, l)
			if !l.noScripts {
				// Bring every figure near, so that all are drawn.
				b.eval("(async () => { for (const f of document.querySelectorAll('.chart-figure')) { f.scrollIntoView(); await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame); } scrollTo(0, 0); })()", nil)
			}
			if l.dark {
				b.eval("document.querySelectorAll('details').forEach(d => d.open = true)", nil)
			}
			b.picture(name + "-" + kind)
			for _, c := range b.complaints() {
				t.Errorf("%s, %s: %s", name, kind, c)
			}
		}
		b.open(file, look{width: 1280, height: 900})
		b.picture(name + ".pdf")
	}
}
