package report

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll/report/reporttest"
)

// What a watch recorded has no verdict and no response times: its page says what was watched, names an instance by its name alone, and shows what changed.
func TestWhatAWatchRecordedIsNoTrial(t *testing.T) {
	r := reporttest.Recorded()
	var page, text, wiki bytes.Buffer
	for _, err := range []error{HTML(&page, r), Text(&text, r, Terminal{Width: 100}), Markdown(&wiki, r)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, shown := range map[string]string{"page": page.String(), "text": text.String(), "Markdown": wiki.String()} {
		if name == "page" { // of its scripts nothing is seen
			_, shown, _ = strings.Cut(shown, "<main>")
			shown, _, _ = strings.Cut(shown, "</main>")
		}
		for _, never := range []string{"INCONCLUSIVE", "without a question", "Response and service time", "p99", "operations per second", "against the control", "What did it do?", "expectation"} {
			if strings.Contains(shown, never) {
				t.Errorf("the %s says %q", name, never)
			}
		}
		for _, want := range []string{"orders, 4 May 2026, 14:00:00 to 14:02:00 UTC", "2 instances for 2 min", "nothing was judged", "sync_binlog", "14:01:10", "n2"} {
			if !strings.Contains(strings.NewReplacer(`\_`, "_", "\u202f", " ").Replace(shown), want) {
				t.Errorf("the %s lacks %q", name, want)
			}
		}
	}
	p := newPage(r, newBesides(r, nil), detail{timeline: 3000, signal: 12000, spark: 20000, events: 1000})
	if len(p.Signals) != 1 || len(p.Signals[0].Figures) != 1 || len(p.Timelines) != 1 || len(p.Timelines[0].Figures) != 1 {
		t.Fatalf("%+v, %+v", p.Signals, p.Timelines)
	}
	for _, f := range []figure{p.Signals[0].Figures[0], p.Timelines[0].Figures[0]} {
		if lines := p.Data.Figures[f.ID].Views[0].Lines; len(lines) != 2 || lines[0].Name != "n1" || lines[1].Name != "n2" {
			t.Errorf("%s has lines %+v", f.Caption, lines)
		}
	}
	if a := Answer(r.Verdict); a != "RECORDED" || Class(r) != "recorded" {
		t.Errorf("it is called %s, %s", a, Class(r))
	}
}
