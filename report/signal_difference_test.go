package report

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll/analyze"
	"plimsoll/report/reporttest"
	"plimsoll/result"
)

func signalDiffers(signal, unit, variant string, before, mean, half float64) result.SignalDifference {
	d := result.SignalDifference{Signal: signal, Node: "n1", Unit: unit, Variant: variant, Control: "off",
		Before: analyze.Estimate{Value: before}, Mean: analyze.Estimate{Value: mean},
		Difference: analyze.JudgedClaim{Estimate: mean - before, Low: mean - before - half, High: mean - before + half, Confidence: 0.999}}
	d.Differs = d.Difference.Low > 0 || d.Difference.High < 0
	return d
}

// What differs most between the variants is named under the verdict, and all of it stands in a table; what the data does not support
// is named nowhere as a difference.
func TestTheLargestSignalDifferencesAreNamed(t *testing.T) {
	r := reporttest.Comparison()
	commits := signalDiffers("mysql.commits_per_second", "per_second", "on", 341, 1004, 0)
	commits.Difference, commits.Differs = analyze.JudgedClaim{Estimate: 2.944, Low: 1.339, High: 6.467, Confidence: 0.999, Unit: "ratio"}, true
	r.Verdict.Signals = []result.SignalDifference{
		signalDiffers("mysql.rollbacks_per_second", "per_second", "on", 0, 0, 0), commits,
		signalDiffers("mysql.connections", "", "on", 103.001, 103.002, 0),
		signalDiffers("mysql.threads_running", "", "on", 12, 13, 0.5),
		signalDiffers("mysql.pool_miss_share", "share", "on", 0, 0.2, 0.01),
		signalDiffers("mysql.log_waits_per_second", "per_second", "on", 1, 9, 30),
		signalDiffers("load.cpu_share", "share", "on", 0, 0.9, 0.01),
	}
	var text, markdown bytes.Buffer
	if err := Text(&text, r, Terminal{Width: 400}); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&markdown, r); err != nil {
		t.Fatal(err)
	}
	p := newPage(r, newBesides(r, nil), detail{timeline: 100, signal: 100, spark: 100, events: 10})
	var lead []string
	for _, l := range p.Leads {
		lead = append(lead, l.String())
	}
	for kind, page := range map[string]string{"text": text.String(), "Markdown": strings.ReplaceAll(markdown.String(), "**", ""), "HTML": strings.Join(lead, "\n")} {
		page = strings.ReplaceAll(page, "\u202f", " ")
		if want := "on against off, the signals that differ most: pool miss on n1 0 % → 20 %; commits on n1 341/s → 1,004/s; threads running on n1 12 → 13."; !strings.Contains(page, want) {
			t.Errorf("%s does not say %q:\n%s", kind, want, page)
		}
	}
	rows := signalTable(r.Verdict).Rows
	if len(rows) != 5 || rows[0].Head != "pool miss on n1" || !strings.HasPrefix(rows[3].Cells[3].Value, "≈ ") || rows[4].Head != "cpu on n1" {
		t.Fatalf("%+v", rows)
	}
	said := func(row int) string {
		return strings.ReplaceAll(rows[row].Cells[3].Value+" between "+rows[row].Cells[4].Value, "\u202f", " ")
	}
	if got, want := said(0), "+20 points between +19 points and +21 points"; got != want {
		t.Errorf("a share: %q, want %q", got, want)
	}
	if got, want := said(1), "×2.94 between +33.9 % and ×6.47"; got != want {
		t.Errorf("a rate: %q, want %q", got, want)
	}
	if note := signalTable(r.Verdict).Note; !strings.HasPrefix(note, "2 more, whose two means are the same in the digits shown, are in verdict.json. ") {
		t.Errorf("%q", note)
	}
	if name, unit := signalName(signalDiffers("mysql.row_lock_wait_ms_per_second", "ms_per_second", "on", 1, 2, 0)); name != "row lock wait on n1" || unit.Format(12) != "12.0\u202fms/s" {
		t.Errorf("%s in %s", name, unit)
	}
}

// Where several variants were measured one after the other, each curve says which was when.
func TestSignalCurvesNameTheirVariants(t *testing.T) {
	r := reporttest.Comparison()
	p := newPage(r, newBesides(r, nil), detail{timeline: 100, signal: 1000, spark: 100, events: 10})
	named := map[string]bool{}
	for _, s := range p.Data.Frames["signals"].Spans {
		if s.To <= s.From || s.From < 0 {
			t.Errorf("%+v", s)
		}
		named[s.Name] = true
	}
	for _, c := range r.Verdict.Cells {
		if !named[c.Name] && !named[c.Variant] {
			t.Errorf("no band of %s among %v", c.Name, named)
		}
	}
}
