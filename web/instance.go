package web

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/watch"
	"plimsoll/watch/store"
	"plimsoll/web/words"
)

// instancePage is one instance: what it waits for, whose statements, and what changed.
type instancePage struct {
	Instance   watch.Instance    `json:"instance"`
	Row        instanceRow       `json:"-"`
	From       time.Time         `json:"from"`
	To         time.Time         `json:"to"`
	Span       string            `json:"span"`
	Statements []watch.Statement `json:"statements,omitempty"` // that caused some load in that time
	Callers    []watch.Caller    `json:"callers,omitempty"`
	Spans      []spanLink        `json:"-"`
	Kept       bool              `json:"kept"` // there are curves
	Why        string            `json:"why,omitempty"`
	Charts     []chart.Chart     `json:"charts,omitempty"`
	Changes    []watch.Change    `json:"changes,omitempty"`
	Table      [][]string        `json:"-"`               // the AAS curve as a table: its head first
	Earlier    string            `json:"-"`               // address of the period before
	Later      string            `json:"-"`               // and after; "" at the present
	Wider      string            `json:"-"`               // of a period that somebody chose within another: that one
	Begins     time.Time         `json:"begins,omitzero"` // where the clock of the charts is 0
	Step       time.Duration     `json:"-"`               // between the points of a curve
	Plots      bool              `json:"-"`               // the reader draws the curves: pictures of them are not needed
}

type spanLink struct {
	Name, To string
	Here     bool
}

// spans are the periods to choose from.
var spans = []struct {
	name string
	d    time.Duration
}{{"5m", 5 * time.Minute}, {"15m", 15 * time.Minute}, {"1h", time.Hour}, {"6h", 6 * time.Hour}, {"24h", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}}

// slightest is the load from which on a statement is shown.
const slightest = 0.005

const across = 480 // points of a curve: more than that a picture does not show

func (s fleetHandlers) instance(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("cluster") + "/" + r.PathValue("node")
	at := slices.IndexFunc(s.Watch.picture().Instances, func(i watch.Instance) bool { return i.Name == name })
	if at < 0 {
		return &missingError{"instance " + name + " is not watched", "the page Fleet lists those that are"}
	}
	i := s.Watch.picture().Instances[at]
	p := &instancePage{Instance: i, Row: rowOfInstance(i), Kept: s.Watch.Query != nil, Why: s.Watch.Why, Span: r.FormValue("span"), Plots: r.FormValue("plots") == "drawn"}
	p.choosePeriod(s.Now(), r.FormValue("from"), r.FormValue("to"))
	if err := s.whose(r.Context(), p); err != nil {
		return err
	}
	p.Changes = s.changes(r.Context(), name, p.From, p.To)
	if p.Kept {
		_, book := s.speak(r)
		if err := s.curves(r.Context(), p, book); err != nil {
			return err
		}
	}
	s.show(w, r, http.StatusOK, "instance", p)
	return nil
}

// whose finds out whose load it was in that time. Where nothing is kept of it, and it is of now, it is that of the last minute.
func (s fleetHandlers) whose(ctx context.Context, p *instancePage) (err error) {
	name := p.Instance.Name
	if s.Watch.Statements != nil {
		if p.Statements, err = s.Watch.Statements(ctx, name, p.From, p.To); err != nil {
			return err
		}
	}
	if s.Watch.Callers != nil {
		if p.Callers, err = s.Watch.Callers(ctx, name, p.From, p.To); err != nil {
			return err
		}
	}
	if len(p.Statements) == 0 && len(p.Callers) == 0 && p.Later == "" {
		p.Statements, p.Callers = slices.Clone(p.Instance.Statements), slices.Clone(p.Instance.Callers)
	}
	p.Statements = slices.DeleteFunc(p.Statements, func(one watch.Statement) bool { return one.AAS < slightest })
	p.Callers = slices.DeleteFunc(p.Callers, func(one watch.Caller) bool { return one.AAS < slightest })
	now := map[string]watch.Statement{} // what the server tells of a statement now and no series keeps
	for _, one := range p.Instance.Statements {
		now[one.Digest+"\x00"+one.Database] = one
	}
	for n, one := range p.Statements {
		if latest, is := now[one.Digest+"\x00"+one.Database]; is && p.Later == "" {
			p.Statements[n].RowsRead, p.Statements[n].P99 = latest.RowsRead, latest.P99
		}
	}
	return nil
}

