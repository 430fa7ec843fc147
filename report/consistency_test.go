package report

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/series"
)

// curve is a made up change: what it does to throughput, to response times and by errors, each in periods of its own.
type curve struct {
	loss, slow, failed []shape
	noise              float64
	open               bool
	unacknowledged     time.Duration // what a ledger saw; 0: none was kept
}

type shape struct {
	from, to int // seconds after the change began
	size     float64
}

func drawCurve(rng *rand.Rand) curve {
	draw := func(largest float64) (out []shape) {
		for range rng.IntN(3) {
			from := rng.IntN(90)
			out = append(out, shape{from, from + 1 + rng.IntN(40), largest * rng.Float64()})
		}
		return out
	}
	c := curve{loss: draw(1), slow: draw(8), failed: draw(0.3), noise: 0.1 * rng.Float64(), open: rng.IntN(2) == 0}
	if rng.IntN(2) == 0 {
		c.unacknowledged = time.Duration(rng.IntN(30_000)) * time.Millisecond
	}
	return c
}

// result is what a trial with such a change would have written.
func (c curve) result(rng *rand.Rand) *result.Result {
	const baseline, during = 60, 120
	began := time.Unix(1_700_000_000, 0)
	at := func(shapes []shape, second int) (size float64) {
		for _, s := range shapes {
			if second >= s.from && second < s.to {
				size = max(size, s.size)
			}
		}
		return size
	}
	var seconds []analyze.Second
	r := &result.Result{Environment: result.Environment{Started: began, Ended: began.Add((baseline + during) * time.Second)}}
	for i := range baseline + during {
		since := i - baseline
		asked := 1000 * (1 + c.noise*rng.NormFloat64())
		done := int64(max(asked*(1-at(c.loss, since)), 0))
		failed := int64(float64(done) * at(c.failed, since))
		h := series.NewHistogram()
		for range min(done-failed, 200) {
			h.Record(time.Duration((1 + at(c.slow, since)) * (5 + rng.ExpFloat64()) * float64(time.Millisecond)))
		}
		s := analyze.Second{Start: began.Add(time.Duration(i) * time.Second), Length: time.Second, Response: h.Snapshot(), Service: h.Snapshot()}
		s.Tally = series.Tally{Scheduled: done, Done: done - failed, Errors: failed}
		seconds = append(seconds, s)
		row := result.Row{Time: s.Start, Round: 1, Phase: "baseline", Operation: everything, Length: s.Length, Tally: s.Tally, Response: s.Response.Latency()}
		if since >= 0 {
			row.Phase = "lab/freeze"
		}
		r.Seconds = append(r.Seconds, row)
	}
	o := analyze.Options{Replicates: 10}
	impactOf := analyze.ImpactOf
	if c.open {
		impactOf = analyze.ImpactOnArrivals
	}
	impact := impactOf(seconds[:baseline], seconds[baseline:], o)
	p := result.Phase{Name: "lab/freeze", Round: 1, From: seconds[baseline].Start, To: r.Environment.Ended, Impact: &impact}
	for _, d := range analyze.DipsOf(seconds[:baseline], seconds[baseline:], o) {
		p.Dips = append(p.Dips, result.Dip{Dip: d, During: "node.freeze n1", When: result.During})
	}
	longest := float64(impact.Longest()) / float64(time.Millisecond)
	claims := []analyze.Claim{{Text: "impact_time < 20s", Op: "<", Margin: 20_000, Unit: "ms", Estimate: first,
		Quantities: []analyze.Quantity{{Name: "impact_time", Exact: &longest, AtLeast: !impact.Over(), Of: analyze.OfService}}}}
	if c.unacknowledged > 0 {
		ms := float64(c.unacknowledged) / float64(time.Millisecond)
		p.Figures = append(p.Figures, result.Figure{Metric: "recovery_time", Unit: "ms", Estimate: analyze.Estimate{Value: ms, Low: ms, High: ms, Confidence: 1}})
		claims = append(claims, analyze.Claim{Text: "recovery_time < 20s", Op: "<", Margin: 20_000, Unit: "ms", Estimate: first,
			Quantities: []analyze.Quantity{{Name: "recovery_time", Exact: &ms, Of: analyze.OfWrites}}})
	}
	r.Verdict = result.Verdict{
		Verdict: analyze.Pass, Trial: "t", Claims: analyze.Judge(claims, o), Cells: []result.Cell{{Rounds: 1}},
		Phases: []result.Phase{{Name: "baseline", Round: 1, From: began, To: p.From}, p},
	}
	return r
}

