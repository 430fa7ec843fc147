package report

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/result"
	"plimsoll/series"

	"plimsoll/report/reporttest"
)

var update = flag.Bool("update", false, "write the golden files and the schema anew")

// samples are the results that every rendering is tested with.
func samples() map[string]*result.Result {
	return map[string]*result.Result{
		"comparison": reporttest.Comparison(), "timeline": reporttest.Timeline(),
		"interrupted": reporttest.Interrupted(), "settings": reporttest.Settings(), "measured": reporttest.Measured(), "cut-off": reporttest.CutOff(), "recorded": reporttest.Recorded(),
	}
}

func TestGolden(t *testing.T) {
	plain := Terminal{Width: 100}
	for name, r := range samples() {
		for suffix, render := range map[string]func(io.Writer) error{
			".md":       func(w io.Writer) error { return Markdown(w, r) },
			".txt":      func(w io.Writer) error { return Text(w, r, plain) },
			".plot.txt": func(w io.Writer) error { return Plot(w, r, plain) },
			".html":     func(w io.Writer) error { return fragments(w, r) },
		} {
			var b bytes.Buffer
			if err := render(&b); err != nil {
				t.Fatalf("%s%s: %v", name, suffix, err)
			}
			golden(t, filepath.Join("testdata", name+suffix), b.Bytes())
		}
	}
}

// fragments are the parts of the page that are words and tables; the pictures are looked at by the browser's test.
func fragments(w io.Writer, r *result.Result) error {
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		return err
	}
	page := b.String()
	_, page, _ = strings.Cut(page, "<main>")
	page, _, _ = strings.Cut(page, "</main>")
	for {
		from := strings.Index(page, "<svg")
		if from < 0 {
			break
		}
		to := from + strings.Index(page[from:], "</svg>") + len("</svg>")
		page = page[:from] + page[to:]
	}
	for line := range strings.SplitSeq(page, "\n") {
		if strings.TrimSpace(line) != "" {
			if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reports say what happened in words: the kinds of events are for programs.
func TestNoReportShowsAKindOfEvent(t *testing.T) {
	r := samples()["timeline"]
	began := r.Events[0].Time
	for n, k := range series.EventKinds() {
		r.Events = append(r.Events, series.Event{Time: began.Add(time.Duration(n+1) * time.Second), Kind: k.Kind, Node: "node1"})
	}
	for name, render := range map[string]func(io.Writer) error{
		"Markdown": func(w io.Writer) error { return Markdown(w, r) },
		"text":     func(w io.Writer) error { return Text(w, r, Terminal{Width: 100}) },
		"plot":     func(w io.Writer) error { return Plot(w, r, Terminal{Width: 100}) },
		"HTML":     func(w io.Writer) error { return HTML(w, r) },
	} {
		var page strings.Builder
		if err := render(&page); err != nil {
			t.Fatal(err)
		}
		for _, k := range series.EventKinds() {
			if kind := string(k.Kind); strings.Contains(kind, ".") && strings.Contains(page.String(), kind) {
				t.Errorf("%s shows %s", name, kind)
			}
			if words := k.Words; name == "HTML" && !shownOtherwise(series.Event{Kind: k.Kind}) && k.Group != series.OfPhases && !strings.Contains(page.String(), words) {
				t.Errorf("%s does not say %q", name, words)
			}
		}
		if !strings.Contains(page.String(), "when node1 was frozen") && name != "plot" {
			t.Errorf("%s does not say during what the service was affected", name)
		}
	}
}

// golden compares with a file, or writes it when asked to.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not current: if the change is meant, write it anew with go generate ./report\n%s", file, firstDifference(string(want), string(got)))
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d:\n  want %q\n  got  %q", i+1, a, b)
		}
	}
	return "no difference"
}