// missingError is something that is not there, or not any more.
type missingError struct{ text, hint string }

func (e *missingError) Error() string { return e.text }

// Hint says what to do.
func (e *missingError) Hint() string { return e.hint }

// choosePeriod sets the time that is shown. It is part of the address: as one of the spans, up to a moment or to now, or from one moment to
// another, as a drag over a curve chooses it.
func (p *instancePage) choosePeriod(now time.Time, since, until string) {
	span, known := 15*time.Minute, false
	for _, one := range spans {
		if one.name == p.Span {
			span, known = one.d, true
		}
	}
	end, fixed := moment(until, now)
	begin, chosen := moment(since, now)
	chosen = chosen && fixed && end.Sub(begin) >= shortest
	if chosen {
		span, p.Span = end.Sub(begin), ""
	} else if !known {
		p.Span = "15m"
	}
	if p.To = now; fixed {
		p.To = end
	}
	p.From, p.Step = p.To.Add(-span), max((span/across).Truncate(time.Second), time.Second)
	at := func(end time.Time) string {
		if chosen {
			return fmt.Sprintf("?from=%d&to=%d", end.Add(-span).Unix(), end.Unix())
		}
		return fmt.Sprintf("?span=%s&to=%d", p.Span, end.Unix())
	}
	for _, one := range spans {
		to := "?span=" + one.name
		if fixed {
			to += fmt.Sprintf("&to=%d", p.To.Unix())
		}
		p.Spans = append(p.Spans, spanLink{one.name, to, one.name == p.Span})
		if middle := p.From.Add(span / 2); chosen && p.Wider == "" && one.d >= 2*span {
			p.Wider = fmt.Sprintf("?span=%s&to=%d", one.name, min(middle.Add(one.d/2).Unix(), now.Unix()))
		}
	}
	p.Earlier = at(p.From)
	switch next := p.To.Add(span); {
	case !fixed:
	case next.Before(now):
		p.Later = at(next)
	case chosen:
		p.Later = "?span=5m"
	default:
		p.Later = "?span=" + p.Span
	}
}

// shortest is the shortest period that can be chosen.
const shortest = 5 * time.Second

// moment reads a time before now, in seconds since 1970.
func moment(text string, now time.Time) (time.Time, bool) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	at := time.Unix(seconds, 0)
	return at, err == nil && seconds > 0 && at.Before(now)
}

// curve is one picture: what it is called and what it asks for.
type curve struct {
	key, by string
	expr    func(instance string, w windows) string
	unit    quantity.Unit
}

// windows are the periods that a point of a curve stands for: of what is read every second, of rates of what is read every ten, and of other rates.
type windows struct{ step, slow, rate string }

// curvesOf are the pictures of an instance; those without data are left out.
var curvesOf = []curve{
	{"statements", "", func(i string, w windows) string {
		return `sum(rate(mysql_global_status_questions{instance=` + i + `}[` + w.rate + `]))`
	}, quantity.PerSecond},
	{"lag", "channel", func(i string, w windows) string {
		return `max by (channel) (max_over_time(plimsoll_replica_lag_seconds{instance=` + i + `}[` + w.step + `]))`
	}, quantity.Seconds},
	{"threads", "", func(i string, w windows) string {
		return `max(max_over_time(mysql_global_status_threads_running{instance=` + i + `}[` + w.step + `]))`
	}, quantity.Plain},
	{"commit", "part", func(i string, w windows) string {
		of := func(counter string) string {
			return `sum by (part) (rate(` + counter + `{instance=` + i + `}[` + w.slow + `]))`
		}
		return of("plimsoll_commit_part_seconds_total") + ` / (` + of("plimsoll_commit_parts_total") + ` > 0)`
	}, quantity.Seconds},
	{"iops", "", func(i string, w windows) string {
		return `max(avg_over_time(plimsoll_iops{instance=` + i + `}[` + w.step + `]))`
	}, quantity.PerSecond},
}

