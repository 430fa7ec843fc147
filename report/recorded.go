package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/result"
	"plimsoll/series"
)

// recorded is a period that a watch recorded. Nobody asked it anything, so it has no verdict: it says what was watched, and what was seen.
type recorded struct {
	Title     string // whose it is, and when it was
	Lead      string
	Curve     chart.Chart // statements a second of each instance
	Instances table
	Changes   table
}

// newRecorded is nil for the result of a trial.
func newRecorded(r *result.Result, all []*run, points int) *recorded {
	w, e := r.Verdict.Watched, r.Environment
	if w == nil {
		return nil
	}
	until := "15:04:05 MST"
	if e.Started.Format("2006-01-02") != e.Ended.Format("2006-01-02") {
		until = "2 January 2006, 15:04:05 MST"
	}
	instances := times(len(w.Instances), "instance", "instances")
	x := &recorded{
		Title: fmt.Sprintf("%s, %s to %s", w.Cluster, e.Started.Format("2 January 2006, 15:04:05"), e.Ended.Format(until)),
		Lead:  fmt.Sprintf("A watch recorded %s for %s. It is not the result of a trial: nothing was judged.", instances, quantity.Duration(e.Ended.Sub(e.Started))),
	}
	changes := changesIn(r.Events)
	x.Changes = changeTable(changes, r)
	x.Curve = recordedCurve(r, all, points)
	for _, c := range changes {
		if len(x.Curve.Marks) < mostMarks {
			x.Curve.Marks = append(x.Curve.Marks, chart.Mark{At: c.Time.Sub(e.Started).Seconds(), Name: join(c.Name+":", detailText(c.Detail, "what"))})
		}
	}
	x.Instances = table{Title: "Statements by instance", Columns: []string{"a second", "all"}, Note: "± is half the width of the interval of the mean, in percent of it."}
	for i, c := range r.Verdict.Cells {
		l := line{Head: c.Name, Ink: (i + 1) % chart.Inks}
		if f, ok := find(c.Figures, "throughput", ""); ok {
			mean := entry{}
			mean.Value, mean.Spread = write(f)
			l.Cells = append(l.Cells, mean)
		} else {
			l.Cells = append(l.Cells, entry{Value: "–"})
		}
		l.Cells = append(l.Cells, entry{Value: quantity.Count.Format(float64(c.Tally.Done))})
		x.Instances.Rows = append(x.Instances.Rows, l)
	}
	return x
}

// mostMarks are the changes that the curve names: more cannot be told apart, and stand in the table.
const mostMarks = 40

// changesIn are what changed on the servers, and marks, in order.
func changesIn(events []series.Event) []series.Event {
	all := slices.DeleteFunc(slices.Clone(events), func(e series.Event) bool { return e.Kind != series.FleetChange })
	slices.SortStableFunc(all, func(a, b series.Event) int { return a.Time.Compare(b.Time) })
	return all
}

func changeTable(changes []series.Event, r *result.Result) table {
	t := table{Title: "What changed", Words: true, Corner: "at", Columns: []string{"time", "where", "what", "from", "to"}}
	for _, c := range changes {
		t.Rows = append(t.Rows, line{
			Head: quantity.Elapsed.Format(c.Time.Sub(r.Environment.Started).Seconds()), Ink: -1,
			Cells: plainEntries(c.Time.In(r.Environment.Started.Location()).Format("15:04:05"), cmp.Or(c.Name, "all"), join(detailText(c.Detail, "kind"), detailText(c.Detail, "what")), detailText(c.Detail, "from"), detailText(c.Detail, "to")),
		})
	}
	return t
}

// detailText is a detail of an event, as a text.
func detailText(d map[string]any, key string) string {
	if s, is := d[key].(string); is {
		return s
	}
	return ""
}

// recordedCurve has a line for each instance, in the order of the cells.
func recordedCurve(r *result.Result, all []*run, points int) chart.Chart {
	var c chart.Chart
	for i, cell := range r.Verdict.Cells {
		n := slices.IndexFunc(all, func(u *run) bool { return u.Cell == cell.Name })
		if n < 0 {
			continue
		}
		u := *all[n]
		u.Start, u.End, u.Phases, u.Events = r.Environment.Started, r.Environment.Ended, nil, nil
		t := newTimeline(&u, points)
		if c.Xs == nil {
			c = t.frame("Statements a second", chart.Axis{Unit: quantity.Plain, Zero: true})
		}
		c.Lines = append(c.Lines, t.line(cell.Name, (i+1)%chart.Inks, func(row *result.Row) float64 { return float64(row.Done) / length(row) }, chart.Bucket.Mean))
	}
	return c
}

// recordedMethod says how the figures came about.
func recordedMethod() []string {
	return []string{
		"A watch read the server's own counters once a second, and most of them every ten. Statements a second are the growth of its counter of statements from one reading to the next, by the time between them. " +
			"Where the watch did not read a server, or the server was started anew, there is a gap.",
		"Signals are what the watch keeps of each instance; those that count are shown as rates over 12 s. Response times are not among them: a watch issues no load, and sees no single statement.",
		"Intervals come from a block bootstrap that keeps the order of seconds. They cover this period only: they do not show how much the next would differ. `plimsoll trial compare` lays two of them side by side.",
	}
}

// body writes a recorded period for a terminal.
func (x *recorded) body(t *text) {
	t.linef("")
	t.wrap(t.Bold.Render(x.Title), "", "")
	t.wrap("", "", x.Lead)
	t.linef("")
	t.draw(x.Curve, 8)
	for _, rows := range []table{x.Instances, x.Changes} {
		if len(rows.Rows) > 0 {
			t.table(rows)
			t.linef("")
		}
	}
}

// markdown writes it for a wiki.
func (x *recorded) markdown(m *markdown, r *result.Result) {
	m.linef("# %s\n", escape(x.Title))
	m.linef("%s\n", x.Lead)
	if !x.Curve.Empty() {
		m.code(x.Curve, "statements a second")
	}
	for _, rows := range []table{x.Instances, x.Changes} {
		if len(rows.Rows) > 0 {
			m.table(rows)
		}
	}
	m.linef("## What was watched\n")
	for _, f := range facts(r.Environment) {
		m.linef("- %s: %s", f.Name, escape(f.Value))
	}
	m.linef("")
	m.linef("%s", strings.Join(method(r), "\n\n"))
}
