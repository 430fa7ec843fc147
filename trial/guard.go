package trial

import (
	"plimsoll/load"
	"plimsoll/series"
)

// guard asks whether the load generator was fit to measure what a cell's undisturbed phases measured, and makes the
// trial INVALID where it was not. While something is done to the cluster, and after, a full house is the database's doing.
func (d *drive) guard() {
	for _, s := range d.recording.stretches {
		if s.cell != d.cell.Name || s.round != d.round || s.phase != "measure" && s.phase != "baseline" {
			continue
		}
		var responses []series.Snapshot
		for _, second := range s.all {
			responses = append(responses, second.Response)
		}
		for _, reason := range load.Judge(s.guard, series.Merge(responses...).Snapshot()) {
			d.refute("%s, %s: %s", where(d.cell.Name, d.round), s.phase, reason)
		}
	}
}

// generator is the node under which the load generator's own readings stand among the signals.
const generator = "load"

// generatorPoints are the guard's readings of a second as signals.
func generatorPoints(s load.Second) []series.Point {
	at := s.Start.Add(s.Length)
	point := func(signal string, value float64) series.Point {
		return series.Point{Time: at, Signal: signal, Node: generator, Value: value}
	}
	return []series.Point{
		point("load.start_lag_p99_ms", millis(s.Guard.StartLagP99)),
		point("load.cap_share", s.Guard.CapShare),
		point("load.backlog", float64(s.Guard.Backlog)),
		point("load.cpu_share", s.Guard.CPUShare),
		point("load.lost_connections", float64(s.Guard.Lost)),
	}
}