func (s fleetHandlers) curves(ctx context.Context, p *instancePage, book words.Book) error {
	step := p.Step
	from, to := p.From.Truncate(step), p.To.Truncate(step)
	p.Begins = from
	quoted := strconv.Quote(p.Instance.Name)
	over := windows{seconds(max(step, 2*time.Second)), seconds(max(step, 25*time.Second)), seconds(max(4*step, 15*time.Second))}
	frame := newFrame(from, to, step, p.Changes, book)
	lines, err := s.query(ctx, `sum by (wait) (avg_over_time(plimsoll_aas{instance=`+quoted+`}[`+over.step+`]))`, from, to, step)
	if err != nil {
		return err
	}
	if c, some := frame.stacked(lines, p.Instance.Cores); some {
		label(book, c)
		p.Charts = append(p.Charts, c)
		p.Table = tabled(c)
	}
	for _, one := range curvesOf {
		lines, err := s.query(ctx, one.expr(quoted, over), from, to, step)
		if err != nil {
			return err
		}
		if c := frame.drawn(one, lines); !c.Empty() {
			label(book, c)
			p.Charts = append(p.Charts, c)
		}
	}
	return nil
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + "s" }

// timeFrame is the clock that all pictures of a page share, with the changes on it.
type timeFrame struct {
	from  time.Time
	step  time.Duration
	count int
	axis  chart.Axis
	xs    chart.Values
	marks []chart.Mark
}

func newFrame(from, to time.Time, step time.Duration, changes []watch.Change, book words.Book) timeFrame {
	f := timeFrame{from: from, step: step, count: int(to.Sub(from)/step) + 1, axis: chart.Axis{Unit: quantity.Elapsed, To: to.Sub(from).Seconds()}}
	for n := range f.count {
		f.xs = append(f.xs, (time.Duration(n) * step).Seconds())
	}
	layout, apart := "15:04", niceStep(to.Sub(from))
	if apart < time.Minute {
		layout = time.TimeOnly
	}
	if to.Sub(from) > 48*time.Hour {
		layout = "01-02"
	}
	for at := from.Local().Truncate(apart).Add(apart); !at.After(to); at = at.Add(apart) {
		f.axis.Ticks = append(f.axis.Ticks, at.Sub(from).Seconds())
		f.axis.Labels = append(f.axis.Labels, at.Format(layout))
	}
	for _, c := range changes {
		f.marks = append(f.marks, chart.Mark{At: c.At.Sub(from).Seconds(), Name: c.At.Local().Format(time.TimeOnly) + " " + book.Of("change", c.Kind) + " " + changedOf(c).in(book)})
	}
	return f
}

func niceStep(span time.Duration) time.Duration {
	for _, d := range []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour} {
		if span/d <= 7 {
			return d
		}
	}
	return 24 * time.Hour
}

// values puts the points of a series on the clock; what is missing is a gap.
func (f timeFrame) values(l store.Line) chart.Values {
	v := make(chart.Values, f.count)
	for n := range v {
		v[n] = math.NaN()
	}
	for _, point := range l.Points {
		if n := int(math.Round(float64(point.At.Sub(f.from)) / float64(f.step))); n >= 0 && n < f.count {
			v[n] = point.Value
		}
	}
	return v
}

func (f timeFrame) drawn(c curve, lines []store.Line) chart.Chart {
	drawn := chart.Chart{Title: c.key, X: f.axis, Y: chart.Axis{Unit: c.unit, Zero: true}, Xs: f.xs, Marks: f.marks}
	for n, l := range lines[:min(len(lines), chart.Inks-1)] {
		name := c.key
		if c.by != "" && l.Labels[c.by] != "" {
			name = l.Labels[c.by]
		}
		drawn.Lines = append(drawn.Lines, chart.Line{Name: name, Ink: n + 1, Values: f.values(l)})
	}
	return drawn
}

// inkOf is the colour of each class of wait: always the same, and of each its own. Those from chart.Inks on are in this package's style sheet.
var inkOf = map[string]int{
	"cpu": 3, "read": 1, "write": 6, "redo": 4, "binlog": 5, "semi-sync": 7, "commit": 8, "row lock": 2, "table lock": 10, "latch": 9, "network": 11, "other": 0,
}

