package report

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/result"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/series"
	"plimsoll/series/foreign"
)

// MaxBeside is how many foreign series can be told apart beside a trial's own.
const MaxBeside = 5

// besideInk is the ink of the first foreign series: the inks from there on are dashed.
const besideInk = 3

// Beside is a foreign series laid beside a trial, in figures.
type Beside struct {
	Name          string        `json:"name"`
	Source        string        `json:"source"`
	Tool          string        `json:"tool"`
	Basis         foreign.Basis `json:"basis"` // from where its latencies count
	OffsetSeconds float64       `json:"offset_seconds"`
	From          time.Time     `json:"from"` // what of it lies beside the load
	To            time.Time     `json:"to"`
	series.Tally
	Notes  []string      `json:"notes,omitempty"`
	Phases []BesidePhase `json:"phases"`
}

// BesidePhase is what a foreign series measured during a phase.
type BesidePhase struct {
	Name       string    `json:"name"`
	Of         string    `json:"of,omitempty"`
	Cell       string    `json:"cell,omitempty"`
	Round      int       `json:"round"`
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
	Seconds    float64   `json:"seconds"` // of the phase that it covers
	Throughput float64   `json:"throughput_per_second"`
	Errors     int64     `json:"errors"`
	P50        float64   `json:"p50_ms"`
	P95        float64   `json:"p95_ms"`
	P99        float64   `json:"p99_ms"`
	P999       float64   `json:"p999_ms"`
	Max        float64   `json:"max_ms"`

	phase *result.Phase
	exact bool // the percentiles are of the phase's own times, not only of its seconds'
}

// LaidBeside are the figures of foreign series for each phase of a result.
func LaidBeside(r *result.Result, beside ...foreign.Recording) []Beside {
	all := []Beside{}
	for _, rec := range beside {
		all = append(all, newBeside(rec, runs(r)))
	}
	return all
}

// Span is when a result's load began and ended.
func Span(r *result.Result) (from, to time.Time) {
	for _, u := range runs(r) {
		if from.IsZero() || u.Start.Before(from) {
			from = u.Start
		}
		if u.End.After(to) {
			to = u.End
		}
	}
	return from, to
}

func newBeside(rec foreign.Recording, all []*run) Beside {
	b := Beside{
		Name: rec.Name, Source: rec.About.Source, Tool: rec.About.Tool, Basis: rec.About.Basis,
		OffsetSeconds: rec.Offset.Seconds(), Notes: rec.About.Notes, Phases: []BesidePhase{},
	}
	for _, s := range rec.Seconds {
		if b.From.IsZero() || s.Time.Before(b.From) {
			b.From = s.Time
		}
		if s.End().After(b.To) {
			b.To = s.End()
		}
		b.Tally = b.Plus(s.Tally)
	}
	for _, u := range all {
		for i := range u.Phases {
			if p := newBesidePhase(rec, &u.Phases[i]); p.Seconds > 0 {
				b.Phases = append(b.Phases, p)
			}
		}
	}
	return b
}

