package advice

import (
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
)

func sample() *advise.Report {
	price := advise.Price{Month: 600, Low: 570, High: 630, Currency: "USD", Date: "2026-06-01", Source: "a guide, read on 2026-06-01 (half a year old or more)", Old: true}
	each := 0.3
	return &advise.Report{
		Cluster: "users", Node: "n1", At: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), Region: "us-east-1", Discount: 0.1,
		Findings: []advise.Finding{{
			About: "storage", Title: "The burst ends 3 minutes from now", Urgent: true, Evidence: []string{"2000 operations a second."},
			Options: []advise.Option{
				{Name: "leave it", Price: price, Risk: "it breaks", Undo: "nothing", Effects: []advise.Effect{{What: "until the burst ends", Unit: "seconds", Then: 192, Low: 150, High: 220}}},
				{Name: "gp3", Advised: true, Price: advise.Price{Unknown: "nobody knows"}, Change: advise.Price{Unknown: "nobody knows"}, Risk: "it breaks", Undo: "nothing",
					Do: "plimsoll runbook plan it", Rehearse: "plimsoll try it", Effects: []advise.Effect{{What: "until the burst ends", Unit: "seconds", Then: 1e12, Low: 1e12, High: 1e12}}},
				{Name: "another", Class: "db.m7g.large", Price: advise.Price{Unknown: "no price of db.m7g.large"}, Risk: "it breaks", Undo: "nothing", Copy: "plimsoll runbook plan a copy", Do: "plimsoll lab disk it", AtOnce: true},
				{Name: "more, and more", Price: price, Change: price, Risk: "it swaps", Undo: "less", PerRead: &each, PerReadLow: 0.2, PerReadHigh: 1e12, Effects: []advise.Effect{
					{What: "reads a second", Unit: "per_second", Then: 100, Low: 80, High: 125, Note: "the fitted model, a second method, predicts 200 reads a second"},
					{What: "operations", Unit: "per_second", Then: 100, Low: 100, High: 100, Note: "the class allows no more"},
				}},
				{Name: "yet another", Class: "db.m7g.xlarge", Price: advise.Price{Unknown: "no price of db.m7g.xlarge"}, Risk: "it breaks", Undo: "nothing"},
			},
		}},
		Unknown: []string{"Instances: the class is not known."},
	}
}

func TestAdviceIsWritten(t *testing.T) {
	for name, text := range map[string]string{"text": Text(sample(), 100), "Markdown": Markdown(sample())} {
		for _, want := range []string{
			"Urgent: The burst ends 3 minutes from now", "2000 operations a second", "leave it; gp3; another; yet another: it breaks. Undo: nothing.", "never", "← advised",
			"USD 600 ±30", "unknown", "plimsoll runbook plan it", "plimsoll try it", "3 min 12 s (2 min 30 s to 3 min 40 s)", "nobody knows", "no price in us-east-1 for db.m7g.large, db.m7g.xlarge", "USD 0.3 (0.2 or more)", "100/s (80.0/s to 125/s) low confidence",
			"more, and more: reads a second: low confidence, because the fitted model, a second method, predicts 200 reads a second.", "more, and more: operations: the class allows no more.", "more, and more: it swaps. Undo: less.",
			"Instances: the class is not known.", "a guide, read on 2026-06-01", "half a year old", "A discount of 10 % is included",
		} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%s does not say %q:\n%s", name, want, text)
			}
		}
	}
}

// What would know a price that is missing is the command for the region in question.
func TestAPriceThatIsMissingNamesItsRegion(t *testing.T) {
	r := sample()
	r.Region = "ap-northeast-2"
	if text := strings.Join(strings.Fields(Text(r, 100)), " "); !strings.Contains(text, "with your credentials: plimsoll prices update --region ap-northeast-2.") {
		t.Error(text)
	}
	r.Region = ""
	if text := strings.Join(strings.Fields(Text(r, 100)), " "); !strings.Contains(text, "set aws: {region: …} in plimsoll.yaml, then plimsoll prices update --region REGION.") {
		t.Error(text)
	}
}