// stacked lays the classes of wait above each other, in the order in which they always stand, under the line of the cores.
func (f timeFrame) stacked(lines []store.Line, cores int) (chart.Chart, bool) {
	c := chart.Chart{Title: "aas", X: f.axis, Y: chart.Axis{Unit: quantity.Plain, Zero: true, To: float64(cores)}, Xs: f.xs, Marks: f.marks}
	base := make(chart.Values, f.count)
	byClass := map[string]store.Line{}
	for _, l := range lines {
		byClass[l.Labels["wait"]] = l
	}
	for _, name := range watch.Classes {
		l, known := byClass[name]
		if !known {
			continue
		}
		low, high, most := make(chart.Values, f.count), f.values(l), 0.0
		for n := range high {
			low[n] = base[n]
			if math.IsNaN(high[n]) {
				continue
			}
			most = max(most, high[n])
			high[n] += base[n]
			base[n] = high[n]
		}
		if most < 0.005 {
			continue
		}
		c.Lines = append(c.Lines, chart.Line{Name: name, Ink: inkOf[name], Values: high, Low: low, High: high})
	}
	some := len(c.Lines) > 0
	if cores > 0 {
		level := make(chart.Values, f.count)
		for n := range level {
			level[n] = float64(cores)
		}
		c.Lines = append(c.Lines, chart.Line{Name: fmt.Sprintf("%d vCPU", cores), Ink: 0, Dashed: true, Values: level})
	}
	return c, some
}

// tabled is a picture as a table of at most twenty moments.
func tabled(c chart.Chart) [][]string {
	head := []string{""}
	for _, l := range c.Lines {
		head = append(head, l.Shown())
	}
	rows := [][]string{head}
	for n := 0; n < len(c.Xs); n += max(len(c.Xs)/20, 1) {
		row := []string{time.Duration(c.Xs[n] * float64(time.Second)).String()}
		for _, l := range c.Lines {
			v := l.Values[n]
			if l.Low != nil {
				v -= l.Low[n]
			}
			if math.IsNaN(v) {
				row = append(row, "–")
			} else {
				row = append(row, strconv.FormatFloat(v, 'f', 2, 64))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// changes are what changed of an instance, runs on its cluster among them, the newest first.
func (s fleetHandlers) changes(ctx context.Context, instance string, from, to time.Time) []watch.Change {
	return s.history(ctx, instance, from, to).of(instance, from, to)
}

// runKind is the kind of a change that is the beginning or the end of a run.
const runKind = "run"

// history is what changed in a period, and all runs.
type history struct {
	changes []watch.Change
	runs    []runRow
}

// history is that of an instance, or of all where it is "".
func (s fleetHandlers) history(ctx context.Context, instance string, from, to time.Time) (h history) {
	var err error
	if s.Watch.Changes != nil {
		if h.changes, err = s.Watch.Changes(instance, from, to); err != nil && ctx.Err() == nil {
			s.Log.Error("read the changes", "error", err)
		}
	}
	if h.runs, err = s.seeAll(ctx); err != nil && ctx.Err() == nil {
		s.Log.Error("read the runs", "error", err)
	}
	return h
}

// of is what of it concerns an instance, or all where it is "", in a part of the time.
func (h history) of(instance string, from, to time.Time) []watch.Change {
	var all []watch.Change
	for _, c := range h.changes {
		if !c.At.Before(from) && !c.At.After(to) && (instance == "" || c.Concerns(instance)) {
			all = append(all, c)
		}
	}
	for _, row := range h.runs {
		if instance != "" && row.Cluster != clusterOf(instance) {
			continue
		}
		for _, m := range []struct {
			at   time.Time
			what string
		}{{row.Begun, row.Run + " begun"}, {row.Changed, row.Run + " " + row.Status}} {
			if !m.at.Before(from) && !m.at.After(to) {
				all = append(all, watch.Change{At: m.at, Instance: instance, Kind: runKind, What: m.what})
			}
		}
	}
	slices.SortFunc(all, func(a, b watch.Change) int { return b.At.Compare(a.At) })
	return all[:min(len(all), 200)]
}

// clusterOf is the cluster of an instance, whose name is cluster/node.
func clusterOf(instance string) string {
	cluster, _, _ := strings.Cut(instance, "/")
	return cluster
}
