package web

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/watch"
	"plimsoll/watch/store"
	"plimsoll/web/words"
)

// alertPage is one alert: its curve with the limit, what changed before it, and the next step.
type alertPage struct {
	alertView
	Charts  []chart.Chart  `json:"charts"` // one, or none
	Begins  time.Time      `json:"begins"` // where the clock of the chart is 0
	From    time.Time      `json:"from"`
	To      time.Time      `json:"to"`
	Step    time.Duration  `json:"-"` // between the points of the curve
	Plots   bool           `json:"-"` // the reader draws the curve: a picture of it is not needed
	Silence []any          `json:"-"` // the command that mutes it
	Changes []watch.Change `json:"-"` // while it lasts, those before it among them
}

func (s fleetHandlers) alert(w http.ResponseWriter, r *http.Request) error {
	all := s.Watch.picture().Alerts
	at := slices.IndexFunc(all, func(a watch.Alert) bool { return a.ID() == r.PathValue("alert") })
	if at < 0 {
		return &missingError{"this alert is no longer firing, or never fired", "the page Alerts lists those that fire; plimsoll watch changes lists what changed"}
	}
	p := alertPage{alertView: s.viewOf(all[at]), To: s.Now(), Charts: []chart.Chart{}, Plots: r.FormValue("plots") == "drawn"}
	p.From = p.Since.Add(-beforeAlert)
	p.Step = max((p.To.Sub(p.From) / across).Truncate(time.Second), time.Second)
	p.Begins = p.From.Truncate(p.Step)
	p.Changes = s.changes(r.Context(), p.Instance, p.From, p.To)
	p.Before = before(slices.Clone(p.Changes), p.Since)
	p.Silence = []any{"plimsoll", "watch", "silence", "alertname=" + p.Rule}
	if p.Instance != "" {
		p.Silence = append(p.Silence, "instance="+p.Instance)
	}
	p.Silence = append(p.Silence, "--for", "2h")
	if s.Watch.Query != nil && p.Expr != "" { // that samples are not kept is no rule's alert
		_, book := s.speak(r)
		curve, err := s.alertCurve(r.Context(), p, book)
		if err != nil {
			return err
		}
		if curve != nil {
			p.Charts = append(p.Charts, *curve)
		}
	}
	s.show(w, r, http.StatusOK, "alert", p)
	return nil
}

// alertCurve is what the rule compares, from before the alert until now, under the line of its limit. Of a rule with several parts it is the one
// whose value the alert has. nil: nothing is kept of it.
func (s fleetHandlers) alertCurve(ctx context.Context, p alertPage, book words.Book) (*chart.Chart, error) {
	parts, err := store.Comparisons(p.Expr, p.Instance)
	if err != nil {
		return nil, err
	}
	step := p.Step
	from, to := p.Begins, p.To.Truncate(step)
	frame := newFrame(from, to, step, p.Changes, book)
	frame.marks = append(frame.marks, chart.Mark{At: p.Since.Sub(from).Seconds(), Name: p.Since.Local().Format(time.TimeOnly) + " " + p.Rule})
	var best *chart.Chart
	nearest := math.Inf(1)
	for _, part := range parts {
		lines, err := s.query(ctx, part.Expr, from, to, step)
		if err != nil {
			return nil, err
		}
		lines = slices.DeleteFunc(lines, func(l store.Line) bool { return len(l.Points) == 0 || !fits(l.Labels, p.Labels) })
		if len(lines) == 0 {
			continue
		}
		if off := math.Abs(lines[0].Points[len(lines[0].Points)-1].Value - p.Value); best == nil || off < nearest {
			c := frame.compared(part, lines)
			label(book, c)
			best, nearest = &c, off
		}
	}
	return best, nil
}

// fits tells whether a series can be that of an alert: no label of both differs.
func fits(series, alert map[string]string) bool {
	for name, value := range series {
		if other, both := alert[name]; both && other != value {
			return false
		}
	}
	return true
}

func (f timeFrame) compared(part store.Compared, lines []store.Line) chart.Chart {
	unit := quantity.Plain
	switch {
	case strings.HasSuffix(part.Operand, "_seconds"):
		unit = quantity.Seconds
	case strings.HasSuffix(part.Operand, "_bytes"):
		unit = quantity.Bytes
	}
	c := f.drawn(curve{key: part.Expr, unit: unit}, lines)
	if part.Limit != nil {
		level := make(chart.Values, f.count)
		for n := range level {
			level[n] = *part.Limit
		}
		c.Lines = append(c.Lines, chart.Line{Name: limitLine + " " + unit.Format(*part.Limit), Ink: 0, Dashed: true, Values: level})
	}
	if len(lines) == 1 {
		c.Lines[0].Name = valueLine
	}
	return c
}
