package report

import (
	"strings"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/trial"
)

// The sentence of a disturbance calls a fall only what is one, and of a load that arrives says what was not done.
func TestTheSentenceOfADisturbance(t *testing.T) {
	at := time.Unix(1000, 0)
	felt := analyze.Impact{Onset: at, Recovered: at.Add(time.Minute), Took: time.Minute, WorstSecond: 0.77}
	said := func(change func(*analyze.Impact)) string {
		i := felt
		change(&i)
		u := run{Phases: []trial.Phase{{Name: "cql/add-node", Impact: &i}}}
		return strings.ReplaceAll(u.lead()[0].Text, "\u202f", " ")
	}
	for _, c := range []struct {
		what   string
		change func(*analyze.Impact)
		want   string
	}{
		{"chance", func(i *analyze.Impact) { i.Usual, i.Open = true, true }, ": throughput did not fall, and all that was asked for was done; back after 1 min."},
		{"a closed loop", func(i *analyze.Impact) { i.Usual = true }, ": throughput did not fall; back after 1 min."},
		{"what every day fails", func(i *analyze.Impact) { i.Usual, i.Open, i.Undone = true, true, 30 }, ": throughput did not fall; back after 1 min."},
		{"a fall", func(i *analyze.Impact) { i.Open, i.Undone, i.LostOps = true, 117, 117 }, ": throughput fell to 77 % of the baseline in its worst second, 117 of the operations asked for not done; back after 1 min."},
		{"a fall of a closed loop", func(i *analyze.Impact) { i.LostOps = 117 }, ": throughput fell to 77 % of the baseline in its worst second, 117 operations fewer than the baseline would have done; back after 1 min."},
	} {
		if got := said(c.change); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	felt.Usual, felt.Onset = true, time.Time{}
	if got := said(func(*analyze.Impact) {}); !strings.Contains(got, "77 % in its worst second, as the baseline's own seconds vary") {
		t.Error(got)
	}
	if row := impactEntries(trial.Phase{Impact: &felt}); row[1].Value != "no fall" {
		t.Errorf("the table: %+v", row)
	}
}