// Each source has its own date, and is told once.
func TestEachSourceHasItsDate(t *testing.T) {
	r := sample()
	price := func(source string) advise.Price {
		return advise.Price{Month: 1, Low: 1, High: 1, Currency: "USD", Date: "2026-06-01", Source: source}
	}
	both := price("a table, read on 2026-11-23").Plus(price("a guide, read on 2026-06-01"))
	r.Findings[0].Options = []advise.Option{{Name: "leave it", Price: price("a table, read on 2026-11-23")}, {Name: "more", Price: both}, {Name: "two", Price: both.Plus(both)}}
	text := strings.Join(strings.Fields(Text(r, 100)), " ")
	if want := "Prices of us-east-1: a table, read on 2026-11-23; a guide, read on 2026-06-01."; strings.Count(text, want) != 1 || strings.Count(text, "read on") != 2 {
		t.Errorf("%s", text)
	}
}

// Each command stands under the option that it is of, and says what it does.
func TestCommandsAreNamed(t *testing.T) {
	if text := Text(sample(), 100); !strings.Contains(text, "   gp3\n     rehearse: plimsoll try it\n     plan:     plimsoll runbook plan it\n   another\n     plan a copy to try it on, which is paid for: plimsoll runbook plan a copy\n     do:       plimsoll lab disk it\n") {
		t.Error(text)
	}
}

func TestMemoryIsWritten(t *testing.T) {
	point := func(bytes int64, reads float64, doubt string) advise.Point {
		return advise.Point{Bytes: bytes, Times: float64(bytes) / (1 << 30), Reads: reads, Low: 0.9 * reads, High: 1.1 * reads, Doubt: doubt, Source: advise.FromHistory}
	}
	m := &advise.Memory{
		Cluster: "users", Node: "n1", Bytes: 1 << 30, PageSize: 16 << 10, Explained: []string{"98 % of 150,000 a second is 3,000 reads."},
		Curve: advise.Curve{Now: point(1<<30, 3000, ""), Points: []advise.Point{point(1<<29, 4000, ""), point(1<<30, 3000, ""), point(1<<31, 1000, "the fitted model disagrees")}},
		Line:  []advise.Point{point(1<<29, 4000, ""), point(1<<30, 3000, ""), point(1<<31, 1000, "")}, Warm: []advise.Warmth{
			{}, {}, {Resized: 10 * time.Second, ResizedLow: 9 * time.Second, ResizedHigh: 11 * time.Second, Restarted: 20 * time.Second, RestartedLow: 18 * time.Second, RestartedHigh: 22 * time.Second},
		},
		Tables: []advise.Table{{Table: "shop.orders", Index: "PRIMARY", Pages: 1000, Share: 0.5, Of: 0.2, Reads: 2500, Role: advise.Passes}},
		Cost:   advise.Cost{By: "SQL", Lists: 7},
	}
	for name, text := range map[string]string{"text": Memory(m, 100), "Markdown": MemoryMarkdown(m)} {
		for _, want := range []string{"98 % of 150,000", "512 MiB", "low confidence", "reads/s of the table", "passes through", "today", "7 lists by SQL", "low confidence, because the fitted model", "9 s to 11 s", "18 s to 22 s"} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%s does not say %q:\n%s", name, want, text)
			}
		}
	}
}

// What is left is told in percent of today, also where that is next to nothing.
func TestReadsAreComparedWithToday(t *testing.T) {
	for ratio, want := range map[float64]string{0.00573: "−99.43", 0.035: "−96.5", 1.62: "+62.0", 0: "−100.0"} {
		if got := ofToday(ratio); got != want+"\u202f%" {
			t.Errorf("%g of today's reads: %q, want %s", ratio, got, want)
		}
	}
}

// A price without bound says so, one that is only high does not; a time that no duration holds is never.
func TestWhatDoesNotEnd(t *testing.T) {
	low := 1.0
	for high, want := range map[float64]string{advise.Forever: "USD 1 (1 or more)", advise.Forever / 2: "USD 1 (1 to 5e+11)"} {
		if got := each(advise.Option{PerRead: &low, PerReadLow: 1, PerReadHigh: high, Change: advise.Price{Currency: "USD"}}); got != want {
			t.Errorf("up to %g: %q, want %q", high, got, want)
		}
	}
	if got := effect(advise.Option{Effects: []advise.Effect{{What: "full", Unit: "seconds", Then: 2e10, Low: 2e10, High: 2e10}}}, "full"); got != "never" {
		t.Errorf("in 600 years: %q", got)
	}
}
