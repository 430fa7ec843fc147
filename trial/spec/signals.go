package spec

import (
	"errors"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/probe"
	"plimsoll/series"
	"plimsoll/trial/expect"
)

// engines are those of the cells.
func (t *Trial) engines(parts Parts) []engine.Engine {
	if t.Existing != nil {
		return []engine.Engine{t.Existing.Engine}
	}
	var all []engine.Engine
	for _, c := range t.Cells {
		all = append(all, parts.Products[c.Cluster.Engine].Engine)
	}
	return all
}

// signalsOf are the names of what engines, the servers' processes and the load generator show; nil where an engine cannot say.
func signalsOf(engines []engine.Engine) []string {
	all := loadSignals()
	for _, names := range probe.Shown() {
		all = append(all, names...)
	}
	for _, e := range engines {
		instrumented, knows := e.(engine.Instrumented)
		if !knows {
			return nil
		}
		all = append(all, instrumented.Signals()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// loadSignals are the names of what the load generator shows: of itself, and of the nodes that answered.
func loadSignals() []string { return append(generatorSignals(), ReadsAnswered, HitShare, CacheFailed) }

// generatorSignals are those of the generator itself, which are of no node.
func generatorSignals() []string {
	var all []string
	for _, p := range guardPoints(generator, time.Time{}, load.GuardSecond{}) {
		all = append(all, p.Signal)
	}
	return all
}

// generator is the node under which the load generator's own readings stand among the signals.
const generator = "load"

// GeneratorPoints are the guard's readings of a second as signals.
func GeneratorPoints(s load.Second) []series.Point {
	points := guardPoints(generator, s.Start.Add(s.Length), s.Guard)
	for _, l := range s.Guard.Loaders {
		points = append(points, guardPoints(l.Loader, s.Start.Add(s.Length), l.GuardSecond)...)
	}
	return points
}

func guardPoints(node string, at time.Time, g load.GuardSecond) []series.Point {
	point := func(signal string, value float64) series.Point {
		return series.Point{Time: at, Signal: signal, Node: node, Value: value}
	}
	return []series.Point{
		point("load.start_lag_p99_ms", expect.Millis(g.StartLagP99)),
		point("load.cap_share", g.CapShare),
		point("load.backlog", float64(g.Backlog)),
		point("load.cpu_share", g.CPUShare),
		point("load.lost_connections", float64(g.Lost)),
		point("load.stall_ms", expect.Millis(g.Stall)),
	}
}

// ReadsAnswered is the signal of how many reads a node answered in a second.
const ReadsAnswered = "load.reads_answered"

// HitShare is the signal of what part of the reads the cache answered in a second; CacheFailed of how many it could not be asked.
const (
	HitShare    = "load.cache_hit_share"
	CacheFailed = "load.cache_failures"
)

// watchable refuses what no watch of the trial's cluster can answer.
func (t *Trial) watchable(parts Parts) func(expression string) error {
	return func(expression string) error {
		if t.Existing != nil && !t.Existing.Listed {
			return errors.New("watched series need a cluster of the lab or of the inventory, not a target given by its address")
		}
		if parts.Watch == nil {
			return errors.New("this program cannot read watched series")
		}
		return parts.CheckWatched(expression, t.Queries)
	}
}

// checkQueries refuses own SQL that cannot be asked.
func (t *Trial) checkQueries() error {
	var ps document.Problems
	named := map[string]bool{}
	for n, q := range t.Queries {
		at := t.Document.Get("queries").Items[n]
		if err := q.Check(); err != nil {
			ps.Add(at, at.Errorf("%s", err))
		}
		if len(q.Only) > 0 {
			ps.Add(at, at.Get("only_on").Errorf("only_on, expected none: a trial has one cluster, and the query runs on every node"))
		}
		if named[q.Name] {
			ps.Add(at, at.Get("name").Errorf("a second query %s, expected another name", q.Name))
		}
		named[q.Name] = true
	}
	return ps.Err()
}

// Watched are the expressions over watched series that expectations name.
func (t *Trial) Watched() (all []string) {
	for _, c := range t.Expectations {
		for _, m := range c.Metrics {
			if expression, is := strings.CutPrefix(m.Signal, expect.WatchPrefix); is && !slices.Contains(all, expression) {
				all = append(all, expression)
			}
		}
	}
	return all
}