func first(v []float64) float64 { return v[0] }

// contradictions are pairs of what one page may not say of one change.
var contradictions = [][2]string{
	{`throughput fell`, `no fall of throughput`},
	{`throughput fell`, `no dip was found`},
	{`no fall of throughput`, `throughput fell to`},
	{`no fall of throughput`, `: throughput \d`}, // a dip's
	{`no rise of p99 response`, `p99 \d[^ ]*× of the baseline`},
	{`p99 response rose`, `no rise of p99 response`},
	{`no fall of throughput was found[^;]*; no rise of p99 response`, `this dip`}, // only errors rose
	{`no dip was found`, `this dip`},
	{`were all as before after`, `not as before`},
	{`were all as before after`, `this dip, which was not over`},
	{`were not as before within`, `no dip was found`},
	{`no dip was found`, `as before after|as before each of`},
	{`stayed as before`, `this dip|throughput fell|p99 response rose`},
}

var forbidden = regexp.MustCompile(`\bit did not come back|\bback after \d|; back\b|\bNaN\b|\b0 errors;`)

// Of any change, no two sentences of a page contradict each other, each time has its subject, and text, Markdown and HTML say the same.
func TestNoTwoSentencesOfAPageContradictEachOther(t *testing.T) {
	const seed, curves = 20261123, 60
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	felt, open, several := 0, 0, 0
	said := map[string]bool{} // of the contradictions' sides
	for n := range curves {
		c := drawCurve(rng)
		r := c.result(rng)
		impact := r.Verdict.Phases[1].Impact
		if len(impact.Spells) > 0 {
			felt++
		}
		if !impact.Over() {
			open++
		}
		if len(impact.Spells) > 1 {
			several++
		}
		pages := pagesOf(t, r)
		for kind, page := range pages {
			for _, pair := range contradictions {
				one, other := regexp.MustCompile(pair[0]).MatchString(page), regexp.MustCompile(pair[1]).MatchString(page)
				said[pair[0]], said[pair[1]] = said[pair[0]] || one, said[pair[1]] || other
				if one && other {
					t.Errorf("curve %d, %+v, %s says both %q and %q:\n%s", n, c, kind, pair[0], pair[1], page)
				}
			}
			if found := forbidden.FindString(page); found != "" {
				t.Errorf("curve %d, %s says %q of nothing in particular", n, kind, found)
			}
		}
		// The claim on the service, its sentence and the ends of its parts are one record.
		var latest time.Duration
		for _, s := range impact.Spells {
			latest = max(latest, s.Throughput.After, s.P99.After, s.Errors.After)
		}
		if latest != impact.Longest() {
			t.Errorf("curve %d: throughput, p99 and errors were as before after %s, all together after %s", n, latest, impact.Longest())
		}
		if len(impact.Spells) == 0 != (len(r.Verdict.Phases[1].Dips) == 0) {
			t.Errorf("curve %d: %d spells and %d dips", n, len(impact.Spells), len(r.Verdict.Phases[1].Dips))
		}
		for _, d := range r.Verdict.Phases[1].Dips {
			if holes := d.Worse < d.Seconds; holes != strings.Contains(pages["HTML"], fmt.Sprintf(", of which %d seconds were worse than the baseline.", d.Worse)) && len(r.Verdict.Phases[1].Dips) == 1 {
				t.Errorf("curve %d: %d of %d seconds were worse, and the page says %s", n, d.Worse, d.Seconds, pages["HTML"])
			}
		}
		if dips := r.Verdict.Phases[1].Dips; len(dips) > 0 && dips[len(dips)-1].Recovered.IsZero() == impact.Over() {
			t.Errorf("curve %d: the last dip and the last spell end apart", n)
		}
	}
	t.Logf("%d of %d were felt, %d of them several times, %d were not over", felt, curves, several, open)
	if felt < curves/3 || felt == curves || open < 3 || several < 5 {
		t.Error("the curves do not try what they are to try")
	}
	for side, is := range said {
		if !is {
			t.Errorf("no page says %q: a pair with it cannot fail", side)
		}
	}
}

