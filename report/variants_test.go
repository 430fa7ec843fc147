package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/result"
)

// A trial that makes one change in several variants says under its verdict what the change was like in each, in the worst of its rounds.
func TestWhatAChangeWasLikeInEachVariant(t *testing.T) {
	at := time.Unix(1000, 0)
	ms := func(metric string, value float64) result.Figure {
		return result.Figure{Metric: metric, Unit: "ms", Estimate: analyze.Estimate{Value: value}}
	}
	phases := func(cell string, round int, p99 float64, impact analyze.Impact, figures ...result.Figure) []result.Phase {
		return []result.Phase{
			{Name: "baseline", Cell: cell, Round: round, Figures: []result.Figure{ms("response_p99", 45)}},
			{Name: "mysql/alter-table", Cell: cell, Round: round, Impact: &impact, Figures: append(figures, ms("response_p99", p99))},
		}
	}
	back := func(after time.Duration) analyze.Impact {
		return analyze.Impact{Onset: at, Spells: []analyze.Spell{{From: at, To: at.Add(after), Took: after}}}
	}
	v := result.Verdict{
		Cells: []result.Cell{{Name: "instant", Variant: "instant", Control: true}, {Name: "copy", Variant: "copy"}, {Name: "online", Variant: "online"}},
		Phases: slices.Concat(
			phases("instant", 1, 46, analyze.Impact{}), phases("copy", 1, 900, back(2*time.Second), ms("recovery_time", 333)), phases("online", 1, 80, analyze.Impact{Onset: at, Spells: []analyze.Spell{{From: at, Took: time.Minute}}}),
			phases("copy", 2, 1200, back(3*time.Second), ms("recovery_time", 250)),
		),
	}
	want := []string{
		"instant: p99 response 46.0 ms during mysql/alter-table, 45.0 ms in the baseline; throughput, response times and errors stayed as before.",
		"copy: p99 response 1.20 s during mysql/alter-table, 45.0 ms in the baseline; throughput, response times and errors were all as before after 3 s; the longest time from one acknowledged write to the next was 333 ms, in the worst of 2 rounds.",
		"online: p99 response 80.0 ms during mysql/alter-table, 45.0 ms in the baseline; throughput, response times or errors were not as before within 1 min.",
	}
	var got []string
	for _, r := range changeLead(v) {
		got = append(got, strings.ReplaceAll(r.String(), "\u202f", " "))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	v.Cells = v.Cells[:1]
	if got := changeLead(v); got != nil {
		t.Errorf("of a trial that compares nothing: %q", got)
	}
}
