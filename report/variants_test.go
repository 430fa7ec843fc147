package report

import (
	"math"
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
		"instant: p99 response 46.0 ms during mysql/alter-table; throughput, response times and errors stayed as before.",
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

// The worst of several rounds is one round: its p99 beside its own baseline, and the time of the spell that was not over, not of a longer
// one that was. A change that is made twice in a round is in one round, and a round without an operation has no p99.
func TestTheWorstRoundOfAChangeIsOneRound(t *testing.T) {
	at := time.Unix(1000, 0)
	p99 := func(value float64) []result.Figure {
		return []result.Figure{{Metric: "response_p99", Unit: "ms", Estimate: analyze.Estimate{Value: value}}}
	}
	over := func(took time.Duration) analyze.Spell { return analyze.Spell{From: at, To: at.Add(took), Took: took} }
	change := func(round int, value float64, spells ...analyze.Spell) result.Phase {
		return result.Phase{Name: "own/change", Cell: "b", Round: round, Impact: &analyze.Impact{Onset: at, Spells: spells}, Figures: p99(value)}
	}
	baseline := func(round int, value float64) result.Phase {
		return result.Phase{Name: "baseline", Cell: "b", Round: round, Figures: p99(value)}
	}
	said := func(phases ...result.Phase) string {
		return strings.ReplaceAll(changeOf(result.Verdict{Phases: phases}, "b", "own/change"), "\u202f", " ")
	}
	open := analyze.Spell{From: at, Took: 20 * time.Second}
	for _, c := range []struct{ what, got, want string }{
		{"an open spell beside a longer one that was over", said(baseline(1, 40), change(1, 90, over(50*time.Second)), baseline(2, 70), change(2, 80, over(30*time.Second), open)),
			"p99 response 90.0 ms during own/change, 40.0 ms in the baseline; throughput, response times or errors were not as before within 20 s, in the worst of 2 rounds"},
		{"a round without an operation", said(baseline(1, 40), change(1, 90, over(time.Second)), baseline(2, 70), change(2, math.NaN(), over(2*time.Second))),
			"p99 response 90.0 ms during own/change, 40.0 ms in the baseline; no operation ended during it in 1 of 2 rounds; throughput, response times and errors were all as before after 2 s, in the worst of 2 rounds"},
		{"rounds without an operation", said(baseline(1, 40), change(1, math.NaN(), over(time.Second))),
			"no operation ended during own/change; throughput, response times and errors were all as before after 1 s"},
		{"twice in a round", said(baseline(1, 40), change(1, 90, over(time.Second)), change(1, 95, over(time.Second))),
			"p99 response 95.0 ms during own/change, 40.0 ms in the baseline; throughput, response times and errors were all as before after 1 s"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q\nwant %q", c.what, c.got, c.want)
		}
	}
}
