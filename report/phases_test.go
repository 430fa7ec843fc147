package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/series"
)

// The sentence of a disturbance calls a fall only what is one, and of a load that arrives says what was not done.
func TestTheSentenceOfADisturbance(t *testing.T) {
	at := time.Unix(1000, 0)
	back := func(after time.Duration) analyze.Course {
		return analyze.Course{Worse: true, AsBefore: true, After: after}
	}
	not := analyze.Course{Worse: true, After: 2 * time.Minute}
	felt := analyze.Impact{Onset: at, WorstSecond: 0.77, Spells: []analyze.Spell{{Throughput: back(3 * time.Second), P99: back(time.Minute)}}}
	said := func(change func(*analyze.Impact), figures ...result.Figure) string {
		i := felt
		i.Spells = slices.Clone(felt.Spells)
		change(&i)
		u := run{Phases: []result.Phase{{Name: "cql/add-node", Impact: &i, Figures: figures}}}
		return strings.ReplaceAll(u.lead()[0].Text, "\u202f", " ")
	}
	slow := func(i *analyze.Impact) { i.Usual, i.Spells[0].Throughput = true, analyze.Course{AsBefore: true} }
	const rose = "; p99 response rose and was as before after 1 min"
	for _, c := range []struct {
		what   string
		change func(*analyze.Impact)
		want   string
	}{
		{"chance", func(i *analyze.Impact) { slow(i); i.Open = true }, ": no fall of throughput was found beyond the baseline's own variation, and every requested operation was done" + rose + "."},
		{"a closed loop", slow, ": no fall of throughput was found beyond the baseline's own variation" + rose + "."},
		{"what every day fails", func(i *analyze.Impact) { slow(i); i.Open, i.Undone = true, 30 }, ": no fall of throughput was found beyond the baseline's own variation" + rose + "."},
		{"a fall", func(i *analyze.Impact) { i.Open, i.Undone, i.LostOps = true, 117, 117 },
			": throughput fell to 77 % of the baseline in its worst second and was as before after 3 s" + rose + "; 117 of the requested operations not done."},
		{"beside what every day fails", func(i *analyze.Impact) { slow(i); i.Open, i.Undone, i.LostOps = true, 4, 2.8 },
			": no fall of throughput was found beyond the baseline's own variation" + rose + "; 3 of the requested operations not done beyond the share that the baseline left undone."},
		{"only errors", func(i *analyze.Impact) {
			slow(i)
			i.Spells[0].P99, i.Spells[0].Errors, i.ErrorSeconds = analyze.Course{AsBefore: true}, back(time.Second), 1
		}, ": no fall of throughput was found beyond the baseline's own variation; no rise of p99 response was found; 1 second with errors, whose share was as before after 1 s."},
		{"a fall of a closed loop", func(i *analyze.Impact) { i.LostOps = 117 },
			": throughput fell to 77 % of the baseline in its worst second and was as before after 3 s" + rose + "; 117 operations fewer than at the rate of the baseline."},
		{"p99 stays", func(i *analyze.Impact) { i.Spells[0].P99 = not; i.ErrorSeconds = 1 },
			": throughput fell to 77 % of the baseline in its worst second and was as before after 3 s; p99 response rose and was not as before within the 2 min that followed; 1 second with errors."},
		{"twice", func(i *analyze.Impact) { i.Spells = append(i.Spells, analyze.Spell{Throughput: back(7 * time.Second)}) },
			": throughput fell to 77 % of the baseline in its worst second and was as before each of 2 times, after 7 s at the longest" + rose + "."},
	} {
		if got := said(c.change); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	ledger := result.Figure{Metric: "recovery_time", Unit: "ms", Estimate: analyze.Estimate{Value: 535}}
	if got := said(func(*analyze.Impact) {}, ledger); !strings.HasSuffix(got, rose+". The longest time from one acknowledged write to the next was 535 ms.") {
		t.Error(got)
	}
	failing := run{End: at.Add(time.Hour), Phases: []result.Phase{{Name: "mysql/alter-table", From: at, Impact: &analyze.Impact{Onset: at, ErrorSeconds: 1, Spells: felt.Spells}}}, Events: []series.Event{
		{Kind: series.LoadErrors, Time: at.Add(-time.Minute), Detail: map[string]any{"timeout": 1.0}},
		{Kind: series.LoadErrors, Time: at.Add(time.Second), Detail: map[string]any{"deadlock": 18.0, "seconds": 1}},
	}}
	if got := failing.lead()[0].Text; !strings.Contains(got, "; 1 second with errors (deadlock 18).") {
		t.Errorf("%q does not say which errors there were", got)
	}
	b := at.Add(10 * time.Second) // too late for anything to be said of what it did
	failing.Phases = append(failing.Phases, result.Phase{Name: "own/late", From: b, To: b.Add(2 * time.Second)})
	failing.Events = append(failing.Events, series.Event{Kind: series.ChangeStart, Name: "own/late", Time: b.Add(time.Millisecond)},
		series.Event{Kind: series.LoadErrors, Time: b.Add(time.Second), Detail: map[string]any{"connection": 4.0}})
	if got := failing.lead()[0].Text; !strings.Contains(got, "; 1 second with errors (deadlock 18).") {
		t.Errorf("%q has the errors of the next change", got)
	}
	felt.Usual, felt.Onset, felt.Spells = true, time.Time{}, nil
	if got := said(func(*analyze.Impact) {}); !strings.Contains(got, "77 % in its worst second, as the baseline's own seconds vary") {
		t.Error(got)
	}
	if row := impactEntries(result.Phase{Impact: &felt}); row[0].Value != "77\u202f%, as usual" {
		t.Errorf("the table: %+v", row)
	}
}

// The column of throughput against the baseline is of its row: where no dip was found, Depth is of the recovery too.
func TestTheShareOfTheBaselineIsOfItsRow(t *testing.T) {
	at := time.Unix(1000, 0)
	phase := func(name string, throughput float64, impact *analyze.Impact) result.Phase {
		return result.Phase{Name: name, From: at, To: at.Add(time.Minute), Impact: impact, Figures: []result.Figure{{Metric: "throughput", Unit: "per_second", Estimate: analyze.Estimate{Value: throughput}}}}
	}
	u := run{Start: at, Phases: []result.Phase{phase("baseline", 20, nil), phase("own/change", 17, &analyze.Impact{Depth: analyze.Estimate{Value: 0.999}, WorstSecond: 0.4, Usual: true})}}
	table := u.phaseTable()
	column := slices.Index(table.Columns, "throughput of baseline")
	if column < 0 || table.Columns[column-1] != "throughput" {
		t.Fatalf("%q", table.Columns)
	}
	for row, want := range []string{"", "85\u202f%"} {
		if cells := table.Rows[row].Cells; len(cells) != len(table.Columns) || cells[column].Value != want {
			t.Errorf("row %d: %+v, want %q of the baseline", row, cells, want)
		}
	}
	if table.Note != "" {
		t.Errorf("of a change whose length is not known: %q", table.Note)
	}
	u.Events = []series.Event{{Kind: series.ChangeEnd, Name: "own/change", Time: at.Add(time.Second), Detail: map[string]any{"seconds": 0.1644}}}
	if note := strings.ReplaceAll(u.phaseTable().Note, "\u202f", " "); !strings.Contains(note, "it lasts at least two seconds") || !strings.Contains(note, "took: own/change 164 ms.") {
		t.Errorf("%q", note)
	}
	if row := eventTable(u.Events, at, 10).Rows[0]; row.Cells[2].Value != "took 164\u202fms" {
		t.Errorf("%+v", row)
	}
	u.Phases[1].Impact = nil
	if table := u.phaseTable(); !slices.Equal(table.Columns, []string{"from", "lasted", "throughput", "p99 response"}) || len(table.Rows[1].Cells) != 4 {
		t.Errorf("without a disturbance: %q, %+v", table.Columns, table.Rows[1].Cells)
	}
}

// A dip that went on through several steps is told by each, and what was no worse than before is not told as an effect.
func TestALongDipIsToldByItsPieces(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(1000+int64(seconds), 0) }
	d := result.Dip{
		During: "the first checks",
		Dip:    analyze.Dip{Onset: at(42), Recovered: at(100), Took: 58 * time.Second, Usual: true, Depth: analyze.Estimate{Value: 0.9}, Rise: analyze.Estimate{Value: 2.5}},
		Pieces: []result.Piece{
			{During: "the first checks", From: at(42), Worst: analyze.Worst{At: at(43), Throughput: 0.9, Rise: 6.4, Usual: true}},
			{During: "whole", From: at(46), Worst: analyze.Worst{At: at(46), Throughput: 0.9, Rise: 1.1, Usual: true, UsualTimes: true}},
			{During: "join", From: at(47), Worst: analyze.Worst{At: at(74), Throughput: 0.2, Rise: 11.2, Errors: 3}},
		},
	}
	u := run{Start: at(0), Phases: []result.Phase{{Name: "cql/add-node", From: at(40), Dips: []result.Dip{d}}}}
	plain := func(s string) string { return strings.ReplaceAll(s, "\u202f", " ") }
	want := "from 0:42 on, 2.0 s after it began, during the first checks: p99 2.5× of the baseline in this rise, which lasted 58 s." +
		" The worst seconds: the first checks p99 6.4× at 0:43; join p99 11.2× and 3 errors at 1:14."
	if got := plain(u.dip(u.Phases[0], d)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	rows := u.dipTable().Rows
	if len(rows) != 4 || rows[0].Cells[2].Value != "as before" || rows[1].Head != "↳ 0:42" || rows[2].Cells[3].Value != "as before" || plain(rows[3].Cells[2].Value) != "as before" || rows[3].Cells[3].Value != "11.2× at 1:14" {
		t.Errorf("%+v", rows)
	}
}

// Where only errors rose nothing dipped.
func TestOnlyErrorsAreNoDip(t *testing.T) {
	at := time.Unix(1000, 0)
	d := result.Dip{Dip: analyze.Dip{
		Onset: at, Recovered: at.Add(time.Second), Took: time.Second, Usual: true, UsualRise: true, Errors: 375,
		Depth: analyze.Estimate{Value: 0.98}, Rise: analyze.Estimate{Value: 1.1},
	}}
	u := run{Start: at}
	p := result.Phase{Name: "own/change", From: at}
	if got, want := u.dip(p, d), "from 0:00 on, as soon as it began: 375 errors in this period, which lasted 1 s."; strings.ReplaceAll(got, "\u202f", " ") != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	d.Usual = false
	if got := u.dip(p, d); !strings.Contains(got, " in this dip, which lasted") {
		t.Errorf("a fall: %s", got)
	}
	d.Took, d.Seconds, d.Worse, d.Recovered = 3*time.Second, 3, 2, at.Add(3*time.Second)
	if got := u.dip(p, d); !strings.Contains(got, "lasted 3\u202fs, of which 2 seconds were worse than the baseline.") {
		t.Errorf("two seconds with a good one between them: %s", got)
	}
	u.Phases = []result.Phase{{Dips: []result.Dip{d}}}
	if cells := u.dipTable().Rows[0].Cells; cells[len(cells)-1].Value != "3\u202fs, of which 2 seconds were worse than the baseline" {
		t.Errorf("%+v", cells)
	}
}
