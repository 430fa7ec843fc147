// Package export makes a result folder of a period that a watch kept, so that two periods can be compared as trials are.
package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/analyze"
	"plimsoll/hint"
	"plimsoll/load"
	"plimsoll/result"
	"plimsoll/series"
	"plimsoll/watch"
	"plimsoll/watch/store"
)

// Options say what is exported.
type Options struct {
	Cluster  string
	From, To time.Time
	Series   map[string]string // expressions in PromQL beside those that always are, by the names that their signals get
	Changes  []watch.Change
	Version  string   // of this program
	Command  []string // as typed
}

// Kept is what a watch kept: a store.Store or a store.Kept.
type Kept interface {
	Query(ctx context.Context, expr string, from, to time.Time, step time.Duration) ([]store.Line, error)
	Select(ctx context.Context, selector string, from, to time.Time) ([]store.Line, error)
	Series(ctx context.Context, selectors []string, from, to time.Time) ([]map[string]string, error)
}

// Summary is what was exported.
type Summary struct {
	Dir        string    `json:"dir"`
	Cluster    string    `json:"cluster"`
	Instances  []string  `json:"instances"`
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
	Signals    int       `json:"signals"`
	Statements int64     `json:"statements"` // that were counted, of all instances
}

// Phase is the one phase of an exported result.
const Phase = "watched"

// Write makes the folder.
func Write(ctx context.Context, kept Kept, dir string, o Options) (s *Summary, err error) {
	x := &exporter{kept: kept, o: o}
	if err := x.instances(ctx); err != nil {
		return nil, err
	}
	w, err := result.Create(dir, x.spec(), o.From)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	s = &Summary{Dir: dir, Cluster: o.Cluster, Instances: x.names, From: o.From, To: o.To}
	if s.Signals, err = x.signals(ctx, w); err != nil {
		return nil, err
	}
	verdict, err := x.statements(ctx, w)
	if err != nil {
		return nil, err
	}
	for _, c := range verdict.Cells {
		s.Statements += c.Tally.Done
	}
	for _, c := range o.Changes {
		if err := w.Event(series.Event{Time: c.At, Kind: series.FleetChange, Name: c.Instance, Detail: map[string]any{"kind": c.Kind, "what": c.What, "from": c.From, "to": c.To}}); err != nil {
			return nil, err
		}
	}
	environment := result.Environment{Plimsoll: o.Version, Started: o.From, Ended: o.To, Command: o.Command, Engine: x.engine, Host: map[string]string{}, Settings: []result.Setting{}}
	if err := w.Document(result.EnvironmentFile, environment); err != nil {
		return nil, err
	}
	return s, w.Document(result.VerdictFile, verdict)
}

// exporter reads what was kept.
type exporter struct {
	kept   Kept
	o      Options
	names  []string // of the instances, without the cluster's
	engine map[string]string
}

// of is a selector of a series of the cluster.
func (x *exporter) of(matchers string) string {
	return fmt.Sprintf(`{cluster=%q,%s}`, x.o.Cluster, matchers)
}

func (x *exporter) instances(ctx context.Context) error {
	ups, err := x.kept.Series(ctx, []string{x.of(`__name__="up"`)}, x.o.From, x.o.To)
	if err != nil {
		return err
	}
	x.engine = map[string]string{}
	for _, labels := range ups {
		x.names = append(x.names, nodeOf(labels["instance"]))
		x.engine["engine"] = labels["job"]
	}
	slices.Sort(x.names)
	if len(x.names) == 0 {
		return hint.With(fmt.Errorf("there is no record of %s from %s to %s", x.o.Cluster, x.o.From.Local().Format(time.DateTime), x.o.To.Local().Format(time.DateTime)),
			"plimsoll watch and plimsoll serve record clusters while they run; give the cluster's name without lab:")
	}
	return nil
}

// nodeOf is an instance's name within its cluster.
func nodeOf(instance string) string {
	_, node, _ := strings.Cut(instance, "/")
	return cmp.Or(node, instance)
}

// spec is trial.yaml of the folder: it says that no trial was run.
func (x *exporter) spec() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Recorded by a watch; written by plimsoll watch export. No load was issued.\ntrial: watched-%s\n", strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, x.o.Cluster))
	fmt.Fprintf(&b, "question: What did %s do from %s to %s?\n", x.o.Cluster, x.o.From.UTC().Format(time.DateTime), x.o.To.UTC().Format(time.TimeOnly))
	fmt.Fprintf(&b, "watched: {cluster: %q, from: %q, to: %q, instances: [%s]}\n", x.o.Cluster, x.o.From.UTC().Format(time.RFC3339), x.o.To.UTC().Format(time.RFC3339), strings.Join(x.names, ", "))
	return b.Bytes()
}

// longestGap is how far apart two readings of a counter may be to be one period of it.
const longestGap = 15 * time.Second

// statements writes what each instance executed, second by second: a cell for each.
func (x *exporter) statements(ctx context.Context, w *result.Writer) (result.Verdict, error) {
	v := result.Verdict{
		Verdict: analyze.Inconclusive, Reasons: []string{"recorded by a watch, without a question"}, Claims: []analyze.JudgedClaim{},
		Trial: "watched " + x.o.Cluster, Question: "What did it do?", Cells: []result.Cell{}, Watched: &result.Watched{Cluster: x.o.Cluster, Instances: x.names},
	}
	for _, matcher := range []string{`__name__="mysql_global_status_questions"`, `__name__="plimsoll_requests_total"`} {
		lines, err := x.kept.Select(ctx, x.of(matcher), x.o.From, x.o.To)
		if err != nil {
			return v, err
		}
		for _, l := range lines {
			cell, err := x.counted(w, nodeOf(l.Labels["instance"]), l.Points)
			if err != nil {
				return v, err
			}
			v.Cells = append(v.Cells, cell)
			v.Phases = append(v.Phases, result.Phase{Name: Phase, Cell: cell.Name, Round: 1, From: x.o.From, To: x.o.To, Figures: cell.Figures})
		}
	}
	slices.SortFunc(v.Cells, func(a, b result.Cell) int { return cmp.Compare(a.Name, b.Name) })
	return v, nil
}

// counted writes what a counter of statements says, as seconds of one operation.
func (x *exporter) counted(w *result.Writer, node string, points []store.Point) (result.Cell, error) {
	cell := result.Cell{Name: node, Rounds: 1}
	var seconds []analyze.Second
	for n := 1; n < len(points); n++ {
		before, now := points[n-1], points[n]
		length := now.At.Sub(before.At)
		if now.Value < before.Value || length > longestGap || length <= 0 {
			continue // the server began anew, or nobody looked: a gap
		}
		done := int64(now.Value - before.Value)
		second := analyze.Second{Start: before.At, Length: length, Tally: series.Tally{Scheduled: done, Done: done}}
		if _, err := w.Second(node, 1, Phase, load.Second{Start: second.Start, Length: length, Operations: []series.Interval{{Start: second.Start, Length: length, Operation: "statements", Tally: second.Tally}}}); err != nil {
			return cell, err
		}
		cell.Tally.Scheduled, cell.Tally.Done = cell.Tally.Scheduled+done, cell.Tally.Done+done
		seconds = append(seconds, second)
	}
	cell.Figures = []result.Figure{{
		Metric: "throughput", Unit: "per_second",
		Estimate: analyze.EstimateOf(analyze.Quantity{Name: "throughput", Rounds: [][]analyze.Second{seconds}, Statistic: analyze.Throughput()}, analyze.Options{}),
	}}
	return cell, nil
}