// A page that compares variants writes a rate that is its only signal as the throughput that it is made of: as a change, with the same sign
// of doubt. Among hundreds of signals, which are judged together, the rate can be left open where the throughput is decided.
func TestARateThatIsTheOnlySignalIsWrittenAsItsThroughput(t *testing.T) {
	const seed = 20261127
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	differ, alike := 0, 0
	for range 20 {
		sizes := []float64{rng.ExpFloat64() + 0.1, rng.ExpFloat64() + 0.1, rng.ExpFloat64() + 0.1} // rounds that differ by as much as they like
		times := math.Exp(0.3 * rng.NormFloat64())
		measure := func(level float64) analyze.Quantity {
			q := analyze.Quantity{Statistic: analyze.Throughput()}
			for round, size := range sizes {
				var seconds []analyze.Second
				for i := range 20 {
					done := int64(level * size * (1 + 0.05*rng.NormFloat64()))
					seconds = append(seconds, analyze.Second{Start: time.Unix(int64(1000*round+i), 0), Length: time.Second, Level: float64(done), Tally: series.Tally{Scheduled: done, Done: done}})
				}
				q.Rounds = append(q.Rounds, seconds)
			}
			return q
		}
		on, off := measure(1000*times), measure(1000)
		o := analyze.Options{Replicates: 100}
		ratio := analyze.RatioOf(on, off, o)
		judged := analyze.Judge([]analyze.Claim{{Quantities: []analyze.Quantity{on, off}, Estimate: func(x []float64) float64 { return x[0] / x[1] }, Ratio: true, Unit: "ratio", Op: "!=", Margin: 1}}, o)[0]
		before, mean := analyze.EstimateOf(off, o), analyze.EstimateOf(on, o)
		r := &result.Result{Verdict: result.Verdict{
			Cells: []result.Cell{
				{Name: "off", Variant: "off", Control: true, Rounds: 3, Figures: []result.Figure{{Metric: "throughput", Unit: "per_second", Estimate: before}}},
				{Name: "on", Variant: "on", Rounds: 3, Figures: []result.Figure{{Metric: "throughput", Unit: "per_second", Estimate: mean, Ratio: &ratio}}},
			},
			Signals: []result.SignalDifference{{Signal: "mysql.commits_per_second", Node: "n1", Unit: "per_second", Variant: "on", Control: "off", Mean: mean, Before: before, Difference: judged, Differs: judged.Verdict == analyze.Pass}},
		}}
		c, _ := newComparison(r.Verdict.Cells)
		compared, signal := c.tables()[0].Rows[1].Cells[0].signedChange(), signalTable(r.Verdict).Rows[0].Cells[3].Value
		if compared != signal {
			t.Errorf("throughput %s, commits %s", compared, signal)
		}
		if strings.HasPrefix(signal, "≈") {
			alike++
		} else {
			differ++
		}
	}
	if differ < 3 || alike < 3 {
		t.Errorf("%d differ and %d do not: the test does not try what it is to try", differ, alike)
	}
}

// pagesOf is what each kind of page says of the changes and claims of a result, as plain sentences.
func pagesOf(t *testing.T, r *result.Result) map[string]string {
	t.Helper()
	var text, markdown bytes.Buffer
	if err := Text(&text, r, Terminal{Width: 4000}); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&markdown, r); err != nil {
		t.Fatal(err)
	}
	p := newPage(r, newBesides(r, nil), detail{timeline: 100, signal: 100, spark: 100, events: 10})
	var html []string
	for _, c := range p.Claims {
		html = append(html, c.Sentence)
	}
	for _, s := range p.Timelines {
		for _, l := range s.Lead {
			html = append(html, l.String())
		}
	}
	pages := map[string]string{"text": text.String(), "Markdown": markdown.String(), "HTML": strings.Join(html, "\n")}
	for kind, page := range pages {
		pages[kind] = strings.NewReplacer("\u202f", " ", "**", "", `\_`, "_").Replace(page)
	}
	for _, s := range p.Timelines { // what one says, all say
		for _, l := range s.Lead {
			said := strings.ReplaceAll(l.String(), "\u202f", " ")
			if missing := slices.DeleteFunc([]string{"text", "Markdown"}, func(kind string) bool { return strings.Contains(pages[kind], said) }); len(missing) > 0 {
				t.Errorf("%v lack %q", missing, said)
			}
		}
	}
	return pages
}