// newBesidePhase counts the intervals whose middle lies in the phase.
func newBesidePhase(rec foreign.Recording, p *result.Phase) BesidePhase {
	b := BesidePhase{Name: p.Name, Of: p.Of, Cell: p.Cell, Round: p.Round, From: p.From, To: p.To, phase: p, exact: true}
	times := series.NewHistogram()
	var done int64
	for _, s := range rec.Seconds {
		middle := s.Time.Add(s.Length / 2)
		if middle.Before(p.From) || !middle.Before(p.To) {
			continue
		}
		b.Seconds += s.Length.Seconds()
		b.Errors += s.Errors
		done += s.Done + s.Late
		times.Add(s.Times)
		if s.Done+s.Late > 0 && s.Times.Count() == 0 {
			b.exact = false
		}
	}
	if b.Seconds > 0 {
		b.Throughput = float64(done) / b.Seconds
	}
	l := times.Snapshot().Latency()
	b.P50, b.P95, b.P99, b.P999, b.Max = ms(l.P50), ms(l.P95), ms(l.P99), ms(l.P999), ms(l.Max)
	return b
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// remark says what was laid beside the trial, and from where its times count.
func (b Beside) remark() remark {
	text := fmt.Sprintf(": %s, %s, shown on the trial's clock", counted(b.Done+b.Late, "operation"), counted(b.Errors, "error"))
	if b.OffsetSeconds != 0 {
		text += fmt.Sprintf(" (its own, moved by %s)", time.Duration(b.OffsetSeconds*float64(time.Second)).Round(time.Millisecond))
	}
	if b.Basis == foreign.Service {
		text += ". Its times are service times: they count from the moment an operation was sent, without the wait before that."
	} else {
		text += ". Its times are treated as response times, from the intended start of an operation."
	}
	for _, note := range b.Notes {
		text += " Note: " + note + "."
	}
	return remark{b.Name, text}
}

func counted(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return quantity.Count.Format(float64(n)) + " " + what
}

// table lays the phases of a run beside each other.
func (b Beside) table(u *run) table {
	basis := string(b.Basis)
	t := table{Title: "Beside it: " + b.Name, Columns: []string{
		"throughput", b.Name + " throughput", "p99 " + basis, b.Name + " p99 " + basis, b.Name + " p50", b.Name + " errors",
	}}
	for _, p := range b.Phases {
		if p.Cell != u.Cell || p.Round != u.Round {
			continue
		}
		l := line{Head: shortName(*p.phase), Ink: -1}
		if p.Of != "" {
			l.Head = "↳ " + l.Head
		}
		own := func(metric string) string {
			f, ok := find(p.phase.Figures, metric, "")
			if !ok {
				return ""
			}
			value, _ := write(f)
			return value
		}
		tail, middle := "not kept", "not kept"
		switch {
		case p.exact && p.Max == 0: // nothing ended
			tail, middle = "–", "–"
		case p.exact:
			tail, middle = quantity.Milliseconds.Format(p.P99), quantity.Milliseconds.Format(p.P50)
		}
		theirs := quantity.Plain.Format(p.Throughput)
		if whole := p.To.Sub(p.From).Seconds(); p.Seconds < whole-2 {
			theirs += fmt.Sprintf(" (%s of %s)", quantity.Duration(time.Duration(p.Seconds*float64(time.Second))), quantity.Duration(p.To.Sub(p.From)))
		}
		l.Cells = plainEntries(own("throughput"), theirs, own(basis+"_p99"), tail, middle, quantity.Count.Format(float64(p.Errors)))
		t.Rows = append(t.Rows, l)
	}
	return t
}

// besides is what a run's pictures and tables show of the foreign series.
type besides struct {
	recordings []foreign.Recording
	figures    []Beside
}

func newBesides(r *result.Result, recordings []foreign.Recording) besides {
	return besides{recordings, LaidBeside(r, recordings...)}
}

// at are the foreign series that have something beside a run.
func (b besides) at(u *run) besides {
	var here besides
	for i, f := range b.figures {
		if slices.ContainsFunc(b.recordings[i].Seconds, func(s foreign.Second) bool { return !s.End().Before(u.Start) && s.Time.Before(u.End) }) {
			here.recordings, here.figures = append(here.recordings, b.recordings[i]), append(here.figures, f)
		}
	}
	return here
}

func (b besides) none() bool { return len(b.recordings) == 0 }

// remarks introduce the foreign series of a run.
func (b besides) remarks() []remark {
	var all []remark
	for _, f := range b.figures {
		all = append(all, f.remark())
	}
	return all
}

func (b besides) tables(u *run) []table {
	var all []table
	for _, f := range b.figures {
		if t := f.table(u); len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// lines draws a value of each foreign series on a run's grid.
func (b besides) lines(t timeline, suffix bool, value func(foreign.Recording, foreign.Second) float64, reduce func(chart.Bucket) float64) []chart.Line {
	var all []chart.Line
	for i, rec := range b.recordings {
		buckets := make([]chart.Bucket, t.grid.Count)
		for _, s := range rec.Seconds {
			from, length := s.Time.Sub(t.run.Start).Seconds(), s.Length.Seconds()
			for at, weight := range t.covered(from, from+length) {
				buckets[at].Add(value(rec, s), weight)
			}
		}
		l := chart.Line{Name: rec.Name, Ink: besideInk + i, Dashed: true, Values: make(chart.Values, t.grid.Count)}
		if suffix {
			l.Name += ": " + string(rec.About.Basis)
		}
		for j, bucket := range buckets {
			l.Values[j] = reduce(bucket)
		}
		all = append(all, l)
	}
	return all
}

// covered yields the buckets of which an interval covers at least half, with how many seconds of each; of a shorter interval,
// the bucket in which its middle lies.
func (t timeline) covered(from, to float64) func(yield func(int, float64) bool) {
	return func(yield func(int, float64) bool) {
		width, any := t.grid.Width, false
		first, _ := t.grid.Index(from)
		last, _ := t.grid.Index(to)
		for i := max(first, 0); i <= min(last, t.grid.Count-1); i++ {
			start := t.grid.From + float64(i)*width
			if weight := min(to, start+width) - max(from, start); weight*2 >= width*(1-1e-9) {
				any = true
				if !yield(i, weight) {
					return
				}
			}
		}
		if i, ok := t.grid.Index((from + to) / 2); !any && ok {
			yield(i, to-from)
		}
	}
}

// throughput and latency are the pictures with the foreign series in them.
func (b besides) throughput(t timeline) chart.Chart {
	c := t.throughput()
	c.Lines = append(c.Lines, b.lines(t, false, func(_ foreign.Recording, s foreign.Second) float64 {
		return float64(s.Done+s.Late) / s.Length.Seconds()
	}, chart.Bucket.Mean)...)
	return c
}

func (b besides) latency(t timeline, percentile string) chart.Chart {
	return t.latency(percentile, b.lines(t, true, func(rec foreign.Recording, s foreign.Second) float64 {
		l := rec.Latency(s)
		return pick(percentile, &l)
	}, highest)...)
}
