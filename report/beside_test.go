package report

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/result"

	"plimsoll/report/reporttest"
	"plimsoll/series"
	"plimsoll/series/foreign"
)

// besideSample is what another tool might have measured beside the sample of a timeline: from the middle of the baseline on, at a
// fifth of the trial's rate, stopped while its server was, and not told of how long its requests had waited.
func besideSample(r *result.Result) []foreign.Recording {
	from := r.Verdict.Phases[1].From.Add(30 * time.Second).Truncate(time.Second)
	k6 := foreign.Recording{Name: "k6", Offset: 1500 * time.Millisecond, About: foreign.About{
		Tool: "k6", Source: "run.csv.gz", Basis: foreign.Service, Notes: []string{"k6 dropped 40 iterations: it did not reach the configured rate"},
	}}
	stopped := r.Verdict.Phases[4]
	for s := range 150 {
		at := from.Add(time.Duration(s) * time.Second)
		times, n := series.NewHistogram(), int64(200)
		if !at.Before(stopped.From) && at.Before(stopped.To) {
			n = 0
		}
		for i := range n {
			times.Record(time.Duration(float64(4*time.Millisecond) * (1 + math.Sin(float64(s)/9)/5) * (1 + float64(i)/float64(n))))
		}
		i := series.Interval{Start: at, Length: time.Second, Operation: everything, Service: times.Snapshot()}
		i.Done = n
		if n == 0 {
			i.Errors = 7
		}
		i.Scheduled = i.Done + i.Errors
		k6.Seconds = append(k6.Seconds, foreign.Second{Row: i.Row(), Times: i.Service})
	}
	log := foreign.Recording{Name: "probe", About: foreign.About{Tool: "hdr", Source: "probe.hlog", Basis: foreign.Response}}
	for s := 0; s < 150; s += 10 { // intervals of ten seconds
		times := series.NewHistogram()
		times.RecordN(20*time.Millisecond, 1000)
		i := series.Interval{Start: from.Add(time.Duration(s) * time.Second), Length: 10 * time.Second, Tally: series.Tally{Scheduled: 1000, Done: 1000}, Response: times.Snapshot()}
		log.Seconds = append(log.Seconds, foreign.Second{Row: i.Row(), Times: i.Response})
	}
	return []foreign.Recording{k6, log}
}

func TestBesideGolden(t *testing.T) {
	r := reporttest.Timeline()
	beside := besideSample(r)
	for suffix, render := range map[string]func(io.Writer) error{
		".md":       func(w io.Writer) error { return Markdown(w, r, beside...) },
		".plot.txt": func(w io.Writer) error { return Plot(w, r, Terminal{Width: 100}, beside...) },
	} {
		var b bytes.Buffer
		if err := render(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", "beside"+suffix), b.Bytes())
	}
}

func TestBesideFigures(t *testing.T) {
	r := reporttest.Timeline()
	all := LaidBeside(r, besideSample(r)...)
	if _, err := json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		rate, p50 float64 // ms; what the phases have but for the stop
	}{{200, 6}, {100, 20}} {
		b := all[i]
		names := []string{}
		for _, p := range b.Phases {
			names = append(names, p.Name)
			if i == 0 && p.Name == "lab/restart" {
				if p.Throughput != 0 || p.P99 != 0 || p.Errors != 7*19 || p.Seconds != 19 {
					t.Errorf("%s during the stop: %+v", b.Name, p)
				}
				continue
			}
			if math.Abs(p.Throughput-want.rate) > 1e-6 || math.Abs(p.P50-want.p50) > 0.25*want.p50 || p.P50 > p.P99 || p.P99 > p.Max {
				t.Errorf("%s during %s: %+v", b.Name, p.Name, p)
			}
		}
		// The frozen phase is shorter than the log's intervals, and the middle of one lies in it or not.
		if got := strings.Join(names, " "); i == 0 && got != "baseline lab/freeze recovery lab/restart recovery" {
			t.Errorf("%s: phases %s", b.Name, got)
		}
	}
	if all[0].OffsetSeconds != 1.5 || all[0].Done != 131*200 || !all[0].From.Equal(besideSample(r)[0].Seconds[0].Time) {
		t.Errorf("%+v", all[0])
	}
}

// The lines stand at their place on the run's clock, an interval of ten seconds on all ten, and a stop reaches zero.
func TestBesideLines(t *testing.T) {
	r := reporttest.Timeline()
	u := runs(r)[0]
	here := newBesides(r, besideSample(r)).at(u)
	over := newTimeline(u, 600)
	c := here.throughput(over)
	if len(c.Lines) != 3 || !c.Lines[1].Dashed || c.Lines[1].Ink == c.Lines[2].Ink || c.Lines[1].Name != "k6" {
		t.Fatalf("%d lines", len(c.Lines))
	}
	began := int(here.recordings[0].Seconds[0].Time.Sub(u.Start) / time.Second)
	stop := int(u.Phases[4].From.Sub(u.Start) / time.Second)
	for i, v := range c.Lines[1].Values {
		switch {
		case i < began || i >= began+150:
			if !math.IsNaN(v) {
				t.Fatalf("at %d s, where it has nothing, the line stands at %v", i, v)
			}
		case i >= stop+1 && i < stop+18:
			if v != 0 {
				t.Fatalf("at %d s, while it was stopped, the line stands at %v", i, v)
			}
		case math.IsNaN(v) || math.IsNaN(c.Lines[2].Values[i]):
			t.Fatalf("at %d s there is a gap: %v, %v", i, v, c.Lines[2].Values[i])
		}
	}
	var page bytes.Buffer
	if err := HTML(&page, r, here.recordings...); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Beside it: k6", `"name":"k6: service"`, `class="line ink3"`, `class="name ink4"`, "its own, moved by 1.5s"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
